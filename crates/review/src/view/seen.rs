//! The parts of a proposal that were on the screen, for as long as it takes to read a line. A hunk was seen when each of its
//! lines was, and of a long line each change.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::time::Instant;

use pillion_judge::Intervals;
use pillion_judge::proposal::{Side, Version};
use pillion_judge::rows::Row;
use pillion_text::visible;
use pillion_view::{DiffId, GLANCE};

use super::{LineOf, RowPart, View, Viewport, Window};

/// So many bytes of what was not on the screen are to be seen next, at least.
const NEXT: usize = 256;

/// A place that was not on the screen.
#[derive(Debug, Clone)]
pub struct Unseen {
    side: Side,
    line: usize,
    /// Of the line.
    bytes: Range<usize>,
}

/// What the last frame shows of a diff that was not seen before, and since when it is there without a gap.
#[derive(Debug, Default)]
pub struct Sight {
    /// Whose texts these are.
    of: Option<(DiffId, Version)>,
    lines: HashMap<(Side, usize), LineInSight>,
}

#[derive(Debug)]
struct LineInSight {
    hunk: usize,
    /// The line with its counterpart, if it has one.
    pair: Option<(usize, usize)>,
    parts: Vec<PartInSight>,
}

#[derive(Debug, Clone)]
struct PartInSight {
    /// Of the line.
    bytes: Range<usize>,
    /// None until the terminal has shown it.
    since: Option<Instant>,
    /// It was there for long enough.
    is_seen: bool,
}

impl Sight {
    /// The diff whose lines these are.
    pub fn id(&self) -> Option<DiffId> {
        Some(self.of.as_ref()?.0)
    }

    /// Returns true if the terminal has to say that it shows some of it.
    pub fn waits(&self) -> bool {
        self.parts().any(|part| part.since.is_none())
    }

    /// Returns true if the terminal has to say so of more than of a former frame.
    pub fn waits_more_than(&self, former: &Self) -> bool {
        let is_known = |at| {
            let parts = former.lines.get(at).map_or(&[][..], |line| &line.parts);
            move |part: &PartInSight| parts.iter().any(|it| it.within(&part.bytes).is_some())
        };
        let mut lines = self.lines.iter();
        lines.any(|(at, line)| {
            let mut waiting = line.parts.iter().filter(|part| part.since.is_none());
            !waiting.all(is_known(at))
        })
    }

    /// The terminal shows all of it since then, or before.
    pub fn shown(&mut self, at: Instant) {
        for part in self.lines.values_mut().flat_map(|line| &mut line.parts) {
            part.since.get_or_insert(at);
        }
    }

    /// The time at which some of it has been there for long enough.
    pub fn due(&self) -> Option<Instant> {
        let waiting = self.parts().filter(|part| !part.is_seen);
        let since = waiting.filter_map(|part| part.since).min()?;
        Some(since + GLANCE)
    }

    fn parts(&self) -> impl Iterator<Item = &PartInSight> {
        self.lines.values().flat_map(|line| &line.parts)
    }

    fn put(&mut self, at: (Side, usize), (hunk, pair): InHunk, bytes: Range<usize>, former: &Self) {
        let known = former.lines.get(&at).map_or(&[][..], |line| &line.parts);
        let mut parts: Vec<_> = known.iter().filter_map(|it| it.within(&bytes)).collect();
        let (mut old, mut new) = (Intervals::default(), Intervals::default());
        for part in &parts {
            old.add(part.bytes.clone());
        }
        new.add_all_but(&old, bytes.clone());
        parts.extend(new.ranges().iter().cloned().map(PartInSight::new));
        if parts.is_empty() {
            parts.push(PartInSight::new(bytes));
        }
        self.lines.insert(at, LineInSight { hunk, pair, parts });
    }
}

/// The hunk of a line, and the line with its counterpart.
type InHunk = (usize, Option<(usize, usize)>);

impl PartInSight {
    fn new(bytes: Range<usize>) -> Self {
        Self {
            bytes,
            since: None,
            is_seen: false,
        }
    }

    /// What is left of it in these bytes.
    fn within(&self, bytes: &Range<usize>) -> Option<Self> {
        let start = self.bytes.start.max(bytes.start);
        let end = self.bytes.end.min(bytes.end);
        let is_left = start < end || self.bytes == *bytes;
        is_left.then(|| Self {
            bytes: start..end,
            ..self.clone()
        })
    }
}

impl View {
    /// What is visible through `viewport` and was not seen before. What the former frame showed, too, is there for as long as
    /// it was.
    pub fn in_sight(&mut self, viewport: &Viewport, former: &Sight) -> Sight {
        self.follow_texts();
        let mut sight = Sight {
            of: Some((self.diff.id, self.proposal.version())),
            lines: HashMap::new(),
        };
        let nothing = Sight::default();
        let former = match self.is_of(former) {
            true => former,
            false => &nothing,
        };
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
                for (side, line) in [(Side::Left, left), (Side::Right, right)] {
                    if let Some(line) = line.filter(|line| !self.has_seen_line(side, *line)) {
                        let bytes = self.visible_bytes(side, line, subs.clone(), viewport);
                        sight.put((side, line), (hunk, pair), bytes, former);
                    }
                }
            }
        }
        sight
    }

    fn is_of(&self, sight: &Sight) -> bool {
        let of = sight.of.as_ref();
        of.is_some_and(|(id, version)| *id == self.diff.id && self.proposal.is(version))
    }

    /// Notes that what has been in sight for long enough at that time was seen.
    pub fn see(&mut self, sight: &mut Sight, at: Instant) {
        if !self.is_of(sight) {
            return;
        }
        self.paint.refill();
        for (&(side, line), it) in &mut sight.lines {
            for part in &mut it.parts {
                part.is_seen |= part.since.is_some_and(|since| since + GLANCE <= at);
            }
            if !it.parts.iter().any(|part| part.is_seen) || self.has_seen_line(side, line) {
                continue;
            }
            let needed = self.needed(side, line, it.pair);
            for part in it.parts.iter().filter(|part| part.is_seen) {
                self.see_bytes(side, line, part.bytes.clone(), needed.as_deref());
            }
            self.see_hunk(it.hunk);
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
            Some(pair) => Some(self.paint.words_in_budget(&self.judged.proposal, pair)?),
            None => None,
        };
        let words = changed.filter(|changed| !changed.0.is_empty() || !changed.1.is_empty());
        Some(match words {
            Some(words) => side.of((&words.0, &words.1)).clone(),
            None => {
                let line = LineOf::new(&self.judged.proposal, side, line);
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
        let line = LineOf::new(&self.judged.proposal, side, line);
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

    /// The first place of a hunk that was not on the screen.
    pub fn first_unseen(&mut self, hunk: usize) -> Option<Unseen> {
        let gaps = self.judged.unseen_lines(hunk).into_iter();
        let rows = gaps
            .filter_map(|(side, line, part)| Some((self.rows.of(side, line)?, side, line, part)));
        let (row, side, line, part) = rows.min_by_key(|(row, ..)| *row)?;
        let pair = match self.rows.get(row)? {
            Row::Changed { pair, .. } => pair,
            _ => None,
        };
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
