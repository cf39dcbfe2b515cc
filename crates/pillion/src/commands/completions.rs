//! `pillion completions`.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    // Into memory first: the generator panics when standard output is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pillion", &mut script);
    io::Write::write_all(&mut io::stdout(), &script)?;
    Ok(())
}
