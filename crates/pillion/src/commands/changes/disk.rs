//! `pillion changes --disk`: what the store holds.

use std::io::{self, Write};

use pillion_changes::store::{limit, size};
use pillion_changes::{Kept, Store};
use pillion_discovery::Environment;
use pillion_text::{stderr, visible};

use super::failure;
use crate::choice::Running;

/// Prints what is kept of which turn, folder by folder, and of what else.
pub(super) fn print(store: &Store) -> anyhow::Result<()> {
    let environment = Environment::current();
    let running = Running::answering(&environment);
    // What is written is written by those that run, within their own limits.
    let theirs = running.states().filter_map(|it| it.changes_limit).min();
    if let (None, Err(why)) = (theirs, limit(&environment)) {
        stderr::warn(why);
    }
    let usage = store.usage().map_err(failure)?;
    let mut turns = Vec::new();
    for (number, bytes) in &usage.turns {
        match Kept::read(store, *number) {
            Ok(kept) => turns.push((kept, bytes)),
            Err(error) => crate::failure::warn_of(&failure(error).into()),
        }
    }
    let mut out = io::stdout().lock();
    let place = visible::one_line(&store.path().to_string_lossy());
    let (total, limit) = (size(usage.total), size(theirs.unwrap_or(store.limit())));
    writeln!(out, "{place}: {total} of {limit}")?;
    let roots = |(kept, _): &(Kept, &u64)| kept.turn.roots.clone();
    turns.sort_by_key(roots);
    for turns in turns.chunk_by(|one, other| roots(one) == roots(other)) {
        let roots = &turns[0].0.turn.roots;
        let names: Vec<_> = roots.iter().map(|it| it.to_string_lossy()).collect();
        let bytes = turns.iter().map(|(_, bytes)| **bytes).sum();
        let folder = visible::one_line(&names.join(", "));
        writeln!(out, "{:>9}  {folder}", size(bytes))?;
        for (kept, bytes) in turns {
            let unseen = kept.unseen();
            let unseen = match unseen {
                0 => String::new(),
                count => format!(", {count} unseen"),
            };
            writeln!(out, "{:>9}    {}{unseen}", size(**bytes), kept.title())?;
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
