//! `pillion show`.

use pillion_changes::history::{self, Item};
use pillion_changes::kept::{self, Kept};
use pillion_changes::{Change, FileState, Judged, Store, patch, take_back};

use super::{Named, failure, remember, store};
use crate::commands::output::print_bytes;
use crate::commands::pager::page;
use crate::failure::{Failure, Kind};

/// Print what an agent changed, or a decision, as a patch
///
/// On a terminal it comes in colour, by way of your pager: `GIT_PAGER`, `PAGER` or `less`, unless it is `cat` or empty.
/// `git apply` takes the patch of a change, and refuses that of a file that is not text, which is named only. The text before is
/// the one that the file had when the turn began, also if that was not committed anywhere. What
/// you took back before the agent changed the file again follows. An entry of `pillion log` is shown as it was decided:
/// what you accepted, with your edits, what you rejected, or what you had written in a proposal that nobody decided
/// about.
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
    let name = match args.change {
        Named::Change(name) => name,
        Named::Entry(name) => {
            let item = Item::Entry(Box::new(store.entry(name).map_err(failure)?));
            return match args.text {
                true => print_text(&store, item.sides().1),
                false => Ok(page(&item.diff(&store))?),
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
    let changes = changes.into_iter();
    let changes = changes.map(|change| diff(&store, &kept, change));
    let decisions = kept.decisions().map(|it| Item::Entry(Box::new(it.clone())));
    let decisions = decisions.map(|it| it.diff(&store));
    Ok(page(
        &changes.chain(decisions).collect::<Vec<_>>().concat(),
    )?)
}

fn print_text(store: &Store, state: &FileState) -> anyhow::Result<()> {
    let text = store.text_of(state).map_err(failure)?;
    Ok(print_bytes(&text.unwrap_or_default())?)
}

/// A change as a patch, below lines with `# ` that tell what became of it.
pub(super) fn diff(store: &Store, kept: &Kept, change: &Change) -> Vec<u8> {
    let (name, state) = (kept.name(change), kept.state(change).name());
    let remarks = kept
        .judged(change)
        .map_or_else(String::new, Judged::remarks);
    let now = kept::now(&change.path).filter(|_| !matches!(state, "taken back" | "gone"));
    let found = now.and_then(|now| take_back::hunks_in(store, change, now).ok());
    let places = found.map(|it| it.changed_places());
    let since = places.filter(|it| !it.is_empty()).map(|it| {
        format!("# changed since, so that it is not taken back: {it} of the file as it is now\n")
    });
    let since = since.unwrap_or_default();
    let head = format!("# {name} {state}\n{remarks}{since}");
    let path = kept.turn.shown(&change.path);
    let diff = patch::of(store, path, &change.before, &change.after);
    let taken_back = kept.taken_back_before(change);
    let taken_back = taken_back.map(|it| taken_back_before(store, kept, change, it));
    [head.into_bytes(), diff, taken_back.unwrap_or_default()].concat()
}

/// What a person took back of a change before the agent changed the file again, as it was in the file then.
fn taken_back_before(store: &Store, kept: &Kept, change: &Change, judged: &Judged) -> Vec<u8> {
    let sides = judged.written.as_ref().zip(judged.overwritten.as_ref());
    let (before, after) = sides.unwrap_or((&change.before, &judged.after));
    let diff = patch::of(store, kept.turn.shown(&change.path), before, after);
    let head = format!(
        "# {}, {} {}, before the agent changed the file again\n{}",
        kept.name(change),
        judged.name(),
        history::ago(judged.at),
        judged.remarks()
    );
    [head.into_bytes(), diff].concat()
}
