//! The proposals that a front end was asked to show, and their numbers. A state machine, without I/O.
//!
//! Each hub counts from 1, and to the front end a number is never used twice: it also holds how many hubs there were
//! before.

use std::collections::BTreeSet;

use crate::proposal::DiffId;

/// Those of one front end.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    /// The number of hubs that have had something shown, and are gone.
    former_hubs: u64,
    /// True if this hub has had something shown.
    is_used: bool,
    /// Those that are shown, or about to be.
    shown: BTreeSet<DiffId>,
}

impl Proposals {
    /// The hub has one shown. Returns its number here.
    pub(crate) fn open(&mut self, hub: DiffId) -> DiffId {
        let here = self.here(hub);
        self.is_used = true;
        self.shown.insert(here);
        here
    }

    /// The number here of one of the hub's.
    pub(crate) fn here(&self, hub: DiffId) -> DiffId {
        hub.after(self.former_hubs)
    }

    /// The hub's number of one here, if it is this hub's.
    pub(crate) fn hub(&self, here: DiffId) -> Option<DiffId> {
        let hub = here.in_companion();
        (self.here(hub) == here).then_some(hub)
    }

    /// It is shown no longer.
    pub(crate) fn closed(&mut self, here: DiffId) {
        self.shown.remove(&here);
    }

    /// The hub is gone. Returns what is still shown.
    pub(crate) fn lost(&mut self) -> BTreeSet<DiffId> {
        if std::mem::take(&mut self.is_used) {
            self.former_hubs += 1;
        }
        std::mem::take(&mut self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(proposals: &mut Proposals, numbers: &[u64]) -> Vec<u64> {
        let numbers = numbers.iter();
        numbers
            .map(|number| proposals.open(DiffId(*number)).0)
            .collect()
    }

    /// Also those that come late, as when several front ends share a companion.
    #[test]
    fn the_numbers_of_the_first_hub_are_those_here() {
        let mut proposals = Proposals::default();
        assert_eq!(open(&mut proposals, &[2, 3, 3, 7, 1]), [2, 3, 3, 7, 1]);
    }

    #[test]
    fn numbers_of_another_hub_are_new_ones_and_commands_use_its_own() {
        let mut proposals = Proposals::default();
        open(&mut proposals, &[1, 2]);
        proposals.closed(DiffId(1));
        assert_eq!(proposals.lost(), BTreeSet::from([DiffId(2)]));
        assert_eq!(proposals.hub(DiffId(2)), None, "it was another's");
        let next = open(&mut proposals, &[1, 9, 1]);
        assert_eq!(next[0], next[2]);
        for (number, here) in [1, 9].into_iter().zip(next) {
            let (number, here) = (DiffId(number), DiffId(here));
            assert!(here.0 > 9, "it is new here");
            assert_eq!(here.in_companion(), number);
            assert_eq!(proposals.hub(here), Some(number));
        }
        assert!(!proposals.lost().contains(&DiffId(2)), "told before");
    }

    #[test]
    fn a_hub_that_had_nothing_shown_does_not_count() {
        let mut proposals = Proposals::default();
        for _ in 0..3 {
            assert!(proposals.lost().is_empty());
        }
        assert_eq!(open(&mut proposals, &[1]), [1]);
    }
}
