//! `FILE:LINE:COLUMN` and `FILE:FROM-TO`: which file a person means, and where in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use pillion_discovery::regular_file;
use pillion_protocol::verdict::Lines;
use pillion_protocol::{Cursor, Position, Range};

use crate::failure::{Failure, Kind};
use crate::paths::absolute;

/// The lines of a larger file are not counted.
const MAX_FILE: u64 = 64 << 20;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Cursor(Cursor),
    Lines(Lines),
}

/// The absolute path of a file that is there, and the place in it. A name that holds colons wins over a place.
pub fn locate(argument: &OsString) -> anyhow::Result<(PathBuf, Option<Place>)> {
    let whole = Path::new(argument);
    let candidates = argument.to_str().map(split).unwrap_or_default();
    let candidates = candidates
        .into_iter()
        .map(|(path, place)| (PathBuf::from(path), Some(place)));
    let found = std::iter::once((whole.to_owned(), None))
        .chain(candidates)
        .find(|(path, _)| path.is_file());
    let (path, place) = found.ok_or_else(|| {
        let shown = argument.display();
        if let Some(path) = argument.to_str().and_then(file_of_wrong_place) {
            let message = format!("{shown} is not a position in {path}");
            return Failure::new(Kind::Refused, message)
                .hint("Lines and columns count from 1, as in `main.rs:12:5` or `main.rs:3-7`.");
        }
        let message = if whole.is_dir() {
            format!("{shown} is a folder, not a file")
        } else {
            format!("there is no file {shown}")
        };
        Failure::new(Kind::Refused, message)
            .hint("Agents see only files that exist on disk; save it first.")
    })?;
    let path =
        absolute(&path).with_context(|| format!("cannot make {} absolute", path.display()))?;
    Ok((path, place))
}

impl Place {
    /// The same place, or where the file on disk ends before it: that is what agents read.
    pub fn within(self, path: &Path) -> Self {
        read(path).map_or(self, |text| self.clamped(&text))
    }

    pub fn cursor(&self) -> Cursor {
        match self {
            Self::Cursor(cursor) => *cursor,
            Self::Lines(lines) => Cursor {
                line: lines.last + 1,
                character: 1,
            },
        }
    }

    /// The lines, or the one with the cursor.
    pub fn lines(self) -> Lines {
        match self {
            Self::Cursor(Cursor { line, .. }) => Lines {
                first: line - 1,
                last: line - 1,
            },
            Self::Lines(lines) => lines,
        }
    }

    fn clamped(self, text: &str) -> Self {
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let line = |wanted: u32| wanted.min(count).max(1);
        match self {
            Self::Cursor(cursor) => {
                let line = line(cursor.line);
                let text = text.lines().nth(line as usize - 1).unwrap_or_default();
                let length = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
                Self::Cursor(Cursor {
                    line,
                    character: cursor.character.min(length.saturating_add(1)),
                })
            }
            Self::Lines(lines) => Self::Lines(Lines {
                first: line(lines.first + 1) - 1,
                last: line(lines.last + 1) - 1,
            }),
        }
    }
}

/// The text that stands in these lines of a file.
pub fn text_of(lines: Lines, path: &Path) -> Option<String> {
    let (text, lines) = (read(path)?, lines.range());
    let behind = text.split_inclusive('\n').skip(lines.start);
    Some(behind.take(lines.len()).collect())
}

/// From the start of the first line to the start of the one behind the last.
pub fn range_of(lines: Lines) -> Range {
    let [start, end] = [lines.first, lines.last + 1].map(|line| Position { line, character: 0 });
    Range { start, end }
}

/// Finds a text in a file: of several places the one at the cursor, or else the nearest one.
pub fn find(path: &Path, wanted: &str, cursor: Option<Cursor>) -> Option<Range> {
    // Whose line endings differ means the same lines, and columns count without them.
    let (text, wanted) = (
        read(path)?.replace("\r\n", "\n"),
        wanted.replace("\r\n", "\n"),
    );
    if wanted.is_empty() {
        return None;
    }
    let cursor = cursor.map_or((0, 0), |cursor| (cursor.line - 1, cursor.character - 1));
    let place = |at: Position| (at.line, at.character);
    let (mut known, mut here) = (0, Position::default());
    let found = text.match_indices(&wanted).map(|(at, _)| {
        here = Range::of_text(here, &text[known..at]).end;
        known = at;
        Range::of_text(here, &wanted)
    });
    found.min_by_key(|range| {
        let is_at_cursor = place(range.start) <= cursor && cursor <= place(range.end);
        let (line, character) = (range.start.line, range.start.character);
        let distance = (line.abs_diff(cursor.0), character.abs_diff(cursor.1));
        (!is_at_cursor, distance)
    })
}

/// The text of a regular file that is not too long.
fn read(path: &Path) -> Option<String> {
    let text = regular_file::read(path, MAX_FILE).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The path and the lines that this names, whether or not the file exists; none if it names no lines.
pub fn lines_of(argument: &str) -> Option<(&str, Lines)> {
    let (path, place) = split(argument).pop()?;
    // The last way to read it is the one without a column.
    (!path.is_empty()).then(|| (path, place.lines()))
}

/// The file before what looks like a place, and is none.
fn file_of_wrong_place(argument: &str) -> Option<&str> {
    let last = before_place(argument)?;
    let mut paths = std::iter::once(last).chain(before_place(last));
    paths.find(|path| Path::new(path).is_file())
}

fn before_place(text: &str) -> Option<&str> {
    let (path, place) = text.rsplit_once(':')?;
    let is_of_place = |byte: u8| byte.is_ascii_digit() || b"-+".contains(&byte);
    place.bytes().all(is_of_place).then_some(path)
}

/// The ways to read `a:1:2` or `a:1-2` as a path and a place.
fn split(argument: &str) -> Vec<(&str, Place)> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let mut ways = Vec::new();
    let Some((rest, last)) = argument.rsplit_once(':') else {
        return ways;
    };
    if let Some((first, last)) = last.split_once('-')
        && let (Some(first), Some(last)) = (number(first), number(last))
        && first <= last
    {
        let (first, last) = (first - 1, last - 1);
        ways.push((rest, Place::Lines(Lines { first, last })));
    }
    if let Some(last) = number(last) {
        if let Some((path, line)) = rest.rsplit_once(':')
            && let Some(line) = number(line)
        {
            let character = last;
            ways.push((path, Place::Cursor(Cursor { line, character })));
        }
        let cursor = Cursor {
            line: last,
            character: 1,
        };
        ways.push((rest, Place::Cursor(cursor)));
    }
    ways
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_position_past_the_end_is_the_end() {
        let text = "one\r\n\u{1f600}\n";
        for (wanted, expected) in [
            ((1, 1), (1, 1)),
            ((1, 4), (1, 4)),
            ((1, 5), (1, 4)),
            ((2, 9), (2, 3)),
            ((3, 1), (2, 1)),
            ((999_999, 5), (2, 3)),
            ((u32::MAX, u32::MAX), (2, 3)),
        ] {
            let cursor = |(line, character)| Place::Cursor(Cursor { line, character });
            assert_eq!(cursor(wanted).clamped(text), cursor(expected), "{wanted:?}");
        }
        let nowhere = Place::Cursor(Cursor {
            line: 7,
            character: 7,
        });
        let cursor = nowhere.clamped("").cursor();
        assert_eq!((cursor.line, cursor.character), (1, 1));
        let lines = |first, last| Place::Lines(Lines { first, last });
        assert_eq!(lines(1, 8).clamped(text), lines(1, 1));
        assert_eq!(lines(7, 8).clamped(text), lines(1, 1));
        assert_eq!(lines(7, 8).clamped(""), lines(0, 0));
    }

    #[test]
    fn places_are_read_from_the_right() {
        let ways = |argument: &'static str| -> Vec<_> {
            let ways = split(argument).into_iter();
            ways.map(|(path, place)| match place {
                Place::Cursor(cursor) => (path, cursor.line, cursor.character, false),
                Place::Lines(lines) => (path, lines.first + 1, lines.last + 1, true),
            })
            .collect()
        };
        assert_eq!(ways("a"), []);
        assert_eq!(ways("a:7"), [("a", 7, 1, false)]);
        assert_eq!(ways("a:7:3"), [("a", 7, 3, false), ("a:7", 3, 1, false)]);
        assert_eq!(ways("a:b:3"), [("a:b", 3, 1, false)]);
        assert_eq!(ways("a:3-7"), [("a", 3, 7, true)]);
        assert_eq!(ways("a:3-3"), [("a", 3, 3, true)]);
        for none in ["a:0", "a:-1", "a:7-3", "a:0-3", "a:3-", "a:-3-4"] {
            assert_eq!(ways(none), [], "{none}");
        }
    }

    #[test]
    fn lines_are_named_with_their_file() {
        let named = |argument| {
            let (path, lines) = lines_of(argument)?;
            Some((path, lines.first + 1, lines.last + 1))
        };
        assert_eq!(named("a:7"), Some(("a", 7, 7)));
        assert_eq!(named("a:b:3-7"), Some(("a:b", 3, 7)));
        assert_eq!(named("a:7:3"), Some(("a:7", 3, 3)));
        for none in ["a", ":3", "a:0", "a:7-3", "a:x", "3"] {
            assert_eq!(named(none), None, "{none}");
        }
    }

    #[test]
    fn whole_lines_have_their_text_and_end_where_the_next_begins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "one\r\ntwo\nthree").unwrap();
        let lines = |first, last| Lines { first, last };
        let text = |first, last| text_of(lines(first, last), &path).unwrap();
        assert_eq!(text(0, 1), "one\r\ntwo\n");
        assert_eq!(text(2, 2), "three");
        let range = range_of(lines(1, 2));
        assert_eq!((range.start.line, range.end.line), (1, 3));
        assert_eq!((range.start.character, range.end.character), (0, 0));
    }

    #[test]
    fn a_text_is_found_where_the_cursor_is_or_nearest_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "beta\r\n😀beta beta\r\nalpha\r\nbeta\r\n").unwrap();
        let found = |wanted, cursor: Option<(u32, u32)>| {
            let cursor = cursor.map(|(line, character)| Cursor { line, character });
            let range = find(&path, wanted, cursor)?;
            let [start, end] = [range.start, range.end].map(|at| (at.line, at.character));
            Some((start, end))
        };
        let first = Some(((0, 0), (0, 4)));
        assert_eq!(found("beta", None), first);
        assert_eq!(found("beta", Some((1, 3))), first);
        assert_eq!(found("beta", Some((2, 1))), Some(((1, 2), (1, 6))));
        assert_eq!(found("beta", Some((2, 8))), Some(((1, 7), (1, 11))));
        assert_eq!(found("beta", Some((4, 5))), Some(((3, 0), (3, 4))));
        assert_eq!(found("beta", Some((99, 1))), Some(((3, 0), (3, 4))));
        assert_eq!(found("beta\nalpha", Some((3, 1))), Some(((1, 7), (2, 5))));
        assert_eq!(found("gamma", Some((1, 1))), None);
        assert_eq!(found("", Some((1, 1))), None);
    }
}
