//! `pillion reject`.

use pillion_companion::control::{DiffRef, Settle};

use super::control_client;
use crate::args::Target;

/// Reject a pending diff
///
/// `pillion reject 1` rejects whatever the agent proposes now. `pillion reject 1.3` rejects exactly
/// the third proposal of diff 1; if there is a newer one, the diff stays pending and the exit code
/// is 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The diff, as listed by `pillion diffs`: its number, optionally with the revision (`1.3`)
    #[arg(value_name = "DIFF")]
    diff: DiffRef,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let DiffRef { id, revision } = args.diff;
    let settle = Settle {
        id,
        revision,
        accept: false,
        content: None,
    };
    control_client::ask(&args.target, async |it| it.settle(&settle).await).map(drop)
}
