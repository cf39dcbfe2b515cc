//! Accepted texts: printed, or kept where nothing is lost.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use pillion_discovery::{Environment, FileError, kept_text};

use crate::commands::output::printable;
use crate::failure::{Failure, Kind};

/// Prints the text, or what describes it; accepted texts that cannot be printed are kept.
pub fn print(printed: &str, accepted: &[&str]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
    let Err(error) = written else {
        return Ok(());
    };
    let kept: Vec<_> = accepted.iter().filter_map(|text| keep(text).ok()).collect();
    let failure = Failure::new(Kind::Refused, "cannot print the decision");
    let failure = match kept.is_empty() {
        true => failure,
        false => failure.hint(hint_at(&kept)),
    };
    Err(anyhow::Error::new(error).context(failure))
}

pub fn print_text(text: &str) -> anyhow::Result<()> {
    print(&printable(text, io::stdout().is_terminal()), &[text])
}

/// Puts the text into a private file.
pub fn keep(text: &str) -> Result<PathBuf, FileError> {
    kept_text::keep(&Environment::current().tmpdir(), Path::new(""), text)
}

/// Says where accepted texts are.
pub fn hint_at(kept: &[PathBuf]) -> String {
    let places: Vec<_> = kept.iter().map(|it| it.display().to_string()).collect();
    match &places[..] {
        [place] => format!("The accepted text is kept in {place}."),
        places => format!("The accepted texts are kept in {}.", places.join(", ")),
    }
}
