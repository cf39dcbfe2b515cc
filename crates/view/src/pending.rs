//! The proposals that wait for a decision in a front end, whatever it keeps of each: which revision is there, and
//! which decision counts. A state machine: no I/O, no clock.
//!
//! The companion's own list (`diffs::entries`) is not one of these: it counts the revisions, and finds diffs by
//! their agent, their name and their deadline. The editors' plugins, in other languages and other processes, send
//! the revision with each decision instead.

use std::ops::{Deref, DerefMut};

use crate::proposal::{Diff, DiffId, ProposalKey};

/// What a front end keeps of a proposal.
pub trait Proposed {
    /// Which proposal it is.
    fn key(&self) -> ProposalKey;
}

impl Proposed for Diff {
    fn key(&self) -> ProposalKey {
        let (id, revision) = (self.id, self.revision);
        ProposalKey { id, revision }
    }
}

/// The proposals that wait for a decision, oldest first. Of each diff there is one revision, the newest.
#[derive(Debug, Clone)]
pub struct Pending<T>(Vec<T>);

/// Why something is not about a proposal that waits for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// The diff was decided or closed, or never came.
    #[error("no such diff is shown")]
    NotPending,
    /// A newer proposal has taken its place, which nobody has decided about.
    #[error("a newer proposal has arrived: look at it first")]
    Replaced,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Proposed> Pending<T> {
    /// A proposal has come. It takes the place of the diff's former revision, which is handed back.
    pub fn put(&mut self, proposal: T) -> Option<T> {
        let id = proposal.key().id;
        if let Some(former) = self.find_mut(id) {
            return Some(std::mem::replace(former, proposal));
        }
        self.0.push(proposal);
        None
    }

    /// The newest proposal of a diff.
    pub fn find(&self, id: DiffId) -> Option<&T> {
        self.0.iter().find(|proposal| proposal.key().id == id)
    }

    /// The newest proposal of a diff, to change it.
    pub fn find_mut(&mut self, id: DiffId) -> Option<&mut T> {
        self.0.iter_mut().find(|proposal| proposal.key().id == id)
    }

    /// Exactly this proposal.
    ///
    /// # Errors
    /// When it is not pending any more.
    pub fn current(&self, key: ProposalKey) -> Result<&T, Stale> {
        let found = self.find(key.id).ok_or(Stale::NotPending)?;
        let is_current = found.key() == key;
        is_current.then_some(found).ok_or(Stale::Replaced)
    }

    /// Exactly this proposal, to change it.
    ///
    /// # Errors
    /// When it is not pending any more.
    pub fn current_mut(&mut self, key: ProposalKey) -> Result<&mut T, Stale> {
        self.current(key)?;
        self.find_mut(key.id).ok_or(Stale::NotPending)
    }

    /// Takes exactly this proposal away: it was decided, or cannot be shown.
    ///
    /// # Errors
    /// When it is not pending any more; then everything stays.
    pub fn take(&mut self, key: ProposalKey) -> Result<T, Stale> {
        self.current(key)?;
        self.close(key.id)
    }

    /// Takes away whatever a diff shows.
    ///
    /// # Errors
    /// When it shows nothing.
    pub fn close(&mut self, id: DiffId) -> Result<T, Stale> {
        Ok(self.remove(self.position(id)?))
    }

    /// Where a diff is among the others.
    ///
    /// # Errors
    /// When it shows nothing.
    pub fn position(&self, id: DiffId) -> Result<usize, Stale> {
        let mut proposals = self.0.iter();
        let at = proposals.position(|proposal| proposal.key().id == id);
        at.ok_or(Stale::NotPending)
    }

    /// Takes the proposal at this place away.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&mut self, at: usize) -> T {
        self.0.remove(at)
    }
}

impl<T> Deref for Pending<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Pending<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Shown(ProposalKey, &'static str);

    impl Proposed for Shown {
        fn key(&self) -> ProposalKey {
            self.0
        }
    }

    fn key(id: u64, revision: u32) -> ProposalKey {
        let id = DiffId(id);
        ProposalKey { id, revision }
    }

    fn pending() -> Pending<Shown> {
        let mut pending = Pending::default();
        assert_eq!(pending.put(Shown(key(4, 1), "old")), None);
        assert_eq!(pending.put(Shown(key(3, 1), "other")), None);
        let former = pending.put(Shown(key(4, 2), "new"));
        assert_eq!(former, Some(Shown(key(4, 1), "old")));
        pending
    }

    #[test]
    fn a_newer_proposal_takes_the_place_of_the_former_one() {
        let texts: Vec<_> = pending().iter().map(|shown| shown.1).collect();
        assert_eq!(texts, ["new", "other"]);
    }

    #[test]
    fn a_decision_is_about_one_revision() {
        let mut pending = pending();
        assert_eq!(pending.take(key(4, 1)), Err(Stale::Replaced));
        assert_eq!(pending.current(key(4, 3)), Err(Stale::Replaced));
        assert_eq!(pending.take(key(5, 1)), Err(Stale::NotPending));
        assert_eq!(pending.len(), 2, "what does not count changes nothing");
        assert_eq!(pending.take(key(4, 2)), Ok(Shown(key(4, 2), "new")));
        assert_eq!(pending.take(key(4, 2)), Err(Stale::NotPending));
        assert_eq!(pending.find(DiffId(3)), Some(&Shown(key(3, 1), "other")));
    }

    #[test]
    fn a_diff_is_closed_whatever_it_shows() {
        let mut pending = pending();
        assert_eq!(pending.close(DiffId(3)), Ok(Shown(key(3, 1), "other")));
        assert_eq!(pending.close(DiffId(3)), Err(Stale::NotPending));
        assert_eq!(pending.close(DiffId(4)), Ok(Shown(key(4, 2), "new")));
        assert!(pending.is_empty());
    }
}
