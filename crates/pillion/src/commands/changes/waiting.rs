//! `pillion notes`.

use std::io::{self, Write};
use std::path::PathBuf;

use pillion_changes::{WaitingNote, agent_lives};
use pillion_protocol::Dialect;
use pillion_text::visible;
use serde::Serialize;

use super::{failure, here, store};
use crate::commands::output::print_json;

/// List what you said to agents here that they have not read yet
///
/// A reason or a note that an agent cannot be told at once is kept until it reads it, also when your editor or review has ended, or
/// the agent. It goes to the same agent when it connects again, or, once that has ended, to the next one of its kind; after 14 days
/// it is forgotten. `pillion send-notes` sends what waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON array of `{agent, running, at, path, text}`; times are milliseconds since 1970, and `running` is false
    /// if the agent has ended that you said it to
    #[arg(long)]
    json: bool,
}

/// A note with `--json`.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    agent: &'a str,
    running: bool,
    at: u64,
    path: &'a str,
    text: &'a str,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let folders: Vec<PathBuf> = here()?;
    let waiting = store()?.waiting_notes().map_err(failure)?;
    let waiting = waiting.into_iter().map(|(_, note)| note);
    let waiting: Vec<_> = waiting.filter(|note| note.is_of(&folders)).collect();
    if args.json {
        return print_json(&waiting.iter().map(printed).collect::<Vec<_>>());
    }
    let mut out = io::stdout().lock();
    if waiting.is_empty() {
        writeln!(out, "nothing that you said waits for an agent here")?;
    }
    for note in &waiting {
        let ended = match note.process.is_some() && !is_running(note) {
            true => " (ended)",
            false => "",
        };
        writeln!(out, "{}{ended} has yet to read:", name(note))?;
        for line in note.text.lines() {
            writeln!(out, "  {}", visible::one_line(line))?;
        }
    }
    Ok(())
}

fn printed(note: &WaitingNote) -> Printed<'_> {
    Printed {
        agent: &note.agent,
        running: is_running(note),
        at: note.at,
        path: &note.file_path,
        text: &note.text,
    }
}

fn is_running(note: &WaitingNote) -> bool {
    note.process.is_some_and(agent_lives)
}

/// The name by which people know its agent.
fn name(note: &WaitingNote) -> &str {
    let mut agents = Dialect::ALL.iter();
    let agent = agents.find(|agent| agent.name() == note.agent);
    agent.map_or("another agent", |agent| agent.display_name())
}
