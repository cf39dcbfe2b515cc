//! The entries of the log in the store. Those that nobody has decided about lie in a folder of their own, and the others in
//! folders of a hundred: what is kept with every decision needs no look at all of them. All share their numbers.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, SystemTime};

use pillion_discovery::private_file::{FileError, Folder};
use pillion_text::Text;

use super::{MAX_AGE, MAX_RECORD, MAX_TEXT, Store, StoreError, remove_unfinished};
use crate::log::{Entry, EntryRef, EntryState};
use crate::state::FileState;

/// The folder of the folders with decided entries, and that of the others.
const DECIDED: &str = "log";
const UNDECIDED: &str = "drafts";

/// So many numbers have a folder of decided entries.
const PART: u64 = 100;

/// The end of the name of a file that has an entry.
const END: &str = ".json";

/// The number of entries that are kept.
pub const MAX_ENTRIES: usize = 1000;

/// The time for which a text is kept that a person wrote and nobody has decided about.
const MAX_DRAFT_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Store {
    /// Takes a number for an entry, which is kept then.
    pub fn add_entry(&self, mut entry: Entry) -> Result<Entry, StoreError> {
        entry.number = self.entries.take(1, self.newest_entry()?)?;
        self.save_entry(&entry)?;
        Ok(entry)
    }

    /// Keeps an entry as it is now.
    ///
    /// # Errors
    /// When it cannot be written. Then it is kept as it was.
    pub fn save_entry(&self, entry: &Entry) -> Result<(), StoreError> {
        let folder = match entry.state {
            EntryState::Undecided => self.create(&[UNDECIDED])?,
            _ => self.create(&[DECIDED, &part_of(entry.number)])?,
        };
        Ok(folder.write(&file_name(entry.number), &json_of(entry)?)?)
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn entry(&self, name: EntryRef) -> Result<Entry, StoreError> {
        for folder in self.folders_of(name)? {
            if let Some(entry) = read(&folder, &file_name(name.0))? {
                return Ok(entry);
            }
        }
        Err(StoreError::NoEntry(name))
    }

    /// All entries, oldest first. Those that cannot be read are left out.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        Ok(readable(self.read_entries()?))
    }

    /// As [`entries`](Self::entries), but fails if one is there and cannot be read.
    pub(super) fn all_entries(&self) -> Result<Vec<Entry>, StoreError> {
        let entries = self.read_entries()?.into_iter();
        Ok(entries.collect::<Result<_, FileError>>()?)
    }

    fn read_entries(&self) -> Result<Vec<Result<Entry, FileError>>, StoreError> {
        let mut entries = Vec::new();
        for folder in self.log_folders()? {
            entries.extend(entries_in(&folder)?);
        }
        Ok(entries)
    }

    /// Those that nobody has decided about, oldest first.
    pub fn undecided(&self) -> Result<Vec<Entry>, StoreError> {
        let folder = self.open(&[UNDECIDED])?;
        let entries = folder.map_or(Ok(Vec::new()), |it| entries_in(&it))?;
        Ok(readable(entries))
    }

    /// Removes an entry. Its texts go with [`tidy`](Self::tidy).
    ///
    /// # Errors
    /// When there is none, or it cannot be removed.
    pub fn forget_entry(&self, name: EntryRef) -> Result<(), StoreError> {
        let file = file_name(name.0);
        for folder in self.folders_of(name)? {
            // In the other folder, somebody may be about to find out that the number is taken.
            if folder.size_of(&file).is_some() {
                return Ok(folder.remove(&file)?);
            }
        }
        Err(StoreError::NoEntry(name))
    }

    /// Keeps a text, and returns its state; without the text if it is too long.
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

    /// The texts of a file before and after; an empty one where there was no file.
    ///
    /// # Errors
    /// As [`text_of`](Self::text_of).
    pub fn texts_of(
        &self,
        before: &FileState,
        after: &FileState,
    ) -> Result<(Text, Text), StoreError> {
        let text = |state| {
            self.text_of(state)
                .map(|it| Text::new(it.unwrap_or_default()))
        };
        Ok((text(before)?, text(after)?))
    }

    /// Removes old entries.
    pub(super) fn tidy_log(&self, now: SystemTime) -> Result<(), StoreError> {
        let mut numbers = Vec::new();
        for folder in self.log_folders()? {
            remove_unfinished(&folder, now)?;
            numbers.extend(numbers_in(&folder)?);
        }
        numbers.sort_unstable();
        let surplus = numbers.len().saturating_sub(MAX_ENTRIES);
        let surplus: HashSet<u64> = numbers.into_iter().take(surplus).collect();
        for entry in self.entries()? {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(entry.at);
            let age = now.duration_since(at).unwrap_or_default();
            let is_old = match entry.state {
                EntryState::Undecided => age > MAX_DRAFT_AGE,
                _ => age > MAX_AGE || surplus.contains(&entry.number),
            };
            if is_old && !entry.is_pending() {
                self.forget_entry(entry.name())?;
            }
        }
        // New entries come into the last one.
        for part in self.parts_of_log()?.iter().rev().skip(1) {
            if let Some(folder) = self.open(&[DECIDED, &part.to_string()])? {
                // It is not empty, or another process was quicker.
                let _ = fs::remove_dir(folder.path());
            }
        }
        Ok(())
    }

    /// The folders that have entries: first those that may be decided meanwhile.
    fn log_folders(&self) -> Result<Vec<Folder>, StoreError> {
        let mut folders: Vec<_> = self.open(&[UNDECIDED])?.into_iter().collect();
        for part in self.parts_of_log()? {
            folders.extend(self.open(&[DECIDED, &part.to_string()])?);
        }
        Ok(folders)
    }

    /// The folders in which an entry of this name may be.
    fn folders_of(&self, name: EntryRef) -> Result<Vec<Folder>, StoreError> {
        let undecided = self.open(&[UNDECIDED])?;
        let decided = self.open(&[DECIDED, &part_of(name.0)])?;
        Ok(undecided.into_iter().chain(decided).collect())
    }

    /// The numbers of the folders of decided entries, ascending.
    fn parts_of_log(&self) -> Result<Vec<u64>, StoreError> {
        let names = self.names(&[DECIDED])?;
        let mut parts: Vec<u64> = names.iter().filter_map(|it| it.parse().ok()).collect();
        parts.sort_unstable();
        Ok(parts)
    }

    /// The highest number of an entry; 0 if there is none. In the last folder of decided ones, all may have been forgotten, which
    /// does no harm: their numbers were taken all the same.
    fn newest_entry(&self) -> Result<u64, StoreError> {
        let last = self.parts_of_log()?.pop().unwrap_or(0).to_string();
        let decided = self.names(&[DECIDED, &last])?;
        let all = decided.into_iter().chain(self.names(&[UNDECIDED])?);
        Ok(all.filter_map(|it| number_of(&it)).max().unwrap_or(0))
    }
}

/// The entries of a folder, as far as they can be understood.
fn entries_in(folder: &Folder) -> Result<Vec<Result<Entry, FileError>>, FileError> {
    let names = folder.names()?.into_iter();
    let read = |name: String| read(folder, &name).transpose();
    Ok(names.filter_map(read).collect())
}

fn numbers_in(folder: &Folder) -> Result<Vec<u64>, FileError> {
    let names = folder.names()?;
    Ok(names.iter().filter_map(|it| number_of(it)).collect())
}

/// Those of these that could be read, oldest first.
fn readable(entries: Vec<Result<Entry, FileError>>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = entries.into_iter().filter_map(Result::ok).collect();
    entries.sort_by_key(|entry| entry.number);
    entries
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

/// The name of the folder for the decided entry of this number.
fn part_of(number: u64) -> String {
    (number / PART).to_string()
}

fn file_name(number: u64) -> String {
    format!("{number}{END}")
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_suffix(END)?.parse().ok()
}
