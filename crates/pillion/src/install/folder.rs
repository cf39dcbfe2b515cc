//! A folder of files that Pillion installs, and knows again: a marker in it lists them.
//!
//! It comes and goes file by file, and a copy that failed is repeated. Taken away, it leaves what is
//! not Pillion's. What lies there and is not Pillion's, or was changed by the user, is distinguished by the hashes in
//! the marker.

mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use pillion_changes::leftovers;
use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};

pub use self::steps::{InTheWay, Put, Take};

/// More of the user's files are not named one by one.
const MAX_NAMED: usize = 10;

/// A file to install: its path in the folder, with slashes, and its content.
pub type File = (String, Vec<u8>);

/// The state of the place where a folder is to be.
#[derive(Debug)]
pub enum State {
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
    /// Files of ours that were changed.
    pub changed: BTreeSet<String>,
    /// The entries that others added: files and links.
    pub added: BTreeSet<String>,
    /// What an editor has compiled of our files.
    compiled: BTreeSet<String>,
}

impl State {
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
        let has_marker = target.join(Marker::NAME).symlink_metadata().is_ok();
        let found = walk(target)?;
        // Read last: who installs it in this moment writes the marker before any file.
        match Marker::read(target)? {
            Some(marker) => Ours::look(target, marker, found).map(State::Ours),
            None if has_marker => Ok(State::Foreign(format!(
                "a folder with a damaged {}",
                Marker::NAME
            ))),
            None if found.iter().all(|(name, _)| leftovers::is_unfinished(name)) => {
                Ok(State::Absent)
            }
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
    fn look(target: &Path, marker: Marker, found: Vec<(String, bool)>) -> io::Result<Ours> {
        let mut ours = Ours {
            marker,
            intact: BTreeSet::new(),
            changed: BTreeSet::new(),
            added: BTreeSet::new(),
            compiled: BTreeSet::new(),
        };
        for (name, is_file) in found {
            if name == Marker::NAME || leftovers::is_unfinished(&name) {
                continue;
            }
            let path = target.join(&name);
            let set = match ours.marker.hash_of(&name) {
                // An editor writes its help index again, with what it finds.
                Some(_) if is_file && name.ends_with("doc/tags") => &mut ours.intact,
                Some(hash) if is_file && *hash == fingerprint::hash(&fs::read(path)?) => {
                    &mut ours.intact
                }
                Some(_) => &mut ours.changed,
                None if is_file && ours.marker.is_compiled(&name) => &mut ours.compiled,
                None => &mut ours.added,
            };
            set.insert(name);
        }
        Ok(ours)
    }

    /// Returns true if something in it is the user's.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty() || !self.added.is_empty()
    }

    /// The names of what is the user's, for people. A repository in it has more files than anybody reads.
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

    /// Removes everything of Pillion's; the marker last, so that it can be done again.
    fn remove(&self, target: &Path) -> io::Result<()> {
        self.remove_files(target)?;
        for (name, _) in walk(target)? {
            if leftovers::is_unfinished(&name) {
                remove_file(&target.join(name))?;
            }
        }
        remove_file(&target.join(Marker::NAME))?;
        self.remove_folders(target);
        // What others added keeps it.
        let _ = fs::remove_dir(target);
        Ok(())
    }

    fn remove_files(&self, target: &Path) -> io::Result<()> {
        let files = self.intact.iter().chain(&self.compiled);
        let mut files = files.map(|name| target.join(name));
        files.try_for_each(|path| remove_file(&path))
    }

    /// Removes the folders that its files were in, or were to be, but for those with something left in them.
    fn remove_folders(&self, target: &Path) {
        for name in self.marker.names() {
            let mut folders = name.ancestors().skip(1);
            // The last one is the target itself.
            while let Some(folder) = folders.next().filter(|it| !it.as_os_str().is_empty()) {
                if fs::remove_dir(target.join(folder)).is_err_and(|error| !is_absence(&error)) {
                    break;
                }
            }
        }
    }

    /// Returns true if it is these very files, of this version, and nothing else.
    pub fn is_just(&self, files: &[File]) -> bool {
        let marker = Marker::new(files, self.marker.made.clone());
        !self.has_changes() && self.intact.len() == files.len() && self.marker == marker
    }
}

/// Removes a file; it may be gone.
fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if is_absence(&error) => Ok(()),
        removed => removed,
    }
}

/// Every file and link below `folder`, by its path with slashes, and whether it is a plain file.
fn walk(folder: &Path) -> io::Result<Vec<(String, bool)>> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else {
                found.push((name, kind.is_file()));
            }
        }
    }
    Ok(found)
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

/// More than a marker has. A larger one is none.
const MAX_MARKER: u64 = 1 << 20;

/// The content of the marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Of the program that installed it.
    pub version: String,
    /// The hash of each file by its path.
    files: BTreeMap<String, String>,
    /// Folders above that were made for it, the uppermost first.
    #[serde(default)]
    pub made: Vec<PathBuf>,
}

impl Marker {
    pub const NAME: &str = ".pillion-installed.json";

    /// For these files.
    pub fn new(files: &[File], made: Vec<PathBuf>) -> Self {
        let hashes = files
            .iter()
            .map(|(name, text)| (name.clone(), fingerprint::hash(text)));
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: hashes.collect(),
            made,
        }
    }

    /// That of a folder; none if it has none that makes sense.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(Self::NAME);
        match fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() && data.len() <= MAX_MARKER => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(serde_json::from_slice(&fs::read(path)?).ok())
    }

    /// As it is written.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// The hash of a file as it was installed; nothing if it was not.
    pub fn hash_of(&self, name: &str) -> Option<&String> {
        self.files.get(name)
    }

    /// Returns true if Emacs makes the file of this name of one of these.
    fn is_compiled(&self, name: &str) -> bool {
        let source = name.strip_suffix('c');
        source.is_some_and(|it| it.ends_with(".el") && self.files.contains_key(it))
    }

    /// The files, but for those that would lie elsewhere.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        let is_below = |path: &&Path| {
            let mut parts = path.components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        self.files.keys().map(Path::new).filter(is_below)
    }

    /// The folders that were made for `target` and may be removed with it: those above it, whatever
    /// the file says.
    pub fn made_above(&self, target: &Path) -> Vec<PathBuf> {
        let is_above = |folder: &&PathBuf| target.starts_with(folder) && *folder != target;
        self.made.iter().filter(is_above).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
