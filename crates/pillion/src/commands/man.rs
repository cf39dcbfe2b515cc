//! `pillion man`.

use std::io;

use clap::Command;

use crate::failure::{Failure, Kind};

/// Print the manual page of pillion or of one of its commands
///
/// Read it with `pillion man | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command [default: pillion itself]
    command: Option<String>,
}

/// The pages of `cli`, the whole command line.
pub fn run(args: Args, mut cli: Command) -> anyhow::Result<()> {
    cli.build();
    let command = match &args.command {
        None => cli,
        Some(name) => {
            let found = cli.find_subcommand(name).cloned();
            found.ok_or_else(|| {
                Failure::new(Kind::Usage, format!("unknown command {name:?}"))
                    .hint("`pillion help` lists the commands.")
            })?
        }
    };
    clap_mangen::Man::new(command).render(&mut io::stdout())?;
    Ok(())
}
