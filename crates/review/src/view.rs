//! One pending diff as the reviewer sees it: the proposal, and where in it the view stands.

mod folds;
mod paint;
mod part;
mod scroll;
mod seen;
mod stay;

use std::ops::{Deref, DerefMut};

use pillion_judge::highlight::Texts;
use pillion_judge::proposal::{Hunk, Part, Side, Version};
use pillion_judge::rows::{Layout, Rows, Unfolding};
use pillion_judge::{Judged, Target, enclosing};
use pillion_view::{Diff, ProposalKey, Proposed, SetPlace};

pub use paint::{Changed, LineOf, Paint, content};
pub use part::{RowPart, Window};
pub use scroll::{Top, Viewport};
pub use seen::Sight;
use stay::Former;
pub use stay::Stayed;

use crate::geometry::Columns;

/// A line that takes more columns than this fits nowhere.
const WIDEST: usize = 1_000;

/// A pending diff in the review: what is judged, and where it is placed.
pub struct View {
    pub judged: Judged,
    pub hunk: usize,
    /// The row of the cursor: in sight, and in that hunk if it is in any.
    pub cursor: usize,
    pub top: Top,
    /// Columns that are scrolled off to the left.
    pub x: usize,
    pub unfolding: Unfolding,
    /// Colours and line breaks that were worked out.
    pub paint: Paint,
    /// Counts the pairs of texts that were shown.
    paints: u64,
    /// Counts how often the rows became others.
    arrangements: u64,
    rows: Rows,
    rows_for: (Layout, Unfolding, Vec<(usize, usize)>),
    /// The columns of the longest line that changes on each side, and the texts that they were measured in.
    widest: (usize, usize),
    measured: Version,
    /// The texts that the rows are of.
    version: Version,
    /// The number of them that could be seen last.
    height: usize,
}

impl Deref for View {
    type Target = Judged;

    fn deref(&self) -> &Judged {
        &self.judged
    }
}

impl DerefMut for View {
    fn deref_mut(&mut self) -> &mut Judged {
        &mut self.judged
    }
}

impl Proposed for View {
    fn key(&self) -> ProposalKey {
        self.judged.key()
    }

    fn set(&self) -> Option<SetPlace> {
        self.judged.set()
    }
}

impl View {
    /// A view without anything to see yet.
    pub fn new(diff: Diff, target: Target) -> Self {
        let judged = Judged::new(diff, target);
        let version = judged.proposal.version();
        Self {
            judged,
            hunk: 0,
            cursor: 0,
            top: Top::default(),
            x: 0,
            unfolding: Unfolding::default(),
            paint: Paint::default(),
            paints: 0,
            arrangements: 0,
            rows: Rows::default(),
            rows_for: (Layout::Unified, Unfolding::default(), Vec::new()),
            widest: (0, 0),
            measured: version.clone(),
            version,
            height: 1,
        }
    }

    /// Another one once the rows are others.
    pub fn arrangement(&self) -> u64 {
        self.arrangements
    }

    /// The rows, as [`View::arrange`] worked them out.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Works the rows out again if the texts, the layout or the folding changed, and stays at the
    /// lines that were seen. Now `height` rows can be. Answers what became of the current hunk, if anything did.
    pub fn arrange(&mut self, layout: Layout, height: usize) -> Option<Stayed> {
        let rows_for = (layout, self.unfolding.clone(), self.note_places());
        let height = std::mem::replace(&mut self.height, height);
        if !self.proposal.is(&self.version) {
            // What was worked out is of no use for other texts.
            self.paint = Paint::default();
            self.paint.refill();
            self.paints += 1;
            self.judged.find_peculiarities();
        } else if rows_for == self.rows_for {
            return None;
        }
        let rows = Rows::new(&self.proposal, layout, &self.unfolding).with_notes(&rows_for.2);
        let moves = self.proposal.moves_from(&self.version);
        let former = Former {
            rows: &self.rows,
            height,
            top: self.top,
            hunk: self.hunk,
            cursor: self.cursor,
        };
        let stand = stay::stay(&former, &rows, self.proposal.hunks(), &moves);
        (self.top, self.hunk, self.cursor) = (stand.top, stand.hunk, stand.cursor);
        if layout != self.rows_for.0 {
            self.top.sub = 0;
        }
        self.version = self.proposal.version();
        (self.rows, self.rows_for) = (rows, rows_for);
        self.arrangements += 1;
        Some(stand.stayed)
    }

    /// Measures the lines that change, if the texts are others.
    pub fn measure(&mut self) {
        if self.proposal.is(&self.measured) {
            return;
        }
        self.measured = self.proposal.version();
        let hunks = self.proposal.hunks();
        let widest = |side: Side| {
            let lines = hunks
                .iter()
                .flat_map(|hunk| side.of((&hunk.before, &hunk.after)).clone());
            let columns =
                lines.map(|line| LineOf::new(&self.proposal, side, line).columns_up_to(WIDEST));
            columns.max().unwrap_or(0)
        };
        self.widest = (widest(Side::Left), widest(Side::Right));
    }

    /// Divides so many columns for its texts.
    pub fn columns(&self, layout: Layout, width: u16) -> Columns {
        let (before, after) = (self.proposal.before(), self.proposal.after());
        Columns::new(layout, width, before.len(), after.len())
    }

    /// Returns true if these columns cut no line that changes.
    pub fn fits(&self, columns: &Columns) -> bool {
        self.widest.0 <= columns.left_text && self.widest.1 <= columns.right_text
    }

    /// The texts that are shown.
    pub fn texts(&self) -> Texts {
        Texts {
            id: self.diff.id,
            generation: self.paints,
        }
    }

    /// The name of what a line of the text after lies in, as far as that is known.
    pub fn enclosing(&self, line: usize) -> Option<&str> {
        let headings = self.paint.headings(Side::Right, line);
        enclosing(self.proposal.after(), headings, line)
    }

    /// The lines of the current hunk without those above the cursor.
    pub fn part_below_cursor(&self) -> Option<Part> {
        let hunk = self.current_hunk()?;
        let above = self.rows.of_hunk(self.hunk).start..self.cursor;
        let above = above.filter_map(|row| Some(self.rows.get(row)?.lines()));
        let count = |is_there: fn(&(Option<usize>, Option<usize>)) -> bool| {
            above.clone().filter(is_there).count()
        };
        let (left, right) = (count(|it| it.0.is_some()), count(|it| it.1.is_some()));
        Some(Part {
            hunk: self.hunk,
            before: hunk.before.start + left..hunk.before.end,
            after: hunk.after.start + right..hunk.after.end,
        })
    }

    /// The line of the text after at the cursor, if one is shown there.
    pub fn line_at_cursor(&self) -> Option<usize> {
        self.rows.get(self.cursor)?.lines().1
    }

    /// The line of the file on disk at the cursor, or the next one above it, from 1.
    pub fn line_in_file(&self) -> usize {
        let side = match self.diff.written {
            Some(_) => Side::Right,
            None => Side::Left,
        };
        let line = |row: usize| side.of(self.rows.get(row)?.lines());
        let above = (0..=self.cursor).rev().find_map(line);
        above.map_or(1, |line| line + 1)
    }

    pub fn current_hunk(&self) -> Option<&Hunk> {
        self.proposal.hunks().get(self.hunk)
    }
}
