//! `pillion show`.

use std::io::{self, IsTerminal, Write};

use pillion_changes::kept::{self, Kept};
use pillion_changes::{Change, ChangeRef, FileState, Store};
use pillion_text::unified::unified;

use super::{as_text, failure, store};
use crate::commands::output::printable;

/// Print what an agent changed, as a unified diff
///
/// The text before is the one that the file had when the turn began, also if that was not committed anywhere. A file that
/// is not text is named only.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The change (`7.2`), or all of a turn (`7`), as `pillion changes` lists them
    change: ChangeRef,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let store = store()?;
    let kept = Kept::read(&store, args.change.turn).map_err(failure)?;
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    for change in kept.named(args.change).map_err(failure)? {
        let diff = diff(&store, &kept, change);
        out.write_all(printable(&diff, is_terminal).as_bytes())?;
    }
    Ok(())
}

fn diff(store: &Store, kept: &Kept, change: &Change) -> String {
    let path = kept.turn.shown(&change.path).display();
    let side = |state: &FileState, side: char| match state {
        FileState::Absent => "/dev/null".to_owned(),
        _ => format!("{side}/{path}"),
    };
    let mut text = format!(
        "# {} {}\n--- {}\n+++ {}\n",
        kept.name(change),
        kept.standing(change).name(),
        side(&change.before, 'a'),
        side(&change.after, 'b'),
    );
    if let (FileState::File { mode: old, .. }, FileState::File { mode: new, .. }) =
        (&change.before, &change.after)
        && old != new
    {
        text += &format!("# mode {old:o} → {new:o}\n");
    }
    let both = kept::texts(store, change);
    let both = both.as_ref();
    let both = both.and_then(|(before, after)| as_text(before.bytes()).zip(as_text(after.bytes())));
    text += &match both {
        Some((before, after)) => unified(before, after),
        None => "# not text, or not kept\n".to_owned(),
    };
    text
}
