//! The bytes that are written to the terminal for a new frame: what only moved is moved by the terminal itself, and of the
//! rest only what changed. Over a slow link, a frame written whole takes longer than a person's next key.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};

/// Rows that the terminal moves, at most half a screen: of a page, nothing stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scroll {
    /// The first of the rows among which others move.
    top: usize,
    /// The row after the last.
    end: usize,
    /// By how many rows.
    by: usize,
    up: bool,
}

/// The bytes that turn a screen that shows `shown` into one that shows `next`. Both have the same size. Nothing, if nothing
/// changed.
///
/// # Errors
/// None in practice: it writes into memory.
pub fn bytes(mut shown: Buffer, next: &Buffer) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if shown == *next {
        return Ok(bytes);
    }
    let mut backend = CrosstermBackend::new(&mut bytes);
    queue!(backend, BeginSynchronizedUpdate)?;
    if let Some(scroll) = Scroll::find(&shown, next) {
        queue!(backend, Print(scroll.sequence()))?;
        scroll.apply(&mut shown);
    }
    backend.draw(shown.diff(next).into_iter())?;
    queue!(backend, EndSynchronizedUpdate)?;
    Write::flush(&mut backend)?;
    Ok(bytes)
}

impl Scroll {
    /// The one that gains the most, if it leaves less to be written than none does.
    ///
    /// Which rows moved is seen by their texts as a whole: to compare cells with those of all other rows would cost more the
    /// larger the screen is, by its third power.
    fn find(shown: &Buffer, next: &Buffer) -> Option<Self> {
        let height = usize::from(next.area.height);
        let stays: Vec<_> = (0..height).map(|y| equal(shown, y, next, y)).collect();
        let changed = next.content.len() - stays.iter().sum::<usize>();
        // A row more or less is written before a scroll would be.
        if changed <= usize::from(next.area.width) {
            return None;
        }
        let (from, to) = (texts(shown), texts(next));
        let width = usize::from(next.area.width);
        let ways = (1..=height / 2).flat_map(|by| [(by, true), (by, false)]);
        let scrolls = ways.filter_map(|(by, up)| {
            let moved = |row: usize, at: usize| if from[row] == to[at] { width } else { 0 };
            Self::among(moved, &stays, by, up)
        });
        let (_, best) = scrolls.max_by_key(|(gain, _)| *gain)?;
        let mut moved = shown.clone();
        best.apply(&mut moved);
        let cells = moved.content.iter().zip(&next.content);
        (cells.filter(|(before, after)| before != after).count() < changed).then_some(best)
    }

    /// The run of rows that gains the most from moving by so many, and how many cells it gains. `moved` is the number of cells
    /// that are right if a row is moved to a place.
    fn among(
        moved: impl Fn(usize, usize) -> usize,
        stays: &[usize],
        by: usize,
        up: bool,
    ) -> Option<(isize, Self)> {
        let height = stays.len();
        let (mut best, mut most) = (None, 0);
        let (mut start, mut gain) = (0, 0);
        for at in 0..height - by {
            let (from, to) = if up { (at + by, at) } else { (at, at + by) };
            let moved = moved(from, to);
            if gain <= 0 {
                (start, gain) = (at, 0);
            }
            gain += moved.cast_signed() - stays[to].cast_signed();
            if gain > most {
                let (top, end) = (start, at + by + 1);
                (best, most) = (Some((gain, Self { top, end, by, up })), gain);
            }
        }
        best
    }

    /// Lines are deleted or inserted within margins, which more terminals know than scrolling as such.
    fn sequence(self) -> String {
        let Self { top, end, by, up } = self;
        let (first, action) = (top + 1, if up { 'M' } else { 'L' });
        format!("\x1b[{first};{end}r\x1b[{first};1H\x1b[{by}{action}\x1b[r")
    }

    fn apply(self, buffer: &mut Buffer) {
        let width = usize::from(buffer.area.width);
        let rows = &mut buffer.content[self.top * width..self.end * width];
        let moved = self.by * width;
        let left = rows.len() - moved;
        let blank = if self.up {
            rows.rotate_left(moved);
            left..rows.len()
        } else {
            rows.rotate_right(moved);
            0..moved
        };
        rows[blank].fill(Cell::EMPTY);
    }
}

/// The marks at the edge of rows, which move from one to the other by themselves.
const MARKS: [&str; 5] = ["❯", "▌", "█", "✗", "·"];

/// The text of each row without those, as a number that tells it from others.
fn texts(buffer: &Buffer) -> Vec<u64> {
    let mut text = String::new();
    let rows = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    rows.map(|row| {
        text.clear();
        text.extend(row.iter().map(|cell| match cell.symbol() {
            mark if MARKS.contains(&mark) => " ",
            symbol => symbol,
        }));
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        hasher.finish()
    })
    .collect()
}

/// The number of cells of a row of one that equal those of a row of the other.
fn equal(one: &Buffer, row: usize, other: &Buffer, other_row: usize) -> usize {
    let width = usize::from(one.area.width);
    let cells = one.content[row * width..][..width].iter();
    let pairs = cells.zip(&other.content[other_row * width..][..width]);
    pairs.filter(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests;
