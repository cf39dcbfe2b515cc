//! `pillion forget`.

use pillion_view::changes::{Named, NamedAct};

use super::{Named as Name, decide, store};
use crate::commands::control_client;

/// Forget turns and decisions, with the texts that were kept of them
///
/// What nobody has seen of a turn cannot be shown or taken back any more. The files themselves stay as they are. With a turn,
/// what you decided about proposals in it is forgotten, too.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The turn (`7`), or an entry of `pillion log` (`d12`)
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    turn: Option<Name>,

    /// All turns and decisions, wherever they were, with all texts
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let names = args.turn.iter().map(|it| match it {
        Name::Change(name) => name.to_string(),
        Name::Entry(name) => name.to_string(),
    });
    let named = Named {
        act: NamedAct::Forget,
        names: names.collect(),
        takes_all: false,
        folders: Vec::new(),
        notes: Vec::new(),
        on_lines: Vec::new(),
    };
    decide::carry_out(&store()?, &[], &named)?;
    Ok(())
}
