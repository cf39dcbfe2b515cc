//! `pillion accept`.
//!
//! To accept the proposal as it came would lose what the person edited in the view.

use std::path::PathBuf;

use pillion_companion::control::DiffRef;
use pillion_protocol::Verdict;
use pillion_text::stderr;

use super::control_client;
use super::notes::Notes;
use crate::args::Target;

/// Accept a pending diff
///
/// The agent then writes the text in the view: the one it proposed, unless it was edited
/// there.
///
/// An agent may replace its proposal at any moment. `pillion accept 1.3` accepts exactly the third
/// proposal of diff 1, and prints a note if the file has changed since. `pillion accept 1` accepts
/// the text that `pillion diffs 1` has shown in this terminal; if the proposal or the file has
/// changed since, it refuses with exit code 1.
///
/// An agent does not speak for you: a command that a connected agent has started (`accept`, `reject`,
/// `focus`, `mention`) is refused. On Linux all agents' processes are known, on macOS and Windows
/// only Claude Code's; a process that outlived its parent is known by the agent's variable, if it
/// still has that. What an agent asks your tmux to run counts as yours.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The diff, as listed by `pillion diffs`: its number, optionally with the revision (`1.3`)
    #[arg(value_name = "DIFF")]
    diff: DiffRef,

    /// Accept this file's text instead (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,

    #[command(flatten)]
    notes: Notes,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let content = args.content_file.as_deref().map(control_client::read_text);
    let content = content.transpose()?;
    let is_empty = content.as_deref() == Some("");
    let verdict = Verdict::accept(content);
    let settled = args.notes.settle(&args.target, args.diff, verdict)?;
    if is_empty {
        stderr::warn(
            "Gemini CLI and Qwen Code ignore an empty text and write the one that they proposed",
        );
    }
    if settled.file_changed {
        stderr::print("note: the file changed on disk since the diff was shown to you.");
    }
    if settled.edited {
        stderr::print("note: the accepted text includes the edits made in the view.");
    }
    Ok(())
}
