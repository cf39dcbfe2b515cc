//! The lines in each row: side by side or unified, with unchanged regions folded. Rows are
//! worked out on demand, so that a text of a million lines costs nothing. No drawing.

mod align;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use crate::proposal::{Hunk, Part, Proposal, Side};
use align::Pairs;

/// Unchanged lines that stay visible around a hunk.
const CONTEXT: usize = 3;

/// Fewer lines than this are not worth a fold.
const MIN_FOLD: usize = 3;

/// In bigger proposals than this the later hunks are lined up from the top.
const MAX_COMPARISONS: usize = 200_000;

/// The arrangement of the two texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Layout {
    /// Before on the left, after on the right.
    #[serde(rename = "split")]
    SideBySide,
    /// One column: removed lines above added ones.
    #[default]
    Unified,
}

/// One row of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Unchanged lines that are not shown.
    Fold {
        /// The index before of the first of them.
        left: usize,
        /// Its index after.
        right: usize,
        /// Their number.
        lines: usize,
    },
    /// An unchanged line.
    Same {
        /// Its index before.
        left: usize,
        /// Its index after.
        right: usize,
    },
    /// A changed line, or two of them side by side.
    Changed {
        /// The hunk that it belongs to.
        hunk: usize,
        /// The line before that is shown.
        left: Option<usize>,
        /// The line after that is shown.
        right: Option<usize>,
        /// The line before and the line after that are versions of each other.
        pair: Option<(usize, usize)>,
    },
    /// A note on the lines above it, by its place among the notes.
    Note(usize),
}

impl Row {
    /// The line before and the line after that it shows.
    pub fn lines(self) -> (Option<usize>, Option<usize>) {
        match self {
            Self::Fold { .. } | Self::Note(_) => (None, None),
            Self::Same { left, right } => (Some(left), Some(right)),
            Self::Changed { left, right, .. } => (left, right),
        }
    }

    /// The same, as far as they are drawn: unified, of a line that is the same on both sides only the one after.
    pub fn drawn(self, layout: Layout) -> (Option<usize>, Option<usize>) {
        let (left, right) = self.lines();
        let is_beside = layout == Layout::SideBySide;
        (left.filter(|_| is_beside || right.is_none()), right)
    }
}

/// The unchanged lines that are shown although they are far from any hunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unfolding {
    /// All are.
    pub all: bool,
    /// For a gap between hunks, by the line before that it begins with: the number of lines that are shown in addition at its
    /// beginning and at its end.
    pub gaps: BTreeMap<usize, (usize, usize)>,
}

/// All rows of a proposal.
#[derive(Debug, Default)]
pub struct Rows {
    segments: Vec<Segment>,
    /// The row where each hunk begins.
    hunks: Vec<Range<usize>>,
    len: usize,
    /// The rows of lines that notes stand below, in order, and which notes: all other numbers count without the rows of these.
    notes: Vec<(usize, usize)>,
    /// The number of pairs of lines that may still be compared to line them up.
    comparisons: usize,
}

#[derive(Debug)]
struct Segment {
    start: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Same {
        left: usize,
        right: usize,
    },
    Fold {
        left: usize,
        right: usize,
        lines: usize,
    },
    /// A hunk side by side or, of one side, its removed lines or its added ones.
    Changed {
        hunk: usize,
        side: Option<Side>,
        pairs: Pairs,
    },
}

impl Rows {
    /// Arranges `proposal`.
    pub fn new(proposal: &Proposal, layout: Layout, unfolding: &Unfolding) -> Self {
        let mut rows = Self {
            comparisons: MAX_COMPARISONS,
            ..Self::default()
        };
        let is_whole = unfolding.all || proposal.hunks().is_empty();
        let context = if is_whole { usize::MAX } else { CONTEXT };
        let kept = |left: usize, above: usize, below: usize| {
            let (more_above, more_below) = unfolding.gaps.get(&left).copied().unwrap_or_default();
            (
                above.saturating_add(more_above),
                below.saturating_add(more_below),
            )
        };
        let (mut left, mut right) = (0, 0);
        for (index, hunk) in proposal.hunks().iter().enumerate() {
            let same = hunk.before.start - left;
            let above = if index == 0 { 0 } else { context };
            rows.push_same(left, right, same, kept(left, above, context));
            rows.push_hunk(proposal, index, hunk, layout);
            (left, right) = (hunk.before.end, hunk.after.end);
        }
        let same = proposal.before().len() - left;
        rows.push_same(left, right, same, kept(left, context, 0));
        rows
    }

    /// The same with notes below lines after: each line and the note's place among them.
    pub fn with_notes(mut self, notes: &[(usize, usize)]) -> Self {
        let row = |line: usize| self.of(Side::Right, line);
        let mut placed: Vec<_> = { notes.iter() }
            .filter_map(|(line, note)| Some((row(*line)?, *note)))
            .collect();
        placed.sort_unstable();
        self.notes = placed;
        self
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.len + self.notes.len()
    }

    /// The row of a line, with the notes above it.
    fn below_notes(&self, line: usize) -> usize {
        line + self.notes.partition_point(|(above, _)| *above < line)
    }

    /// The row of a line, counted without notes, or else the note that stands there.
    fn line_or_note(&self, row: usize) -> Result<usize, usize> {
        let rows = || {
            self.notes
                .iter()
                .enumerate()
                .map(|(at, (line, note))| (line + 1 + at, *note))
        };
        match rows().find(|(at, _)| *at == row) {
            Some((_, note)) => Err(note),
            None => Ok(row - rows().take_while(|(at, _)| *at < row).count()),
        }
    }

    /// The row of a note.
    pub fn of_note(&self, note: usize) -> Option<usize> {
        let at = self.notes.iter().position(|(_, it)| *it == note)?;
        Some(self.notes[at].0 + 1 + at)
    }

    /// The first line before that each fold hides.
    pub fn folds(&self) -> impl Iterator<Item = usize> {
        let kinds = self.segments.iter().map(|segment| &segment.kind);
        kinds.filter_map(|kind| match kind {
            Kind::Fold { left, .. } => Some(*left),
            _ => None,
        })
    }

    /// The rows of a hunk.
    pub fn of_hunk(&self, hunk: usize) -> Range<usize> {
        let lines = self.hunks.get(hunk);
        lines.map_or(0..0, |lines| self.between_notes(lines))
    }

    fn between_notes(&self, lines: &Range<usize>) -> Range<usize> {
        let last = lines.end.saturating_sub(1);
        self.below_notes(lines.start)..self.below_notes(last) + (lines.end - last)
    }

    /// The changed lines in these rows, hunk by hunk. Where they have none of one side, the place there is the one beside the first.
    pub fn parts(&self, rows: Range<usize>) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for row in rows {
            let Some(Row::Changed {
                hunk, left, right, ..
            }) = self.get(row)
            else {
                continue;
            };
            if parts.last().is_none_or(|it| it.hunk != hunk) {
                let (left, right) = self.place(row, left, right);
                parts.push(Part {
                    hunk,
                    before: left..left,
                    after: right..right,
                });
            }
            let Some(part) = parts.last_mut() else {
                continue;
            };
            for (lines, line) in [(&mut part.before, left), (&mut part.after, right)] {
                if let Some(line) = line {
                    // The first line of a side comes after those of the other in one column.
                    let start = if lines.start == lines.end {
                        line
                    } else {
                        lines.start
                    };
                    *lines = start..line + 1;
                }
            }
        }
        parts
    }

    /// The first lines that are not above a changed row.
    fn place(&self, row: usize, left: Option<usize>, right: Option<usize>) -> (usize, usize) {
        let Some(Kind::Changed { pairs, .. }) = self.segment(row).map(|it| &it.kind) else {
            return (left.unwrap_or(0), right.unwrap_or(0));
        };
        let at = left.and_then(|it| pairs.row_of(Side::Left, it));
        let at = at
            .or_else(|| pairs.row_of(Side::Right, right?))
            .unwrap_or(0);
        let above = |side: Side| {
            (0..at)
                .filter(|row| side.of(pairs.get(*row)).is_some())
                .count()
        };
        (
            pairs.lines(Side::Left).start + above(Side::Left),
            pairs.lines(Side::Right).start + above(Side::Right),
        )
    }

    fn segment(&self, row: usize) -> Option<&Segment> {
        let row = self.line_or_note(row).ok()?;
        let after = self.segments.partition_point(|it| it.start <= row);
        self.segments.get(after.checked_sub(1)?)
    }

    /// The first hunk with a row in `rows`.
    pub fn hunk_in(&self, rows: Range<usize>) -> Option<usize> {
        let end = |lines: &Range<usize>| self.between_notes(lines).end;
        let first = self.hunks.partition_point(|it| end(it) <= rows.start);
        (first < self.hunks.len() && self.of_hunk(first).start < rows.end).then_some(first)
    }

    /// The content of a row.
    pub fn get(&self, row: usize) -> Option<Row> {
        let row = match self.line_or_note(row) {
            Ok(row) if row < self.len => row,
            Ok(_) => return None,
            Err(note) => return Some(Row::Note(note)),
        };
        let after = self.segments.partition_point(|it| it.start <= row);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        let at = row - segment.start;
        Some(match &segment.kind {
            Kind::Same { left, right } => Row::Same {
                left: left + at,
                right: right + at,
            },
            Kind::Fold { left, right, lines } => Row::Fold {
                left: *left,
                right: *right,
                lines: *lines,
            },
            Kind::Changed { hunk, side, pairs } => {
                let beside = match side {
                    None => pairs.get(at),
                    Some(side) => pairs.beside(*side, pairs.lines(*side).start + at),
                };
                let is_seen = |of: Side| side.is_none_or(|side| side == of);
                Row::Changed {
                    hunk: *hunk,
                    left: beside.0.filter(|_| is_seen(Side::Left)),
                    right: beside.1.filter(|_| is_seen(Side::Right)),
                    pair: beside.0.zip(beside.1),
                }
            }
        })
    }

    /// The row of a line of one side, or of the fold that hides it.
    pub fn of(&self, side: Side, line: usize) -> Option<usize> {
        let row = self.find(|kind| match kind {
            Kind::Same { left, right } => line.checked_sub(*side.of((left, right))),
            Kind::Fold { left, right, lines } => {
                let first = *side.of((left, right));
                (first..first + lines).contains(&line).then_some(0)
            }
            Kind::Changed {
                side: shown, pairs, ..
            } => match shown {
                None => pairs.row_of(side, line),
                Some(shown) => line
                    .checked_sub(pairs.lines(side).start)
                    .filter(|_| *shown == side),
            },
        });
        row.map(|row| self.below_notes(row))
    }

    /// The first row that `within` finds in a segment, counted from where that begins.
    fn find(&self, within: impl Fn(&Kind) -> Option<usize>) -> Option<usize> {
        let ends = self.segments.iter().skip(1).map(|next| next.start);
        let ends = ends.chain([self.len]);
        self.segments.iter().zip(ends).find_map(|(segment, end)| {
            let row = segment.start + within(&segment.kind)?;
            (row < end).then_some(row)
        })
    }

    fn push(&mut self, kind: Kind, rows: usize) {
        if rows > 0 {
            self.segments.push(Segment {
                start: self.len,
                kind,
            });
            self.len += rows;
        }
    }

    /// Adds unchanged lines, of which so many above and below are kept when the rest is folded.
    fn push_same(&mut self, left: usize, right: usize, lines: usize, kept: (usize, usize)) {
        let (above, below) = kept;
        let hidden = lines.saturating_sub(above.saturating_add(below));
        if hidden < MIN_FOLD {
            self.push(Kind::Same { left, right }, lines);
            return;
        }
        self.push(Kind::Same { left, right }, above);
        let (left, right) = (left + above, right + above);
        let lines = hidden;
        self.push(Kind::Fold { left, right, lines }, 1);
        let (left, right) = (left + hidden, right + hidden);
        self.push(Kind::Same { left, right }, below);
    }

    fn push_hunk(&mut self, proposal: &Proposal, index: usize, hunk: &Hunk, layout: Layout) {
        let comparisons = &mut self.comparisons;
        let pairs = Pairs::new(proposal.before(), proposal.after(), hunk, comparisons);
        let start = self.len;
        let sides: &[Option<Side>] = match layout {
            Layout::SideBySide => &[None],
            Layout::Unified => &[Some(Side::Left), Some(Side::Right)],
        };
        for side in sides {
            let rows = side.map_or(pairs.len(), |side| pairs.lines(side).len());
            let changed = Kind::Changed {
                hunk: index,
                side: *side,
                pairs: pairs.clone(),
            };
            self.push(changed, rows);
        }
        self.hunks.push(start..self.len);
    }
}

#[cfg(test)]
mod tests {
    use pillion_text::Text;

    use super::*;

    fn shown(before: &str, after: &str, layout: Layout, unfold: bool) -> Vec<String> {
        let proposal = Proposal::new(Some(Text::new(before)), after);
        let unfolding = Unfolding {
            all: unfold,
            ..Unfolding::default()
        };
        let rows = Rows::new(&proposal, layout, &unfolding);
        let side = |text: &Text, line: Option<usize>| match line {
            Some(line) => text.shown(line).trim_end().to_owned(),
            None => "·".to_owned(),
        };
        let shown = (0..rows.count())
            .filter_map(|row| rows.get(row))
            .map(|row| match row {
                Row::Fold { lines, .. } => format!("… {lines}"),
                Row::Note(note) => format!("note {note}"),
                Row::Same { left, right } => {
                    assert_eq!(proposal.before().line(left), proposal.after().line(right));
                    format!("  {}", proposal.before().shown(left).trim_end())
                }
                Row::Changed {
                    hunk, left, right, ..
                } => {
                    let (left, right) =
                        (side(proposal.before(), left), side(proposal.after(), right));
                    format!("{hunk} {left} | {right}")
                }
            });
        let shown = shown.collect();
        assert_eq!(rows.get(rows.count()), None);
        shown
    }

    fn numbers(count: usize) -> String {
        (1..=count).map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn unchanged_regions_are_folded_but_not_small_ones() {
        let before = numbers(20);
        let after = before
            .replace("\n9\n", "\nnine\n")
            .replace("20\n", "twenty\n");
        let rows = shown(&before, &after, Layout::SideBySide, false);
        assert_eq!(
            rows,
            [
                "… 5",
                "  6",
                "  7",
                "  8",
                "0 9 | nine",
                "  10",
                "  11",
                "  12",
                "… 4",
                "  17",
                "  18",
                "  19",
                "1 20 | twenty"
            ]
        );
        assert_eq!(shown(&before, &after, Layout::SideBySide, true).len(), 20);
        let rows = shown(&before, &after, Layout::Unified, false);
        assert_eq!(rows[4..6], ["0 9 | ·", "0 · | nine"]);
    }

    #[test]
    fn notes_are_rows_of_their_own_and_all_others_are_found_between_them() {
        let before = numbers(20);
        let after = before
            .replace("\n9\n", "\nnine\nand\n")
            .replace("20\n", "twenty\n");
        let proposal = Proposal::new(Some(Text::new(before)), &after);
        for layout in [Layout::SideBySide, Layout::Unified] {
            let bare = Rows::new(&proposal, layout, &Unfolding::default());
            // In a hunk, at its end, on folded lines, and two at the end.
            let notes = [(20, 0), (8, 1), (9, 2), (12, 3), (1, 4), (20, 5)];
            let rows = Rows::new(&proposal, layout, &Unfolding::default()).with_notes(&notes);
            assert_eq!(rows.count(), bare.count() + notes.len());
            let is_note = |row: &usize| matches!(rows.get(*row), Some(Row::Note(_)));
            let others: Vec<_> = (0..rows.count()).filter(|row| !is_note(row)).collect();
            for (at, row) in others.iter().enumerate() {
                assert_eq!(rows.get(*row), bare.get(at));
                let (left, right) = bare.get(at).unwrap().lines();
                for (side, line) in [(Side::Left, left), (Side::Right, right)] {
                    let of = |rows: &Rows| line.and_then(|line| rows.of(side, line));
                    let expected = of(&bare).map(|at| others[at]);
                    assert_eq!(of(&rows), expected, "{layout:?} {side:?} {line:?}");
                }
                let hunk = bare.hunk_in(at..at + 1);
                assert_eq!(rows.hunk_in(*row..row + 1), hunk, "{layout:?} {row}");
                assert_eq!(rows.parts(*row..row + 1), bare.parts(at..at + 1));
            }
            for (line, note) in notes {
                let row = rows.of_note(note).unwrap();
                assert_eq!(rows.get(row), Some(Row::Note(note)));
                let above = (0..row).rev().find(|row| !is_note(row));
                assert_eq!(above, rows.of(Side::Right, line), "{layout:?} {note}");
            }
            assert_eq!(rows.get(rows.count()), None);
            assert_eq!(rows.parts(0..rows.count()), bare.parts(0..bare.count()));
        }
    }

    #[test]
    fn similar_lines_stand_beside_each_other() {
        let rows = shown(
            "let a = first(one, two);\nlet b = second(three);\n",
            "// what it is for\nlet a = first(one, two, three);\nlet b = second(4);\n",
            Layout::SideBySide,
            false,
        );
        assert_eq!(
            rows,
            [
                "0 · | // what it is for",
                "0 let a = first(one, two); | let a = first(one, two, three);",
                "0 let b = second(three); | let b = second(4);",
            ]
        );
    }

    #[test]
    fn a_new_file_and_an_emptied_one_have_one_side() {
        assert_eq!(
            shown("", "a\nb\n", Layout::Unified, false),
            ["0 · | a", "0 · | b"]
        );
        assert_eq!(shown("a\n", "", Layout::SideBySide, false), ["0 a | ·"]);
        assert_eq!(shown("a\n", "a\n", Layout::SideBySide, false), ["  a"]);
    }

    #[test]
    fn the_hunk_of_a_range_of_rows_and_the_row_of_a_line_are_found() {
        let before = numbers(20);
        let after = before
            .replace("\n9\n", "\nnine\n")
            .replace("20\n", "twenty\n");
        let proposal = Proposal::new(Some(Text::new(before)), &after);
        let rows = Rows::new(&proposal, Layout::SideBySide, &Unfolding::default());
        assert_eq!(rows.of_hunk(1), 12..13);
        assert_eq!(rows.hunk_in(0..4), None);
        assert_eq!(rows.hunk_in(0..5), Some(0));
        assert_eq!(rows.hunk_in(5..13), Some(1));
        for layout in [Layout::SideBySide, Layout::Unified] {
            let rows = Rows::new(&proposal, layout, &Unfolding::default());
            let of = |line| (rows.of(Side::Left, line), rows.of(Side::Right, line));
            assert_eq!(of(0), (Some(0), Some(0)), "the fold hides it");
            assert_eq!(of(5), (Some(1), Some(1)));
            let added = usize::from(layout == Layout::Unified);
            assert_eq!(of(8), (Some(4), Some(4 + added)));
            assert_eq!(of(17), (Some(10 + added), Some(10 + added)));
            assert_eq!(of(20), (None, None));
        }
    }
}
