//! Prints the answers of commands.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use pillion_discovery::Environment;
use pillion_text::visible;
use serde::Serialize;

/// Prints JSON on one line. It may be read in a terminal, too.
pub fn print_json(value: &(impl Serialize + ?Sized)) -> anyhow::Result<()> {
    let json = visible::json(&serde_json::to_string(value)?);
    Ok(writeln!(io::stdout().lock(), "{json}")?)
}

/// Prints a line that may hold a path, or what somebody else wrote.
pub fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(
        io::stdout().lock(),
        "{}",
        visible::one_line(line)
    )?)
}

/// A text that may hold anything: a terminal would do what control characters in it say.
pub fn printable(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if is_terminal {
        visible::lines(text).into()
    } else {
        text.into()
    }
}

/// Returns true if the person wants no colours, or their terminal has none.
pub fn is_plain(environment: &Environment) -> bool {
    let is_dumb = |term: &OsStr| term == "dumb";
    environment.filled("NO_COLOR").is_some() || environment.filled("TERM").is_some_and(is_dumb)
}

/// Prints bytes as they are, but to a terminal as they can be shown there.
pub fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.is_terminal() {
        true => out.write_all(printable(&String::from_utf8_lossy(bytes), true).as_bytes()),
        false => out.write_all(bytes),
    }
}

/// The columns of the terminal that standard output goes to, if it goes to one.
pub fn terminal_width() -> Option<usize> {
    let size = || crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
    io::stdout().is_terminal().then(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters_and_a_pipe_gets_every_byte() {
        let text = "a\x1b]0;taken\x07\u{202e}\nb";
        assert_eq!(printable(text, true), "a␛]0;taken␇⟨U+202E⟩\nb");
        assert_eq!(printable(text, false), text);
    }
}
