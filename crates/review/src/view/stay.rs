//! Staying at the lines that the reviewer looks at when rows are arranged anew: the layout is another
//! one, or the texts are.

use pillion_judge::proposal::{Hunk, Moves, Side};
use pillion_judge::rows::{Row, Rows};

use crate::view::Top;

/// The former position of a view.
#[derive(Debug, Clone, Copy)]
pub struct Former<'a> {
    pub rows: &'a Rows,
    /// The number of them that were seen.
    pub height: usize,
    /// The former beginning of the visible part.
    pub top: Top,
    pub hunk: usize,
    pub cursor: usize,
}

/// The new position of a view.
#[derive(Debug, Clone, Copy)]
pub struct Stand {
    /// The beginning of the visible part.
    pub top: Top,
    pub hunk: usize,
    pub cursor: usize,
    /// The fate of that hunk.
    pub stayed: Stayed,
}

/// The fate of the current hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stayed {
    /// It was in view, and is there still.
    InView,
    /// It was not in view, or is another one.
    Elsewhere,
}

/// The lines of a row, before and after.
type Lines = (Option<usize>, Option<usize>);

/// The new position of a view in `rows`.
pub fn stay(former: &Former<'_>, rows: &Rows, hunks: &[Hunk], moves: &Moves<'_>) -> Stand {
    let seen = former.top.row..(former.top.row + former.height).min(former.rows.count());
    let current = former.rows.of_hunk(former.hunk);
    let in_view = current.clone().filter(|row| seen.contains(row));
    let in_view: Vec<_> = with_lines(in_view, former.rows).collect();
    let is_fold = |row: usize| matches!(rows.get(row), Some(Row::Fold { .. }));
    let find = |among: &[(usize, Lines)], also_folded: bool| {
        among.iter().find_map(|(was, lines)| {
            let is = same(*lines, rows, moves);
            Some((*was, is.filter(|row| also_folded || !is_fold(*row))?))
        })
    };
    let of_hunk = find(&in_view, false);
    // Around the hunk is what shows where it is.
    let around: Vec<_> = with_lines(seen, former.rows).collect();
    let found = of_hunk
        .or_else(|| find(&around, false))
        .or_else(|| find(&around, true));
    let top = match found {
        Some((was, is)) => Top {
            row: is.saturating_sub(was - former.top.row),
            sub: if was == former.top.row {
                former.top.sub
            } else {
                0
            },
        },
        None => Top {
            row: around
                .first()
                .map_or(0, |(_, lines)| nearest(*lines, rows, moves)),
            sub: 0,
        },
    };
    // A view at the very top shows what comes there, if that moves nothing out of sight.
    let stays_at_top =
        former.top == Top::default() && of_hunk.is_none_or(|(_, row)| row < former.height);
    let top = if stays_at_top { Top::default() } else { top };
    let hunk = lines(former.rows, current.start)
        .map_or(former.hunk, |lines| nearest_hunk(lines, hunks, moves));
    let hunk = hunk.min(hunks.len().saturating_sub(1));
    let cursor = first_lines(former.rows, former.cursor).and_then(|lines| same(lines, rows, moves));
    let (cursor, hunk) = match cursor {
        Some(cursor) => (cursor, rows.hunk_in(cursor..cursor + 1).unwrap_or(hunk)),
        None => (rows.of_hunk(hunk).start, hunk),
    };
    let is_same = of_hunk.is_some_and(|(_, row)| rows.of_hunk(hunk).contains(&row));
    let stayed = match is_same {
        true => Stayed::InView,
        false => Stayed::Elsewhere,
    };
    Stand {
        top,
        hunk,
        cursor,
        stayed,
    }
}

fn with_lines(
    range: impl Iterator<Item = usize>,
    rows: &Rows,
) -> impl Iterator<Item = (usize, Lines)> {
    range.filter_map(|row| Some((row, lines(rows, row)?)))
}

fn lines(rows: &Rows, row: usize) -> Option<Lines> {
    match rows.get(row)? {
        Row::Fold { .. } | Row::Note(_) => None,
        row => Some(row.lines()),
    }
}

/// Those of a row, or the first that it folds, or those above a note.
fn first_lines(rows: &Rows, row: usize) -> Option<Lines> {
    match rows.get(row)? {
        Row::Fold { left, right, .. } => Some((Some(left), Some(right))),
        Row::Note(_) => first_lines(rows, row.checked_sub(1)?),
        row => Some(row.lines()),
    }
}

/// The row of the very same line: what is proposed counts before what is there.
fn same(lines: Lines, rows: &Rows, moves: &Moves<'_>) -> Option<usize> {
    let find = |side: Side| {
        let place = moves.of(side, side.of(lines)?);
        rows.of(side, place.line).filter(|_| place.is_same)
    };
    match (find(Side::Left), find(Side::Right)) {
        // Of the same texts in another layout: what is removed is above what is added.
        (Some(left), Some(right)) if moves.are_none() => Some(left.min(right)),
        (left, right) => right.or(left),
    }
}

/// The row that is nearest to where a line was.
fn nearest(lines: Lines, rows: &Rows, moves: &Moves<'_>) -> usize {
    let find = |side: Side| rows.of(side, moves.of(side, side.of(lines)?).line);
    let found = find(Side::Right).or_else(|| find(Side::Left));
    found.unwrap_or_else(|| rows.count().saturating_sub(1))
}

/// The hunk of a line, or else the next one.
fn nearest_hunk((left, right): Lines, hunks: &[Hunk], moves: &Moves<'_>) -> usize {
    if let Some(right) = right {
        let line = moves.of(Side::Right, right).line;
        return hunks.partition_point(|hunk| hunk.after.end <= line);
    }
    let line = left.map_or(0, |line| moves.of(Side::Left, line).line);
    hunks.partition_point(|hunk| hunk.before.end <= line)
}
