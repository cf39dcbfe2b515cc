//! `pillion uninstall`.

use super::control_client;
use super::install::{Shared, editors};
use crate::install::{Installer, Machine};

/// Remove what `pillion install` installed
///
/// Keeps files that you changed or added, and lists them. Leaves alone what something else installed,
/// such as a plugin manager.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The editor
    #[arg(value_parser = editors())]
    editor: &'static dyn Installer,

    #[command(flatten)]
    shared: Shared,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    if !args.shared.dry_run {
        control_client::speak_for_the_person()?;
    }
    let options = args.shared.options(args.editor, false)?;
    let plan = args.editor.uninstall(&Machine::current(), &options)?;
    args.shared.carry_out(args.editor, &plan)
}
