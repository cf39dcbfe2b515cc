//! `pillion changes --disk`: what the store holds.

use std::io::{self, Write};
use std::path::PathBuf;

use pillion_changes::store::{limit, size};
use pillion_changes::{Kept, Store};
use pillion_discovery::Environment;
use pillion_text::{stderr, visible};

use super::failure;

/// Prints what is kept of which turn, folder by folder, and of what else.
pub(super) fn print(store: &Store) -> anyhow::Result<()> {
    if let Err(why) = limit(&Environment::current()) {
        stderr::warn(why);
    }
    let unreadable = |error| crate::failure::warn_of(&failure(error).into());
    let usage = store.usage(unreadable).map_err(failure)?;
    let mut out = io::stdout().lock();
    let place = visible::one_line(&store.path().to_string_lossy());
    let (total, limit) = (size(usage.total), size(usage.limit));
    writeln!(out, "{place}: {total} of {limit}")?;
    let mut folders: Vec<(&[PathBuf], Vec<&(Kept, u64)>)> = Vec::new();
    for turn in &usage.turns {
        let roots = &turn.0.turn.roots;
        match folders.iter_mut().find(|(folder, _)| folder == roots) {
            Some((_, turns)) => turns.push(turn),
            None => folders.push((roots, vec![turn])),
        }
    }
    for (roots, turns) in folders {
        let names: Vec<_> = roots.iter().map(|it| it.to_string_lossy()).collect();
        let bytes = turns.iter().map(|(_, bytes)| bytes).sum();
        let folder = visible::one_line(&names.join(", "));
        writeln!(out, "{:>9}  {folder}", size(bytes))?;
        for (kept, bytes) in turns {
            let unseen = kept.unseen();
            let unseen = match unseen {
                0 => String::new(),
                count => format!(", {count} unseen"),
            };
            writeln!(out, "{:>9}    {}{unseen}", size(*bytes), kept.title())?;
        }
    }
    for (bytes, what) in [
        (usage.decisions, "decisions about proposals"),
        (
            usage.others(),
            "files as they are, in folders in which agents work or have worked",
        ),
    ] {
        writeln!(out, "{:>9}  {what}", size(bytes))?;
    }
    Ok(())
}
