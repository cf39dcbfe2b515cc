//! `pillion forget`.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use pillion_changes::{ChangeRef, EntryRef, Store};
use pillion_text::counted;
use pillion_view::ask::Judged;

use super::{Named, failure, store};
use crate::commands::control_client;
use crate::failure::{Failure, Kind};

/// Forget turns and decisions, with the texts that were kept of them
///
/// What nobody has seen of a turn cannot be shown or taken back any more. The files themselves stay as they are. With a turn,
/// what you decided about proposals in it is forgotten, too.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The turn (`7`), or an entry of `pillion log` (`d12`)
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    turn: Option<Named>,

    /// All turns and decisions, wherever they were, with all texts
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let entries = store.entries().map_err(failure)?;
    let (numbers, entries) = match args.turn {
        None => {
            let entries = entries.iter().filter(|it| !it.is_pending());
            let entries: Vec<_> = entries.map(|it| it.name()).collect();
            (store.numbers().map_err(failure)?, entries)
        }
        Some(Named::Change(ChangeRef { turn, change: None })) => {
            let entries = entries.iter().filter(|it| it.turn == Some(turn));
            (vec![turn], entries.map(|it| it.name()).collect())
        }
        Some(Named::Change(change)) => {
            let message = format!("{change} is one change of a turn");
            return Err(Failure::new(Kind::Usage, message)
                .hint(format!(
                    "`pillion forget {}` forgets the whole turn.",
                    change.turn
                ))
                .into());
        }
        Some(Named::Entry(name)) => {
            if store.entry(name).map_err(failure)?.is_pending() {
                let message = format!("the proposal of {name} waits for your decision");
                return Err(Failure::new(Kind::Refused, message)
                    .hint("Try again when it is decided.")
                    .into());
            }
            (Vec::new(), vec![name])
        }
    };
    for number in &numbers {
        if store.turn(*number).is_ok_and(|it| it.goes_on()) {
            let message = format!("turn {number} goes on");
            return Err(Failure::new(Kind::Refused, message)
                .hint("Try again when it has ended.")
                .into());
        }
    }
    let forgotten = forget(&store, &numbers, &entries);
    // Views count what is left, and list it.
    control_client::tell_judged(&Judged::default());
    forgotten?;
    let is_watched = !control_client::are_none_running();
    if !is_watched {
        store
            .remove_texts(SystemTime::now(), Duration::ZERO, |_| false)
            .map_err(failure)?;
    }
    let (turns, decisions) = (numbers.len(), entries.len());
    let what = match (turns, decisions) {
        (turns, 0) => counted(turns, "turn"),
        (0, decisions) => counted(decisions, "decision"),
        (turns, decisions) => format!(
            "{} and {}",
            counted(turns, "turn"),
            counted(decisions, "decision")
        ),
    };
    let is = match turns + decisions {
        1 => "is",
        _ => "are",
    };
    let texts = match is_watched {
        true => {
            "; the texts are removed later, because an editor or a review is open that may need them"
        }
        false => "",
    };
    Ok(writeln!(io::stdout(), "{what} {is} forgotten{texts}")?)
}

fn forget(store: &Store, turns: &[u64], entries: &[EntryRef]) -> anyhow::Result<()> {
    for number in turns {
        store.forget(*number).map_err(failure)?;
    }
    for name in entries {
        store.forget_entry(*name).map_err(failure)?;
    }
    Ok(())
}
