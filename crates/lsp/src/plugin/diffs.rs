//! The views that the plugin has open.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use lsp_server::{Message, RequestId, ResponseError};
use pillion_protocol::Proposer;
use pillion_system::lock;
use pillion_view::ask::Refused;
use pillion_view::decision::Seen;
use pillion_view::{
    Against, CloseReason, Decide, Diff, DiffId, FileChange, Pending, ProposalKey, Proposed, Reply,
    Ruling, SetPlace, Stale, Tell, Unseen,
};
use serde_json::{Value, json};

use super::messages::{
    self, Asked, CLOSE_DIFF, Content, DIFF_TEXT, DecideSeen, OFFER_TEXT, OPEN_DIFF, Requests,
};
use crate::message;
use crate::profile::Action;

/// The views.
#[derive(Debug, Default)]
pub struct Diffs {
    views: Pending<View>,
    /// The requests that decide, until the gate has ruled.
    deciding: HashMap<ProposalKey, RequestId>,
}

#[derive(Debug)]
struct View {
    key: ProposalKey,
    set: Option<SetPlace>,
    hunks: usize,
    proposer: Proposer,
    name: String,
    path: PathBuf,
    merged: MergedWith,
    state: State,
}

/// The file's change with which the proposal was merged last.
#[derive(Debug, Clone, Default)]
pub struct MergedWith(Arc<Mutex<Option<FileChange>>>);

impl MergedWith {
    pub fn set(&self, change: FileChange) {
        *lock(&self.0) = Some(change);
    }

    /// The fingerprint of the file, if the text has that change.
    fn base(&self, accepted: &str) -> Option<String> {
        Some(lock(&self.0).as_ref()?.base(accepted)?.to_owned())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The plugin was asked to show it.
    Opening,
    /// It waits for a decision.
    Open,
    /// The plugin was asked to take it away. A decision may be on its way to us all the same.
    Closing,
}

impl Proposed for View {
    fn key(&self) -> ProposalKey {
        self.key
    }

    fn set(&self) -> Option<SetPlace> {
        self.set
    }
}

impl Diffs {
    /// The number of diffs that wait for a decision.
    pub fn pending(&self) -> usize {
        let is_open = |view: &&View| view.state == State::Open;
        self.views.iter().filter(is_open).count()
    }

    /// The companion wants a proposal shown. The request.
    pub fn open(&mut self, diff: Diff, shown: Reply<()>, requests: &mut Requests) -> Message {
        let key = diff.key();
        let former = self.views.find(key.id).map(|view| view.state);
        let state = match former {
            Some(State::Open) => State::Open,
            _ => State::Opening,
        };
        self.views.put(View {
            key,
            set: diff.set,
            hunks: diff.hunks.len(),
            proposer: diff.proposer,
            name: diff.file_name(),
            path: diff.path.clone(),
            merged: MergedWith::default(),
            state,
        });
        let asked = Asked::Open { key, shown };
        requests.ask_value(OPEN_DIFF, messages::open_diff(diff), asked)
    }

    /// The companion wants a view taken away. The request, if the plugin ever received it.
    pub fn close(
        &mut self,
        id: DiffId,
        reason: CloseReason,
        closed: Reply<String>,
        requests: &mut Requests,
    ) -> Option<Message> {
        let Some(view) = self.views.find_mut(id) else {
            closed.failed(Stale::NotPending.to_string());
            return None;
        };
        view.state = State::Closing;
        let key = view.key;
        let message = reason.undecided(view.proposer.display_name(), &view.name);
        if reason == CloseReason::NotShown {
            // The companion has given it up: no answer about it counts any more.
            self.forget(id, requests);
        }
        let mut params = json!({"id": id, "reason": reason});
        if let Some(message) = message {
            params["message"] = message.into();
        }
        let asked = Asked::Close {
            key,
            reason,
            closed,
        };
        Some(requests.ask(CLOSE_DIFF, params, asked))
    }

    /// Somebody wants to know what stands in a view. The request, if the plugin has it.
    pub fn ask_text(
        &self,
        key: ProposalKey,
        told: Reply<String>,
        requests: &mut Requests,
    ) -> Option<Message> {
        if let Err(stale) = self.views.current(key) {
            told.failed(stale.to_string());
            return None;
        }
        Some(requests.ask(DIFF_TEXT, key, Asked::Text { told }))
    }

    /// Something is told of a proposal. It counts as long as the plugin shows that one.
    pub fn told_of(&self, mut tell: Tell) -> Option<Action> {
        let key = tell.key_mut().copied();
        let is_current = key.is_none_or(|key| self.views.current(key).is_ok());
        is_current.then_some(Action::Tell(tell))
    }

    /// The person wrote this for the file before: the message, if the plugin shows the proposal.
    pub fn offer(&self, key: ProposalKey, content: String) -> Option<Message> {
        self.views.current(key).ok()?;
        let offer = json!({"id": key.id, "revision": key.revision, "content": content});
        Some(message::notification(OFFER_TEXT, offer))
    }

    /// The plugin answers what stands in a view.
    pub fn told(told: Reply<String>, result: Result<Value, ResponseError>) {
        answer(told, DIFF_TEXT, result);
    }

    /// The file of a proposal, and what that was merged with.
    pub fn merged(&self, key: ProposalKey) -> Result<(PathBuf, MergedWith), Stale> {
        let view = self.views.current(key)?;
        Ok((view.path.clone(), view.merged.clone()))
    }

    /// The person decides. Returns the question for the gate.
    ///
    /// # Errors
    /// The answer to send instead.
    pub fn decide(&mut self, request: RequestId, params: DecideSeen) -> Result<Decide, Message> {
        let key = params.key;
        if !params.verdict.is_rejection() && params.by.is_none() {
            let error = message::invalid("seen: missing, and this is not a rejection".to_owned());
            return Err(message::answer(request, Err(error)));
        }
        let (hunks, merged) = match self.views.current(key) {
            Ok(view) => (view.hunks, view.merged.clone()),
            Err(stale) => return Err(answer_ruled(request, Ruling::stale(stale), None)),
        };
        if self.deciding.contains_key(&key) {
            let ruling = Refused::because("this diff is being decided").into();
            return Err(answer_ruled(request, ruling, None));
        }
        self.deciding.insert(key, request);
        let base = params.verdict.text().and_then(|it| merged.base(it));
        Ok(Decide {
            key,
            verdict: params.verdict,
            by: params.by.map(|seen| among(seen, hunks)).into(),
            base,
        })
    }

    /// The gate has ruled: the answer to the request, if it waits.
    pub fn ruled(&mut self, key: ProposalKey, ruling: Ruling) -> Option<Message> {
        let settled = match ruling.is_settled() {
            true => self.views.take(key).ok(),
            false => None,
        };
        let next = self.views.next_of_set(settled.and_then(|view| view.set));
        let next = next.map(|at| self.views[at].key.id);
        Some(answer_ruled(self.deciding.remove(&key)?, ruling, next))
    }

    /// Returns true if a decision is being ruled about.
    pub fn is_deciding(&self) -> bool {
        !self.deciding.is_empty()
    }

    pub fn opened(
        &mut self,
        key: ProposalKey,
        shown: Reply<()>,
        result: Result<Value, ResponseError>,
    ) {
        match result {
            Ok(_) => {
                let view = self.views.current_mut(key).ok();
                if let Some(view) = view.filter(|view| view.state == State::Opening) {
                    view.state = State::Open;
                }
                shown.done(());
            }
            Err(error) => shown.failed(error.message),
        }
    }

    /// The plugin answers that it took a view away, or why not.
    pub fn closed(
        &mut self,
        key: ProposalKey,
        reason: CloseReason,
        closed: Reply<String>,
        result: Result<Value, ResponseError>,
        requests: &mut Requests,
    ) {
        // Before its proposal is dropped, which is an answer too.
        let is_closed = answer(closed, CLOSE_DIFF, result);
        match self.views.current_mut(key) {
            Err(_) => {}
            // Nothing was decided: it stays pending.
            Ok(view) if !is_closed && reason == CloseReason::Settled => {
                view.state = State::Open;
            }
            Ok(_) => self.forget(key.id, requests),
        }
    }

    fn forget(&mut self, id: DiffId, requests: &mut Requests) {
        let _ = self.views.close(id);
        requests.retain(|asked| !asked.is_open_of(id));
    }
}

/// Passes on the text that a request was answered with. Returns true if there is one.
fn answer(reply: Reply<String>, method: &str, result: Result<Value, ResponseError>) -> bool {
    let content = result.map_err(|error| error.message).and_then(|value| {
        let answer = message::params::<Content>(value);
        answer.map_err(|why| format!("the editor's answer to {method} is invalid: {why}"))
    });
    let is_told = content.is_ok();
    match content {
        Ok(Content { content }) => reply.done(content),
        Err(why) => reply.failed(why),
    }
    is_told
}

fn answer_ruled(request: RequestId, ruling: Ruling, next: Option<DiffId>) -> Message {
    message::answer(request, Ok(messages::decided(ruling, next)))
}

/// What was seen of a proposal with so many hunks.
fn among(seen: Seen<Vec<usize>>, of: usize) -> Seen {
    let unseen_hunks = seen.unseen_hunks.map(|mut seen| {
        seen.retain(|number| *number < of);
        seen.sort_unstable();
        seen.dedup();
        let hunks = of - seen.len();
        Unseen { hunks, of }
    });
    Seen {
        drawn_for: seen.drawn_for,
        is_typed: seen.is_typed,
        pauses: seen.pauses,
        unseen_hunks,
        against: Against::default(),
        answers: None,
    }
}
