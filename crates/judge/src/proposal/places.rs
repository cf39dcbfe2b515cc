//! The places of the lines of one text in another one.

use std::ops::Range;
use std::sync::Arc;

use pillion_text::Text;
use pillion_text::hunks;

use super::texts::Texts;
use super::{Hunk, Side};

/// The places of the lines of one text in another.
#[derive(Debug)]
pub struct Places {
    changes: Vec<Hunk>,
}

/// A line of one text in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line, or the nearest one.
    pub line: usize,
    /// True if it is the same line.
    pub is_same: bool,
}

impl Places {
    /// Compares the texts, which may take a second.
    pub fn new(from: &Arc<Text>, to: &Arc<Text>) -> Self {
        let changes = match Arc::ptr_eq(from, to) {
            true => Vec::new(),
            false => hunks::between(from, to),
        };
        Self { changes }
    }

    /// The line where these lines begin now, if they are the same.
    pub fn moved(&self, lines: &Range<usize>) -> Option<usize> {
        let above = self.above(lines.start);
        let is_changed = self
            .changes
            .get(above)
            .is_some_and(|change| change.before.start < lines.end);
        (!is_changed).then(|| self.shifted(above, lines.start))
    }

    /// About where these lines are now.
    pub fn around(&self, lines: &Range<usize>) -> Range<usize> {
        let at = |line| self.shifted(self.above(line), line);
        let start = at(lines.start);
        start..at(lines.end).max(start)
    }

    /// The number of changes that end above a line.
    fn above(&self, line: usize) -> usize {
        let changes = &self.changes;
        changes.partition_point(|change| change.before.end <= line)
    }

    fn shifted(&self, above: usize, line: usize) -> usize {
        match above.checked_sub(1).and_then(|last| self.changes.get(last)) {
            Some(change) => change.after.end + (line - change.before.end),
            None => line,
        }
    }

    /// The place of a line now or, if it goes back, before.
    fn line(&self, line: usize, goes_back: bool) -> Place {
        let sides = |change: &Hunk| match goes_back {
            true => (change.after.clone(), change.before.clone()),
            false => (change.before.clone(), change.after.clone()),
        };
        let above = self
            .changes
            .partition_point(|change| sides(change).0.end <= line);
        if let Some((from, to)) = self.changes.get(above).map(sides)
            && from.start <= line
        {
            let last = to.end.saturating_sub(1).max(to.start);
            return Place {
                line: (to.start + (line - from.start)).min(last),
                is_same: false,
            };
        }
        let last = above.checked_sub(1).and_then(|last| self.changes.get(last));
        let line = last
            .map(sides)
            .map_or(line, |(from, to)| to.end + (line - from.end));
        Place {
            line,
            is_same: true,
        }
    }
}

/// The pair of texts that another pair came from, and the places of its lines.
#[derive(Debug)]
pub struct Origin {
    pub texts: Arc<Texts>,
    before: Places,
    after: Places,
}

impl Origin {
    /// Compares both texts with their forerunners, which may take a second each.
    pub fn new(from: &Arc<Texts>, to: &Texts) -> Self {
        Self {
            texts: Arc::clone(from),
            before: Places::new(&from.before, &to.before),
            after: Places::new(&from.after, &to.after),
        }
    }
}

/// The way from the lines of one pair of texts to those of another.
#[derive(Debug, Default)]
pub struct Moves<'a> {
    /// Each step, and whether it goes back to where the texts came from.
    pub(super) steps: Vec<(&'a Origin, bool)>,
}

impl Moves<'_> {
    /// Returns true if the texts are the same.
    pub fn are_none(&self) -> bool {
        self.steps.is_empty()
    }

    /// The place of a line of one of the texts.
    pub fn of(&self, side: Side, line: usize) -> Place {
        let start = Place {
            line,
            is_same: true,
        };
        self.steps.iter().fold(start, |place, (origin, goes_back)| {
            let places = side.of((&origin.before, &origin.after));
            let next = places.line(place.line, *goes_back);
            let is_same = place.is_same && next.is_same;
            Place { is_same, ..next }
        })
    }
}
