//! The open diffs, found without looking at all of them: by number, by name, by deadline.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use pillion_protocol::Proposer;
use pillion_view::DiffId;

use super::{Entry, State};
use crate::sessions::SessionId;

/// The most diffs of the proposers of one kind that may be open.
pub(super) const MAX_OPEN: usize = 2000;

/// The most bytes that their proposed texts may have together.
pub(super) const MAX_OPEN_BYTES: usize = 512 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Entries<C> {
    entries: BTreeMap<DiffId, Entry<C>>,
    /// The newest diff of each name: its path, unless the agent gave it one.
    by_name: HashMap<SessionId, HashMap<String, DiffId>>,
    /// Whatever may have a deadline.
    waiting: BTreeSet<DiffId>,
    loads: HashMap<Proposer, Load>,
}

/// The load of the open diffs of the proposers of one kind.
#[derive(Debug, Default, Clone, Copy)]
struct Load {
    count: usize,
    bytes: usize,
}

impl<C> Default for Entries<C> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            by_name: HashMap::new(),
            waiting: BTreeSet::new(),
            loads: HashMap::new(),
        }
    }
}

impl<C> Entries<C> {
    pub(super) fn insert(&mut self, entry: Entry<C>) {
        let (id, proposal) = (entry.key.id, &entry.proposal);
        let names = self.by_name.entry(proposal.session.clone()).or_default();
        names.insert(proposal.name().to_owned(), id);
        let load = self.loads.entry(proposal.proposer).or_default();
        load.count += 1;
        load.bytes += entry.as_written().len();
        self.waiting.insert(id);
        self.entries.insert(id, entry);
    }

    pub(super) fn remove(&mut self, id: DiffId) -> Option<Entry<C>> {
        let entry = self.entries.remove(&id)?;
        self.waiting.remove(&id);
        let proposal = &entry.proposal;
        if let Some(load) = self.loads.get_mut(&proposal.proposer) {
            load.count -= 1;
            load.bytes -= entry.as_written().len();
        }
        if let Some(names) = self.by_name.get_mut(&proposal.session) {
            // While one closes, its name may be another's already.
            if names.get(proposal.name()) == Some(&id) {
                names.remove(proposal.name());
            }
            if names.is_empty() {
                self.by_name.remove(&proposal.session);
            }
        }
        Some(entry)
    }

    pub(super) fn get(&self, id: DiffId) -> Option<&Entry<C>> {
        self.entries.get(&id)
    }

    /// An entry to change: it may have a deadline afterwards.
    pub(super) fn get_mut(&mut self, id: DiffId) -> Option<&mut Entry<C>> {
        let entry = self.entries.get_mut(&id)?;
        self.waiting.insert(id);
        Some(entry)
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<C>> {
        self.entries.values()
    }

    /// The open diff of a session of this name. One that the agent is closing is open no more.
    pub(super) fn find(&self, session: &SessionId, name: &str) -> Option<DiffId> {
        let id = *self.by_name.get(session)?.get(name)?;
        let is_open = !matches!(self.get(id)?.state, State::AgentCloses { .. });
        is_open.then_some(id)
    }

    /// The earliest deadline.
    pub(super) fn due(&self) -> Option<Instant> {
        let waiting = self.waiting.iter();
        waiting.filter_map(|id| self.get(*id)?.deadline()).min()
    }

    /// Those whose deadline is over.
    pub(super) fn late(&mut self, now: Instant) -> Vec<DiffId> {
        let entries = &self.entries;
        let deadline = |id: &DiffId| entries.get(id)?.deadline();
        self.waiting.retain(|id| deadline(id).is_some());
        let is_late = |id: &&DiffId| deadline(id).is_some_and(|at| at <= now);
        self.waiting.iter().filter(is_late).copied().collect()
    }

    /// Returns why a proposer may not have one more open diff, with so many bytes, in the place of `former`.
    pub(super) fn refuse(
        &self,
        proposer: Proposer,
        bytes: usize,
        former: Option<DiffId>,
    ) -> Option<String> {
        let former = former.and_then(|id| self.get(id));
        let mut load = self.loads.get(&proposer).copied().unwrap_or_default();
        load.count -= usize::from(former.is_some());
        load.bytes -= former.map_or(0, |former| former.as_written().len());
        let what = if load.count >= MAX_OPEN {
            format!("many pending diffs (limit {MAX_OPEN})")
        } else if load.bytes + bytes > MAX_OPEN_BYTES {
            format!("much pending text (limit {} MiB)", MAX_OPEN_BYTES >> 20)
        } else {
            return None;
        };
        Some(format!("openDiff: too {what}: decide or close some diffs"))
    }
}
