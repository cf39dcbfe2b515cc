//! `pillion look`: changes that are written already, in the same views as proposals.

use std::io::{self, Write};
use std::path::PathBuf;

use pillion_changes::looking::{self, LookError};
use pillion_changes::{ChangeRef, Kept, Store, kept};
use pillion_text::stderr;
use pillion_view::ask::{Look, LookedAt, MAX_FILES};

use super::{MAX_LINES, failure as failed, store, turns_of};
use crate::args::Target;
use crate::commands::{ask, control_client};
use crate::failure::{Failure, Kind};
use crate::workspace;

/// Look at what agents changed, in your editor or review
///
/// Shows changes that are written already as diffs, in the view in which proposals are shown: the text before the turn
/// beside what the file has now. Accept to keep a change; what you take out or edit before that is changed in the file. What
/// was overwritten is kept, and `pillion undo` brings it back. If you reject a diff, nothing happens, and the change stays
/// unseen. If you reject it with a reason, the change is taken back, and the agent is told why. A deleted file is shown as
/// an empty one. Files that are not text are left out: `pillion changes` lists them.
///
/// Without CHANGE, the newest turn of this folder that has something unseen.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The change (`7.2`), or all of a turn that nobody has seen (`7`)
    change: Option<ChangeRef>,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let store = store()?;
    let name = match args.change {
        Some(name) => name,
        None => newest(&store, args.target.workspace.as_slice())?,
    };
    let kept = Kept::read(&store, name.turn).map_err(failed)?;
    let looked = looking::look(&store, &kept, name, &[], MAX_FILES);
    let looked = looked.map_err(failure_of)?;
    for why in looked.left_out.iter().take(MAX_LINES) {
        stderr::warn(why);
    }
    let more = looked.left_out.len().saturating_sub(MAX_LINES);
    if more > 0 {
        stderr::warn(format_args!("{more} more files are left out"));
    }
    if let Some(of) = looked.of {
        stderr::warn(format_args!(
            "only {MAX_FILES} of {of} files are shown: give the command again when you have decided about these, or use \
             `pillion keep {turn}` or `pillion revert {turn}` for all",
            turn = name.turn
        ));
    }
    let first = looked.shown.first();
    let first = first.ok_or_else(|| failure_of(LookError::NoText(name)))?;
    let target = args.target.about(&first.path);
    let looked = control_client::wait_for(
        &target,
        Look {
            change: Some(name.to_string()),
        },
    )?;
    say(looked)
}

/// Prints what came of it.
fn say(looked: LookedAt) -> anyhow::Result<()> {
    for line in looked.said {
        writeln!(io::stdout(), "{line}")?;
    }
    match looked.undecided {
        Some(undecided) => Err(ask::undecided(undecided)),
        None => Ok(()),
    }
}

fn failure_of(error: LookError) -> Failure {
    match error {
        LookError::Store(error) => failed(error),
        LookError::Open(_) | LookError::Over(..) => Failure::new(Kind::Refused, error.to_string()),
        LookError::NoText(name) => Failure::new(Kind::Refused, error.to_string()).hint(format!(
            "`pillion changes {}` lists what there is.",
            name.turn
        )),
    }
}

/// The newest turn of the named folder, or of the current one, that has something unseen.
fn newest(store: &Store, named: &[PathBuf]) -> anyhow::Result<ChangeRef> {
    let turns = turns_of(store, &workspace::roots(named)?)?;
    let newest = turns.iter().rev().find(|kept| kept.unseen() > 0);
    let none = || Failure::new(Kind::Refused, kept::none_unseen(store, &turns));
    let turn = newest.ok_or_else(none)?.turn.number;
    Ok(ChangeRef { turn, change: None })
}
