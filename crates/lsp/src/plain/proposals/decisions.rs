//! Decisions: the commands of the editor, and what has to be read from the disk for them.

use std::time::Instant;

use lsp_server::{ErrorCode, Message, RequestId, ResponseError};
use pillion_protocol::{Note, Verdict};
use pillion_view::decision::Seen;
use pillion_view::{By, Decide, DiffId, LOOK, ProposalKey, Proposed, Ruling, Told};
use serde_json::{Value, json};

use super::guests::is_guest;
use super::{Proposals, UNCERTAIN};
use crate::disk::Saved;
use crate::message::{self, MessageType};
use crate::plain::document::text_edits;
use crate::plain::proposal::{ACCEPT, BRING_BACK, Proposal, REJECT};
use crate::plain::reads::Then;
use crate::plain::view::View;
use crate::profile::Action;
use pillion_text::restore::is_same_content;

impl Proposals {
    /// Runs a command; without arguments it is about the proposal that had the focus last. It
    /// is refused when nothing fits, or what would be accepted is not text.
    pub fn execute(
        &mut self,
        request: RequestId,
        command: &str,
        arguments: &[Value],
        now: Instant,
    ) -> Vec<Action> {
        if ![ACCEPT, REJECT, BRING_BACK].contains(&command) {
            let error = message::invalid(format!("unknown command {command:?}"));
            return vec![Action::answer(request, Err(error))];
        }
        let pending = match self.meant(arguments) {
            Ok(meant) => meant,
            Err(error) => return vec![Action::answer(request, Err(error))],
        };
        let (key, seen) = (pending.key(), pending.showing.seen(now));
        if command == REJECT {
            return self.decide(request, key, because(arguments), seen);
        }
        if pending.showing.is_uncertain(now) {
            return vec![refuse(request, UNCERTAIN)];
        }
        if command == BRING_BACK {
            return self.bring_back(request, key);
        }
        match pending.text() {
            Some(text) => self.decide(request, key, accepted(text), seen),
            None => {
                let read = self.start_read(key.id, Then::Accept(request, seen), now);
                read.into_iter().collect()
            }
        }
    }

    /// Puts into the editor what the person had made of an earlier proposal of the file: its undo takes it out again.
    fn bring_back(&mut self, request: RequestId, key: ProposalKey) -> Vec<Action> {
        let Ok(pending) = self.pending.current(key) else {
            return Vec::new();
        };
        let kept = pending.kept().unwrap_or_else(|| {
            let name = pending.name();
            Err(format!("nothing that you had changed in {name} was kept"))
        });
        let (former, kept) = match kept {
            Ok(kept) => kept,
            Err(why) => return vec![refuse(request, why)],
        };
        let edits = text_edits(&former, &kept, self.setup.encoding);
        let params = json!({
            "label": format!("Bring back what you had changed in {}", pending.name()),
            "edit": {"changes": {&pending.showing.uri: edits}},
        });
        let ask = self.edits.ask("workspace/applyEdit", params, ());
        vec![Action::Send(ask), Action::answer(request, Ok(Value::Null))]
    }

    fn decide(
        &mut self,
        request: RequestId,
        key: ProposalKey,
        verdict: Verdict,
        seen: Seen,
    ) -> Vec<Action> {
        match self.pending.current_mut(key) {
            Ok(pending) => {
                pending.ruling = Some(request);
                pending.is_rejecting = verdict.is_rejection();
            }
            Err(stale) => return vec![refuse(request, stale.to_string())],
        }
        let decide = Decide {
            key,
            verdict,
            by: By::Seen(seen),
            base: None,
        };
        vec![Action::Decide(decide)]
    }

    pub(super) fn ruled(&mut self, key: ProposalKey, ruling: Ruling) -> Vec<Action> {
        let Ok(pending) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        let Some(request) = pending.ruling.take() else {
            return Vec::new();
        };
        match ruling {
            Ruling::Settled(told) => {
                // What decided it leaves its document as it was: nothing else shows that it is over.
                let end = match pending.is_rejecting {
                    true => "rejected",
                    false => "accepted",
                };
                let said = format!("{}: {end}", pending.name());
                let said = told.map_or_else(|| message::show(MessageType::Info, said), say);
                let mut actions = self.forget(key.id);
                actions.push(Action::Send(said));
                // Last: lsp-mode loses what it reads together with the answer it waits for.
                actions.push(Action::answer(request, Ok(Value::Null)));
                actions
            }
            Ruling::Refused(refusal) => vec![refuse(request, refusal.message)],
        }
    }

    /// Returns true if a decision waits for a disk, or for the gate.
    pub fn is_deciding(&self) -> bool {
        self.pending.iter().any(Proposal::is_deciding)
    }

    pub(super) fn start_read(&mut self, id: DiffId, then: Then, now: Instant) -> Option<Action> {
        let pending = self.pending.find_mut(id)?;
        let is_decision = !matches!(then, Then::Close(_) | Then::Tell(_));
        let (number, job) = self.reads.start(pending, then, now)?;
        if is_decision {
            pending.deciding = Some(number);
        }
        Some(Action::Disk(job))
    }

    /// A proposal was read; nothing came if that took too long.
    pub(super) fn read(&mut self, number: u64, saved: Option<Saved>) -> Vec<Action> {
        let Some(read) = self.reads.finish(number) else {
            return Vec::new();
        };
        let (key, mut text) = (read.diff.key(), read.text(saved));
        if let Ok(pending) = self.pending.current_mut(key) {
            if pending.deciding == Some(number) {
                pending.deciding = None;
            }
            if let Then::Accept(..) = &read.then {
                text = text.and_then(|text| as_shown(pending, text));
            }
        }
        match (read.then, text) {
            (Then::Accept(request, seen), Ok(text)) => {
                self.decide(request, key, accepted(text), seen)
            }
            (Then::Accept(request, _), Err(why)) => vec![refuse(request, why)],
            (Then::Settle(closed), Ok(text)) => {
                let actions = self.forget(key.id);
                closed.done(text);
                actions
            }
            (Then::Close(closed) | Then::Tell(closed), Ok(text)) => {
                closed.done(text);
                Vec::new()
            }
            (Then::Settle(closed) | Then::Close(closed) | Then::Tell(closed), Err(why)) => {
                closed.failed(why);
                Vec::new()
            }
        }
    }

    fn meant(&self, arguments: &[Value]) -> Result<&Proposal, ResponseError> {
        let Some(id) = arguments.first() else {
            let last = self.pending.iter().max_by_key(|it| it.showing.focused);
            let pending = last.ok_or_else(|| failed("no change is pending"))?;
            let since = pending.showing.interrupts;
            let is_new = since.is_some_and(|at| at.elapsed() < LOOK);
            let is_covered = self.last_joining() > Some(pending.showing.focused);
            decidable(pending, is_new || is_covered)?;
            return Ok(pending);
        };
        let number = |value: &Value| {
            let text = "arguments: not the numbers of a diff and its revision";
            let number = value.as_u64();
            number.ok_or_else(|| message::invalid(text.to_owned()))
        };
        let id = DiffId(number(id)?);
        let revision = arguments.get(1).map(number).transpose()?;
        let found = self.pending.find(id);
        let pending = found.ok_or_else(|| {
            failed(match is_guest(id) {
                true => "that change is not pending any more".to_owned(),
                false => format!("no diff {id} is pending"),
            })
        })?;
        let (agent, name) = (pending.diff.proposer.display_name(), pending.name());
        let current = u64::from(pending.diff.revision);
        if revision.is_some_and(|revision| revision != current) {
            let text = format!("{agent} has proposed a newer change to {name}");
            return Err(failed(text));
        }
        decidable(pending, false)?;
        Ok(pending)
    }
}

/// A text that was read from the disk, unless the editor shows something else: another one, which has the proposal open
/// as a guest, may have saved it.
fn as_shown(pending: &Proposal, text: String) -> Result<String, String> {
    let view = pending.showing.view.as_ref();
    let is_shown = |view: &View| is_same_content(view.text(), &text);
    if text == *pending.diff.proposed || view.is_none_or(is_shown) {
        return Ok(text);
    }
    let name = pending.name();
    Err(format!(
        "the change to {name} differs here from its file: save it or reload the file, then look at it again"
    ))
}

/// The error for what cannot be done as things stand.
fn failed(why: impl Into<String>) -> ResponseError {
    message::error(ErrorCode::RequestFailed, why)
}

/// Answers why it cannot be done.
pub(super) fn refuse(request: RequestId, why: impl Into<String>) -> Action {
    Action::answer(request, Err(failed(why)))
}

fn accepted(text: String) -> Verdict {
    Verdict::accept(Some(text))
}

/// A rejection, with the reason, which is the text among the arguments after the two numbers.
fn because(arguments: &[Value]) -> Verdict {
    let mut verdict = Verdict::reject();
    let reason = arguments.iter().skip(2).find_map(Value::as_str);
    verdict.notes.extend(reason.map(Note::on_all));
    verdict
}

/// Tells the person about a decision and the notes. No protocol reaches the clipboards of these editors.
fn say(told: Told) -> Message {
    let text = match told.clipboard {
        Some(notes) => format!("the agent cannot be told your note, which was: {notes}"),
        None => told.message,
    };
    message::show(MessageType::Info, text)
}

/// Checks that a proposal can be decided now.
fn decidable(pending: &Proposal, is_new: bool) -> Result<(), ResponseError> {
    let (agent, name) = (pending.diff.proposer.display_name(), pending.name());
    let why = if is_new || pending.path.is_none() {
        format!("{agent}'s change to {name} has just arrived: look at it first")
    } else if pending.is_deciding() {
        format!("{agent}'s change to {name} is being decided")
    } else {
        return Ok(());
    };
    Err(failed(why))
}
