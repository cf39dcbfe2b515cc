//! Which of the hunks that came with a newer proposal were on the screen.

use std::collections::HashSet;
use std::ops::Range;

use pillion_text::hunks::{Hunk, Mark};

use crate::view::{View, Viewport};

/// The ends of the hunks of one proposal that were seen. A hunk whose two ends were seen was seen
/// whole, or knows how long it is.
#[derive(Debug, Default)]
pub struct Seen {
    revision: u32,
    /// Each hunk by its lines before: those stay the same while the reviewer takes others out.
    ends: HashSet<(Range<usize>, End)>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum End {
    First,
    Last,
}

impl View {
    /// What is visible through `viewport` was drawn.
    pub fn drawn(&mut self, viewport: &Viewport) {
        if self.seen.revision != self.revision {
            self.seen = Seen {
                revision: self.revision,
                ..Seen::default()
            };
        }
        let visible = self.visible(viewport);
        for (number, hunk) in self.proposal.hunks().iter().enumerate() {
            if !is_new(hunk) {
                continue;
            }
            let rows = self.rows.of_hunk(number);
            for (row, end) in [
                (rows.start, End::First),
                (rows.end.saturating_sub(1), End::Last),
            ] {
                if visible.contains(&row) {
                    self.seen.ends.insert((hunk.before.clone(), end));
                }
            }
        }
    }

    /// Whether a hunk that is in came with a newer proposal, and was never on the screen as a whole.
    pub fn has_unseen(&self) -> bool {
        let is_seen = |hunk: &Hunk| {
            let mut ends = [End::First, End::Last].into_iter();
            self.seen.revision == self.revision
                && ends.all(|end| self.seen.ends.contains(&(hunk.before.clone(), end)))
        };
        let mut hunks = self.proposal.hunks().iter();
        hunks.any(|hunk| is_new(hunk) && !hunk.out && !is_seen(hunk))
    }
}

fn is_new(hunk: &Hunk) -> bool {
    matches!(hunk.mark, Some(Mark::New | Mark::Changed))
}
