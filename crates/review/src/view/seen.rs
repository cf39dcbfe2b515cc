//! The parts of a proposal that were on the screen. A hunk was seen when each of its lines was, and of a long line each change.

mod intervals;

use std::collections::HashMap;
use std::iter;
use std::ops::Range;

use pillion_text::visible;

use super::{LineOf, RowPart, View, Viewport, Window};
use crate::proposal::{Hunk, Moves, Side, Version};
use crate::rows::Row;
use intervals::Intervals;

/// So many bytes of what was not on the screen are to be seen next, at least.
const NEXT: usize = 256;

/// The parts of one pair of texts that were seen.
#[derive(Debug, Default)]
pub struct Seen {
    lines: Sides,
    /// The bytes that were seen of lines of which not all was.
    parts: HashMap<(Side, usize), Intervals>,
    /// The lines of all hunks.
    all: Sides,
    /// For each hunk, true if it was seen; and the number of those that were.
    hunks: Vec<bool>,
    count: usize,
    version: Option<Version>,
    /// The same of former texts: the reviewer may go back to them.
    former: Vec<(Version, Sides)>,
}

/// Lines of both texts.
#[derive(Debug, Clone, Default)]
struct Sides {
    left: Intervals,
    right: Intervals,
}

/// The number of hunks that were on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenHunks {
    /// As a whole.
    pub seen: usize,
    /// Of so many.
    pub of: usize,
    /// Of those that were not, so many would be accepted.
    pub unseen: usize,
}

/// A place that was not on the screen.
#[derive(Debug, Clone)]
pub struct Unseen {
    side: Side,
    line: usize,
    /// Of the line.
    bytes: Range<usize>,
}

impl Sides {
    fn of(&self, side: Side) -> &Intervals {
        side.of((&self.left, &self.right))
    }

    fn of_mut(&mut self, side: Side) -> &mut Intervals {
        side.of((&mut self.left, &mut self.right))
    }

    /// The first line of a hunk that is not among them, on each side.
    fn gaps(&self, hunk: &Hunk) -> impl Iterator<Item = (Side, usize)> {
        let sides = [(Side::Left, &hunk.before), (Side::Right, &hunk.after)];
        sides
            .into_iter()
            .filter_map(|(side, lines)| Some((side, self.of(side).first_gap(lines.clone())?)))
    }

    fn cover(&self, hunk: &Hunk) -> bool {
        self.gaps(hunk).next().is_none()
    }

    /// These lines without others.
    fn without(&self, others: &Self) -> Self {
        let mut rest = Self::default();
        for side in [Side::Left, Side::Right] {
            for range in self.of(side).ranges() {
                let rest = rest.of_mut(side);
                rest.add_all_but(others.of(side), range.clone());
            }
        }
        rest
    }

    /// The same lines in other texts.
    fn moved(&self, moves: &Moves<'_>) -> Self {
        let mut moved = Self::default();
        for side in [Side::Left, Side::Right] {
            for line in self.of(side).numbers() {
                let place = moves.of(side, line);
                if place.is_same {
                    moved.of_mut(side).add(place.line..place.line + 1);
                }
            }
        }
        moved
    }
}

impl View {
    /// Notes that everything that is visible through `viewport` is on the screen.
    pub fn see(&mut self, viewport: &Viewport) {
        self.follow_texts();
        let mut above = self.top.sub;
        let mut room = viewport.height;
        for row in self.visible(viewport) {
            let height = self.height_of(row, viewport);
            let subs = above..height.min(above + room);
            room = room.saturating_sub(subs.len());
            above = 0;
            if let Some(Row::Changed {
                hunk,
                left,
                right,
                pair,
            }) = self.rows.get(row)
            {
                self.see_line(Side::Left, left, pair, subs.clone(), viewport);
                self.see_line(Side::Right, right, pair, subs, viewport);
                self.see_hunk(hunk);
            }
        }
    }

    fn see_line(
        &mut self,
        side: Side,
        line: Option<usize>,
        pair: Option<(usize, usize)>,
        subs: Range<usize>,
        viewport: &Viewport,
    ) {
        let Some(line) = line.filter(|line| !self.seen.lines.of(side).covers(*line..line + 1))
        else {
            return;
        };
        let bytes = self.visible_bytes(side, line, subs, viewport);
        let mut part = self.seen.parts.remove(&(side, line)).unwrap_or_default();
        part.add(bytes);
        let needed = self.needed(side, line, pair);
        if needed.is_some_and(|needed| needed.into_iter().all(|range| part.covers(range))) {
            self.seen.lines.of_mut(side).add(line..line + 1);
        } else {
            self.seen.parts.insert((side, line), part);
        }
    }

    fn see_hunk(&mut self, number: usize) {
        let hunk = &self.proposal.hunks()[number];
        let seen = &mut self.seen;
        if !seen.hunks[number] && seen.lines.cover(hunk) {
            seen.hunks[number] = true;
            seen.count += 1;
        }
    }

    /// The parts of a line that have to be seen: the words that changed, or all of it. Nothing yet, if too much had to be worked
    /// out for one frame.
    fn needed(
        &mut self,
        side: Side,
        line: usize,
        pair: Option<(usize, usize)>,
    ) -> Option<Vec<Range<usize>>> {
        let changed = match pair {
            Some(pair) => Some(self.paint.words_in_budget(&self.proposal, pair)?),
            None => None,
        };
        let words = changed.filter(|changed| !changed.0.is_empty() || !changed.1.is_empty());
        Some(match words {
            Some(words) => side.of((&words.0, &words.1)).clone(),
            None => {
                let line = LineOf::new(&self.proposal, side, line);
                iter::once(0..line.content.len()).collect()
            }
        })
    }

    /// The bytes of a line that are visible in these of its rows.
    pub(super) fn visible_bytes(
        &mut self,
        side: Side,
        line: usize,
        subs: Range<usize>,
        viewport: &Viewport,
    ) -> Range<usize> {
        let columns = viewport.columns;
        let width = side.of((columns.left_text, columns.right_text));
        let line = LineOf::new(&self.proposal, side, line);
        if !viewport.wrap {
            return match self.paint.cut_at(line, self.x) {
                RowPart::Part(window) => bytes_in(line.content, &window, width),
                _ => 0..0,
            };
        }
        let mut bytes: Option<Range<usize>> = None;
        for sub in subs {
            if let RowPart::Part(window) = self.paint.wrapped_row(line, width, sub) {
                let end = window.until.unwrap_or(line.content.len());
                let start = bytes.map_or(window.from.byte, |bytes| bytes.start);
                bytes = Some(start..end);
            }
        }
        bytes.unwrap_or_default()
    }

    /// The texts may be others than those that were seen last.
    fn follow_texts(&mut self) {
        let seen = &mut self.seen;
        let proposal = &self.proposal;
        if seen.version.as_ref().is_some_and(|last| proposal.is(last)) {
            return;
        }
        let mut lines = Sides::default();
        if let Some(last) = seen.version.take() {
            let moves = proposal.moves_from(&last);
            lines = seen.lines.moved(&moves);
            if proposal.is_fresh_edit() {
                // What the reviewer wrote is known to them.
                let unseen = seen.all.without(&seen.lines).moved(&moves);
                for side in [Side::Left, Side::Right] {
                    let known = proposal.side(side).len();
                    lines.of_mut(side).add_all_but(unseen.of(side), 0..known);
                }
            }
            seen.former.push((last, std::mem::take(&mut seen.lines)));
        }
        if let Some(at) = seen.former.iter().position(|(then, _)| proposal.is(then)) {
            let (_, then) = seen.former.swap_remove(at);
            for side in [Side::Left, Side::Right] {
                for range in then.of(side).ranges() {
                    lines.of_mut(side).add(range.clone());
                }
            }
        }
        seen.lines = lines;
        seen.parts.clear();
        seen.version = Some(proposal.version());
        seen.all = Sides::default();
        for hunk in proposal.hunks() {
            seen.all.left.add(hunk.before.clone());
            seen.all.right.add(hunk.after.clone());
        }
        let hunks = proposal.hunks().iter().map(|hunk| seen.lines.cover(hunk));
        seen.hunks = hunks.collect();
        seen.count = seen.hunks.iter().filter(|seen| **seen).count();
    }

    /// Returns true if a hunk was on the screen as a whole.
    pub fn has_seen(&self, hunk: usize) -> bool {
        self.is_followed() && self.seen.hunks.get(hunk) == Some(&true)
    }

    /// The number of hunks that were seen.
    pub fn seen_hunks(&self) -> SeenHunks {
        let hunks = self.proposal.hunks();
        let would_be = |(at, hunk): &(usize, &Hunk)| !hunk.out && !self.has_seen(*at);
        SeenHunks {
            seen: if self.is_followed() {
                self.seen.count
            } else {
                0
            },
            of: hunks.len(),
            unseen: hunks.iter().enumerate().filter(would_be).count(),
        }
    }

    fn is_followed(&self) -> bool {
        let version = self.seen.version.as_ref();
        version.is_some_and(|version| self.proposal.is(version))
    }

    /// The first place of a hunk that was not on the screen.
    pub fn first_unseen(&mut self, hunk: usize) -> Option<Unseen> {
        if !self.is_followed() {
            return None;
        }
        let changed = self.proposal.hunks().get(hunk)?;
        let gaps = self.seen.lines.gaps(changed);
        let rows = gaps.filter_map(|(side, line)| Some((self.rows.of(side, line)?, side, line)));
        let (row, side, line) = rows.min_by_key(|(row, ..)| *row)?;
        let pair = match self.rows.get(row)? {
            Row::Changed { pair, .. } => pair,
            _ => None,
        };
        let part = self
            .seen
            .parts
            .get(&(side, line))
            .cloned()
            .unwrap_or_default();
        self.paint.refill();
        let mut needed = self
            .needed(side, line, pair)
            .unwrap_or_default()
            .into_iter();
        let bytes = needed.find_map(|range| {
            let start = part.first_gap(range.clone())?;
            Some(start..range.end.min(start + NEXT))
        });
        Some(Unseen {
            side,
            line,
            bytes: bytes.unwrap_or_default(),
        })
    }

    /// Brings a place into view that was not, with as little movement as possible.
    pub fn go_to_unseen(&mut self, hunk: usize, place: &Unseen, viewport: &Viewport) {
        self.hunk = hunk;
        if let Some(row) = self.rows.of(place.side, place.line) {
            let line = (place.side, place.line);
            self.go_to_bytes(row, line, place.bytes.clone(), viewport);
        }
    }
}

/// The bytes of a line that is not wrapped that are in view.
fn bytes_in(content: &str, window: &Window, width: usize) -> Range<usize> {
    let pieces = visible::pieces(content, window.from);
    let mut bytes: Option<Range<usize>> = None;
    for piece in pieces {
        let end = piece.at.byte + piece.bytes;
        // The last column holds the sign that the line goes on.
        let room = width - usize::from(end < content.len());
        if piece.at.column >= window.column + room {
            break;
        }
        // So does the first, if there is more to the left.
        if piece.at.column >= window.column + usize::from(window.is_cut_left) {
            let start = bytes.map_or(piece.at.byte, |bytes| bytes.start);
            bytes = Some(start..end);
        }
    }
    bytes.unwrap_or_default()
}
