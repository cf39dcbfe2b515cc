//! `pillion uninstall`.

use super::install::{Shared, editors, known};
use crate::install::Machine;

/// Remove what `pillion install` installed
///
/// Keeps files that you changed or added, and lists them. Leaves alone what something else installed,
/// such as a plugin manager.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The editor
    #[arg(value_parser = editors())]
    editor: String,

    #[command(flatten)]
    shared: Shared,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let editor = known(&args.editor)?;
    let options = args.shared.options(editor, false)?;
    let plan = editor.uninstall(&Machine::current(), &options)?;
    args.shared.carry_out(editor, &plan)
}
