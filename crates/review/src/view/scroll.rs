//! Moving through a diff. The position is a row and a part of it, never a number of rows from the
//! top: with long lines wrapped, those would take too long to count.

use std::ops::Range;

use pillion_judge::proposal::Side;
use pillion_judge::rows::Row;

use crate::geometry::Columns;
use crate::view::{LineOf, Paint, View};

/// Rows that stay visible above a hunk that is jumped to.
const ABOVE: usize = 3;

/// Columns that one horizontal step moves.
const STEP: usize = 8;

/// Columns that stay visible to the left of a change that is jumped to.
const BEFORE: usize = 20;

/// A range of bytes of a line, on a side that has so many columns.
type Place = ((Side, usize), (usize, Range<usize>));

/// The beginning of the visible part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Top {
    pub row: usize,
    /// The number of screen lines of it that are scrolled off, when it is wrapped.
    pub sub: usize,
}

/// The window through which a diff is seen.
#[derive(Debug, Clone, Copy)]
pub struct Viewport {
    pub columns: Columns,
    pub height: usize,
    pub wrap: bool,
}

impl View {
    /// The number of screen lines that a row takes.
    pub fn height_of(&mut self, row: usize, viewport: &Viewport) -> usize {
        if !viewport.wrap {
            return 1;
        }
        let columns = viewport.columns;
        let row = self.rows().get(row);
        let (left, right) = row.map_or((None, None), |row| row.drawn(columns.layout));
        let sides = [
            (Side::Left, left, columns.left_text),
            (Side::Right, right, columns.right_text),
        ];
        let heights = sides.into_iter().filter_map(|(side, line, width)| {
            let height = |paint: &mut Paint, line: LineOf<'_>| paint.height(line, width);
            Some(self.with_line(side, line?, height))
        });
        heights.max().unwrap_or(1)
    }

    /// Moves by so many screen lines, down if positive.
    pub fn scroll(&mut self, lines: isize, viewport: &Viewport) {
        for _ in 0..lines.unsigned_abs() {
            let top = self.top;
            if lines > 0 {
                self.step_down(viewport);
            } else {
                self.step_up(viewport);
            }
            if top == self.top {
                break;
            }
        }
        self.clamp(viewport);
        self.follow(viewport);
    }

    /// Moves the cursor by a screen line, and the page only where it would be left.
    pub fn step(&mut self, down: bool, viewport: &Viewport) {
        let is_cut = match down {
            true => self.is_cut_below(viewport),
            false => self.cursor == self.top.row && self.top.sub > 0,
        };
        let to = match down {
            true => self.cursor + 1,
            false => self.cursor.saturating_sub(1),
        };
        if !is_cut && to < self.rows().count() {
            self.point_at(to);
        }
        if is_cut || !self.visible(viewport).contains(&self.cursor) {
            return self.scroll(if down { 1 } else { -1 }, viewport);
        }
        self.follow(viewport);
    }

    /// Returns true if the end of the cursor's row is below the window.
    fn is_cut_below(&mut self, viewport: &Viewport) -> bool {
        let rows = self.top.row..self.cursor + 1;
        let lines: usize = rows.map(|row| self.height_of(row, viewport)).sum();
        lines > self.top.sub + viewport.height
    }

    /// Puts the cursor on a row. Its hunk is the current one, if it has one.
    pub fn point_at(&mut self, row: usize) {
        self.cursor = row;
        if let Some(hunk) = self.rows().hunk_in(row..row + 1) {
            self.hunk = hunk;
        }
    }

    /// Moves by so many steps to the right, as far as the longest visible line goes.
    pub fn scroll_sideways(&mut self, steps: isize, viewport: &Viewport) {
        if viewport.wrap {
            return;
        }
        self.paint.refill();
        let narrow = viewport.columns.left_text.min(viewport.columns.right_text);
        let step = steps.unsigned_abs().saturating_mul(STEP);
        let enough = self.x.saturating_add(step).saturating_add(narrow);
        let mut widest = 0;
        for row in self.visible(viewport) {
            let (left, right) = self.rows().get(row).map(Row::lines).unwrap_or_default();
            for (side, line) in [(Side::Left, left), (Side::Right, right)] {
                if let Some(line) = line {
                    let width =
                        self.with_line(side, line, |paint, line| paint.columns(line, enough));
                    widest = widest.max(width);
                }
            }
        }
        let most = (widest + 2).saturating_sub(narrow).max(self.x);
        self.x = if steps < 0 {
            self.x.saturating_sub(step)
        } else {
            self.x.saturating_add(step).min(most)
        };
    }

    /// Goes to the very top.
    pub fn go_to_start(&mut self, viewport: &Viewport) {
        self.top = Top::default();
        self.point_at(0);
        self.follow(viewport);
    }

    /// Goes to the very end.
    pub fn go_to_end(&mut self, viewport: &Viewport) {
        self.top = self.last_top(viewport);
        self.point_at(self.rows().count().saturating_sub(1));
        self.follow(viewport);
    }

    /// Makes `hunk` the current one and brings it into view, with as little movement as possible.
    pub fn go_to_hunk(&mut self, hunk: usize, viewport: &Viewport) {
        self.hunk = hunk;
        self.paint.refill();
        let rows = self.rows().of_hunk(hunk);
        self.cursor = rows.start;
        let seen = self.visible(viewport);
        let is_seen = seen.start <= rows.start && rows.end <= seen.end && self.top.sub == 0;
        if !is_seen {
            self.top = Top {
                row: rows.start.saturating_sub(ABOVE),
                sub: 0,
            };
        }
        self.clamp(viewport);
        self.go_to_change(rows.start, viewport);
    }

    /// Brings the first changed word of `row` into view, with as little movement as possible.
    fn go_to_change(&mut self, row: usize, viewport: &Viewport) {
        let Some(Row::Changed {
            left, right, pair, ..
        }) = self.rows().get(row)
        else {
            return;
        };
        let lines = pair.map_or((left, right), |(left, right)| (Some(left), Some(right)));
        let changed = pair.map(|pair| self.paint.words(&self.judged.proposal, pair));
        let (removed, added) = &*changed.unwrap_or_default();
        let columns = viewport.columns;
        let sides = [
            (Side::Left, columns.left_text, lines.0, removed.first()),
            (Side::Right, columns.right_text, lines.1, added.first()),
        ];
        let is_whole = removed.is_empty() && added.is_empty();
        let places = sides.into_iter().filter_map(|(side, width, line, range)| {
            let range = range.cloned().or(is_whole.then_some(0..0));
            Some(((side, width), (line?, range?)))
        });
        let places: Vec<_> = places.collect();
        if viewport.wrap {
            self.go_to_wrapped(row, &places, viewport);
        } else {
            self.go_to_columns(&places);
        }
    }

    /// Puts the cursor on these bytes of a line in `row` and brings them into view, with as little movement as possible.
    pub fn go_to_bytes(
        &mut self,
        row: usize,
        (side, line): (Side, usize),
        bytes: Range<usize>,
        viewport: &Viewport,
    ) {
        self.paint.refill();
        self.point_at(row);
        if !self.visible(viewport).contains(&row) {
            self.top = Top {
                row: row.saturating_sub(ABOVE),
                sub: 0,
            };
            self.clamp(viewport);
        }
        let columns = viewport.columns;
        let width = side.of((columns.left_text, columns.right_text));
        let places = [((side, width), (line, bytes))];
        if viewport.wrap {
            self.go_to_wrapped(row, &places, viewport);
        } else {
            self.go_to_columns(&places);
        }
    }

    /// What is in sight of a long line of which something is not: a word that changed, or else where the part begins. The cursor's
    /// line comes first, then its hunk.
    pub fn part_in_sight(&mut self, viewport: &Viewport) -> Option<(Side, usize, usize)> {
        self.paint.refill();
        let mut begins = None;
        let (cursor, hunk) = (self.cursor, self.rows().of_hunk(self.hunk));
        let mut visible: Vec<_> = self.visible(viewport).collect();
        visible.sort_by_key(|row| (*row != cursor, !hunk.contains(row)));
        for row in visible {
            let Some(shown) = self.rows().get(row) else {
                continue;
            };
            let changed = match shown {
                Row::Changed { pair, .. } => {
                    pair.map(|pair| self.paint.words(&self.judged.proposal, pair))
                }
                _ => None,
            };
            let changed = changed.unwrap_or_default();
            let (left, right) = shown.lines();
            for (side, line) in [(Side::Right, right), (Side::Left, left)] {
                let Some(line) = line else { continue };
                let first = if row == self.top.row { self.top.sub } else { 0 };
                let subs = first..first + viewport.height;
                let bytes = self.visible_bytes(side, line, subs, viewport);
                let words = side.of((&changed.0, &changed.1));
                if let Some(word) = words.iter().find(|word| bytes.contains(&word.start)) {
                    return Some((side, line, word.start));
                }
                if bytes.start > 0 {
                    begins.get_or_insert((side, line, bytes.start));
                }
            }
        }
        begins
    }

    /// Goes to what was in sight before lines were shown otherwise.
    pub fn go_back_to(&mut self, place: (Side, usize, usize), viewport: &Viewport) {
        let (side, line, byte) = place;
        if let Some(row) = self.rows().of(side, line) {
            self.go_to_bytes(row, (side, line), byte..byte, viewport);
        }
    }

    /// Scrolls sideways, so that each of these places is in view if they all fit.
    fn go_to_columns(&mut self, places: &[Place]) {
        let columns: Vec<_> = places
            .iter()
            .map(|((side, width), (line, range))| {
                let mut column =
                    |byte| self.with_line(*side, *line, |paint, line| paint.column_of(line, byte));
                let (start, end) = (column(range.start), column(range.end));
                // The last column may hold the sign that a line goes on.
                let room = width.saturating_sub(1);
                (start, end.min(start + room / 2), room)
            })
            .collect();
        // So does the first, if there is more to the left.
        let are_seen = |x: usize| {
            let mut columns = columns.iter();
            columns.all(|(start, end, room)| *start >= x + usize::from(x > 0) && *end <= x + room)
        };
        let first = columns.iter().map(|(start, ..)| *start).min();
        if !are_seen(0) && are_seen(self.x) {
            return;
        }
        self.x = match first {
            Some(first) if !are_seen(0) => {
                let narrow = columns.iter().map(|(.., room)| *room).min();
                first.saturating_sub(BEFORE.min(narrow.unwrap_or(0) / 3))
            }
            _ => 0,
        };
    }

    /// Scrolls down within a line that takes more rows than fit.
    fn go_to_wrapped(&mut self, row: usize, places: &[Place], viewport: &Viewport) {
        let rows = places.iter().map(|((side, width), (line, range))| {
            self.with_line(*side, *line, |paint, line| {
                paint.row_of(line, *width, range.start)
            })
        });
        let Some(sub) = rows.min() else {
            return;
        };
        let above: usize = (self.top.row..row)
            .map(|row| self.height_of(row, viewport))
            .sum();
        let is_seen = self.top.row <= row
            && (above + sub)
                .checked_sub(self.top.sub)
                .is_some_and(|at| at < viewport.height);
        if !is_seen {
            self.top = Top {
                row,
                sub: sub.saturating_sub(ABOVE),
            };
            self.clamp(viewport);
        }
    }

    /// The rows that are visible, whole or in part.
    pub fn visible(&mut self, viewport: &Viewport) -> Range<usize> {
        let start = self.top.row;
        let mut room = viewport.height + self.top.sub;
        let mut row = start;
        while room > 0 && row < self.rows().count() {
            room = room.saturating_sub(self.height_of(row, viewport));
            row += 1;
        }
        start..row
    }

    /// Returns true if some of the current hunk is visible.
    pub fn sees_hunk(&mut self, viewport: &Viewport) -> bool {
        let seen = self.visible(viewport);
        let hunk = self.rows().of_hunk(self.hunk);
        hunk.start < seen.end && seen.start < hunk.end
    }

    /// Keeps the last row from leaving the bottom of the window.
    pub fn clamp(&mut self, viewport: &Viewport) {
        let last = self.last_top(viewport);
        self.top = self.top.min(last);
        // Another text may take fewer lines of the screen.
        let height = self.height_of(self.top.row, viewport);
        self.top.sub = self.top.sub.min(height.saturating_sub(1));
    }

    /// Moves as little as needed to see the cursor, which may have left the bottom.
    pub fn keep_in_view(&mut self, viewport: &Viewport) {
        let mut room = viewport.height;
        while room > 0 && self.visible(viewport).end <= self.cursor {
            self.step_down(viewport);
            room -= 1;
        }
        self.clamp(viewport);
        self.follow(viewport);
    }

    /// Makes a hunk that is visible the current one, so that no key hits one out of sight. The cursor stays in sight, at best in that
    /// hunk.
    pub fn follow(&mut self, viewport: &Viewport) {
        let seen = self.visible(viewport);
        if !self.sees_hunk(viewport)
            && let Some(hunk) = self.rows().hunk_in(seen.clone())
        {
            self.hunk = hunk;
        }
        if !seen.contains(&self.cursor) {
            let hunk = self.rows().of_hunk(self.hunk);
            let is_seen = hunk.start < seen.end && seen.start < hunk.end;
            let row = if is_seen { hunk.start } else { self.cursor };
            self.point_at(row.clamp(seen.start, seen.end.saturating_sub(1).max(seen.start)));
        }
    }

    fn step_down(&mut self, viewport: &Viewport) {
        if self.top.sub + 1 < self.height_of(self.top.row, viewport) {
            self.top.sub += 1;
        } else if self.top.row + 1 < self.rows().count() {
            self.top = Top {
                row: self.top.row + 1,
                sub: 0,
            };
        }
    }

    fn step_up(&mut self, viewport: &Viewport) {
        if self.top.sub > 0 {
            self.top.sub -= 1;
        } else if let Some(row) = self.top.row.checked_sub(1) {
            let sub = self.height_of(row, viewport) - 1;
            self.top = Top { row, sub };
        }
    }

    /// The position at which the last row is at the bottom.
    fn last_top(&mut self, viewport: &Viewport) -> Top {
        let mut room = viewport.height;
        for row in (0..self.rows().count()).rev() {
            let height = self.height_of(row, viewport);
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

    /// Works something out about a line.
    fn with_line<T>(
        &mut self,
        side: Side,
        line: usize,
        work: impl FnOnce(&mut Paint, LineOf<'_>) -> T,
    ) -> T {
        let line = LineOf::new(&self.judged.proposal, side, line);
        work(&mut self.paint, line)
    }
}
