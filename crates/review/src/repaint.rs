//! The bytes that are written to the terminal for a new frame: what only moved is moved by the terminal itself, and of the
//! rest only what changed. Over a slow link, a frame written whole takes longer than a person's next key.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use crossterm::cursor::{MoveRight, MoveTo};
use crossterm::queue;
use crossterm::style::{Colored, Print};
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use pillion_text::visible;
use ratatui::backend::IntoCrossterm;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;

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
    queue!(bytes, BeginSynchronizedUpdate)?;
    if let Some(scroll) = Scroll::find(&shown, next) {
        queue!(bytes, Print(scroll.sequence()))?;
        scroll.apply(&mut shown);
    }
    put(&mut bytes, shown.diff(next))?;
    queue!(bytes, EndSynchronizedUpdate)?;
    Ok(bytes)
}

/// Writes cells, of whose looks only what differs from the one before.
fn put(bytes: &mut Vec<u8>, cells: Vec<(u16, u16, &Cell)>) -> io::Result<()> {
    let (mut before, mut place) = (&Cell::EMPTY, None);
    for (x, y, cell) in cells {
        match place {
            Some(at) if at == (x, y) => {}
            Some((from, row)) if row == y && from < x => queue!(bytes, MoveRight(x - from))?,
            _ if x == 0 => queue!(bytes, Print(format!("\x1b[{}H", y + 1)))?,
            _ => queue!(bytes, MoveTo(x, y))?,
        }
        queue!(bytes, Print(looks(before, cell)), Print(cell.symbol()))?;
        // Where a wide character leaves the cursor, terminals do not agree.
        let is_narrow = visible::width(cell.symbol()) == 1;
        (before, place) = (cell, is_narrow.then_some((x + 1, y)));
    }
    queue!(bytes, Print("\x1b[m"))
}

/// The sequence after which a cell looks as it should behind another one.
fn looks(before: &Cell, cell: &Cell) -> String {
    let is_left = !(before.modifier - cell.modifier).is_empty();
    let before = if is_left { &Cell::EMPTY } else { before };
    let added = (cell.modifier - before.modifier).iter();
    let mut codes: Vec<_> = is_left.then(|| "0".to_owned()).into_iter().collect();
    codes.extend(added.map(|it| code(it).to_string()));
    let colours = [
        (before.fg, cell.fg, Colored::ForegroundColor as fn(_) -> _),
        (before.bg, cell.bg, Colored::BackgroundColor),
    ];
    let others = colours.into_iter().filter(|(was, is, _)| was != is);
    let others = others.map(|(_, is, side)| side(is.into_crossterm()).to_string());
    // Without colours there is none of them.
    codes.extend(others.filter(|it| !it.is_empty()));
    match codes.is_empty() {
        true => String::new(),
        false => format!("\x1b[{}m", codes.join(";")),
    }
}

/// The number by which terminals know one way to look.
fn code(modifier: Modifier) -> u8 {
    match modifier {
        Modifier::BOLD => 1,
        Modifier::DIM => 2,
        Modifier::ITALIC => 3,
        Modifier::UNDERLINED => 4,
        Modifier::SLOW_BLINK => 5,
        Modifier::RAPID_BLINK => 6,
        Modifier::REVERSED => 7,
        Modifier::HIDDEN => 8,
        _ => 9,
    }
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
        let by = if by > 1 {
            by.to_string()
        } else {
            String::new()
        };
        format!("\x1b[{first};{end}r\x1b[{first}H\x1b[{by}{action}\x1b[r")
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
