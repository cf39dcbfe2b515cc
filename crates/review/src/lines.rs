//! The review in lines that are appended, for screen readers, for terminals that cannot place text, and for logs: of each frame the
//! lines that were not in the one before. They are those of the screen, without colours.

use std::collections::HashMap;
use std::io::{self, Write};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};

use pillion_view::ProposalKey;

use crate::ascii;

/// So many rows make a frame where no terminal says how many it has.
const ROWS: u16 = 40;

/// So many columns, likewise.
const COLUMNS: u16 = 80;

/// What was printed.
pub struct Lines {
    /// The lines of the last frame.
    printed: Vec<String>,
    /// The proposal that it showed: of another one nothing was printed, whatever its lines are.
    shown: Option<ProposalKey>,
}

impl Lines {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            printed: Vec::new(),
            shown: None,
        }
    }

    /// The size of a frame.
    pub fn size() -> Size {
        // A terminal that has nothing to say of itself says 0.
        let known = crossterm::terminal::size().ok();
        let (columns, rows) = known.unwrap_or_default();
        let or = |size: u16, otherwise| if size == 0 { otherwise } else { size };
        Size::new(or(columns, COLUMNS), or(rows, ROWS))
    }

    /// Prints what is new in the frame that `render` draws, which shows this proposal.
    ///
    /// # Errors
    /// When it cannot be printed.
    pub fn draw(
        &mut self,
        shown: Option<ProposalKey>,
        render: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        if self.shown != shown {
            self.shown = shown;
            self.printed.clear();
        }
        let mut buffer = Buffer::empty(Rect::from((Position::ORIGIN, Self::size())));
        render(&mut buffer);
        let lines = lines(&buffer);
        let text: String = new(&self.printed, &lines)
            .map(|line| match ascii::is_utf8() {
                true => format!("{line}\n"),
                false => format!("{}\n", ascii::of(line)),
            })
            .collect();
        self.printed = lines;
        let mut out = io::stdout();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// A line that begins with one of these is a rule, or within a frame.
const EDGES: [char; 4] = ['─', '│', '╭', '╰'];

/// The lines of a frame that say something.
fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width).max(1);
    let rows = buffer.content.chunks(width).map(|row| {
        let mut text = String::new();
        let mut covered = 0;
        for cell in row {
            match covered {
                // A wide character covers the next cell.
                0 => {
                    text.push_str(cell.symbol());
                    covered = pillion_text::visible::width(cell.symbol()).saturating_sub(1);
                }
                more => covered = more - 1,
            }
        }
        // Between rules and edges stands what they frame.
        let is_edge = |it: char| " ─│╭╮╰╯".contains(it);
        match text.trim_start().starts_with(EDGES) {
            true => text.trim_matches(is_edge).to_owned(),
            false => text.trim_end().to_owned(),
        }
    });
    rows.filter(|line| !line.is_empty()).collect()
}

/// The marks of the line that keys mean, and of its hunk, at the beginning of lines: one that has the first has lost the others.
const MARKS: [char; 3] = ['❯', '▌', ' '];

/// Folded lines are known by their number: what they lie in is found out later.
const FOLD: char = '⋯';

/// A line without what may be said of it later.
fn known(line: &str) -> &str {
    match line.trim_start().starts_with(FOLD) {
        true => line.split(" · ").next().unwrap_or(line),
        false => line,
    }
}

/// Of these lines those that the former ones have not. A line that has lost the mark of the current hunk is known, one that has got it is
/// new.
fn new<'a>(former: &[String], lines: &'a [String]) -> impl Iterator<Item = &'a String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in former {
        *counts.entry(known(line).to_owned()).or_default() += 1;
        let Some(at) = MARKS.iter().position(|mark| line.starts_with(*mark)) else {
            continue;
        };
        for mark in &MARKS[at + 1..] {
            let other = line.replacen(MARKS[at], &mark.to_string(), 1);
            *counts.entry(other).or_default() += 1;
        }
    }
    lines.iter().filter(move |line| {
        let count = counts.get_mut(known(line)).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_frame_what_the_one_before_has_not_is_new() {
        let split = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (former, now, expected) in [
            ("", "a b", "a b"),
            ("a b c", "b c d", "d"),
            ("a b", "b b a", "b"),
            ("a b", "a b", ""),
        ] {
            let now = split(now);
            let found: Vec<_> = new(&split(former), &now).map(String::as_str).collect();
            assert_eq!(found.join(" "), expected, "{former} -> {now:?}");
        }
    }

    #[test]
    fn a_hunk_is_printed_again_when_it_becomes_the_current_one() {
        let [former, now] = [["▌1 - a", " 2 - b"], [" 1 - a", "▌2 - b"]];
        let [former, now] = [former, now].map(|it| it.map(str::to_owned));
        let found: Vec<_> = new(&former, &now).collect();
        assert_eq!(found, ["▌2 - b"]);
    }

    #[test]
    fn folded_lines_are_known_whatever_they_lie_in() {
        let former = [" ⋯ 9 unchanged lines".to_owned()];
        let now = [" ⋯ 9 unchanged lines · fn a()".to_owned()];
        assert_eq!(new(&former, &now).count(), 0);
    }

    #[test]
    fn a_line_says_something_and_wide_characters_take_one_place() {
        let rows = [
            "a 日本 b   ",
            "─────      ",
            "          ",
            "─ 1/2 ──   ",
            " │ + it │  ",
        ];
        assert_eq!(
            lines(&Buffer::with_lines(rows)),
            ["a 日本 b", "1/2", "+ it"]
        );
    }
}
