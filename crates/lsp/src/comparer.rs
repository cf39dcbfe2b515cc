//! Compares proposals with their files, on threads: a long comparison holds up neither the editor nor an agent.
//!
//! A proposal is written and shown with the result, which is waited for up to two seconds. Once it was edited, only
//! the newest comparison counts.

mod diagnostics;

use std::io;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Sender;
use gen_lsp_types::Diagnostic;
use pillion_system::spawn;
use pillion_view::Diff;

use crate::disk::Done;
use crate::position::Encoding;
use crate::restore::restore;

/// A proposal, as an editor shows it, to be compared with its file.
#[derive(Debug)]
pub struct Comparison {
    /// Its number in [`Done::Compared`].
    pub number: u64,
    pub diff: Arc<Diff>,
    pub encoding: Encoding,
    /// The text that the editor has, if it has opened it.
    pub shown: Option<String>,
    /// The text as the editor opened it, if the person has edited it since.
    pub opened: Option<String>,
}

/// Compares on a thread of its own: another proposal does not wait for this one.
pub fn start(comparison: Comparison, done: Sender<Done>) -> io::Result<()> {
    let run = move || {
        let start = Instant::now();
        let diagnostics = comparison.run();
        let _ = done.send(Done::Compared {
            number: comparison.number,
            diagnostics,
            cost: start.elapsed(),
        });
    };
    spawn("compare", run)
}

impl Comparison {
    /// The notes about the proposal and its hunks, where the editor shows them.
    fn run(&self) -> Vec<Diagnostic> {
        let diff = &self.diff;
        let edited = self.opened.as_deref().zip(self.shown.as_deref());
        let edited = edited.map(|(opened, now)| restore(&diff.proposed, opened, now));
        let text = edited.as_deref().unwrap_or(&diff.proposed);
        let shown = self.shown.as_deref().unwrap_or(text);
        let original = diff.original.text.as_deref();
        let mut notes = diff.notes.clone();
        // Of a new file only the gate knows: the agent's question may be answered in place of its proposal.
        if original.is_some()
            && diff
                .proposer
                .is(|agent| agent.takes_for_rejection(original, text))
        {
            let agent = diff.proposer.display_name();
            notes.push(format!(
                "{agent} treats this as a rejection and changes nothing."
            ));
        }
        let mut found = diagnostics::notes(&notes, shown, self.encoding);
        found.extend(diagnostics::between(original, text, shown, self.encoding));
        found
    }
}
