//! The private store: texts by their SHA-256, a folder for each turn, and a file for each entry of the log. Only this user
//! can read it.
//!
//! A turn's folder has `turn.json`, which only who watches the turn writes, and a log of what people made of its changes, to
//! which only who holds the turn appends. Every other file is whole or not there. Whatever returns a [`StoreError`] could not read or
//! write one of them, and has changed nothing then, unless it says more.
//!
//! Why no embedded database: commands read it while hubs write, and one process alone can open redb's file. What is forgotten is gone
//! from the disk with its file; redb keeps the pages, and with them the text, until they are used again. Written one by one as agents write
//! them, 500 texts of 200 KB take 0.3 s as files and 3.4 s in redb (8.5 s if each is to survive a power cut; files 0.5 s), in memory; it
//! is faster with thousands of short ones at once (20,000 of 2 KB: 0.8 s, files 1.9 s), as in a folder's first look alone.

mod agents;
mod judgements;
mod log;
mod notes;
mod pending;
mod shown;
mod space;
mod tables;
mod turns;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use pillion_discovery::counter::{self, Counter};
use pillion_discovery::private_file::{FileError, Folder, is_unfinished};
use pillion_discovery::{Environment, real_path, regular_file};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::log::EntryRef;
use crate::state::{Hash, Stage, Writing};
use crate::turn::ChangeRef;

pub use agents::{NotedAgent, agent_lives};
pub use judgements::{Held, Judgements};
pub use log::MAX_ENTRIES;
pub use notes::{NoteNames, WaitingNote};
pub use shown::{Shown, Shows};
use space::Space;
pub use space::{Usage, limit, size};
pub(crate) use tables::Source;

/// The folder below the user's state directory.
const FOLDER: [&str; 2] = ["pillion", "changes"];

const TEXTS: &str = "texts";
const TURNS: &str = "turns";
const WRITTEN: &str = "written";

/// A file that is written only to see whether one can be, and its size: an empty one needs no room.
const TRIAL: &str = "trial";
const TRIAL_SIZE: usize = 4096;

/// No longer text is kept: 16 MiB.
pub const MAX_TEXT: u64 = 16 << 20;

/// What is overwritten when something is taken back is kept up to this length, 64 MiB: otherwise nothing is written.
pub(crate) const MAX_KEPT: u64 = 64 << 20;

/// No longer record of a turn is read.
const MAX_RECORD: u64 = 256 << 20;

/// The number of turns that are kept, apart from those of which something is unseen.
const MAX_TURNS: usize = 200;

/// The time for which turns are kept, apart from those of which something is unseen.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// So long a file that is being written stays: its writer may live in another container.
const MAX_WRITING: Duration = Duration::from_secs(60 * 60);

/// So long a text stays that no turn needs: one that watches may know it.
const MAX_IDLE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The reason why something is not in the store, or cannot be put there.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A text is gone, or another one is in its place.
    #[error("the text {0:?} is not in the store any more")]
    Missing(Hash),
    /// No more is to be kept, and what could go nobody has seen.
    #[error("no more than {} of what agents changed may be kept, and nobody has seen what there is", space::size(*.0))]
    Full(u64),
    /// A text was too long to be kept.
    #[error("the text was too long to be kept")]
    NotKept,
    /// There is no such turn.
    #[error("there is no turn {0}")]
    NoTurn(u64),
    /// There is no such change.
    #[error("there is no change {0}")]
    NoChange(ChangeRef),
    /// The record of a turn cannot be read.
    #[error("what was kept of turn {number} cannot be read: {reason}")]
    Damaged {
        /// The turn.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// Another version of Pillion has kept it, in a form of its own.
    #[error("turn {0} was recorded by another version of Pillion")]
    OtherVersion(u64),
    /// Somebody else decides about a turn, and does not go on.
    #[error("turn {turn} is being decided about{holder}, which has not ended it")]
    Held {
        /// The turn.
        turn: u64,
        /// Who does, as far as is known: ` by process 7`.
        holder: String,
    },
    /// There is no such entry in the log.
    #[error("there is no entry {0} in the log")]
    NoEntry(EntryRef),
    /// There is no place for it.
    #[error("there is no home directory in which what agents changed could be kept")]
    NoPlace,
}

fn damaged(number: u64) -> impl Fn(serde_json::Error) -> StoreError {
    move |error| StoreError::Damaged {
        number,
        reason: error.to_string(),
    }
}

/// Each of these in a line of its own, for the turn of this number.
fn lines(
    number: u64,
    all: impl IntoIterator<Item = impl Serialize>,
) -> Result<Vec<u8>, StoreError> {
    let mut lines = Vec::new();
    for one in all {
        serde_json::to_writer(&mut lines, &one).map_err(damaged(number))?;
        lines.push(b'\n');
    }
    Ok(lines)
}

impl StoreError {
    /// Advice on what a person can do about it, as a sentence without its end.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => Some(error.hint_naming(Some("XDG_STATE_HOME"))),
            Self::Damaged { number, .. } | Self::OtherVersion(number) => {
                Some(format!("`pillion forget {number}` removes it"))
            }
            Self::Held { .. } => {
                let hint = "wait until it has; if it was suspended with Ctrl-Z, `fg` in its terminal resumes it";
                Some(hint.to_owned())
            }
            Self::Full(_) => {
                let hint = "`pillion changes --disk` lists it, `pillion keep` and `pillion forget` make room";
                Some(hint.to_owned())
            }
            Self::NoTurn(_) => Some("`pillion turns` lists them".to_owned()),
            Self::NoChange(_) => Some("`pillion changes --all` lists what is known".to_owned()),
            Self::NoEntry(_) => Some("`pillion log` lists them".to_owned()),
            Self::Missing(_) | Self::NotKept | Self::NoPlace => None,
        }
    }

    /// The error, its reason, and what to do about it, for a status line.
    pub fn in_full(&self) -> String {
        match self.source_of_file() {
            Some(_) => format!("{self}: {}", self.reason()),
            None => self.reason(),
        }
    }

    /// The same without the file that it is about.
    pub fn reason(&self) -> String {
        let why = self
            .source_of_file()
            .map_or_else(|| self.to_string(), ToString::to_string);
        let hint = self
            .hint()
            .map_or_else(String::new, |hint| format!("; {hint}"));
        format!("{why}{hint}")
    }

    fn source_of_file(&self) -> Option<&dyn Error> {
        match self {
            Self::File(error) => error.source(),
            _ => None,
        }
    }
}

/// The store of one user.
#[derive(Debug, Clone)]
pub struct Store {
    base: PathBuf,
    /// The folders that were made, or found to be this user's alone, since this process began.
    made: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// The store's folder, open: everything is read and written by way of it.
    folder: Arc<Mutex<Option<Arc<Folder>>>>,
    /// The numbers of turns.
    turns: Counter,
    /// The numbers of entries of the log.
    entries: Counter,
    space: Space,
    /// The time by which the act is known in which this one writes for a person.
    pub(crate) act: Option<u64>,
    /// The turn about which it decides.
    pub(crate) turn: Option<u64>,
}

impl Store {
    /// The store of this user, wherever it has been used before or not. Nothing is created yet.
    ///
    /// # Errors
    /// If the user has no home directory.
    pub fn of(environment: &Environment) -> Result<Self, StoreError> {
        let numbers = |name| Counter::of(environment, name).ok_or(StoreError::NoPlace);
        Ok(Self {
            base: environment.user_state_dir().ok_or(StoreError::NoPlace)?,
            made: Arc::default(),
            folder: Arc::default(),
            turns: numbers(counter::TURNS)?,
            entries: numbers(counter::ENTRIES)?,
            space: Space::of(environment),
            act: None,
            turn: None,
        })
    }

    /// The folder in which it lies.
    pub fn path(&self) -> PathBuf {
        FOLDER
            .iter()
            .fold(self.base.clone(), |path, part| path.join(part))
    }

    /// The folder in which Pillion keeps this and everything else of the user: nothing there is an agent's change.
    pub(crate) fn own_folder(&self) -> PathBuf {
        self.base.join(FOLDER[0])
    }

    fn parts<'a>(&self, below: &[&'a str]) -> Vec<&'a str> {
        FOLDER
            .iter()
            .copied()
            .chain(below.iter().copied())
            .collect()
    }

    fn create(&self, below: &[&str]) -> Result<Folder, FileError> {
        let path: PathBuf = below.iter().collect();
        let is_made = self.made.lock().is_ok_and(|made| made.contains(&path));
        // Many files are written to few folders.
        if is_made && let Some(folder) = self.open(below)? {
            return Ok(folder);
        }
        let folder = Folder::create(&self.base, &self.parts(below))?;
        if let Ok(mut made) = self.made.lock() {
            made.insert(path);
        }
        Ok(folder)
    }

    fn open(&self, below: &[&str]) -> Result<Option<Folder>, FileError> {
        let known = self.folder.lock().ok().and_then(|it| it.clone());
        if let Some(known) = known
            && let Some(folder) = known.inner(below)?
        {
            return Ok(Some(folder));
        }
        // It is not there, or somebody has removed the store and there is another one.
        let Some(folder) = Folder::open(&self.base, &FOLDER)? else {
            return Ok(None);
        };
        let found = folder.inner(below);
        if let Ok(mut known) = self.folder.lock() {
            *known = Some(Arc::new(folder));
        }
        found
    }

    /// Keeps a text.
    ///
    /// # Errors
    /// When it cannot be written. Then no part of it is there.
    pub fn put(&self, text: &[u8]) -> Result<Hash, StoreError> {
        let hash = Hash::of(text);
        let folder = self.create(&[TEXTS, &hash.as_str()[..2]])?;
        if folder.size_of(hash.as_str()) == Some(text.len() as u64) {
            // As new, for what removes texts that nobody has needed for long.
            let file = folder.open_file(hash.as_str())?;
            let _ = file.map(|it| it.set_modified(SystemTime::now()));
        } else {
            folder.write(hash.as_str(), text)?;
            self.space.grows(text.len());
        }
        Ok(hash)
    }

    /// Returns true if something can be kept at present. Waits for the disk.
    pub fn takes_more(&self) -> bool {
        let trial = || {
            let folder = self.create(&[WRITTEN])?;
            folder.write(TRIAL, &[b' '; TRIAL_SIZE])?;
            folder.remove(TRIAL)
        };
        trial().is_ok()
    }

    /// A text that was kept.
    ///
    /// # Errors
    /// When it is gone or damaged, or cannot be read.
    pub fn get(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        let missing = || StoreError::Missing(hash.clone());
        let folder = self
            .open(&[TEXTS, &hash.as_str()[..2]])?
            .ok_or_else(missing)?;
        let text = folder.read(hash.as_str(), MAX_KEPT)?.ok_or_else(missing)?;
        match Hash::of(&text) == *hash {
            true => Ok(text),
            false => Err(missing()),
        }
    }

    /// Writes a record below this folder.
    fn write(&self, below: &[&str], name: &str, record: &impl Serialize) -> Result<(), StoreError> {
        let json = serde_json::to_vec(record).unwrap_or_default();
        Ok(self.create(below)?.write(name, &json)?)
    }

    /// The record of this name; none if there is none, or it cannot be understood.
    fn read<T: DeserializeOwned>(
        &self,
        below: &[&str],
        name: &str,
    ) -> Result<Option<T>, StoreError> {
        let folder = self.open(below)?;
        let json = folder.map(|it| it.read(name, MAX_RECORD)).transpose()?;
        Ok(json
            .flatten()
            .and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// Removes the file of this name, if it is there.
    fn remove_file(&self, below: &[&str], name: &str) -> Result<(), StoreError> {
        let folder = self.open(below)?;
        Ok(folder.map_or(Ok(()), |it| it.remove(name))?)
    }

    /// Notes what is about to be written for a person, so that it counts as no agent's change, and what is overwritten:
    /// whoever writes may be killed before that is kept with the turn.
    pub fn note(&self, path: &Path, writing: &Writing) -> Result<(), StoreError> {
        self.write(&[WRITTEN], name_of(path).as_str(), writing)
    }

    /// The last writing to this path for a person, with what it replaced.
    pub fn writing(&self, path: &Path) -> Option<Writing> {
        self.read(&[WRITTEN], name_of(path).as_str()).ok()?
    }

    /// Returns true if the file has the text that was last written there to take something back, or to undo that.
    pub fn has_written(&self, path: &Path) -> bool {
        let path = real_path(path);
        let writing = self.writing(&path);
        let writing = writing.filter(|it| it.stage != Stage::Failed);
        let Some(wanted) = writing.as_ref().and_then(|it| it.written.text()) else {
            return false;
        };
        holds(&path, wanted)
    }

    /// Removes what writers never finished in a folder.
    fn remove_unfinished(&self, below: &[&str], now: SystemTime) -> Result<(), StoreError> {
        match self.open(below)? {
            Some(folder) => Ok(remove_unfinished(&folder, now)?),
            None => Ok(()),
        }
    }

    fn names(&self, below: &[&str]) -> Result<Vec<String>, StoreError> {
        match self.open(below)? {
            Some(folder) => Ok(folder.names()?),
            None => Ok(Vec::new()),
        }
    }
}

/// Removes what writers never finished in a folder.
fn remove_unfinished(folder: &Folder, now: SystemTime) -> Result<(), FileError> {
    for name in folder.names()?.iter().filter(|it| is_unfinished(it)) {
        if age_of(folder, name, now).is_some_and(|age| age > MAX_WRITING) {
            folder.remove(name)?;
        }
    }
    Ok(())
}

/// Returns true if this is a file with this text.
fn holds(path: &Path, text: &Hash) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
    let found = is_file.then(|| regular_file::read(path, MAX_TEXT).ok());
    found.flatten().is_some_and(|it| Hash::of(&it) == *text)
}

/// The time since a file was written.
fn age_of(folder: &Folder, name: &str, now: SystemTime) -> Option<Duration> {
    let metadata = folder.path().join(name).symlink_metadata();
    let written = metadata.and_then(|it| it.modified()).ok()?;
    now.duration_since(written).ok()
}

/// The name of the file that tells what was written to this path.
fn name_of(path: &Path) -> Hash {
    Hash::of(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
impl Store {
    /// An empty one, for a test, which keeps the folder.
    pub(crate) fn temporary() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let environment = Environment::from_pairs([("XDG_STATE_HOME", state)]);
        (folder, Store::of(&environment).unwrap())
    }
}
