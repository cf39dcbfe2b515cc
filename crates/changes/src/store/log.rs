//! The entries of the log in the store. One that nobody has decided about has a name of its own, so that those are found
//! without reading all others.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io;
use std::time::{Duration, SystemTime};

use pillion_discovery::private_file::{FileError, Folder};

use super::{MAX_AGE, MAX_RECORD, MAX_TEXT, Store, StoreError};
use crate::log::{Entry, EntryRef, EntryState};
use crate::state::FileState;

const LOG: &str = "log";

/// The ends of the names of files that have an entry, and of those that nobody has decided about.
const DECIDED: &str = ".decided.json";
const UNDECIDED: &str = ".draft.json";

/// The number of entries that are kept.
pub const MAX_ENTRIES: usize = 1000;

/// The time for which a text is kept that a person wrote and nobody has decided about.
const MAX_DRAFT_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Store {
    /// Takes a number for an entry, which is kept then.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_entry(&self, mut entry: Entry) -> Result<Entry, StoreError> {
        let folder = self.create(&[LOG])?;
        entry.number = self.entry_numbers()?.last().map_or(1, |last| last + 1);
        // Of two who want the same number, one makes the file.
        loop {
            let path = folder.path().join(file_of(entry.number, entry.state));
            let other = match entry.state {
                EntryState::Undecided => file_name(entry.number, DECIDED),
                _ => file_name(entry.number, UNDECIDED),
            };
            let is_taken = || folder.path().join(&other).symlink_metadata().is_ok();
            match new_file().open(&path) {
                // Looked for afterwards, so that at least one of two sees the other's.
                Ok(_) if !is_taken() => break,
                Ok(_) => folder.remove(&file_of(entry.number, entry.state))?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => {
                    let action = "create";
                    return Err(FileError::Io {
                        action,
                        path,
                        source,
                    }
                    .into());
                }
            }
            entry.number += 1;
        }
        self.save_entry(&entry)?;
        Ok(entry)
    }

    /// Keeps an entry as it is now.
    ///
    /// # Errors
    /// When it cannot be written. Then it is kept as it was.
    pub fn save_entry(&self, entry: &Entry) -> Result<(), StoreError> {
        let json = serde_json::to_vec(entry).map_err(|error| StoreError::Damaged {
            number: entry.number,
            reason: error.to_string(),
        })?;
        let folder = self.create(&[LOG])?;
        Ok(folder.write(&file_of(entry.number, entry.state), &json)?)
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn entry(&self, name: EntryRef) -> Result<Entry, StoreError> {
        for end in [DECIDED, UNDECIDED] {
            if let Some(entry) = self.read_entry(&file_name(name.0, end))? {
                return Ok(entry);
            }
        }
        Err(StoreError::NoEntry(name))
    }

    /// All entries, oldest first. Those that cannot be read are left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        self.entries_named(|_| true)
    }

    /// Those that nobody has decided about, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn undecided(&self) -> Result<Vec<Entry>, StoreError> {
        self.entries_named(|name| name.ends_with(UNDECIDED))
    }

    /// Removes an entry. Its texts go with [`tidy`](Self::tidy).
    ///
    /// # Errors
    /// When there is none, or it cannot be removed.
    pub fn forget_entry(&self, name: EntryRef) -> Result<(), StoreError> {
        let none = || StoreError::NoEntry(name);
        let folder = self.open(&[LOG])?.ok_or_else(none)?;
        let files = [DECIDED, UNDECIDED].map(|end| file_name(name.0, end));
        let is_there = |file: &&String| folder.path().join(file).symlink_metadata().is_ok();
        let found: Vec<_> = files.iter().filter(is_there).collect();
        if found.is_empty() {
            return Err(none());
        }
        for file in found {
            folder.remove(file)?;
        }
        Ok(())
    }

    /// Keeps a text, and returns its state; without the text if it is too long.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_text(&self, text: &[u8]) -> Result<FileState, StoreError> {
        let size = text.len() as u64;
        let text = (size <= MAX_TEXT).then(|| self.put(text)).transpose()?;
        let mode = 0;
        Ok(FileState::File { mode, size, text })
    }

    /// The text of a state; none if there was no file.
    ///
    /// # Errors
    /// When it was not kept, or is gone.
    pub fn text_of(&self, state: &FileState) -> Result<Option<Vec<u8>>, StoreError> {
        match state.text() {
            Some(hash) => self.get(hash).map(Some),
            None if state.is_absent() => Ok(None),
            None => Err(StoreError::NotKept),
        }
    }

    /// Removes old entries.
    pub(super) fn tidy_log(&self, now: SystemTime) -> Result<(), StoreError> {
        let mut numbers = self.entry_numbers()?;
        let surplus = numbers.len().saturating_sub(MAX_ENTRIES);
        let newest = numbers.pop();
        let surplus: HashSet<u64> = numbers.into_iter().take(surplus).collect();
        for entry in self.entries()? {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(entry.at);
            let age = now.duration_since(at).unwrap_or_default();
            let is_old = match entry.state {
                EntryState::Undecided => age > MAX_DRAFT_AGE,
                _ => age > MAX_AGE || surplus.contains(&entry.number),
            };
            // The newest number stays, so that none is given twice.
            if is_old && Some(entry.number) != newest && !entry.is_pending() {
                self.forget_entry(entry.name())?;
            }
        }
        Ok(())
    }

    /// The names of the files.
    pub(super) fn log_names(&self) -> Result<Vec<String>, StoreError> {
        self.names(&[LOG])
    }

    /// The entry in this file; none if it is none, or cannot be understood.
    pub(super) fn read_entry(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        let json = match self.open(&[LOG])? {
            Some(folder) if number_of(name).is_some() => folder.read(name, MAX_RECORD)?,
            _ => None,
        };
        Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
    }

    fn entries_named(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Entry>, StoreError> {
        let Some(folder) = self.open(&[LOG])? else {
            return Ok(Vec::new());
        };
        let names = folder.names()?.into_iter();
        let wanted = names.filter(|name| number_of(name).is_some() && is_wanted(name));
        let read = |folder: &Folder, name: String| -> Option<Entry> {
            let json = folder.read(&name, MAX_RECORD).ok()??;
            serde_json::from_slice(&json).ok()
        };
        let mut entries: Vec<Entry> = wanted.filter_map(|name| read(&folder, name)).collect();
        entries.sort_by_key(|entry| entry.number);
        Ok(entries)
    }

    fn entry_numbers(&self) -> Result<Vec<u64>, StoreError> {
        let names = self.log_names()?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn file_of(number: u64, state: EntryState) -> String {
    match state {
        EntryState::Undecided => file_name(number, UNDECIDED),
        _ => file_name(number, DECIDED),
    }
}

fn file_name(number: u64, end: &str) -> String {
    format!("{number}{end}")
}

fn number_of(name: &str) -> Option<u64> {
    let ends = [DECIDED, UNDECIDED];
    let number = ends.iter().find_map(|end| name.strip_suffix(end))?;
    number.parse().ok()
}

/// The way to make a file that must not be there: for this user only.
fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}
