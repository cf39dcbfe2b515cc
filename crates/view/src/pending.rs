//! The proposals that wait for a decision in a front end, whatever it keeps of each: which revision is there, and
//! which decision counts. A state machine: no I/O, no clock.
//!
//! The companion's own list (`diffs::entries`) is not one of these: it counts the revisions, and finds diffs by
//! their agent, their name and their deadline. The editors' plugins, in other languages and other processes, send
//! the revision with each decision instead.

use std::ops::{Deref, DerefMut};

use crate::proposal::{Diff, DiffId, ProposalKey, SetPlace};

/// The part of a proposal that a front end keeps.
pub trait Proposed {
    /// Returns the key of the proposal.
    fn key(&self) -> ProposalKey;

    /// Its place in its set, if it is in one.
    fn set(&self) -> Option<SetPlace>;
}

impl Proposed for Diff {
    fn key(&self) -> ProposalKey {
        let (id, revision) = (self.id, self.revision);
        ProposalKey { id, revision }
    }

    fn set(&self) -> Option<SetPlace> {
        self.set
    }
}

/// The proposals that wait for a decision, oldest first, but the files of a set beside each other, by their places. Of
/// each diff there is one revision, the newest.
#[derive(Debug, Clone)]
pub struct Pending<T>(Vec<T>);

/// The reason why something is not about a proposal that waits for a decision.
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
        let at = proposal.set().and_then(|set| {
            let last = self.0.iter().rposition(|it| is_before(it.set(), set));
            // All of the set that are there may come later in it.
            last.map(|at| at + 1).or_else(|| self.of_set(set, 0))
        });
        self.0.insert(at.unwrap_or(self.0.len()), proposal);
        None
    }

    /// Returns the position of the proposal after one of this set that is settled: the next one of the set, or else its first.
    pub fn next_of_set(&self, settled: Option<SetPlace>) -> Option<usize> {
        let settled = settled?;
        self.of_set(settled, settled.place)
            .or_else(|| self.of_set(settled, 0))
    }

    /// Returns the position of the first one of this set that has a greater place.
    fn of_set(&self, set: SetPlace, than: u32) -> Option<usize> {
        let is_of_it = |it: SetPlace| it.id == set.id && it.place > than;
        self.0.iter().position(|it| it.set().is_some_and(is_of_it))
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

    /// Returns the position of a diff among the others.
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

/// Returns true if `other` is in the same set, before `set`.
fn is_before(other: Option<SetPlace>, set: SetPlace) -> bool {
    other.is_some_and(|other| other.id == set.id && other.place < set.place)
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
    struct Shown(ProposalKey, &'static str, Option<SetPlace>);

    impl Proposed for Shown {
        fn key(&self) -> ProposalKey {
            self.0
        }

        fn set(&self) -> Option<SetPlace> {
            self.2
        }
    }

    fn shown(key: ProposalKey, name: &'static str) -> Shown {
        Shown(key, name, None)
    }

    fn key(id: u64, revision: u32) -> ProposalKey {
        let id = DiffId(id);
        ProposalKey { id, revision }
    }

    fn pending() -> Pending<Shown> {
        let mut pending = Pending::default();
        assert_eq!(pending.put(shown(key(4, 1), "old")), None);
        assert_eq!(pending.put(shown(key(3, 1), "other")), None);
        let former = pending.put(shown(key(4, 2), "new"));
        assert_eq!(former, Some(shown(key(4, 1), "old")));
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
        assert_eq!(pending.take(key(4, 2)), Ok(shown(key(4, 2), "new")));
        assert_eq!(pending.take(key(4, 2)), Err(Stale::NotPending));
        assert_eq!(pending.find(DiffId(3)), Some(&shown(key(3, 1), "other")));
    }

    #[test]
    fn a_diff_is_closed_whatever_it_shows() {
        let mut pending = pending();
        assert_eq!(pending.close(DiffId(3)), Ok(shown(key(3, 1), "other")));
        assert_eq!(pending.close(DiffId(3)), Err(Stale::NotPending));
        assert_eq!(pending.close(DiffId(4)), Ok(shown(key(4, 2), "new")));
        assert!(pending.is_empty());
    }

    /// Puts proposals in, each by its number, set and place; their numbers afterwards.
    fn of_sets(arrivals: &[(u64, u64, u32)]) -> (Pending<Shown>, Vec<u64>) {
        let mut pending = Pending::default();
        for (number, set, place) in arrivals {
            let set = (*set > 0).then_some(SetPlace {
                id: *set,
                place: *place,
                of: 9,
            });
            pending.put(Shown(key(*number, 1), "", set));
        }
        let numbers = pending.iter().map(|it| it.0.id.0).collect();
        (pending, numbers)
    }

    #[test]
    fn the_files_of_a_set_are_beside_each_other() {
        for (arrivals, expected) in [
            (
                &[(1, 7, 1), (2, 8, 1), (3, 7, 2), (4, 8, 2)][..],
                [1, 3, 2, 4],
            ),
            (&[(1, 7, 3), (2, 0, 0), (3, 7, 1), (4, 7, 2)], [3, 4, 1, 2]),
            (&[(1, 0, 0), (2, 7, 2), (3, 8, 1), (4, 7, 1)], [1, 4, 2, 3]),
        ] {
            assert_eq!(of_sets(arrivals).1, expected, "{arrivals:?}");
        }
    }

    #[test]
    fn after_a_file_of_a_set_comes_the_next_one_of_it() {
        let arrivals = [(1, 7, 1), (2, 8, 2), (3, 7, 2), (4, 7, 3), (5, 0, 0)];
        for (settled, next) in [
            (&[1][..], Some(3)),
            (&[3], Some(4)),
            (&[4], Some(1)),
            (&[1, 4, 3], None),
            (&[2], None),
            (&[5], None),
        ] {
            let (mut pending, _) = of_sets(&arrivals);
            let mut set = None;
            for number in settled {
                set = pending.close(DiffId(*number)).unwrap().2;
            }
            let at = pending.next_of_set(set);
            assert_eq!(at.map(|at| pending[at].0.id.0), next, "{settled:?}");
        }
    }

    #[test]
    fn a_newer_proposal_of_a_file_in_a_set_keeps_its_place() {
        let (mut pending, _) = of_sets(&[(1, 7, 1), (2, 7, 2), (3, 7, 3)]);
        let set = pending[1].2;
        pending.put(Shown(key(2, 2), "", set));
        let keys: Vec<_> = pending.iter().map(Proposed::key).collect();
        assert_eq!(keys, [key(1, 1), key(2, 2), key(3, 1)]);
    }
}
