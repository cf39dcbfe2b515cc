//! `pillion show`.

use std::io::{self, IsTerminal, Write};

use pillion_changes::history::{self, Item};
use pillion_changes::kept::Kept;
use pillion_changes::{Change, FileState, Judged, Store};

use super::{Named, failure, remember, store};
use crate::commands::output::printable;
use crate::failure::{Failure, Kind};

/// Print what an agent changed, or a decision, as a unified diff
///
/// The text before is the one that the file had when the turn began, also if that was not committed anywhere. A file that
/// is not text is named only. What you took back before the agent changed the file again follows. An entry of `pillion log` is shown as it was decided: what you accepted, with your edits, what
/// you rejected, or what you had written in a proposal that nobody decided about.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The change (`7.2`), or all of a turn (`7`), as `pillion changes` lists them, or an entry of `pillion log` (`d12`)
    change: Named,

    /// Print the whole text after the change, and nothing else: `pillion show d12 --text > FILE`
    #[arg(long)]
    text: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let store = store()?;
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    let mut print = |text: &str| out.write_all(printable(text, is_terminal).as_bytes());
    let name = match args.change {
        Named::Change(name) => name,
        Named::Entry(name) => {
            let item = Item::Entry(Box::new(store.entry(name).map_err(failure)?));
            return match args.text {
                true => print_text(&store, item.sides().1),
                false => Ok(print(&item.diff(&store))?),
            };
        }
    };
    let mut kept = Kept::read(&store, name.turn).map_err(failure)?;
    if name.change.is_none() {
        Kept::read_decisions(std::slice::from_mut(&mut kept), &store).map_err(failure)?;
    }
    let changes = kept.named(name).map_err(failure)?;
    remember(&store, &[(&kept, name)]);
    match (&changes[..], args.text) {
        ([change], true) => return print_text(&store, &change.after),
        (_, true) => {
            let message = format!("turn {} has several files", name.turn);
            return Err(Failure::new(Kind::Usage, message)
                .hint("Name one of them, such as 7.2.")
                .into());
        }
        (_, false) => {}
    }
    for change in changes {
        print(&diff(&store, &kept, change))?;
    }
    for entry in kept.decisions() {
        let item = Item::Entry(Box::new(entry.clone()));
        print(&item.diff(&store))?;
    }
    Ok(())
}

/// Prints a text byte for byte, but to a terminal as it can be shown there.
fn print_text(store: &Store, state: &FileState) -> anyhow::Result<()> {
    let text = store.text_of(state).map_err(failure)?.unwrap_or_default();
    let mut out = io::stdout().lock();
    let written = match out.is_terminal() {
        true => out.write_all(printable(&String::from_utf8_lossy(&text), true).as_bytes()),
        false => out.write_all(&text),
    };
    Ok(written?)
}

pub(super) fn diff(store: &Store, kept: &Kept, change: &Change) -> String {
    let (name, state) = (kept.name(change), kept.state(change).name());
    let diff = history::diff(
        store,
        kept.turn.shown(&change.path),
        &change.before,
        &change.after,
    );
    let judged = kept.judged(change);
    let remarks = judged.map_or_else(String::new, Judged::remarks);
    let taken_back = kept.taken_back_before(change);
    let taken_back =
        taken_back.map_or_else(String::new, |it| taken_back_before(store, kept, change, it));
    format!("# {name} {state}\n{remarks}{diff}{taken_back}")
}

/// What a person took back of a change before the agent changed the file again, as it was in the file then.
fn taken_back_before(store: &Store, kept: &Kept, change: &Change, judged: &Judged) -> String {
    let sides = judged.written.as_ref().zip(judged.overwritten.as_ref());
    let (before, after) = sides.unwrap_or((&change.before, &judged.after));
    let diff = history::diff(store, kept.turn.shown(&change.path), before, after);
    format!(
        "# {}, {} {}, before the agent changed the file again\n{}{diff}",
        kept.name(change),
        judged.name(),
        history::ago(judged.at),
        judged.remarks()
    )
}
