//! Sets of numbers of which many are next to each other.

use std::iter;
use std::ops::Range;

/// Ranges that neither overlap nor touch, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals(Vec<Range<usize>>);

impl Intervals {
    /// Adds a range.
    pub fn add(&mut self, range: Range<usize>) {
        if range.start >= range.end {
            return;
        }
        let first = self.0.partition_point(|known| known.end < range.start);
        let end = self.0.partition_point(|known| known.start <= range.end);
        let touched = &self.0[first..end];
        let start = touched
            .first()
            .map_or(range.start, |it| it.start.min(range.start));
        let last = touched.last().map_or(range.end, |it| it.end.max(range.end));
        self.0.splice(first..end, iter::once(start..last));
    }

    /// Adds a range without the numbers of another set.
    pub fn add_all_but(&mut self, other: &Self, range: Range<usize>) {
        let mut start = range.start;
        for hole in &other.0 {
            self.add(start..hole.start.clamp(start, range.end.max(start)));
            start = start.max(hole.end);
        }
        self.add(start..range.end);
    }

    /// The first number of `range` that is not in the set.
    pub fn first_gap(&self, range: Range<usize>) -> Option<usize> {
        let after = self.0.partition_point(|known| known.end <= range.start);
        let covered = self.0.get(after).filter(|known| known.start <= range.start);
        let gap = covered.map_or(range.start, |known| known.end);
        (gap < range.end).then_some(gap)
    }

    /// Returns true if all of `range` is in the set.
    pub fn covers(&self, range: Range<usize>) -> bool {
        self.first_gap(range).is_none()
    }

    /// They, in their order.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.0
    }

    /// The numbers in it, in their order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_holds_what_was_put_into_it(ranges in prop::collection::vec((0_usize..60, 0_usize..9), 0..20)) {
            let mut set = Intervals::default();
            let mut all = [false; 80];
            for (start, len) in ranges {
                set.add(start..start + len);
                all[start..start + len].fill(true);
                let numbers: Vec<_> = (0..80).filter(|at| all[*at]).collect();
                prop_assert_eq!(set.numbers().collect::<Vec<_>>(), numbers);
            }
            for start in 0..80 {
                for end in start..80 {
                    let mut rest = Intervals::default();
                    rest.add_all_but(&set, start..end);
                    prop_assert!(rest.numbers().eq((start..end).filter(|at| !all[*at])));
                    let gap = (start..end).find(|at| !all[*at]);
                    prop_assert_eq!(set.first_gap(start..end), gap);
                }
            }
        }
    }
}
