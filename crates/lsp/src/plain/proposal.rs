//! One proposal that waits for a decision, and where it is shown.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use gen_lsp_types::{Command, Diagnostic};
use pillion_text::visible;
use pillion_view::{Diff, ProposalKey, Proposed, Reply, SetPlace};
use serde_json::json;

use crate::comparer::Comparison;
use crate::plain::showing::Showing;
use crate::plain::view::View;
use crate::plain::viewer::{Caller, Seat, Viewer};
use crate::uri;

/// The command that accepts.
pub const ACCEPT: &str = "pillion.accept";

/// The command that rejects.
pub const REJECT: &str = "pillion.reject";

/// A proposal under review.
#[derive(Debug)]
pub struct Proposal {
    pub diff: Arc<Diff>,
    /// What is shown beside it at first, until its file is written.
    pub hunks: Vec<Diagnostic>,
    /// The file that editors open, once it was written.
    pub path: Option<PathBuf>,
    /// Where it is shown: first in the editor that we serve, or about to be.
    pub showings: Vec<Showing>,
    /// True if the editor that we serve shows it, even if it does not report that to its language server.
    pub is_in_own_editor: bool,
    /// True if another editor has ever had it open: then what is saved may not be what this one shows.
    pub was_shared: bool,
    /// Where the agent is answered once it is shown.
    pub shown: Option<Reply<()>>,
    /// The read on which a decision about it waits.
    pub deciding: Option<u64>,
    /// Who waits until the gate has ruled about an acceptance or a rejection.
    pub ruling: Option<Caller>,
    /// When another program is asked to open it, if the editor has not answered by then.
    pub answer_due: Option<Instant>,
    /// Why the editor itself does not show it, once that is known.
    pub refusal: &'static str,
    /// When to show how to decide without code actions.
    pub hint: Option<Instant>,
}

impl Proposed for Proposal {
    fn key(&self) -> ProposalKey {
        self.diff.key()
    }

    fn set(&self) -> Option<SetPlace> {
        self.diff.set
    }
}

impl Proposal {
    /// A proposal that is to be shown, in the editor that we serve, as soon as it is written.
    pub fn new(diff: Diff, shown: Reply<()>, own: Showing) -> Self {
        Self {
            diff: Arc::new(diff),
            hunks: Vec::new(),
            path: None,
            showings: vec![own],
            is_in_own_editor: false,
            was_shared: false,
            shown: Some(shown),
            deciding: None,
            ruling: None,
            answer_due: None,
            refusal: "",
            hint: None,
        }
    }

    /// It was written.
    pub fn written(&mut self, file: PathBuf, now: Instant) {
        let own = self.own_mut();
        own.uri = uri::from_path(&file);
        own.interrupts = own.interrupts.map(|_| now);
        self.path = Some(file);
    }

    /// In the editor that we serve.
    pub fn own(&self) -> &Showing {
        &self.showings[0]
    }

    /// The same.
    pub fn own_mut(&mut self) -> &mut Showing {
        &mut self.showings[0]
    }

    /// In this editor, if it has opened it.
    pub fn showing(&self, viewer: Viewer) -> Option<&Showing> {
        let mut showings = self.showings.iter();
        showings.find(|showing| showing.seat.viewer == viewer)
    }

    /// The same.
    pub fn showing_mut(&mut self, viewer: Viewer) -> Option<&mut Showing> {
        let mut showings = self.showings.iter_mut();
        showings.find(|showing| showing.seat.viewer == viewer)
    }

    /// In this editor, which opens it.
    pub fn showing_in(&mut self, seat: Seat) -> &mut Showing {
        let mut showings = self.showings.iter();
        let at = showings.position(|showing| showing.seat.viewer == seat.viewer);
        let at = at.unwrap_or_else(|| {
            self.was_shared = true;
            self.showings.push(Showing::new(seat, 0));
            self.showings.len() - 1
        });
        &mut self.showings[at]
    }

    /// Returns true if a decision about it is being carried out.
    pub fn is_deciding(&self) -> bool {
        self.deciding.is_some() || self.ruling.is_some()
    }

    /// When it counts as closed in one of its editors: not while a decision is carried out.
    pub fn counts_as_closed(&self) -> Option<Instant> {
        let closes = self.showings.iter().filter_map(|showing| showing.closes);
        closes.min().filter(|_| !self.is_deciding())
    }

    /// Takes it out of the editors that have closed it. Whether it is closed for good, and so rejected: no
    /// editor has it open, and those that closed it were those that had been asked to show it.
    pub fn close_due(&mut self, now: Instant) -> bool {
        let is_due = |showing: &Showing| showing.closes.is_some_and(|due| due <= now);
        let is_closed_by_own = is_due(self.own());
        self.is_in_own_editor &= !is_closed_by_own;
        let gone = self.showings.extract_if(1.., |showing| is_due(showing));
        let gone: Vec<Seat> = gone.map(|showing| showing.seat).collect();
        if is_closed_by_own {
            let own = self.own_mut();
            (own.closes, own.view) = (None, None);
        }
        let mut showings = self.showings.iter();
        let is_open_elsewhere = showings.any(|showing| showing.view.is_some());
        let is_by_the_person = is_closed_by_own
            || gone.iter().any(|seat| seat.is_same_editor)
            || (!gone.is_empty() && !self.is_in_own_editor);
        is_by_the_person && !is_open_elsewhere
    }

    /// The name of its file, with its place in its set.
    pub fn name(&self) -> String {
        let name = self.diff.path.file_name().unwrap_or_default();
        visible::one_line(&name.to_string_lossy()) + &SetPlace::after_name(self.diff.set)
    }

    /// Answers the agent that it is shown, unless that was done before.
    pub fn is_shown(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.done(());
        }
    }

    /// How to decide in an editor that shows it as a plain file, because its language is not configured, or
    /// does so until the person is there. Editors cut a message that is longer than a line.
    pub fn hint(&self, attaches_late: bool) -> String {
        let (name, key) = (self.name(), self.key());
        let actions = match attaches_late {
            true => format!("Go to {name} for its code actions."),
            false => format!("No code actions for {name} here."),
        };
        format!("{actions} In a shell: `pillion accept {key}` or `pillion reject {key}`")
    }

    /// The text that would be accepted now, byte for byte, if an editor reported edits. Otherwise the file
    /// says what it is.
    ///
    /// # Errors
    /// When two editors have different ones.
    pub fn edited_text(&self) -> Result<Option<String>, String> {
        let edited = self.showings.iter();
        let mut edited =
            edited.filter_map(|showing| showing.edited_text(&self.diff.proposed, self.was_shared));
        let first = edited.next();
        if edited.all(|text| Some(&text) == first.as_ref()) {
            return Ok(first);
        }
        let name = self.name();
        Err(format!(
            "the change to {name} was edited in two editors: accept it in the one whose text you want"
        ))
    }

    /// The text of the editor that the person used last, if one reported edits.
    pub fn last_edited_text(&self) -> Option<String> {
        let is_edited = |view: &View| view.edited().is_some();
        let edited = self.showings.iter();
        let edited = edited.filter(|showing| showing.view.as_ref().is_some_and(is_edited));
        let last = edited.max_by_key(|showing| showing.focused)?;
        last.edited_text(&self.diff.proposed, self.was_shared)
    }

    /// The comparison with this number, of what an editor shows with the file.
    pub fn comparison(&mut self, viewer: Viewer, number: u64) -> Option<Comparison> {
        let diff = Arc::clone(&self.diff);
        let showing = self.showing_mut(viewer)?;
        showing.redraw = None;
        showing.comparison = Some(number);
        let view = showing.view.as_ref();
        Some(Comparison {
            number,
            diff,
            encoding: showing.seat.encoding,
            shown: view.map(|view| view.text().to_owned()),
            opened: view
                .and_then(View::edited)
                .map(|(opened, _)| opened.to_owned()),
        })
    }

    /// Accept, then reject. A relay has to know whose they are.
    pub fn commands(&self, viewer: Viewer) -> [Command; 2] {
        let (name, agent) = (self.name(), self.diff.agent.display_name());
        let mut arguments = vec![json!(self.diff.id.0), json!(self.diff.revision)];
        if viewer != Viewer::Own {
            arguments.push(json!(std::process::id()));
        }
        let command = |title: String, command: &str| Command {
            title,
            tooltip: None,
            command: command.to_owned(),
            arguments: Some(arguments.clone()),
        };
        [
            command(format!("Accept {name} as shown ({agent})"), ACCEPT),
            command(format!("Reject the change to {name} ({agent})"), REJECT),
        ]
    }
}
