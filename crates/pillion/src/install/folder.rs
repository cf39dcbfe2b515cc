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
    /// Looks. Links are looked at, not followed.
    pub fn of(target: &Path) -> io::Result<State> {
        let data = match fs::symlink_metadata(target) {
            Ok(data) => data,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Absent),
            Err(error) => return Err(error),
        };
        if data.is_symlink() {
            let to = fs::read_link(target)?;
            return Ok(State::Foreign(format!("a link to {}", to.display())));
        }
        if !data.is_dir() {
            return Ok(State::Foreign("a file".to_owned()));
        }
        match Marker::read(target)? {
            Some(marker) => Ours::look(target, marker).map(State::Ours),
            None => Ok(State::Foreign(
                "a folder that Pillion did not install".to_owned(),
            )),
        }
    }
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

    /// What is the user's, for people.
    pub fn of_the_user(&self) -> Vec<String> {
        let changed = self.changed.iter().map(|name| format!("{name} (changed)"));
        changed
            .chain(self.added.iter().map(|name| format!("{name} (added)")))
            .collect()
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

/// Makes `folder` and the ones above it. Those that were missing, the uppermost first.
fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<_> = folder
        .ancestors()
        .take_while(|folder| !folder.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    for (made, folder) in missing.iter().enumerate() {
        if let Err(error) = fs::create_dir(folder) {
            remove_empty(&missing[..made]);
            return Err(error);
        }
    }
    Ok(missing)
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
