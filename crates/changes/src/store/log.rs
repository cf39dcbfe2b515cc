//! The entries of the log in the store. Those that nobody has decided about lie in a folder of their own, so that they are
//! found without a look at all others. Both folders share their numbers.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime};

use pillion_discovery::private_file::{FileError, Folder};
use pillion_system::lock;

use super::{MAX_AGE, MAX_RECORD, MAX_TEXT, Store, StoreError};
use crate::log::{Entry, EntryRef, EntryState};
use crate::state::FileState;

/// The folders of the entries that were decided, and of those that were not.
const DECIDED: &str = "log";
const UNDECIDED: &str = "drafts";

/// The end of the name of a file that has an entry.
const END: &str = ".json";

/// The number of entries that are kept.
pub const MAX_ENTRIES: usize = 1000;

/// So long the highest number counts that this process has given. Another one may have given higher ones meanwhile: those are
/// in the way then, unless they were removed, which takes a week or a thousand of them.
const MAX_KNOWN: Duration = Duration::from_secs(60);

/// The time for which a text is kept that a person wrote and nobody has decided about.
const MAX_DRAFT_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Store {
    /// Takes a number for an entry, which is kept then.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_entry(&self, mut entry: Entry) -> Result<Entry, StoreError> {
        let (decided, undecided) = (self.create(&[DECIDED])?, self.create(&[UNDECIDED])?);
        let (folder, other) = match entry.state {
            EntryState::Undecided => (undecided, decided),
            _ => (decided, undecided),
        };
        entry.number = self.newest_entry()? + 1;
        // Of two who want the same number, one makes the file.
        loop {
            let file = file_name(entry.number);
            let path = folder.path().join(&file);
            let failed = |action, source| FileError::Io {
                action,
                path: path.clone(),
                source,
            };
            match new_file().open(&path) {
                // Looked for afterwards, so that at least one of two sees the other's.
                Ok(mut new) if other.size_of(&file).is_none() => {
                    // Into the new file itself: to replace it by another has the file system write it to the disk first.
                    let written = new.write_all(&json_of(&entry)?);
                    if let Err(error) = written {
                        folder.remove(&file)?;
                        return Err(failed("write", error).into());
                    }
                    break;
                }
                Ok(_) => folder.remove(&file)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("create", error).into()),
            }
            entry.number += 1;
        }
        *lock(&self.newest) = Some((Instant::now(), entry.number));
        Ok(entry)
    }

    /// Keeps an entry as it is now.
    ///
    /// # Errors
    /// When it cannot be written. Then it is kept as it was.
    pub fn save_entry(&self, entry: &Entry) -> Result<(), StoreError> {
        let folder = self.create(&[folder_of(entry.state)])?;
        Ok(folder.write(&file_name(entry.number), &json_of(entry)?)?)
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn entry(&self, name: EntryRef) -> Result<Entry, StoreError> {
        for folder in self.log_folders()? {
            if let Some(entry) = read(&folder, &file_name(name.0))? {
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
        let mut entries = self.entries_in(DECIDED)?;
        entries.extend(self.undecided()?);
        entries.sort_by_key(|entry| entry.number);
        Ok(entries)
    }

    /// Those that nobody has decided about, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn undecided(&self) -> Result<Vec<Entry>, StoreError> {
        self.entries_in(UNDECIDED)
    }

    /// Removes an entry. Its texts go with [`tidy`](Self::tidy).
    ///
    /// # Errors
    /// When there is none, or it cannot be removed.
    pub fn forget_entry(&self, name: EntryRef) -> Result<(), StoreError> {
        let file = file_name(name.0);
        let mut is_there = false;
        for folder in self.log_folders()? {
            if folder.size_of(&file).is_some() {
                folder.remove(&file)?;
                is_there = true;
            }
        }
        match is_there {
            true => Ok(()),
            false => Err(StoreError::NoEntry(name)),
        }
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

    /// The folders that have entries.
    fn log_folders(&self) -> Result<Vec<Folder>, StoreError> {
        let mut folders = Vec::new();
        for name in [DECIDED, UNDECIDED] {
            folders.extend(self.open(&[name])?);
        }
        Ok(folders)
    }

    fn entries_in(&self, folder: &str) -> Result<Vec<Entry>, StoreError> {
        let Some(folder) = self.open(&[folder])? else {
            return Ok(Vec::new());
        };
        let names = folder.names()?.into_iter();
        let read = |name: String| read(&folder, &name).ok().flatten();
        let mut entries: Vec<Entry> = names.filter_map(read).collect();
        entries.sort_by_key(|entry| entry.number);
        Ok(entries)
    }

    /// The highest number of an entry; 0 if there is none.
    fn newest_entry(&self) -> Result<u64, StoreError> {
        // A thousand names are read in vain with every decision otherwise.
        if let Some((at, newest)) = *lock(&self.newest)
            && at.elapsed() < MAX_KNOWN
        {
            return Ok(newest);
        }
        Ok(self.entry_numbers()?.last().copied().unwrap_or(0))
    }

    fn entry_numbers(&self) -> Result<Vec<u64>, StoreError> {
        let mut numbers = Vec::new();
        for folder in self.log_folders()? {
            numbers.extend(folder.names()?.iter().filter_map(|it| number_of(it)));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// The entry in this file; none if it is none, or cannot be understood.
fn read(folder: &Folder, name: &str) -> Result<Option<Entry>, FileError> {
    let json = match number_of(name) {
        Some(_) => folder.read(name, MAX_RECORD)?,
        None => None,
    };
    Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
}

fn json_of(entry: &Entry) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(entry).map_err(|error| StoreError::Damaged {
        number: entry.number,
        reason: error.to_string(),
    })
}

fn folder_of(state: EntryState) -> &'static str {
    match state {
        EntryState::Undecided => UNDECIDED,
        _ => DECIDED,
    }
}

fn file_name(number: u64) -> String {
    format!("{number}{END}")
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_suffix(END)?.parse().ok()
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
