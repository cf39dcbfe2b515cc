//! One proposal that waits for a decision, and what the editor shows of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use lsp_server::RequestId;
use pillion_view::{Diff, ProposalKey, Proposed, Reply, SetPlace};
use serde_json::{Value, json};

use crate::comparer::Comparison;
use crate::message::Diagnostic;
use crate::plain::showing::Showing;
use crate::plain::view::View;
use crate::position::Encoding;
use crate::uri;
use pillion_text::restore::{restore, shown_as};

pub const ACCEPT: &str = "pillion.accept";

pub const REJECT: &str = "pillion.reject";

/// The command that puts into the editor what the person had made of an earlier proposal of the file.
pub const BRING_BACK: &str = "pillion.bringBack";

/// A proposal under review.
#[derive(Debug)]
pub struct Proposal {
    pub diff: Arc<Diff>,
    /// The hunks that are shown beside it at first, until its file is written.
    pub hunks: Vec<Diagnostic>,
    /// The line of the first of them, from 0.
    pub first: Option<u32>,
    /// The file that the editor opens, once it was written.
    pub path: Option<PathBuf>,
    pub showing: Showing,
    /// True if the file is another process's, which writes, reads and removes it.
    pub is_guest: bool,
    /// True if a guest has it open: the editor with another server of its own, or another window.
    pub is_shared: bool,
    /// Since when it waits until the person stops typing, if it does.
    pub waits: Option<Instant>,
    /// The reply to the agent, sent once it is shown.
    pub shown: Option<Reply<()>>,
    /// The read on which a decision about it waits.
    pub deciding: Option<u64>,
    /// The request that waits until the gate has ruled about an acceptance or a rejection.
    pub ruling: Option<RequestId>,
    /// True if that is about a rejection.
    pub is_rejecting: bool,
    /// When another program is asked to open it, if the editor has not answered by then.
    pub answer_due: Option<Instant>,
    /// Why the editor itself does not show it, once that is known.
    pub refusal: &'static str,
    /// When to show how to decide without code actions.
    pub hint: Option<Instant>,
    /// The person's texts from earlier proposals of the file, the newest last.
    pub offered: Vec<String>,
    /// The number of those of which they know that they were kept.
    pub known: usize,
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
    /// A proposal that is to be shown as soon as it is written.
    pub fn new(diff: Diff, shown: Reply<()>, showing: Showing) -> Self {
        Self {
            diff: Arc::new(diff),
            hunks: Vec::new(),
            first: None,
            path: None,
            showing,
            is_guest: false,
            is_shared: false,
            waits: None,
            shown: Some(shown),
            deciding: None,
            ruling: None,
            is_rejecting: false,
            answer_due: None,
            refusal: "",
            hint: None,
            offered: Vec::new(),
            known: 0,
        }
    }

    pub fn written(&mut self, file: PathBuf, now: Instant) {
        self.showing.uri = uri::from_path(&file);
        self.showing.interrupts = self.showing.interrupts.map(|_| now);
        self.path = Some(file);
    }

    pub fn is_deciding(&self) -> bool {
        self.deciding.is_some() || self.ruling.is_some()
    }

    /// When it counts as closed: not while a decision is carried out.
    pub fn counts_as_closed(&self) -> Option<Instant> {
        self.showing.closes.filter(|_| !self.is_deciding())
    }

    /// The name of its file, with its place in its set.
    pub fn name(&self) -> String {
        self.diff.file_name() + &SetPlace::after_name(self.diff.set)
    }

    /// Answers the agent that it is shown, unless that was done before.
    pub fn is_shown(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.done(());
        }
    }

    /// The way to decide in an editor that shows it as a plain file, because its language is not configured, or
    /// does so until the person is there. Editors cut a message that is longer than a line.
    pub fn hint(&self, attaches_late: bool) -> String {
        let name = self.name();
        let key = self.key();
        let actions = match attaches_late {
            true => format!("Go to {name} for its code actions."),
            false => format!("No code actions for {name} here."),
        };
        format!("{actions} In a shell: `pillion accept {key}` or `pillion reject {key}`")
    }

    /// The text that would be accepted now, byte for byte; none if the file says what it is, because the editor has
    /// reported no edits.
    pub fn text(&self) -> Option<String> {
        let proposed = &self.diff.proposed;
        match self.is_guest {
            true => self.showing.text(proposed),
            false => self.showing.edited_text(proposed),
        }
    }

    /// The comparison with this number, of what the editor shows with the file.
    pub fn comparison(&mut self, encoding: Encoding, number: u64) -> Comparison {
        self.showing.redraw = None;
        self.showing.comparison = Some(number);
        let view = self.showing.view.as_ref();
        let opened = match self.is_guest {
            true => view.map(View::first),
            false => view.and_then(View::edited).map(|(opened, _)| opened),
        };
        Comparison {
            number,
            diff: Arc::clone(&self.diff),
            encoding,
            shown: view.map(|view| view.text().to_owned()),
            opened: opened.map(str::to_owned),
        }
    }

    /// The person's edited text so far, if the editor has reported edits; none within if it is as proposed.
    pub fn draft(&self) -> Option<Option<String>> {
        let text = self.text()?;
        Some((text != *self.diff.proposed).then_some(text))
    }

    /// The text that the editor shows, and the one that it is to show so that the newest kept one that is not there would be accepted,
    /// byte for byte; none if nothing else was kept.
    ///
    /// # Errors
    /// A sentence: the editor cannot show it.
    pub fn kept(&self) -> Option<Result<(String, String), String>> {
        let proposed = &self.diff.proposed;
        let view = self.showing.view.as_ref()?;
        let there = restore(proposed, view.first(), view.text());
        let kept = self.offered.iter().rev().find(|it| **it != there)?;
        let shown = shown_as(proposed, view.first(), kept);
        let shown = shown.map(|it| (view.text().to_owned(), it));
        Some(shown.ok_or_else(|| {
            let name = self.name();
            format!("the editor cannot show what you wrote in {name} byte for byte: `pillion log` lists it")
        }))
    }

    /// The message that something was kept, if the person can bring it back and does not know yet.
    pub fn tell_kept(&mut self) -> Option<String> {
        if !matches!(self.kept(), Some(Ok(_))) {
            return None;
        }
        let count = self.offered.len();
        let is_news = std::mem::replace(&mut self.known, count) < count;
        let name = self.name();
        is_news.then(|| match count {
            1 => format!("What you had changed in {name} was kept: a code action there brings it back."),
            _ => format!("{count} texts of yours for {name} were kept: a code action there brings back the last one, and again the one before."),
        })
    }

    /// Accept, then reject, then bring back what was kept.
    pub fn commands(&self) -> Vec<Value> {
        let (name, agent) = (self.name(), self.diff.proposer.display_name());
        let arguments = [json!(self.diff.id.0), json!(self.diff.revision)];
        let command = |title: String, command: &str| json!({"title": title, "command": command, "arguments": arguments});
        let mut commands = vec![
            command(format!("Accept {name} as shown ({agent})"), ACCEPT),
            command(format!("Reject the change to {name} ({agent})"), REJECT),
        ];
        if matches!(self.kept(), Some(Ok(_))) {
            let title = format!("Bring back what you had changed in {name}");
            commands.push(command(title, BRING_BACK));
        }
        commands
    }
}
