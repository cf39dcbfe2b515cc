//! One proposal that waits for a decision.

use std::path::PathBuf;
use std::time::Instant;

use gen_lsp_types::{Command, Diagnostic};
use pillion_companion::{Diff, Reply};
use pillion_text::visible;
use serde_json::json;

use crate::disk::ProposalKey;
use crate::plain::diagnostics;
use crate::plain::restore::restore;
use crate::plain::view::View;
use crate::position::Encoding;
use crate::uri;

/// The command that accepts.
pub const ACCEPT: &str = "pillion.accept";

/// The command that rejects.
pub const REJECT: &str = "pillion.reject";

/// A proposal under review.
#[derive(Debug)]
pub struct Pending {
    pub diff: Diff,
    /// The file that the editor opens, once it was written.
    pub path: Option<PathBuf>,
    /// The same, as the editor spells it once it opened it.
    pub uri: String,
    pub view: View,
    /// Where the agent hears that it is shown.
    pub shown: Option<Reply<()>>,
    /// Counts up: the biggest one is what the person looks at.
    pub focused: u64,
    /// Whether the person may still have another one in mind.
    pub is_second: bool,
    /// When it came before that one.
    pub interrupts: Option<Instant>,
    /// The read on which a decision about it waits.
    pub deciding: Option<u64>,
    /// Why the editor itself does not show it.
    pub refusal: &'static str,
    /// When it counts as closed, if the editor does not open it again.
    pub closes: Option<Instant>,
    /// When its diagnostics are due.
    pub redraw: Option<Instant>,
    /// When the person is told how to decide without code actions.
    pub hint: Option<Instant>,
}

impl Pending {
    /// A proposal that is to be shown as soon as it is written.
    pub fn new(diff: Diff, shown: Reply<()>, focused: u64) -> Self {
        Self {
            diff,
            path: None,
            uri: String::new(),
            view: View::default(),
            shown: Some(shown),
            focused,
            is_second: false,
            interrupts: None,
            deciding: None,
            refusal: "",
            closes: None,
            redraw: None,
            hint: None,
        }
    }

    /// Which proposal it is.
    pub fn key(&self) -> ProposalKey {
        (self.diff.id, self.diff.revision)
    }

    /// It was written.
    pub fn written(&mut self, file: PathBuf, now: Instant) {
        self.uri = uri::from_path(&file);
        self.path = Some(file);
        self.interrupts = self.is_second.then_some(now);
    }

    /// When it counts as closed, and so as rejected: not while a decision is carried out.
    pub fn counts_as_closed(&self) -> Option<Instant> {
        self.closes.filter(|_| self.deciding.is_none())
    }

    /// What people call it.
    pub fn name(&self) -> String {
        let name = self.diff.path.file_name().unwrap_or_default();
        visible::one_line(&name.to_string_lossy())
    }

    /// The agent hears that it is shown, if it did not hear before.
    pub fn is_shown(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.done(());
        }
    }

    /// How to decide in an editor that shows it as a plain file, because nobody configured its language.
    /// Editors cut a message that is longer than a line.
    pub fn hint(&self) -> String {
        let (name, id, revision) = (self.name(), self.diff.id, self.diff.revision);
        format!(
            "No code actions for {name} here. In a shell: `pillion accept {id}.{revision}` or `pillion reject {id}`"
        )
    }

    /// The text that would be accepted now, byte for byte, if the editor told of edits. Otherwise
    /// the file says what it is.
    pub fn edited_text(&self) -> Option<String> {
        let (first, now) = self.view.edited()?;
        Some(restore(&self.diff.proposed, first, now))
    }

    /// Its hunks, where the editor shows them.
    pub fn diagnostics(&self, encoding: Encoding) -> Vec<Diagnostic> {
        let restored = self.edited_text();
        let text = restored.as_deref().unwrap_or(&self.diff.proposed);
        let shown = self.view.text().unwrap_or(text);
        let original = self.diff.original.text.as_deref();
        let mut notes = self.diff.notes.clone();
        if self.diff.agent.takes_for_rejection(original, text) {
            let agent = self.diff.agent.display_name();
            notes.push(format!(
                "{agent} takes this for a rejection: it changes nothing."
            ));
        }
        let mut found = diagnostics::notes(&notes, shown, encoding);
        found.extend(diagnostics::between(original, text, shown, encoding));
        found
    }

    /// Accept, then reject.
    pub fn commands(&self) -> [Command; 2] {
        let (name, agent) = (self.name(), self.diff.agent.display_name());
        let command = |title: String, command: &str| Command {
            title,
            tooltip: None,
            command: command.to_owned(),
            arguments: Some(vec![json!(self.diff.id.0), json!(self.diff.revision)]),
        };
        [
            command(format!("Accept {name} as shown ({agent})"), ACCEPT),
            command(format!("Reject the change to {name} ({agent})"), REJECT),
        ]
    }
}
