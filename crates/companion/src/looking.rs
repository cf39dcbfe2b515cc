//! Shows what agents have written and nobody has seen: another process of this program proposes it, with `pillion look`.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pillion_system::spawn;

use crate::event::{Event, Events};

/// Starts it in this folder, from a thread of its own. Why it failed, or that it did not, comes as an event when it has
/// ended.
///
/// # Errors
/// When the system has no thread for it.
pub(crate) fn start(folder: PathBuf, port: u16, events: Events) -> io::Result<()> {
    spawn("look", move || {
        let said = run(folder, port);
        let said = said.unwrap_or_else(|error| format!("cannot start `pillion look`: {error}"));
        let lines: Vec<&str> = said.lines().map(without_kind).collect();
        let problem = (!lines.is_empty()).then(|| lines.join("; "));
        let _ = events.send(Event::LookEnded(problem));
    })
}

/// A line of a terminal's, as a part of a sentence.
fn without_kind(line: &str) -> &str {
    let kinds = ["warning: ", "error: ", "hint: "];
    let text = kinds.iter().find_map(|kind| line.strip_prefix(kind));
    text.unwrap_or(line).trim_end_matches('.')
}

/// What it says on standard error.
fn run(folder: PathBuf, port: u16) -> io::Result<String> {
    let output = Command::new(std::env::current_exe()?)
        .args(["look", "--port", &port.to_string()])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
