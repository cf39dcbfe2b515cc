//! What came of texts that were accepted where the process that was to find that out has ended before. Whoever watches next compares
//! each file with what was accepted for it.

use std::process;

use pillion_protocol::Proposer;
use pillion_system::process::is_alive;

use super::Recorder;
use crate::log::{Entry, WriteOutcome};
use crate::save;
use crate::state::FileState;
use crate::store::{Store, StoreError};
use crate::table::Table;
use crate::turn::overlap;

impl Recorder {
    /// Finds out what came of what was accepted in these folders, and of which nobody else will.
    pub(super) fn find_out(&mut self) {
        if let Err(error) = self.find_out_all() {
            self.problem = Some(error.in_full());
        }
    }

    fn find_out_all(&self) -> Result<(), StoreError> {
        let entries = self.store.entries()?;
        for (at, entry) in entries.iter().enumerate() {
            let is_left =
                { entry.awaited_in }.is_some_and(|it| it == process::id() || !is_alive(it));
            let roots = self.tables.iter().map(Table::root);
            if !is_left || self.awaits(entry.name()) || !overlap(&entry.proposal.roots, roots) {
                continue;
            }
            let is_of_file = |it: &&Entry| it.proposal.path == entry.proposal.path;
            let next = entries[at + 1..].iter().find(is_of_file);
            let outcome = outcome(&self.store, entry, next);
            self.store.save_entry(&Entry {
                outcome,
                awaited_in: None,
                ..entry.clone()
            })?;
        }
        Ok(())
    }
}

/// What came of it, if that can be known still. If there is a next proposal of its file, others may have changed that since: but what
/// that began with was there.
fn outcome(store: &Store, entry: &Entry, next: Option<&Entry>) -> Option<WriteOutcome> {
    let (before, after) = (&entry.proposal.before, entry.after());
    if let Some(next) = next {
        return (next.proposal.before == *after).then_some(WriteOutcome::Written);
    }
    let now = save::read(&entry.proposal.path).ok()?;
    let is_now = |state: &FileState| Some(in_lf(store.text_of(state).ok()?) == in_lf(now.clone()));
    if is_now(after)? {
        return Some(WriteOutcome::Written);
    }
    match before.is_known().then(|| is_now(before)).flatten()? {
        true => Some(WriteOutcome::NotWritten {
            why: format!(
                "{} had not written it when Pillion came back",
                Proposer::display_name_of(&entry.proposal.agent)
            ),
        }),
        false => Some(WriteOutcome::WrittenDifferently),
    }
}

/// Agents may write the lines of a text with other ends than it was shown with.
fn in_lf(text: Option<Vec<u8>>) -> Option<String> {
    text.map(|text| String::from_utf8_lossy(&text).replace("\r\n", "\n"))
}
