//! `pillion focus`.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use pillion_protocol::{Cursor, File};

use super::control_client::ControlClient;
use crate::absolute::absolute;
use crate::args::Target;
use crate::failure::{Failure, Kind};
use pillion_companion::now_ms;

/// The lines of a larger file are not counted.
const MAX_FILE: u64 = 64 << 20;

/// Tell the companion which file has the focus
///
/// For scripts and key bindings of editors without a plugin. Agents see the file as the active one
/// until another file gets the focus. The command returns once the change has reached the agents;
/// an agent that starts later sees it too. A line past the end of the file means the last line, as
/// with `vi +LINE`, and a column past the end of its line means the end of that line.
///
/// The companion is the one whose workspace contains FILE, else the one of the current folder.
#[derive(Debug, clap::Args)]
#[command(mut_arg("workspace", |arg| arg.help(Target::WORKSPACE_OF_FILE)))]
pub struct Args {
    /// The file, optionally with the cursor's line and column, counted from 1
    #[arg(value_name = "FILE[:LINE[:COLUMN]]")]
    file: OsString,

    /// The selected text (`-` for standard input)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    selection: Option<String>,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let (path, cursor) = locate(&args.file)?;
    let cursor = cursor.map(|cursor| within(cursor, &path));
    let selected_text = args.selection.map(read_selection).transpose()?;
    let target = args.target.about(&path);
    let path = path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        Failure::new(Kind::Refused, format!("{path} is not valid Unicode"))
    })?;
    let file = File {
        cursor,
        selected_text,
        ..File::focused(path, now_ms())
    };
    ControlClient::find(&target)?.focus(&file)
}

/// The absolute path and the position. A name that holds colons wins over a position.
fn locate(argument: &OsString) -> anyhow::Result<(PathBuf, Option<Cursor>)> {
    let whole = Path::new(argument);
    let candidates = argument.to_str().map(split_position).unwrap_or_default();
    let candidates = candidates
        .into_iter()
        .map(|(path, cursor)| (PathBuf::from(path), Some(cursor)));
    let found = std::iter::once((whole.to_owned(), None))
        .chain(candidates)
        .find(|(path, _)| path.is_file());
    let (path, cursor) = found.ok_or_else(|| {
        let shown = argument.display();
        if let Some(path) = argument.to_str().and_then(file_of_wrong_position) {
            let message = format!("{shown} is not a position in {path}");
            return Failure::new(Kind::Refused, message)
                .hint("Lines and columns count from 1, as in `main.rs:12:5`.");
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
    Ok((path, cursor))
}

/// The same position, or where the file on disk ends before it: that is what agents read.
fn within(cursor: Cursor, path: &Path) -> Cursor {
    let is_readable = path.metadata().is_ok_and(|it| it.len() <= MAX_FILE);
    let text = is_readable.then(|| fs::read(path).ok()).flatten();
    text.map_or(cursor, |text| {
        clamp(cursor, &String::from_utf8_lossy(&text))
    })
}

fn clamp(cursor: Cursor, text: &str) -> Cursor {
    let wanted = (cursor.line as usize).saturating_sub(1);
    let count = text.lines().count();
    let line = wanted.min(count.saturating_sub(1));
    let length = text
        .lines()
        .nth(line)
        .map_or(0, |it| it.encode_utf16().count());
    let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    Cursor {
        line: number(line),
        character: cursor.character.min(number(length)),
    }
}

/// The file before what looks like a position, and is none.
fn file_of_wrong_position(argument: &str) -> Option<&str> {
    let before = |text: &'_ str| {
        let (path, number) = text.rsplit_once(':')?;
        let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(path.len())
    };
    let last = &argument[..before(argument)?];
    let first = before(last).map(|end| &argument[..end]);
    [Some(last), first]
        .into_iter()
        .flatten()
        .find(|path| Path::new(path).is_file())
}

/// The ways to read `a:1:2` as a path and a position.
fn split_position(argument: &str) -> Vec<(&str, Cursor)> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let mut ways = Vec::new();
    if let Some((rest, last)) = argument.rsplit_once(':')
        && let Some(last) = number(last)
    {
        if let Some((path, line)) = rest.rsplit_once(':')
            && let Some(line) = number(line)
        {
            let character = last;
            ways.push((path, Cursor { line, character }));
        }
        let cursor = Cursor {
            line: last,
            character: 1,
        };
        ways.push((rest, cursor));
    }
    ways
}

fn read_selection(selection: String) -> anyhow::Result<String> {
    if selection != "-" {
        return Ok(selection);
    }
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .context("cannot read the selection from standard input")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
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
            let (line, character) = wanted;
            let clamped = clamp(Cursor { line, character }, text);
            assert_eq!((clamped.line, clamped.character), expected, "{wanted:?}");
        }
        let (line, character) = (7, 7);
        let clamped = clamp(Cursor { line, character }, "");
        assert_eq!((clamped.line, clamped.character), (1, 1));
    }

    #[test]
    fn positions_are_read_from_the_right() {
        let ways = |argument: &'static str| -> Vec<_> {
            split_position(argument)
                .into_iter()
                .map(|(path, cursor)| (path, cursor.line, cursor.character))
                .collect()
        };
        assert_eq!(ways("a"), []);
        assert_eq!(ways("a:7"), [("a", 7, 1)]);
        assert_eq!(ways("a:7:3"), [("a", 7, 3), ("a:7", 3, 1)]);
        assert_eq!(ways("a:b:3"), [("a:b", 3, 1)]);
        assert_eq!(ways("a:0"), []);
        assert_eq!(ways("a:-1"), []);
    }
}
