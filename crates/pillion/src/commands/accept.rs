//! `pillion accept`.
//!
//! To accept the proposal as it came would lose what the person edited in the view.

use std::path::PathBuf;

use pillion_protocol::Verdict;
use pillion_text::stderr;
use pillion_view::ask::Settle;

use super::control_client;
use super::notes::Notes;
use crate::args::{Proposal, Target};

/// Accept a pending diff
///
/// The agent then writes the text in the view: the one it proposed, unless it was edited
/// there.
///
/// An agent may replace its proposal at any moment. `pillion accept 1.3` accepts the third proposal of
/// diff 1, which you have seen. If there is a newer one, the file has changed since, or no revision is
/// named (`pillion accept 1`), it refuses with exit code 1.
///
/// An agent does not speak for you: a command (`accept`, `reject`, `keep`, `revert`, `undo`, `forget`,
/// `focus`, `mention`, `review-mode`, `send-notes`) is refused if an agent has started it that is
/// connected, or that has called Pillion's hook. On Linux all agents' processes are known, on macOS
/// and Windows Claude Code's and those that call hooks; a process that outlived its parent is known by
/// the agent's variable, if it still has that. What an agent asks your tmux to run counts as yours.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    proposal: Proposal,

    /// Accept this file's text instead (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,

    /// Accept although the file has changed on disk since the agent proposed this
    #[arg(long)]
    despite_change: bool,

    #[command(flatten)]
    notes: Notes,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let (id, revision) = args.proposal.named("accept")?;
    let content = args.content_file.as_deref().map(control_client::read_text);
    let content = content.transpose()?;
    let is_empty = content.as_deref() == Some("");
    let settle = Settle {
        id,
        revision,
        verdict: Verdict::accept(content),
        despite_change: args.despite_change,
    };
    let settled = args.notes.settle(&args.target, settle)?;
    if is_empty {
        stderr::warn(
            "Gemini CLI and Qwen Code ignore an empty text and write the one that they proposed",
        );
    }
    if settled.edited {
        stderr::print("note: the accepted text includes the edits made in the view.");
    }
    Ok(())
}
