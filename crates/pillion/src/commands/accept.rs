//! `pillion accept`.
//!
//! To accept the proposal as it came would lose what the person edited in the view.

use std::io::{self, Write};
use std::path::PathBuf;

use pillion_protocol::Verdict;
use pillion_text::{stderr, visible};
use pillion_view::{By, Decide};

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
/// What `pillion diffs 1.3` has printed is what is accepted; if nothing was printed, what the agent proposed.
/// If something else stands in the view, it is printed, and the same command again accepts that. The same doubts
/// count as in a view, such as a file outside of the workspace: they are printed, and the same command
/// again accepts it.
///
/// An agent does not speak for you: a command (`accept`, `reject`, `keep`, `revert`, `stage`, `undo`,
/// `forget`, `focus`, `mention`, `review-mode`, `send-notes`, `look`, `uninstall`, `hook uninstall`,
/// and `install` and `hook install` where they replace what is there) is refused if an agent that has
/// connected or called Pillion's hook is above it, or the variable of an agent is in what it or a
/// process above it was started with. On Linux it is also refused if nothing shows that you have
/// started it: one of your views or its editor, a terminal, a login, or a process that was there
/// before any agent. On macOS and Windows, a process that outlived its parent is known by the agent's
/// variable only. What an agent asks your tmux or your desktop to run counts as yours.
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
    let key = args.proposal.named("accept")?;
    let content = args.content_file.as_deref().map(control_client::read_text);
    let content = content.transpose()?;
    let is_empty = content.as_deref() == Some("");
    let decide = Decide {
        key,
        verdict: Verdict::accept(content),
        by: By::Named {
            despite_change: args.despite_change,
        },
        base: None,
    };
    let accepted = args.notes.decide(&args.target, decide)?;
    if is_empty {
        stderr::warn(
            "Gemini CLI and Qwen Code ignore an empty text and write the one that they proposed",
        );
    }
    let Some(accepted) = accepted else {
        return Ok(());
    };
    let place = visible::one_line(&accepted.path);
    Ok(writeln!(io::stdout(), "accepted {key}: {place}")?)
}
