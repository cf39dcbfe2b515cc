//! `pillion reject`.

use pillion_companion::control::DiffRef;
use pillion_protocol::Verdict;

use super::notes::Notes;
use crate::args::Target;

/// Reject a pending diff
///
/// `pillion reject 1` rejects whatever the agent proposes now. `pillion reject 1.3` rejects exactly
/// the third proposal of diff 1; if there is a newer one, the diff stays pending and the exit code
/// is 1.
///
/// `--because` and `--note` reach the agent's model at once (Claude Code that `pillion run` has
/// started) or with your next prompt; what is printed says which.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The diff, as listed by `pillion diffs`: its number, optionally with the revision (`1.3`)
    #[arg(value_name = "DIFF")]
    diff: DiffRef,

    #[command(flatten)]
    notes: Notes,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let verdict = Verdict::reject();
    args.notes
        .settle(&args.target, args.diff, verdict)
        .map(drop)
}
