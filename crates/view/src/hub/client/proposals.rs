//! The proposals that a front end was asked to show, and their numbers. A state machine, without I/O.
//!
//! To the front end a number is never used twice. A new hub counts from 1 again, and then its numbers are other ones
//! here, as long as it takes: what the person sees is not what commands show.

use std::collections::{BTreeMap, BTreeSet};

use crate::proposal::DiffId;

/// Those of one front end.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    /// The greatest number here that was ever used.
    last: u64,
    /// The hub's numbers, and those here.
    here: BTreeMap<DiffId, DiffId>,
    hub: BTreeMap<DiffId, DiffId>,
    /// Those that are shown, or about to be.
    shown: BTreeSet<DiffId>,
}

impl Proposals {
    /// The hub has one shown. Answers its number here.
    pub(crate) fn open(&mut self, hub: DiffId) -> DiffId {
        let here = self.here(hub).unwrap_or_else(|| {
            let here = DiffId(hub.0.max(self.last.saturating_add(1)));
            self.last = here.0;
            self.here.insert(hub, here);
            self.hub.insert(here, hub);
            here
        });
        self.shown.insert(here);
        here
    }

    /// The number here of one of the hub's.
    pub(crate) fn here(&self, hub: DiffId) -> Option<DiffId> {
        self.here.get(&hub).copied()
    }

    /// The hub's number of one here, if it is this hub's.
    pub(crate) fn hub(&self, here: DiffId) -> Option<DiffId> {
        self.hub.get(&here).copied()
    }

    /// It is shown no longer.
    pub(crate) fn closed(&mut self, here: DiffId) {
        self.shown.remove(&here);
    }

    /// The hub is gone. Answers what is still shown.
    pub(crate) fn lost(&mut self) -> BTreeSet<DiffId> {
        self.here.clear();
        self.hub.clear();
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

    #[test]
    fn the_numbers_of_the_first_hub_are_those_here() {
        let mut proposals = Proposals::default();
        assert_eq!(open(&mut proposals, &[2, 3, 3, 7, 2]), [2, 3, 3, 7, 2]);
    }

    #[test]
    fn numbers_of_another_hub_are_new_ones() {
        let mut proposals = Proposals::default();
        open(&mut proposals, &[1, 2]);
        proposals.closed(DiffId(1));
        assert_eq!(proposals.lost(), BTreeSet::from([DiffId(2)]));
        assert_eq!(proposals.hub(DiffId(2)), None, "it was another's");
        assert_eq!(open(&mut proposals, &[1, 2, 9, 1]), [3, 4, 9, 3]);
        assert_eq!(proposals.hub(DiffId(4)), Some(DiffId(2)));
        assert_eq!(proposals.here(DiffId(9)), Some(DiffId(9)));
        assert!(!proposals.lost().contains(&DiffId(2)), "told before");
    }

    /// Earlier numbers of one hub that come late, as when several front ends share it.
    #[test]
    fn one_that_comes_to_this_front_end_late_gets_its_own_number_if_it_can() {
        let mut proposals = Proposals::default();
        assert_eq!(open(&mut proposals, &[3, 1]), [3, 4]);
    }
}
