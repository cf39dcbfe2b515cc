//! The processes of ours that wait beside agents to wake them. An agent starts one with each prompt (`pillion hook wait`);
//! if that ends with a text, the agent reads the text at once, also when it was idle. Each agent has one: the next ends the
//! former.
//!
//! Notes that were handed to one are the agent's as soon as the process says that it passes them on. If it ends before,
//! they wait again. A state machine without I/O. `W` stands for the way to a process; dropping it ends that.

use std::collections::HashMap;
use std::sync::Arc;

use crate::feedback::Notes;
use crate::sessions::SessionId;

/// The processes that wait, and what they have got.
#[derive(Debug)]
pub(crate) struct Wakers<W> {
    /// The number of the last one.
    last: u64,
    waiting: HashMap<SessionId, Waker<W>>,
    handed: HashMap<u64, Handed>,
}

/// A process that waits.
#[derive(Debug)]
pub(crate) struct Waker<W> {
    pub(crate) number: u64,
    pub(crate) way: W,
}

/// The notes that a process has got and not passed on yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Handed {
    pub(crate) session: SessionId,
    pub(crate) notes: Notes,
}

impl<W> Default for Wakers<W> {
    fn default() -> Self {
        Self {
            last: 0,
            waiting: HashMap::new(),
            handed: HashMap::new(),
        }
    }
}

impl<W> Wakers<W> {
    /// One more process waits, for this agent. Returns its number.
    pub(crate) fn wait(&mut self, session: &SessionId, way: W) -> u64 {
        self.last += 1;
        let number = self.last;
        let waker = Waker { number, way };
        self.waiting.insert(Arc::clone(session), waker);
        number
    }

    /// Returns true if this agent can be woken.
    pub(crate) fn can_wake(&self, session: &SessionId) -> bool {
        self.waiting.contains_key(session)
    }

    /// Takes the process that waits for this agent.
    pub(crate) fn take(&mut self, session: &SessionId) -> Option<Waker<W>> {
        self.waiting.remove(session)
    }

    /// The process of this number has got these notes.
    pub(crate) fn hand(&mut self, number: u64, session: &SessionId, notes: Notes) {
        let session = Arc::clone(session);
        self.handed.insert(number, Handed { session, notes });
    }

    /// The process of this number has ended. Returns what it had got.
    pub(crate) fn ended(&mut self, number: u64) -> Option<Handed> {
        self.waiting.retain(|_, waker| waker.number != number);
        self.handed.remove(&number)
    }

    /// The session is over.
    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.waiting.remove(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> SessionId {
        name.into()
    }

    #[test]
    fn each_agent_has_one_process_and_the_next_ends_the_former() {
        let (mut wakers, a, b) = (Wakers::default(), session("a"), session("b"));
        let ways = [(); 3].map(|()| Arc::new(()));
        let is_ended = |at: usize| Arc::strong_count(&ways[at]) == 1;
        let first = wakers.wait(&a, Arc::clone(&ways[0]));
        wakers.wait(&b, Arc::clone(&ways[1]));
        let second = wakers.wait(&a, Arc::clone(&ways[2]));
        assert_eq!([0, 1, 2].map(is_ended), [true, false, false]);
        // That the former one is gone is no news of the one that waits.
        assert_eq!(wakers.ended(first), None);
        assert!(wakers.can_wake(&a));
        assert_eq!(wakers.ended(second), None);
        assert!(!wakers.can_wake(&a) && wakers.can_wake(&b));
        wakers.forget(&b);
        assert!(!wakers.can_wake(&b) && is_ended(1));
    }

    #[test]
    fn what_a_process_got_is_known_until_it_has_ended() {
        let (mut wakers, a) = (Wakers::default(), session("a"));
        let number = wakers.wait(&a, ());
        let waker = wakers.take(&a).unwrap();
        assert_eq!(waker.number, number);
        wakers.hand(number, &a, Notes::default());
        // The next one has nothing to do with it.
        let next = wakers.wait(&a, ());
        assert_eq!(wakers.ended(next), None);
        // Nor has the session.
        wakers.forget(&a);
        let notes = Notes::default();
        let handed = Handed { session: a, notes };
        assert_eq!(wakers.ended(number), Some(handed));
        assert_eq!(wakers.ended(number), None);
    }
}
