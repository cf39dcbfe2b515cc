//! What a person was shown of a turn's changes by commands, in the store: a change that is named means that text, whatever an
//! agent has written meanwhile, and `undo` means what was taken back then.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Store, StoreError};
use crate::state::FileState;
use crate::turn::{Change, Judged};

/// The folder with a file for each turn.
pub(super) const SHOWN: &str = "shown";

/// The changes of one turn, as they were when a person was shown them last.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Shown {
    /// True if they were shown all of the turn: any other change of it is newer.
    is_all: bool,
    /// By their numbers, each one's text after.
    after: BTreeMap<u64, FileState>,
    /// By their numbers, when each was taken back or edited last, if that can be undone.
    #[serde(default)]
    taken_back: BTreeMap<u64, u64>,
}

/// A change, and what the person made of it.
pub type Shows<'a> = (&'a Change, Option<&'a Judged>);

impl Shown {
    /// Returns true if the change is still what its name meant.
    pub fn is_as_shown(&self, change: &Change) -> bool {
        match self.after.get(&change.number) {
            Some(after) => *after == change.after,
            None => !self.is_all,
        }
    }

    /// Returns true if the person was shown what was taken back last of the change; none if they were shown nothing that was taken
    /// back of it.
    pub fn is_as_taken_back(&self, (change, judged): Shows<'_>) -> Option<bool> {
        let at = self.taken_back.get(&change.number)?;
        Some(judged.is_some_and(|it| it.at == *at))
    }

    /// Returns true if they were shown something that was taken back.
    pub fn has_taken_back(&self) -> bool {
        !self.taken_back.is_empty()
    }

    fn note_taken_back<'a>(&mut self, changes: impl IntoIterator<Item = Shows<'a>>) {
        for (change, judged) in changes {
            match judged {
                Some(judged) => drop(self.taken_back.insert(change.number, judged.at)),
                None => drop(self.taken_back.remove(&change.number)),
            }
        }
    }
}

impl Store {
    /// What a person was shown of a turn. What cannot be read was not shown.
    pub fn shown(&self, turn: u64) -> Shown {
        let shown = self.read(&[SHOWN], &turn.to_string());
        shown.ok().flatten().unwrap_or_default()
    }

    /// The person is shown these changes of a turn as they are now. `is_all` says that there are no others.
    ///
    /// # Errors
    /// When it cannot be written. Then it is as if they had not been shown it.
    pub fn note_shown(
        &self,
        turn: u64,
        changes: &[Shows<'_>],
        is_all: bool,
    ) -> Result<(), StoreError> {
        self.change_shown(turn, |shown| {
            shown.is_all |= is_all;
            let after = { changes.iter() }.map(|(it, _)| (it.number, it.after.clone()));
            shown.after.extend(after);
            shown.note_taken_back(changes.iter().copied());
        })
    }

    /// The person is shown what was taken back of these changes, and nothing else of them.
    pub fn note_taken_back(&self, turn: u64, changes: &[Shows<'_>]) -> Result<(), StoreError> {
        self.change_shown(turn, |shown| shown.note_taken_back(changes.iter().copied()))
    }

    fn change_shown(&self, turn: u64, change: impl FnOnce(&mut Shown)) -> Result<(), StoreError> {
        let mut shown = self.shown(turn);
        change(&mut shown);
        self.write(&[SHOWN], &turn.to_string(), &shown)
    }

    /// Forgets what a person was shown of a turn that is gone.
    pub(super) fn forget_shown(&self, turn: u64) -> Result<(), StoreError> {
        self.remove_file(&[SHOWN], &turn.to_string())
    }
}
