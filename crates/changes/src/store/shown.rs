//! What a person was shown of a turn's changes by commands, in the store: a change that is named means that text, whatever an
//! agent has written meanwhile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, Store, StoreError};
use crate::state::FileState;
use crate::turn::Change;

/// The folder with a file for each turn.
const SHOWN: &str = "shown";

/// The changes of one turn, as they were when a person was shown them last.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Shown {
    /// True if they were shown all of the turn: any other change of it is newer.
    is_all: bool,
    /// By their numbers, each one's text after.
    after: BTreeMap<u64, FileState>,
}

impl Shown {
    /// Returns true if the change is still what its name meant.
    pub fn is_as_shown(&self, change: &Change) -> bool {
        match self.after.get(&change.number) {
            Some(after) => *after == change.after,
            None => !self.is_all,
        }
    }
}

impl Store {
    /// What a person was shown of a turn. What cannot be read was not shown.
    pub fn shown(&self, turn: u64) -> Shown {
        let folder = self.open(&[SHOWN]).ok().flatten();
        let json = folder.and_then(|it| it.read(&turn.to_string(), MAX_RECORD).ok().flatten());
        json.and_then(|json| serde_json::from_slice(&json).ok())
            .unwrap_or_default()
    }

    /// The person is shown these changes of a turn as they are now. `is_all` says that there are no others.
    ///
    /// # Errors
    /// When it cannot be written. Then it is as if they had not been shown it.
    pub fn note_shown<'a>(
        &self,
        turn: u64,
        changes: impl IntoIterator<Item = &'a Change>,
        is_all: bool,
    ) -> Result<(), StoreError> {
        let mut shown = self.shown(turn);
        shown.is_all |= is_all;
        let after = changes.into_iter();
        let after = after.map(|change| (change.number, change.after.clone()));
        shown.after.extend(after);
        let json = serde_json::to_vec(&shown).unwrap_or_default();
        Ok(self.create(&[SHOWN])?.write(&turn.to_string(), &json)?)
    }

    /// Forgets what a person was shown of a turn that is gone.
    pub(super) fn forget_shown(&self, turn: u64) -> Result<(), StoreError> {
        match self.open(&[SHOWN])? {
            Some(folder) => Ok(folder.remove(&turn.to_string())?),
            None => Ok(()),
        }
    }
}
