//! Decisions: the commands of the editor, and what has to be read from the disk for them.

use std::time::Instant;

use gen_lsp_types::MessageType;
use lsp_server::{Message, ResponseError};
use pillion_protocol::{Note, Verdict};
use pillion_view::{Decide, DiffId, LOOK, ProposalKey, Proposed, Ruling, Told};
use serde_json::Value;

use super::{Proposals, UNCERTAIN};
use crate::disk::Saved;
use crate::message;
use crate::plain::proposal::{ACCEPT, Proposal, REJECT};
use crate::plain::reads::Then;
use crate::plain::showing::Showing;
use crate::plain::viewer::{Caller, Viewer, failed};
use crate::profile::Action;
use crate::restore::is_same_content;

impl Proposals {
    /// Runs a command; without arguments it is about the proposal that had the focus last. It
    /// is refused when nothing fits, or what would be accepted is not text.
    pub fn execute(
        &mut self,
        caller: Caller,
        command: &str,
        arguments: &[Value],
        now: Instant,
    ) -> Vec<Action> {
        if ![ACCEPT, REJECT].contains(&command) {
            let error = message::invalid(format!("unknown command {command:?}"));
            return vec![caller.answer(Err(error))];
        }
        let (pending, showing) = match self.meant(caller.viewer, arguments) {
            Ok(meant) => meant,
            Err(error) => return vec![caller.answer(Err(error))],
        };
        let key = pending.key();
        if command == REJECT {
            return self.decide(caller, key, because(arguments));
        }
        if showing.is_uncertain(now) {
            return vec![caller.refuse(UNCERTAIN)];
        }
        match showing.edited_text(&pending.diff.proposed, pending.was_shared) {
            Some(text) => self.decide(caller, key, accepted(text)),
            None => {
                let read = self.start_read(key.id, Then::Accept(caller), now);
                read.into_iter().collect()
            }
        }
    }

    fn decide(&mut self, caller: Caller, key: ProposalKey, verdict: Verdict) -> Vec<Action> {
        match self.pending.current_mut(key) {
            Ok(pending) => pending.ruling = Some(caller),
            Err(stale) => return vec![caller.refuse(stale.to_string())],
        }
        let decide = Decide {
            key,
            verdict,
            // Nobody knows what these editors draw.
            seen: None,
            base: None,
        };
        vec![Action::Decide(decide)]
    }

    /// The gate has ruled about a decision.
    pub(super) fn ruled(&mut self, key: ProposalKey, ruling: Ruling) -> Vec<Action> {
        let pending = self.pending.current_mut(key).ok();
        let Some(caller) = pending.and_then(|pending| pending.ruling.take()) else {
            return Vec::new();
        };
        match ruling {
            Ruling::Settled(told) => {
                let mut actions = self.forget(key.id);
                actions.extend(told.map(|told| caller.viewer.send(say(told))));
                // Last: lsp-mode loses what it reads together with the answer it waits for.
                actions.push(caller.answer(Ok(Value::Null)));
                actions
            }
            Ruling::Refused(refusal) => vec![caller.refuse(refusal.message)],
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
            if let Then::Accept(caller) = &read.then {
                text = text.and_then(|text| as_shown(pending, caller.viewer, text));
            }
        }
        match (read.then, text) {
            (Then::Accept(caller), Ok(text)) => self.decide(caller, key, accepted(text)),
            (Then::Accept(caller), Err(why)) => vec![caller.refuse(why)],
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

    /// The proposal that the arguments of a command name, in the editor that the command came from. Nobody
    /// decides about one that their editor does not have.
    fn meant(
        &self,
        viewer: Viewer,
        arguments: &[Value],
    ) -> Result<(&Proposal, &Showing), ResponseError> {
        let Some(id) = arguments.first() else {
            let shown = self.pending.iter();
            let shown = shown.filter_map(|pending| Some((pending, pending.showing(viewer)?)));
            let last = shown.max_by_key(|(_, showing)| showing.focused);
            let (pending, showing) = last.ok_or_else(|| failed("no change is pending"))?;
            let since = showing.interrupts;
            let is_new = since.is_some_and(|at| at.elapsed() < LOOK);
            decidable(pending, is_new)?;
            return Ok((pending, showing));
        };
        let number = |value: &Value| {
            let text = "arguments: not the numbers of a diff and its revision";
            let number = value.as_u64();
            number.ok_or_else(|| message::invalid(text.to_owned()))
        };
        let id = DiffId(number(id)?);
        let revision = arguments.get(1).map(number).transpose()?;
        let found = self.pending.find(id);
        let pending = found.ok_or_else(|| failed(format!("no diff {id} is pending")))?;
        let (agent, name) = (pending.diff.agent.display_name(), pending.name());
        let current = u64::from(pending.diff.revision);
        if revision.is_some_and(|revision| revision != current) {
            let text = format!("{agent} has proposed a newer change to {name}");
            return Err(failed(text));
        }
        let closed = || failed(format!("the change to {name} is not open here"));
        let showing = pending.showing(viewer).ok_or_else(closed)?;
        decidable(pending, false)?;
        Ok((pending, showing))
    }
}

/// A text that was read from the disk, unless this editor shows something else. It was saved in another one since, or
/// edited here before the editor told anybody.
fn as_shown(pending: &Proposal, viewer: Viewer, text: String) -> Result<String, String> {
    let showing = pending.showing(viewer).filter(|_| pending.was_shared);
    let view = showing.and_then(|showing| showing.view.as_ref());
    if view.is_none_or(|view| is_same_content(view.text(), &text)) {
        return Ok(text);
    }
    let name = pending.name();
    Err(format!(
        "the change to {name} differs here from its file: save it or reload the file, then look at it again"
    ))
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

/// What becomes of the notes. No protocol reaches the clipboards of these editors.
fn say(told: Told) -> Message {
    let text = match told.clipboard {
        Some(notes) => format!("the agent cannot be told your note, which was: {notes}"),
        None => told.message,
    };
    message::show(MessageType::Info, text)
}

/// Whether a proposal can be decided now.
fn decidable(pending: &Proposal, is_new: bool) -> Result<(), ResponseError> {
    let (agent, name) = (pending.diff.agent.display_name(), pending.name());
    let why = if is_new || pending.path.is_none() {
        format!("{agent}'s change to {name} has just arrived: look at it first")
    } else if pending.is_deciding() {
        format!("{agent}'s change to {name} is being decided")
    } else {
        return Ok(());
    };
    Err(failed(why))
}
