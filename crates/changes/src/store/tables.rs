//! The files of watched folders as they were looked at last, in the store: a log for each folder and each process that watches it.
//! By it, whoever watches next knows what has changed since that process was killed.

use std::path::Path;

use super::{MAX_RECORD, Store, StoreError};
use crate::state::Hash;

pub(super) const TABLES: &str = "tables";

impl Store {
    /// Begins the log of a folder anew with these lines.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn begin_table(
        &self,
        watcher: u32,
        root: &Path,
        lines: &[u8],
    ) -> Result<(), StoreError> {
        Ok(self
            .create(&[TABLES])?
            .write(name_of(watcher, root).as_str(), lines)?)
    }

    /// Adds these lines to it.
    ///
    /// # Errors
    /// When it cannot be written. Then a part of them may be there.
    pub(crate) fn add_to_table(
        &self,
        watcher: u32,
        root: &Path,
        lines: &[u8],
    ) -> Result<(), StoreError> {
        Ok(self
            .create(&[TABLES])?
            .append(name_of(watcher, root).as_str(), lines)?)
    }

    /// The lines that this process has written, if there are any.
    pub(crate) fn table(&self, watcher: u32, root: &Path) -> Option<Vec<u8>> {
        let folder = self.open(&[TABLES]).ok()??;
        folder
            .read(name_of(watcher, root).as_str(), MAX_RECORD)
            .ok()?
    }

    /// Nobody needs it any more.
    pub(crate) fn remove_table(&self, watcher: u32, root: &Path) {
        if let Ok(Some(folder)) = self.open(&[TABLES]) {
            // What stays goes with what is old.
            let _ = folder.remove(name_of(watcher, root).as_str());
        }
    }
}

fn name_of(watcher: u32, root: &Path) -> Hash {
    let name = [
        watcher.to_string().as_bytes(),
        b" ",
        root.as_os_str().as_encoded_bytes(),
    ]
    .concat();
    Hash::of(&name)
}
