//! `pillion review`.

use crate::cli::Roots;

/// Review changes
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    roots: Roots,
}

pub fn run(_args: Args) -> anyhow::Result<()> {
    Ok(())
}
