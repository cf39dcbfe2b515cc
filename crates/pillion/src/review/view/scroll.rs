//! Moving through a diff. The position is a row and a part of it, never a number of rows from the
//! top: with long lines wrapped nobody could count those.

use std::ops::Range;

use crate::review::geometry::Columns;
use crate::review::rows::{Layout, Row};
use crate::review::view::{Side, View};
use crate::visible;

/// Rows that stay visible above a hunk that is jumped to.
const ABOVE: usize = 3;

/// Columns that one horizontal step moves.
const STEP: usize = 8;

/// Columns between two known places in a long line that is not wrapped.
pub const STRIDE: usize = 1_024;

/// Where the visible part begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Top {
    /// The row.
    pub row: usize,
    /// How many screen lines of it are scrolled off, when it is wrapped.
    pub sub: usize,
}

/// The window through which a diff is seen.
#[derive(Debug, Clone, Copy)]
pub struct Port {
    /// Its columns.
    pub columns: Columns,
    /// Its screen lines.
    pub height: usize,
    /// Whether long lines are wrapped.
    pub wrap: bool,
}

impl View {
    /// How many screen lines a row takes.
    pub fn height_of(&mut self, row: usize, port: &Port) -> usize {
        if !port.wrap {
            return 1;
        }
        let (left, right) = match self.rows().get(row) {
            None | Some(Row::Fold(_)) => return 1,
            Some(Row::Same { left, right }) => match port.columns.layout {
                Layout::SideBySide => (Some(left), Some(right)),
                Layout::Unified => (None, Some(right)),
            },
            Some(Row::Changed { left, right, .. }) => (left, right),
        };
        let columns = port.columns;
        let mut height = |side, line: Option<usize>, width| match line {
            Some(line) => self.lines_of(side, line, width),
            None => 1,
        };
        let left = height(Side::Left, left, columns.left_text);
        left.max(height(Side::Right, right, columns.right_text))
    }

    /// Moves by so many screen lines, down if positive.
    pub fn scroll(&mut self, lines: isize, port: &Port) {
        for _ in 0..lines.unsigned_abs() {
            let top = self.top;
            if lines > 0 {
                self.step_down(port);
            } else {
                self.step_up(port);
            }
            if top == self.top {
                break;
            }
        }
        self.clamp(port);
        self.follow(port);
    }

    /// Moves by so many steps to the right, as far as the longest visible line goes.
    pub fn scroll_sideways(&mut self, steps: isize, port: &Port) {
        if port.wrap {
            return;
        }
        let mut widest = 0;
        for row in self.visible(port) {
            let (left, right) = match self.rows().get(row) {
                None | Some(Row::Fold(_)) => (None, None),
                Some(Row::Same { left, right }) => (Some(left), Some(right)),
                Some(Row::Changed { left, right, .. }) => (left, right),
            };
            for (side, line) in [(Side::Left, left), (Side::Right, right)] {
                if let Some(line) = line {
                    widest = widest.max(self.width_of(side, line));
                }
            }
        }
        let narrow = port.columns.left_text.min(port.columns.right_text);
        let most = (widest + 2).saturating_sub(narrow).max(self.x);
        let step = steps.unsigned_abs().saturating_mul(STEP);
        self.x = if steps < 0 {
            self.x.saturating_sub(step)
        } else {
            self.x.saturating_add(step).min(most)
        };
    }

    /// Goes to the very top.
    pub fn go_to_start(&mut self, port: &Port) {
        self.top = Top::default();
        self.follow(port);
    }

    /// Goes to the very end.
    pub fn go_to_end(&mut self, port: &Port) {
        self.top = self.last_top(port);
        self.follow(port);
    }

    /// Makes `hunk` the current one and brings it into view, with as little movement as possible.
    pub fn go_to_hunk(&mut self, hunk: usize, port: &Port) {
        self.hunk = hunk;
        let rows = self.rows().of_hunk(hunk);
        let seen = self.visible(port);
        let is_seen = seen.start <= rows.start && rows.end <= seen.end && self.top.sub == 0;
        if !is_seen {
            self.top = Top {
                row: rows.start.saturating_sub(ABOVE),
                sub: 0,
            };
        }
        self.clamp(port);
    }

    /// The rows that are visible, whole or in part.
    pub fn visible(&mut self, port: &Port) -> Range<usize> {
        let start = self.top.row;
        let mut room = port.height + self.top.sub;
        let mut row = start;
        while room > 0 && row < self.rows().len() {
            room = room.saturating_sub(self.height_of(row, port));
            row += 1;
        }
        start..row
    }

    /// Whether some of the current hunk is visible.
    pub fn sees_hunk(&mut self, port: &Port) -> bool {
        let seen = self.visible(port);
        let hunk = self.rows().of_hunk(self.hunk);
        hunk.start < seen.end && seen.start < hunk.end
    }

    /// Keeps the last row from leaving the bottom of the window.
    pub fn clamp(&mut self, port: &Port) {
        let last = self.last_top(port);
        self.top = self.top.min(last);
    }

    /// The line of the text before that is at the top.
    pub fn line_at_top(&self) -> usize {
        let mut rows = (self.top.row..self.rows().len()).filter_map(|row| self.rows().get(row));
        rows.find_map(|row| match row {
            Row::Same { left, .. } => Some(left),
            Row::Changed { left, .. } => left,
            Row::Fold(_) => None,
        })
        .unwrap_or_default()
    }

    /// Makes a hunk that is visible the current one, so that no key hits one that nobody sees.
    fn follow(&mut self, port: &Port) {
        if !self.sees_hunk(port) {
            let seen = self.visible(port);
            if let Some(hunk) = self.rows().hunk_in(seen) {
                self.hunk = hunk;
            }
        }
    }

    fn step_down(&mut self, port: &Port) {
        if self.top.sub + 1 < self.height_of(self.top.row, port) {
            self.top.sub += 1;
        } else if self.top.row + 1 < self.rows().len() {
            self.top = Top {
                row: self.top.row + 1,
                sub: 0,
            };
        }
    }

    fn step_up(&mut self, port: &Port) {
        if self.top.sub > 0 {
            self.top.sub -= 1;
        } else if let Some(row) = self.top.row.checked_sub(1) {
            let sub = self.height_of(row, port) - 1;
            self.top = Top { row, sub };
        }
    }

    /// The position at which the last row is at the bottom.
    fn last_top(&mut self, port: &Port) -> Top {
        let mut room = port.height;
        for row in (0..self.rows().len()).rev() {
            let height = self.height_of(row, port);
            if height >= room {
                return Top {
                    row,
                    sub: height - room,
                };
            }
            room -= height;
        }
        Top::default()
    }

    fn width_of(&mut self, side: Side, line: usize) -> usize {
        let text = match side {
            Side::Left => self.proposal.before(),
            Side::Right => self.proposal.after(),
        };
        let shown = text.shown(line);
        let content = shown.trim_end_matches(['\r', '\n']);
        let breaks = self.paint.breaks(side, line, content, STRIDE);
        let last = breaks.last().copied().unwrap_or_default();
        let rest = visible::pieces(content, last).map(|piece| piece.width);
        last.column + rest.sum::<usize>()
    }

    fn lines_of(&mut self, side: Side, line: usize, width: usize) -> usize {
        let text = match side {
            Side::Left => self.proposal.before(),
            Side::Right => self.proposal.after(),
        };
        let shown = text.shown(line);
        let content = shown.trim_end_matches(['\r', '\n']);
        self.paint.breaks(side, line, content, width).len()
    }
}
