//! `pillion reject`.

use pillion_protocol::Verdict;
use pillion_view::{By, Decide};

use super::notes::Notes;
use crate::args::{Proposal, Target};

/// Reject a pending diff
///
/// `pillion reject 1.3` rejects the third proposal of diff 1. If there is a newer one, or no revision
/// is named (`pillion reject 1`), the diff stays pending and the exit code is 1.
///
/// `--because` and `--note` reach the agent's model at once (Claude Code that `pillion run` has
/// started) or with your next prompt; what is printed says which.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    proposal: Proposal,

    #[command(flatten)]
    notes: Notes,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let decide = Decide {
        key: args.proposal.named("reject")?,
        verdict: Verdict::reject(),
        by: By::Named {
            despite_change: false,
        },
        base: None,
    };
    args.notes.decide(&args.target, decide).map(drop)
}
