//! The views that the plugin has open.

use std::collections::HashMap;
use std::time::Duration;

use lsp_server::{Message, RequestId, ResponseError};
use pillion_view::{
    CloseReason, Diff, DiffId, Pending, ProposalKey, Proposed, Reply, Ruling, SetPlace, Stale,
    Unseen,
};
use serde_json::Value;

use super::asked::{Asked, Requests};
use super::messages::{
    CLOSE_DIFF, CloseDiff, Content, DIFF_TEXT, Decide, Decided, DidChangeDiff, DidChangeNotes,
    OFFER_TEXT, OPEN_DIFF, OfferText, OpenDiff, Seen,
};
use crate::profile::Action;
use crate::{message, uri};

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
    /// The number of its hunks.
    hunks: usize,
    state: State,
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
        let agent = diff.proposer.into();
        let does = diff.does();
        let (original, original_is_lossy) = match diff.original.text.map(String::from_utf8) {
            None => (None, false),
            Some(Ok(text)) => (Some(text), false),
            Some(Err(error)) => (Some(readable(error.as_bytes())), true),
        };
        let former = self.views.find(key.id).map(|view| view.state);
        let state = match former {
            Some(State::Open) => State::Open,
            _ => State::Opening,
        };
        self.views.put(View {
            key,
            set: diff.set,
            hunks: diff.hunks.len(),
            state,
        });
        let params = OpenDiff {
            id: key.id.0,
            revision: key.revision,
            uri: uri::from_path(&diff.path),
            path: diff.path.to_string_lossy().into_owned(),
            agent,
            original,
            original_is_lossy,
            does,
            original_is_other: diff.original_is_other,
            proposed: &diff.proposed,
            notes: diff.notes,
            hunks: diff.hunks.iter().map(Into::into).collect(),
            set: diff.set.map(Into::into),
        };
        let asked = Asked::Open { key, shown };
        requests.ask_value(OPEN_DIFF, params.into_value(), asked)
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
        if reason == CloseReason::NotShown {
            // The companion has given it up: no answer about it counts any more.
            self.forget(id, requests);
        }
        let params = CloseDiff { id, reason };
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

    /// The person changed what stands in a view.
    pub fn changed(&self, changed: DidChangeDiff) -> Vec<Action> {
        let DidChangeDiff {
            id,
            revision,
            content,
        } = changed;
        let id = DiffId(id);
        let key = ProposalKey { id, revision };
        let is_current = self.views.current(key).is_ok();
        let keep = is_current.then_some(Action::KeepDraft(key, content));
        keep.into_iter().collect()
    }

    /// The person has other notes on a proposal than before.
    pub fn noted(&self, noted: DidChangeNotes) -> Vec<Action> {
        let DidChangeNotes {
            id,
            revision,
            notes,
        } = noted;
        let id = DiffId(id);
        let key = ProposalKey { id, revision };
        let is_current = self.views.current(key).is_ok();
        let keep = is_current.then_some(Action::KeepNotes(key, notes));
        keep.into_iter().collect()
    }

    /// The person wrote this for the file before: the message, if the plugin shows the proposal.
    pub fn offer(&self, key: ProposalKey, content: String) -> Option<Message> {
        self.views.current(key).ok()?;
        let offer = OfferText { key, content };
        Some(message::notification(OFFER_TEXT, offer))
    }

    /// The plugin answers what stands in a view.
    pub fn told(told: Reply<String>, result: Result<Value, ResponseError>) {
        answer(told, DIFF_TEXT, result);
    }

    /// The person decides. Returns the question for the gate.
    ///
    /// # Errors
    /// The answer to send instead.
    pub fn decide(
        &mut self,
        request: RequestId,
        params: Decide,
    ) -> Result<pillion_view::Decide, Message> {
        let (id, revision) = (DiffId(params.id), params.revision);
        let key = ProposalKey { id, revision };
        if !params.verdict.is_rejection() && params.seen.is_none() {
            let error = message::invalid("seen: missing, and this is not a rejection".to_owned());
            return Err(message::answer(request, Err(error)));
        }
        let hunks = match self.views.current(key) {
            Ok(view) => view.hunks,
            Err(stale) => return Err(answer_ruled(request, Ruling::stale(stale).into())),
        };
        if self.deciding.contains_key(&key) {
            let text = "this diff is being decided";
            return Err(answer_ruled(request, Ruling::failed(text).into()));
        }
        self.deciding.insert(key, request);
        Ok(pillion_view::Decide {
            key,
            verdict: params.verdict,
            by: params.seen.map(|seen| seen.among(hunks)).into(),
            base: None,
        })
    }

    /// The gate has ruled: the answer to the request, if it waits.
    pub fn ruled(&mut self, key: ProposalKey, ruling: Ruling) -> Option<Message> {
        let settled = match ruling.is_settled() {
            true => self.views.take(key).ok(),
            false => None,
        };
        let next = self.views.next_of_set(settled.and_then(|view| view.set));
        let decided = Decided {
            next: next.map(|at| self.views[at].key.id.0),
            ..ruling.into()
        };
        Some(answer_ruled(self.deciding.remove(&key)?, decided))
    }

    /// Returns true if a decision is being ruled about.
    pub fn is_deciding(&self) -> bool {
        !self.deciding.is_empty()
    }

    /// The plugin answers whether the view is open.
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

fn answer_ruled(request: RequestId, decided: Decided) -> Message {
    let answer = serde_json::to_value(decided).unwrap_or_default();
    message::answer(request, Ok(answer))
}

impl Seen {
    /// The same for a proposal with so many hunks.
    fn among(self, of: usize) -> pillion_view::Seen {
        let unseen_hunks = self.hunks.map(|mut seen| {
            seen.retain(|number| *number < of);
            seen.sort_unstable();
            seen.dedup();
            let hunks = of - seen.len();
            Unseen { hunks, of }
        });
        let pauses = self.pauses_ms.unwrap_or_default().into_iter();
        pillion_view::Seen {
            drawn_for: self.drawn_ms.map(Duration::from_millis),
            is_typed: self.typed,
            pauses: pauses.map(Duration::from_millis).collect(),
            unseen_hunks,
            against: pillion_view::Against::default(),
        }
    }
}

/// A text with U+FFFD in place of what is no UTF-8. Made at once in its size: it may be large.
fn readable(bytes: &[u8]) -> String {
    let shown = |bytes: &[u8]| if bytes.is_empty() { "" } else { "\u{fffd}" };
    let parts = || {
        let chunks = bytes.utf8_chunks();
        chunks.flat_map(move |chunk| [chunk.valid(), shown(chunk.invalid())])
    };
    let mut text = String::with_capacity(parts().map(str::len).sum());
    text.extend(parts());
    text
}
