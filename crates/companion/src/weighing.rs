//! Counts the acceptances that are being weighed beside the loop, and keeps the answers that wait until those have ended: a
//! diff that is being accepted is not pending any more, or the person is asked about it. An answer waits only for what was
//! begun before it, and each of those ends after the disk's time limit at the latest.

use std::collections::{BTreeSet, VecDeque};

/// The acceptances that are being weighed, and the answers of kind `A` that wait for them.
#[derive(Debug)]
pub(crate) struct Weighing<A> {
    /// The number of those that were begun.
    begun: u64,
    running: BTreeSet<u64>,
    /// With the number of those that had been begun before.
    waiting: VecDeque<(u64, A)>,
}

impl<A> Default for Weighing<A> {
    fn default() -> Self {
        Self {
            begun: 0,
            running: BTreeSet::new(),
            waiting: VecDeque::new(),
        }
    }
}

impl<A> Weighing<A> {
    /// One begins. Returns its number.
    pub(crate) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.running.insert(self.begun);
        self.begun
    }

    /// The one of this number has ended, and what it decides is decided. Returns the answers that wait no longer.
    pub(crate) fn end(&mut self, number: u64) -> Vec<A> {
        self.running.remove(&number);
        let oldest = self.running.first().copied();
        let waits = |before: u64| oldest.is_some_and(|oldest| oldest <= before);
        let done = self.waiting.partition_point(|(before, _)| !waits(*before));
        self.waiting
            .drain(..done)
            .map(|(_, answer)| answer)
            .collect()
    }

    /// Keeps an answer until those have ended that were begun before it. Gives it back if there are none.
    pub(crate) fn wait(&mut self, answer: A) -> Option<A> {
        if self.running.is_empty() {
            return Some(answer);
        }
        self.waiting.push_back((self.begun, answer));
        None
    }

    /// Returns true if none is being weighed.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_waits_for_what_was_begun_before_it_and_for_nothing_later() {
        let mut weighing = Weighing::default();
        assert_eq!(weighing.wait("at once"), Some("at once"));
        let (first, second) = (weighing.begin(), weighing.begin());
        assert_eq!(weighing.wait("both"), None);
        let third = weighing.begin();
        assert_eq!(weighing.wait("all"), None);
        assert!(weighing.end(second).is_empty(), "the first goes on");
        assert_eq!(weighing.end(first), ["both"]);
        assert!(!weighing.is_empty());
        assert_eq!(weighing.end(third), ["all"]);
        assert!(weighing.is_empty());
        assert_eq!(weighing.wait("again"), Some("again"));
    }

    #[test]
    fn one_that_ends_late_lets_all_go_that_waited_for_it() {
        let mut weighing = Weighing::default();
        let first = weighing.begin();
        assert_eq!(weighing.wait(1), None);
        let second = weighing.begin();
        assert_eq!(weighing.wait(2), None);
        assert!(weighing.end(second).is_empty());
        assert_eq!(weighing.end(first), [1, 2]);
    }

    #[test]
    fn an_end_without_a_beginning_releases_nothing() {
        let mut weighing = Weighing::default();
        let first = weighing.begin();
        assert_eq!(weighing.wait(1), None);
        assert!(weighing.end(first + 1).is_empty());
        assert_eq!(weighing.end(first), [1]);
        assert!(weighing.end(first).is_empty());
    }
}
