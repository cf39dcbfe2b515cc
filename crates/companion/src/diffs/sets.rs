//! Owns the sets: each proposer's files that belong together, and their places.

use std::collections::HashMap;
use std::path::Path;

use pillion_view::{DiffId, SetPlace};

use super::{Diffs, Entry, Proposal, State};
use crate::sessions::SessionId;

/// The numbers of the sets, by their proposers: each proposes one. It is that of the set's first diff, which is never given again.
#[derive(Debug, Default)]
pub(super) struct Sets {
    known: HashMap<SessionId, DiffId>,
}

impl Sets {
    /// A proposer is gone for good, and its set with it.
    pub(super) fn session_gone(&mut self, session: &SessionId) {
        self.known.remove(session);
    }
}

impl<C> Diffs<C> {
    /// The place of a proposal of this number in its set.
    pub(super) fn set_place(&mut self, id: DiffId, proposal: &Proposal) -> Option<SetPlace> {
        let (place, of) = proposal.set?;
        let known = self.sets.known.entry(proposal.session.clone());
        let DiffId(id) = *known.or_insert(id);
        Some(SetPlace { id, place, of })
    }

    /// Returns why a file cannot be shown, if another one of its set leads to the same place.
    pub(super) fn same_file_in_set(&self, id: DiffId, path: &Path) -> Option<String> {
        let entry = self.entries.get(id)?;
        let set = entry.set?;
        let is_same = |other: &&Entry<C>| {
            let opened = other.opened.as_ref();
            other.key.id != id
                && other.set.is_some_and(|other| other.id == set.id)
                && other.is_open()
                && opened.is_some_and(|opened| opened.on_disk.leads_to == path)
        };
        let other = self.entries.iter().find(is_same)?;
        let (own, other) = (&entry.proposal.file_path, &other.proposal.file_path);
        Some(format!("{own:?} and {other:?} are the same file"))
    }
}

impl<C> Entry<C> {
    /// Returns true unless its proposer or its end takes it away.
    fn is_open(&self) -> bool {
        !matches!(
            self.state,
            State::AgentCloses { .. } | State::AgentGone { .. }
        )
    }
}
