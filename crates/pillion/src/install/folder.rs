//! A folder of files that Pillion installs, and knows again: a marker in it lists them.
//!
//! It is put in place by one rename of a complete copy; taken away, it leaves what is not Pillion's.
//! What lies there and is not Pillion's, or was changed by the user, is told apart by the hashes in
//! the marker.

mod exchange;
mod marker;
mod put;
mod sweep;
mod take;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub use self::marker::Marker;
pub use self::put::{InTheWay, Put};
pub use self::take::Take;

/// More of the user's files are not named one by one.
const MAX_NAMED: usize = 10;

/// A file to install: its path in the folder, with slashes, and its content.
pub type File = (String, Vec<u8>);

/// What lies where a folder is to be.
#[derive(Debug)]
pub enum State {
    /// Nothing.
    Absent,
    /// A folder that Pillion installed.
    Ours(Ours),
    /// Something else: what it is, in words.
    Foreign(String),
}

/// A folder that Pillion installed, and what became of it.
#[derive(Debug)]
pub struct Ours {
    pub marker: Marker,
    /// Files that are as they were installed.
    pub intact: BTreeSet<String>,
    /// Files of ours that somebody changed.
    pub changed: BTreeSet<String>,
    /// What somebody added: files and links.
    pub added: BTreeSet<String>,
}

impl State {
    /// Looks. A link in the folder's place is looked at, not followed.
    pub fn of(target: &Path) -> io::Result<State> {
        let data = match fs::symlink_metadata(target) {
            Ok(data) => data,
            Err(error) if is_absence(&error) => return Ok(State::Absent),
            Err(error) => return Err(error),
        };
        if data.is_symlink() {
            let to = fs::read_link(target)?;
            return Ok(State::Foreign(format!("a link to {}", to.display())));
        }
        if !data.is_dir() {
            return Ok(State::Foreign("a file".to_owned()));
        }
        let marker = target.join(Marker::NAME);
        match Marker::read(target)? {
            Some(marker) => Ours::look(target, marker).map(State::Ours),
            None if marker.symlink_metadata().is_ok() => Ok(State::Foreign(format!(
                "a folder with a damaged {}",
                Marker::NAME
            ))),
            None => Ok(State::Foreign(
                "a folder that Pillion did not install".to_owned(),
            )),
        }
    }
}

/// Nothing is there, or what is above it is a file.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

impl Ours {
    fn look(target: &Path, marker: Marker) -> io::Result<Ours> {
        let mut files = Vec::new();
        walk(target, "", &mut files)?;
        let mut ours = Ours {
            marker,
            intact: BTreeSet::new(),
            changed: BTreeSet::new(),
            added: BTreeSet::new(),
        };
        for (name, is_file) in files {
            if name == Marker::NAME {
                continue;
            }
            let path = target.join(&name);
            let set = match ours.marker.hash_of(&name) {
                // An editor writes its help index again, with what it finds.
                Some(_) if is_file && name.ends_with("doc/tags") => &mut ours.intact,
                Some(hash) if is_file && *hash == marker::hash(&fs::read(path)?) => {
                    &mut ours.intact
                }
                Some(_) => &mut ours.changed,
                None => &mut ours.added,
            };
            set.insert(name);
        }
        Ok(ours)
    }

    /// Whether something in it is the user's.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty() || !self.added.is_empty()
    }

    /// What is the user's, for people. A repository in it has more files than anybody reads.
    pub fn of_the_user(&self) -> String {
        let changed = self.changed.iter().map(|name| format!("{name} (changed)"));
        let added = self.added.iter().map(|name| format!("{name} (added)"));
        let mut named: Vec<_> = changed.chain(added).collect();
        let more = named.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            named.truncate(MAX_NAMED);
            named.push(format!("and {more} more"));
        }
        named.join(", ")
    }

    /// Whether it is these very files.
    pub fn is_of(&self, files: &[File]) -> bool {
        self.changed.is_empty() && self.intact.len() == files.len() && self.marker.is_of(files)
    }
}

/// Every file and link below `folder`, by its path with slashes, and whether it is a plain file.
fn walk(folder: &Path, prefix: &str, found: &mut Vec<(String, bool)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.push((name, kind.is_file()));
        }
    }
    Ok(())
}

/// Makes `folder` and the ones above it. Those that were made, the uppermost first.
fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing: Vec<_> = folder
        .ancestors()
        .take_while(|folder| !folder.exists())
        .collect();
    let mut made = Vec::new();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => made.push(folder.to_owned()),
            // Another installation made it in this moment.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => {
                remove_empty(&made);
                return Err(named(folder, error));
            }
        }
    }
    Ok(made)
}

/// The folder that could not be made, by its name.
fn named(folder: &Path, error: io::Error) -> io::Error {
    let place = folder.display();
    let what = match fs::read_link(folder) {
        Ok(to) => format!(
            "{place} is a link to {}, which does not exist",
            to.display()
        ),
        Err(_) => format!("{place}: {error}"),
    };
    io::Error::new(error.kind(), what)
}

/// Removes folders that are empty, the last first. One that is not stays, and those above it.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests;
