//! Shows what agents have written and nobody has seen: another process of this program proposes it, with `pillion look`.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use pillion_changes::{Kept, Store};
use pillion_system::spawn;

use crate::event::{Event, Events};

/// The changes that are to be shown.
pub(crate) struct Wanted {
    /// A change or a turn; without it, the newest turn of these folders that has something nobody has seen.
    pub(crate) id: Option<String>,
    /// The changes that are shown already, by name: they are left out.
    pub(crate) shown: Vec<String>,
    /// The workspace folders.
    pub(crate) roots: Arc<[PathBuf]>,
    /// None if nothing is recorded.
    pub(crate) store: Option<Store>,
    /// The companion's port.
    pub(crate) port: u16,
}

/// Starts it, from a thread of its own. Why it failed, or that it did not, comes as an event when it has ended.
///
/// # Errors
/// When the system has no thread for it.
pub(crate) fn start(wanted: Wanted, events: Events) -> io::Result<()> {
    spawn("look", move || {
        let said = run(wanted);
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

/// Runs it, and returns its standard error.
fn run(wanted: Wanted) -> io::Result<String> {
    let Some(id) = wanted.id.clone().or_else(|| newest(&wanted)) else {
        return Ok("there are no unseen changes here".to_owned());
    };
    let mut look = Command::new(std::env::current_exe()?);
    look.args(["look", "--port", &wanted.port.to_string(), &id]);
    if !wanted.shown.is_empty() {
        look.args(["--without", &wanted.shown.join(",")]);
    }
    let output = look.stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The newest turn of these folders that has something nobody has seen.
fn newest(wanted: &Wanted) -> Option<String> {
    let turns = Kept::of_folders(wanted.store.as_ref()?, &wanted.roots, drop).ok()?;
    let newest = turns.iter().rev().find(|kept| kept.unseen() > 0)?;
    Some(newest.turn.number.to_string())
}
