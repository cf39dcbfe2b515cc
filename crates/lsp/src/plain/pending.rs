//! One proposal that waits for a decision.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use gen_lsp_types::{Command, Diagnostic};
use pillion_companion::{Diff, Reply};
use pillion_text::visible;
use serde_json::json;

use crate::plain::diagnostics;
use crate::plain::proposal_dir::ProposalFile;
use crate::plain::restore::{is_same_content, restore};
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
    /// As the editor spells it, once it opened it.
    pub uri: String,
    pub view: View,
    /// Where the agent hears that it is shown.
    pub shown: Option<Reply<()>>,
    /// Counts up: the biggest one is what the person looks at.
    pub focused: u64,
    /// When it came before another one that the person may still have in mind.
    pub interrupts: Option<Instant>,
    /// When it counts as closed, if the editor does not open it again.
    pub closes: Option<Instant>,
    /// When its diagnostics are due.
    pub redraw: Option<Instant>,
    file: ProposalFile,
}

impl Pending {
    /// A proposal that was written to `file` and is to be shown.
    pub fn new(diff: Diff, file: ProposalFile, shown: Reply<()>, focused: u64) -> Self {
        Self {
            uri: uri::from_path(file.path()),
            diff,
            view: View::default(),
            shown: Some(shown),
            focused,
            interrupts: None,
            closes: None,
            redraw: None,
            file,
        }
    }

    /// The file that the editor opens.
    pub fn path(&self) -> &Path {
        self.file.path()
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

    /// The text that would be accepted now, byte for byte.
    ///
    /// # Errors
    /// When what somebody saved cannot be read, or is no text.
    pub fn text(&self) -> Result<String, String> {
        let proposed = &self.diff.proposed;
        if let Some((first, now)) = self.view.edited() {
            return Ok(restore(proposed, first, now));
        }
        // An editor that does not synchronise it may have saved it all the same.
        let saved = self.file.read().map_err(|error| error.to_string())?;
        let Some(saved) = saved else {
            return Ok(proposed.to_string());
        };
        match String::from_utf8(saved) {
            Ok(saved) if is_same_content(&saved, proposed) => Ok(proposed.to_string()),
            Ok(saved) => Ok(saved),
            Err(_) => Err(format!("{} was not saved as UTF-8", self.path().display())),
        }
    }

    /// Its hunks, where the editor shows them.
    pub fn diagnostics(&self, encoding: Encoding) -> Vec<Diagnostic> {
        let proposed = Arc::clone(&self.diff.proposed);
        let restored = self
            .view
            .edited()
            .map(|(first, now)| restore(&proposed, first, now));
        let text = restored.as_deref().unwrap_or(&proposed);
        let shown = self.view.text().unwrap_or(text);
        diagnostics::between(self.diff.original.text.as_deref(), text, shown, encoding)
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
