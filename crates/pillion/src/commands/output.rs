//! How commands print their answers.

use std::io::{self, IsTerminal, Write};

use pillion_text::visible;
use serde::Serialize;

/// Prints JSON on one line. It may be read in a terminal, too.
pub fn print_json(value: &(impl Serialize + ?Sized)) -> anyhow::Result<()> {
    let json = visible::json(&serde_json::to_string(value)?);
    Ok(writeln!(io::stdout().lock(), "{json}")?)
}

/// How many columns the terminal has that standard output goes to, if it goes to one.
pub fn terminal_width() -> Option<usize> {
    let size = || crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
    io::stdout().is_terminal().then(size)
}
