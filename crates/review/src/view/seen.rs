//! The parts of a proposal that were on the screen. A hunk was seen when each of its lines was, and of a long line each change.

use std::iter;
use std::ops::Range;

use pillion_judge::proposal::Side;
use pillion_judge::rows::Row;
use pillion_text::visible;

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
        let Some(line) = line.filter(|line| !self.has_seen_line(side, *line)) else {
            return;
        };
        let bytes = self.visible_bytes(side, line, subs, viewport);
        let needed = self.needed(side, line, pair);
        self.see_bytes(side, line, bytes, needed.as_deref());
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
