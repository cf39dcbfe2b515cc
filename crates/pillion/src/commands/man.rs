//! `pillion man`.

use std::path::PathBuf;
use std::{fs, io};

use anyhow::Context;
use clap::Command;

use crate::failure::{Failure, Kind};

/// Print the manual page of pillion or of one of its commands
///
/// Read it with `pillion man | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command [default: pillion itself]
    command: Option<String>,

    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    to: Option<PathBuf>,
}

/// The pages of `cli`, the whole command line.
pub fn run(args: Args, cli: Command) -> anyhow::Result<()> {
    // It has no page of its own.
    let mut cli = cli.disable_help_subcommand(true);
    if let Some(folder) = &args.to {
        let cannot = || format!("cannot write the pages to {}", folder.display());
        fs::create_dir_all(folder).with_context(cannot)?;
        return clap_mangen::generate_to(cli, folder).with_context(cannot);
    }
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
