//! The files of watched folders as they were looked at last, in the store: a log for each folder and each process that watches it.
//! By it, whoever watches next knows what has changed since that process was killed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, Store, StoreError};
use crate::state::Hash;
use crate::turn::Turn;

pub(super) const TABLES: &str = "tables";

/// The place of a file's text, as a table knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    Kept(Hash),
    /// Nowhere: it is too long.
    None,
    /// Nowhere, because it could not be read or stored: the next look tries again.
    Failed,
}

/// A line of a table, as far as it is about texts.
#[derive(Deserialize)]
struct Line {
    path: serde_json::Value,
    known: Option<Known>,
}

#[derive(Deserialize)]
struct Known {
    text: Source,
}

/// The texts of the files of a table by what its lines say last.
fn texts_of(lines: &[u8]) -> impl Iterator<Item = Hash> {
    let lines = lines.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|it| serde_json::from_slice::<Line>(it).ok());
    let last: HashMap<_, _> = lines.map(|it| (it.path.to_string(), it.known)).collect();
    last.into_values().filter_map(|known| match known?.text {
        Source::Kept(text) => Some(text),
        Source::None | Source::Failed => None,
    })
}

impl Store {
    /// The texts of all files as whoever watches them has seen them last.
    pub(super) fn texts_of_tables(&self) -> Result<HashSet<Hash>, StoreError> {
        let Some(folder) = self.open(&[TABLES])? else {
            return Ok(HashSet::new());
        };
        let mut texts = HashSet::new();
        for name in folder.names()? {
            texts.extend(texts_of(
                &folder.read(&name, MAX_RECORD)?.unwrap_or_default(),
            ));
        }
        Ok(texts)
    }

    /// Begins the log of a folder anew with these lines.
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

    /// Returns true if nobody watches a turn any more, and whoever watches its folders next finds what has changed in them since.
    pub(crate) fn is_left(&self, turn: &Turn) -> bool {
        let folder = self.open(&[TABLES]).ok().flatten();
        let is_kept = |root: &PathBuf| {
            let name = name_of(turn.watcher, root);
            { folder.as_ref() }.is_some_and(|it| it.size_of(name.as_str()).is_some())
        };
        turn.was_cut_off() && turn.roots.iter().any(is_kept)
    }

    /// Nobody needs it any more.
    pub(crate) fn remove_table(&self, watcher: u32, root: &Path) {
        // What stays goes with what is old.
        let _ = self.remove_file(&[TABLES], name_of(watcher, root).as_str());
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
