//! `pillion reject`.

use pillion_companion::control::Settle;

use super::remote::Remote;
use crate::cli::Target;

/// Reject a pending diff
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The diff's number, as `pillion diffs` shows it
    #[arg(value_name = "DIFF")]
    id: u64,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let settle = Settle {
        id: args.id,
        accept: false,
        content: None,
    };
    Remote::find(&args.target)?.settle(&settle)
}
