//! The parts of a proposal that were on a screen. A hunk was seen when each of its lines was, and of a long line each change.

mod intervals;

use std::collections::HashMap;
use std::ops::Range;

use pillion_view::{Against, Proposed};

use super::{Disk, Judged};
use crate::marks;
use crate::proposal::{Hunk, Moves, Side, Version};
pub use intervals::Intervals;

/// The parts of one pair of texts that were seen.
#[derive(Debug, Default)]
pub struct Seen {
    lines: Sides,
    /// The bytes that were seen of lines of which not all was.
    parts: HashMap<(Side, usize), Intervals>,
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

impl Judged {
    /// Notes that a line, or these bytes of it, is on the screen. Of a line all that is `needed` is to be seen, which may not
    /// be known yet.
    pub fn see_bytes(
        &mut self,
        side: Side,
        line: usize,
        bytes: Range<usize>,
        needed: Option<&[Range<usize>]>,
    ) {
        let mut part = self.seen.parts.remove(&(side, line)).unwrap_or_default();
        part.add(bytes);
        let is_whole = |needed: &[Range<usize>]| needed.iter().all(|it| part.covers(it.clone()));
        if needed.is_some_and(is_whole) {
            self.seen.lines.of_mut(side).add(line..line + 1);
        } else {
            self.seen.parts.insert((side, line), part);
        }
    }

    /// Notes that these lines are on a screen, as a whole.
    pub fn see_lines(&mut self, side: Side, lines: Range<usize>) {
        let end = lines.end.min(self.proposal.side(side).len());
        if lines.start >= end || !self.is_followed() {
            return;
        }
        self.seen.lines.of_mut(side).add(lines.start..end);
        for hunk in 0..self.proposal.hunks().len() {
            self.see_hunk(hunk);
        }
    }

    /// Returns true if a line was on the screen.
    pub fn has_seen_line(&self, side: Side, line: usize) -> bool {
        self.seen.lines.of(side).covers(line..line + 1)
    }

    /// The first line of a hunk on each side that was not on the screen, and what of it was.
    pub fn unseen_lines(&self, hunk: usize) -> Vec<(Side, usize, Intervals)> {
        let hunks = self.proposal.hunks();
        let hunk = hunks.get(hunk).filter(|_| self.is_followed());
        let gaps = hunk.into_iter().flat_map(|hunk| self.seen.lines.gaps(hunk));
        let seen = |(side, line)| {
            let part = self.seen.parts.get(&(side, line)).cloned();
            (side, line, part.unwrap_or_default())
        };
        gaps.map(seen).collect()
    }

    /// A line of this hunk was seen, and so perhaps all of it.
    pub fn see_hunk(&mut self, number: usize) {
        let hunk = &self.proposal.hunks()[number];
        let seen = &mut self.seen;
        if !seen.hunks[number] && seen.lines.cover(hunk) {
            seen.hunks[number] = true;
            seen.count += 1;
        }
    }

    /// The texts may be others than those that were seen last.
    pub fn follow_texts(&mut self) {
        let seen = &mut self.seen;
        let proposal = &self.proposal;
        if seen.version.as_ref().is_some_and(|last| proposal.is(last)) {
            return;
        }
        let mut lines = Sides::default();
        if let Some(last) = seen.version.take() {
            // What the reviewer's editor saved, too: others may have written to its file meanwhile.
            lines = seen.lines.moved(&proposal.moves_from(&last));
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

    /// It is in sight, and has been for as long as a decision takes.
    pub fn note_look(&mut self) {
        let key = self.key();
        let version = Some(self.proposal.version());
        match self.looked_at.replace(key) == Some(key) {
            true => self.looked[0] = version,
            false => self.looked = [version, self.looked[0].take()],
        }
    }

    /// The texts of the proposal that was looked at before the one that is there.
    pub fn looked_at_before(&self) -> Option<&Version> {
        let is_looked_at = self.looked_at == Some(self.key());
        self.looked[usize::from(is_looked_at)].as_ref()
    }

    /// Returns true if all of it was seen, for as long as a decision takes, and nothing else is to be known of it.
    pub fn is_all_seen(&self) -> bool {
        let seen = self.seen_hunks();
        let was_looked_at = self.looked_at == Some(self.key()) && self.unseen().hunks == 0;
        let is_free = !self.is_comparing() && self.deciding.is_none() && self.disk == Disk::Same;
        (was_looked_at && is_free && seen.of > 0 && seen.seen == seen.of)
            && !self.proposal.is_nothing()
            && marks::against(self.proposal.hunks()) == Against::default()
            && !self.takes_for_rejection()
    }

    fn is_followed(&self) -> bool {
        let version = self.seen.version.as_ref();
        version.is_some_and(|version| self.proposal.is(version))
    }
}
