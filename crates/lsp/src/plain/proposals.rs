//! The proposals that wait for a decision: shown as files of the editor, judged by its code actions
//! and commands.

use std::path::Path;
use std::time::{Duration, Instant};

use gen_lsp_types::{
    Command, MessageType, Position, PublishDiagnosticsParams, Range, ShowDocumentParams,
};
use lsp_server::{ErrorCode, Message, Response, ResponseError};
use pillion_companion::{CloseReason, Diff, DiffId, Reply};
use pillion_protocol::Outcome;
use serde_json::Value;

use crate::message;
use crate::outgoing::Outgoing;
use crate::plain::Setup;
use crate::plain::launch;
use crate::plain::pending::{ACCEPT, Pending, REJECT};
use crate::plain::proposal_dir::ProposalDir;
use crate::plain::wire::{Change, Shown};
use crate::position::Encoding;
use crate::profile::Action;

/// How long an editor may take to open a document again that it closed, as it does when its
/// language is changed. Then it counts as closed, which is a rejection (C5.7).
const REOPEN_GRACE: Duration = Duration::from_secs(1);

/// Nobody sees a proposal and answers it in less. A command as soon as this is about what was there
/// before.
const REVIEW_DELAY: Duration = Duration::from_millis(700);

/// How long the editor must be quiet before hunks are found again.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// Everything that is under review.
#[derive(Debug)]
pub struct Proposals {
    proposal_dir: ProposalDir,
    encoding: Encoding,
    open_with: Option<String>,
    /// What is said of the focus: not to take it. eglot takes it if anything is said.
    take_focus: Option<bool>,
    pending: Vec<Pending>,
    /// `window/showDocument`, each for one revision of a diff.
    asked: Outgoing<(DiffId, u32)>,
    focuses: u64,
    /// How long it took to find hunks last.
    cost: Duration,
}

impl Proposals {
    /// None yet.
    pub fn new(setup: Setup) -> Self {
        Self {
            proposal_dir: ProposalDir::new(&setup.environment),
            encoding: setup.encoding,
            open_with: setup.open_with,
            take_focus: (setup.client != "eglot").then_some(false),
            pending: Vec::new(),
            asked: Outgoing::default(),
            focuses: 0,
            cost: Duration::ZERO,
        }
    }

    /// Whether a document is a proposal, or was one: never a file of the user.
    pub fn holds(&self, path: &Path) -> bool {
        self.find(path).is_some() || self.proposal_dir.holds(path)
    }

    /// Shows a proposal. A newer one gets a file of its own: the editor may still have the text of
    /// the older one, and that must not be taken for an answer.
    pub fn open(&mut self, diff: Diff, shown: Reply<()>) -> Vec<Action> {
        let interrupts = (!self.pending.is_empty()).then(Instant::now);
        let mut actions = self.forget(diff.id);
        let label = format!("{}-{}", diff.id, diff.revision);
        let file = match self.proposal_dir.put(&label, &diff.path, &diff.proposed) {
            Ok(file) => file,
            Err(error) => {
                tracing::warn!(?error, "cannot write the proposal");
                shown.failed(format!("{error}. Hint: {}.", error.hint()));
                return actions;
            }
        };
        self.focuses += 1;
        let mut pending = Pending::new(diff, file, shown, self.focuses);
        pending.interrupts = interrupts;
        let (publish, first) = self.publish(&pending);
        let params = ShowDocumentParams {
            uri: pending.uri.clone().into(),
            external: Some(false),
            take_focus: self.take_focus,
            selection: first.map(|start| Range { start, end: start }),
        };
        let waiting = (pending.diff.id, pending.diff.revision);
        let ask = self.asked.ask("window/showDocument", params, waiting);
        self.pending.push(pending);
        // Whatever the client declared: Helix can, and does not say so.
        actions.extend([publish, Action::Send(ask)]);
        actions
    }

    /// Takes a proposal away, and answers with its text as it stands.
    pub fn close(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) -> Vec<Action> {
        let Some(pending) = self.pending.iter().find(|pending| pending.diff.id == id) else {
            closed.failed("there is no such view");
            return Vec::new();
        };
        let (name, agent) = (pending.name(), pending.diff.agent.display_name());
        let text = match pending.text() {
            // Nothing was accepted: it goes on waiting.
            Err(why) if reason == CloseReason::Settled => {
                closed.failed(why);
                return Vec::new();
            }
            text => text,
        };
        // First: whoever hears the answer finds nothing left.
        let mut actions = self.forget(id);
        match text {
            Ok(text) => closed.done(text),
            Err(why) => closed.failed(why),
        }
        let news = match reason {
            CloseReason::AgentGone => Some((
                MessageType::Info,
                format!("{agent} is gone: its change to {name} can no longer be accepted"),
            )),
            CloseReason::NotShown => Some((
                MessageType::Error,
                format!(
                    "the editor did not open the change to {name} in time; {agent} got an error"
                ),
            )),
            _ => None,
        };
        actions.extend(news.map(|(kind, text)| Action::Send(message::show(kind, text))));
        actions
    }

    /// The editor answers whether it shows a proposal.
    pub fn response(&mut self, response: Response) -> Vec<Action> {
        let Some((id, revision)) = self.asked.answered(&response.id) else {
            return Vec::new();
        };
        let refusal = match response.response_result {
            Ok(result) => match serde_json::from_value(result) {
                Ok(Shown { success: false }) => "it reported failure",
                // Not what the specification says, but no refusal.
                _ => "",
            },
            Err(error) if error.code == ErrorCode::MethodNotFound as i32 => {
                "it does not support window/showDocument"
            }
            Err(_) => "it answered window/showDocument with an error",
        };
        let Some(pending) = self.current(id, revision) else {
            return Vec::new();
        };
        if refusal.is_empty() {
            pending.is_shown();
            return Vec::new();
        }
        self.not_shown(id, refusal)
    }

    /// The editor opened a proposal.
    pub fn did_open(&mut self, path: &Path, uri: String, text: String) -> Vec<Action> {
        self.focuses += 1;
        let focused = self.focuses;
        let Some(pending) = self.find_mut(path) else {
            return Vec::new();
        };
        pending.focused = focused;
        pending.uri = uri;
        pending.closes = None;
        pending.redraw = None;
        pending.interrupts = pending.interrupts.map(|_| Instant::now());
        let proposed = pending.diff.proposed.clone();
        pending.view.open(text, &proposed);
        // What is open is shown, whatever becomes of the question.
        pending.is_shown();
        // Editors forget diagnostics of documents that were not open.
        let id = pending.diff.id;
        self.redraw(id).into_iter().collect()
    }

    /// The person edited a proposal.
    pub fn did_change(&mut self, path: &Path, changes: Vec<Change>, now: Instant) {
        let (encoding, redraw) = (self.encoding, self.next_redraw(now));
        if let Some(pending) = self.focus(path) {
            pending.view.change(changes, encoding);
            pending.redraw = Some(redraw);
        }
    }

    /// The person saved a proposal.
    pub fn did_save(&mut self, path: &Path, text: Option<String>, now: Instant) {
        let redraw = self.next_redraw(now);
        if let (Some(pending), Some(text)) = (self.focus(path), text) {
            pending.view.save(text);
            pending.redraw = Some(redraw);
        }
    }

    /// The editor closed a proposal.
    pub fn did_close(&mut self, path: &Path, now: Instant) {
        if let Some(pending) = self.find_mut(path)
            && pending.view.text().is_some()
        {
            pending.closes = Some(now + REOPEN_GRACE);
        }
    }

    /// The person looks at a proposal.
    pub fn focus(&mut self, path: &Path) -> Option<&mut Pending> {
        self.focuses += 1;
        let focused = self.focuses;
        let pending = self.find_mut(path)?;
        pending.focused = focused;
        pending.interrupts = None;
        Some(pending)
    }

    /// What can be done with a document.
    pub fn commands(&self, path: &Path) -> Vec<Command> {
        let pending = self.find(path);
        pending.map_or(Vec::new(), |pending| pending.commands().into())
    }

    /// Runs a command; without arguments it is about the proposal that the person looked at last.
    ///
    /// # Errors
    /// When nothing fits, or what would be accepted is no text.
    pub fn execute(
        &mut self,
        command: &str,
        arguments: &[Value],
    ) -> Result<Vec<Action>, ResponseError> {
        if ![ACCEPT, REJECT].contains(&command) {
            let text = format!("unknown command {command:?}");
            return Err(message::error(ErrorCode::InvalidParams, text));
        }
        let failed = |text: String| message::error(ErrorCode::RequestFailed, text);
        let pending = self.meant(arguments)?;
        let (id, revision) = (pending.diff.id, pending.diff.revision);
        let outcome = if command == ACCEPT {
            let content = pending.text().map_err(failed)?;
            Outcome::accepted(content)
        } else {
            Outcome::Rejected
        };
        let mut actions = vec![Action::Resolve {
            id,
            revision,
            outcome,
        }];
        actions.extend(self.forget(id));
        Ok(actions)
    }

    /// When [`Proposals::elapse`] wants to be called.
    pub fn due(&self) -> Option<Instant> {
        let dues = self.pending.iter();
        dues.flat_map(|pending| [pending.closes, pending.redraw])
            .flatten()
            .min()
    }

    /// Time has passed.
    pub fn elapse(&mut self, now: Instant) -> Vec<Action> {
        let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        let mut actions = Vec::new();
        for pending in self
            .pending
            .extract_if(.., |pending| is_due(pending.closes))
        {
            actions.push(clear(&pending));
            actions.push(Action::Resolve {
                id: pending.diff.id,
                revision: pending.diff.revision,
                outcome: Outcome::Rejected,
            });
        }
        let redraws: Vec<_> = self
            .pending
            .iter()
            .filter(|pending| is_due(pending.redraw))
            .map(|pending| pending.diff.id)
            .collect();
        actions.extend(redraws.into_iter().filter_map(|id| self.redraw(id)));
        actions
    }

    fn find(&self, path: &Path) -> Option<&Pending> {
        self.pending.iter().find(|pending| pending.path() == path)
    }

    fn find_mut(&mut self, path: &Path) -> Option<&mut Pending> {
        self.pending
            .iter_mut()
            .find(|pending| pending.path() == path)
    }

    fn current(&mut self, id: DiffId, revision: u32) -> Option<&mut Pending> {
        let mut pending = self.pending.iter_mut();
        pending.find(|pending| pending.diff.id == id && pending.diff.revision == revision)
    }

    /// The proposal that the arguments of a command name.
    fn meant(&self, arguments: &[Value]) -> Result<&Pending, ResponseError> {
        let failed = |text: String| message::error(ErrorCode::RequestFailed, text);
        let number = |value: &Value| value.as_u64();
        let (id, revision) = match arguments {
            [] => {
                let last = self.pending.iter().max_by_key(|pending| pending.focused);
                let last = last.ok_or_else(|| failed("no change is pending".to_owned()))?;
                if last
                    .interrupts
                    .is_some_and(|at| at.elapsed() < REVIEW_DELAY)
                {
                    let (agent, name) = (last.diff.agent.display_name(), last.name());
                    let text =
                        format!("{agent}'s change to {name} has just arrived: look at it first");
                    return Err(failed(text));
                }
                return Ok(last);
            }
            [id] => (number(id), None),
            [id, revision, ..] => (number(id), Some(number(revision))),
        };
        let (Some(id), false) = (id, revision == Some(None)) else {
            let text = "arguments: not the numbers of a diff and its revision";
            return Err(message::error(ErrorCode::InvalidParams, text));
        };
        let found = self.pending.iter().find(|pending| pending.diff.id.0 == id);
        let pending = found.ok_or_else(|| failed(format!("no diff {id} is pending")))?;
        let is_current = |revision| Some(u64::from(pending.diff.revision)) == revision;
        if revision.is_some_and(|revision| !is_current(revision)) {
            let (agent, name) = (pending.diff.agent.display_name(), pending.name());
            let text = format!("{agent} has proposed a newer change to {name}");
            return Err(failed(text));
        }
        Ok(pending)
    }

    /// The editor does not show a proposal: another program may, or nothing is left of it.
    fn not_shown(&mut self, id: DiffId, refusal: &str) -> Vec<Action> {
        let open_with = self.open_with.clone();
        let Some(at) = self
            .pending
            .iter()
            .position(|pending| pending.diff.id == id)
        else {
            return Vec::new();
        };
        let pending = &mut self.pending[at];
        if pending.shown.is_none() {
            return Vec::new();
        }
        let why = match open_with.map(|program| launch::open(&program, pending.path())) {
            Some(Ok(())) => {
                pending.is_shown();
                return Vec::new();
            }
            Some(Err(reason)) => reason,
            None => "start `pillion lsp` with --open-with PROGRAM, where PROGRAM opens a file in this editor"
                .to_owned(),
        };
        let name = pending.name();
        let reason = format!("the editor cannot show the change to {name}: {refusal}; {why}");
        let shown = pending.shown.take();
        let mut actions = self.forget(id);
        if let Some(shown) = shown {
            shown.failed(reason.clone());
        }
        actions.push(Action::Send(message::show(MessageType::Error, reason)));
        actions
    }

    /// Takes away everything of a diff, if there is anything.
    fn forget(&mut self, id: DiffId) -> Vec<Action> {
        let gone = self.pending.extract_if(.., |pending| pending.diff.id == id);
        gone.map(|pending| clear(&pending)).collect()
    }

    /// The diagnostics of a proposal, and where the first one is.
    fn publish(&mut self, pending: &Pending) -> (Action, Option<Position>) {
        let start = Instant::now();
        let diagnostics = pending.diagnostics(self.encoding);
        self.cost = start.elapsed();
        let first = diagnostics.first().map(|first| first.range.start);
        let params = PublishDiagnosticsParams {
            uri: pending.uri.clone().into(),
            version: None,
            diagnostics,
        };
        (publish(params), first)
    }

    fn redraw(&mut self, id: DiffId) -> Option<Action> {
        let at = self
            .pending
            .iter()
            .position(|pending| pending.diff.id == id)?;
        let mut pending = self.pending.swap_remove(at);
        pending.redraw = None;
        let (action, _) = self.publish(&pending);
        self.pending.push(pending);
        Some(action)
    }

    /// Finding hunks takes a small part of the time, however big the texts are.
    fn next_redraw(&self, now: Instant) -> Instant {
        now + DEBOUNCE.max(self.cost * 10)
    }
}

fn clear(pending: &Pending) -> Action {
    publish(PublishDiagnosticsParams {
        uri: pending.uri.clone().into(),
        version: None,
        diagnostics: Vec::new(),
    })
}

fn publish(params: PublishDiagnosticsParams) -> Action {
    let message: Message = message::notification("textDocument/publishDiagnostics", params);
    Action::Send(message)
}
