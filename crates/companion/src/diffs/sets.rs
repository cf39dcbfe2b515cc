//! Owns the sets: the diffs that belong to each, and their places in it.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use pillion_protocol::SetArgument;
use pillion_view::{DiffId, SetPlace};

use super::{Diffs, Entry, Proposal, State};
use crate::sessions::SessionId;

/// So many sets keep their number although none of their files is open: the next one may be on its way.
const MAX_CLOSED: usize = 256;

/// The sets that proposers have named, oldest first.
#[derive(Debug, Default)]
pub(super) struct Sets {
    last_id: u64,
    known: VecDeque<Set>,
}

#[derive(Debug)]
struct Set {
    id: u64,
    session: SessionId,
    name: String,
    of: u32,
}

impl Sets {
    fn find(&self, session: &SessionId, name: &str) -> Option<&Set> {
        let mut known = self.known.iter();
        known.find(|set| set.session == *session && set.name == name)
    }

    fn add(&mut self, session: &SessionId, argument: &SetArgument) -> u64 {
        self.last_id += 1;
        self.known.push_back(Set {
            id: self.last_id,
            session: session.clone(),
            name: argument.name.clone(),
            of: argument.of,
        });
        self.last_id
    }

    /// Forgets the oldest of those without an open file.
    fn forget(&mut self, open: &HashSet<u64>) {
        let closed = self.known.iter().filter(|set| !open.contains(&set.id));
        let mut surplus = closed.count().saturating_sub(MAX_CLOSED);
        self.known.retain(|set| {
            let is_surplus = surplus > 0 && !open.contains(&set.id);
            surplus -= usize::from(is_surplus);
            !is_surplus
        });
    }

    /// A session is gone for good, and its sets with it.
    pub(super) fn session_gone(&mut self, session: &SessionId) {
        self.known.retain(|set| set.session != *session);
    }
}

impl<C> Diffs<C> {
    /// The place of a proposal in its set. A diff keeps the place that it has: `former` is the one that is replaced.
    ///
    /// # Errors
    /// A sentence for the proposer.
    pub(super) fn set_place(
        &mut self,
        proposal: &Proposal,
        former: Option<DiffId>,
    ) -> Result<Option<SetPlace>, String> {
        let former = former.and_then(|id| self.entries.get(id));
        let Some(wanted) = &proposal.set else {
            return Ok(former.and_then(|former| former.set));
        };
        let SetArgument { name, place, of } = wanted;
        let path = &proposal.file_path;
        let known = self.sets.find(&proposal.session, name);
        let known = known.map(|set| (set.id, set.of));
        if let Some((_, known)) = known.filter(|(_, known)| known != of) {
            return Err(format!("this set has {known} files, not {of}"));
        }
        if let Some(former) = former {
            let id = known.map(|(id, _)| id);
            return match former.set {
                Some(set) if Some(set.id) == id && set.place == *place => Ok(Some(set)),
                Some(set) if Some(set.id) == id => {
                    Err(format!("{path:?} is file {set} of this set already"))
                }
                _ => Err(format!("{path:?} is pending already, and not in this set")),
            };
        }
        if let Some((id, _)) = known {
            let is_there = |entry: &&Entry<C>| {
                let set = entry.set.filter(|set| set.id == id);
                set.is_some_and(|set| set.place == *place) && entry.is_open()
            };
            if let Some(other) = self.entries.iter().find(is_there) {
                let other = &other.proposal.file_path;
                return Err(format!("file {place} of {of} is {other:?} already"));
            }
        }
        let id = known.map_or_else(|| self.add_set(&proposal.session, wanted), |(id, _)| id);
        Ok(Some(SetPlace {
            id,
            place: *place,
            of: *of,
        }))
    }

    fn add_set(&mut self, session: &SessionId, wanted: &SetArgument) -> u64 {
        let id = self.sets.add(session, wanted);
        let open = self.entries.iter().filter_map(|entry| entry.set);
        let open = open.map(|set| set.id).chain([id]).collect();
        self.sets.forget(&open);
        id
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
        Some(format!(
            "openDiff: set: {own:?} and {other:?} are the same file"
        ))
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
