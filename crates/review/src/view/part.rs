//! The part of a line that is in view, worked out only as far as that takes: a line may have many
//! megabytes.

use pillion_text::visible::{self, Place};

use super::paint::{LineOf, Paint};

/// Longer lines are wrapped up to here; the rest is in one more row, which states that.
const MAX_WRAPPED: usize = 256 << 10;

/// Columns between two known places in a long line that is not wrapped.
const STRIDE: usize = 1_024;

/// The part of a line that is in view.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// A place in the line where a piece begins, at or before the first column.
    pub from: Place,
    /// The first column in view.
    pub column: usize,
    /// The place where the next row of a wrapped line begins, in bytes.
    pub until: Option<usize>,
    /// True if what is to the left is cut off: the first column holds a sign for it.
    pub is_cut_left: bool,
}

/// The part that is seen of a line in one row.
#[derive(Debug)]
pub enum RowPart {
    /// A part of it.
    Part(Window),
    /// Nothing: it ends above.
    Nothing,
    /// It is not worked out so far yet.
    Later,
    /// That so many bytes of it are not wrapped.
    TooLong(usize),
}

impl Paint {
    /// The part that is seen in row `sub` of a line that is wrapped to `width` columns.
    pub fn wrapped_row(&mut self, line: LineOf<'_>, width: usize, sub: usize) -> RowPart {
        let left_out = line.content.len() - wrapped(line).content.len();
        let breaks = self.extended(wrapped(line), width, |_| false);
        match breaks.rows().get(sub).copied() {
            Some(from) => {
                let end = (left_out > 0).then(|| wrapped(line).content.len());
                let next = breaks.rows().get(sub + 1);
                RowPart::Part(Window {
                    from,
                    column: from.column,
                    until: next.map(|next| next.byte).or(end),
                    is_cut_left: false,
                })
            }
            None if left_out > 0 && sub == breaks.rows().len() => RowPart::TooLong(left_out),
            None => RowPart::Nothing,
        }
    }

    /// The number of rows that a line takes when it is wrapped to `width` columns.
    pub fn height(&mut self, line: LineOf<'_>, width: usize) -> usize {
        let is_cut = wrapped(line).content.len() < line.content.len();
        let breaks = self.extended(wrapped(line), width, |_| false);
        breaks.rows().len() + usize::from(is_cut)
    }

    /// The row of the character at `byte` when the line is wrapped to `width` columns.
    pub fn row_of(&mut self, line: LineOf<'_>, width: usize, byte: usize) -> usize {
        let breaks = self.extended(wrapped(line), width, |_| false);
        let after = breaks.rows().partition_point(|row| row.byte <= byte);
        after.saturating_sub(1)
    }

    /// The part that is seen of a line that is not wrapped, from `column` on.
    pub fn cut_at(&mut self, line: LineOf<'_>, column: usize) -> RowPart {
        let breaks = self.extended(line, STRIDE, |row| row.column > column);
        if !breaks.is_whole() && breaks.last().column <= column {
            return RowPart::Later;
        }
        let after = breaks.rows().partition_point(|row| row.column <= column);
        RowPart::Part(Window {
            from: breaks.rows()[after.saturating_sub(1)],
            column,
            until: None,
            is_cut_left: column > 0,
        })
    }

    /// The number of columns that a line takes; if more than `enough`, as many as are known.
    pub fn columns(&mut self, line: LineOf<'_>, enough: usize) -> usize {
        let breaks = self.extended(line, STRIDE, |row| row.column > enough);
        let last = breaks.last();
        if !breaks.is_whole() {
            return last.column;
        }
        let rest = visible::pieces(line.content, last).map(|piece| piece.width);
        last.column + rest.sum::<usize>()
    }

    /// The column of the character at `byte`; if that is too far away, of the last one known.
    pub fn column_of(&mut self, line: LineOf<'_>, byte: usize) -> usize {
        let breaks = self.extended(line, STRIDE, |row| row.byte > byte);
        if !breaks.is_whole() && breaks.last().byte <= byte {
            return breaks.last().column;
        }
        let after = breaks.rows().partition_point(|row| row.byte <= byte);
        let from = breaks.rows()[after.saturating_sub(1)];
        let before = visible::pieces(line.content, from)
            .take_while(|piece| piece.at.byte + piece.bytes <= byte);
        from.column + before.map(|piece| piece.width).sum::<usize>()
    }
}

/// The part of a line that is wrapped.
fn wrapped(line: LineOf<'_>) -> LineOf<'_> {
    let end = line.content.floor_char_boundary(MAX_WRAPPED);
    LineOf {
        content: &line.content[..end],
        ..line
    }
}
