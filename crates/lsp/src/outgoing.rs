//! Requests to the editor that wait for an answer.
//!
//! A request may be answered late or never: the companion has its own deadlines, and an answer that nothing waits
//! for does nothing. A view that is being closed is remembered until the editor has answered, because a decision
//! for the agent may still be on its way.

use std::collections::BTreeMap;

use lsp_server::{Message, Request, RequestId};
use serde::Serialize;
use serde_json::Value;

/// The first id. Vim 9.0 mixes up an id of ours with an equal one of its own.
const FIRST_ID: i32 = 1_000_000;

/// An editor that answers nothing costs no more than these.
const MAX_PENDING: usize = 1000;

/// The requests, each with what its answer is for.
#[derive(Debug)]
pub struct Outgoing<T> {
    first_id: i32,
    next_id: i32,
    pending: BTreeMap<i32, T>,
}

impl<T> Default for Outgoing<T> {
    fn default() -> Self {
        Self::from(FIRST_ID)
    }
}

impl<T> Outgoing<T> {
    /// With ids from this one on.
    pub fn from(first_id: i32) -> Self {
        Self {
            first_id,
            next_id: first_id,
            pending: BTreeMap::new(),
        }
    }

    /// A request whose answer is for `waiting`.
    pub fn ask(&mut self, method: &str, params: impl Serialize, waiting: T) -> Message {
        let params = serde_json::to_value(params).unwrap_or_default();
        self.ask_value(method, params, waiting)
    }

    /// The same with parameters that are not to be copied.
    pub fn ask_value(&mut self, method: &str, params: Value, waiting: T) -> Message {
        let id = self.next_id;
        self.next_id = id.checked_add(1).unwrap_or(self.first_id);
        self.pending.insert(id, waiting);
        if self.pending.len() > MAX_PENDING {
            self.pending.pop_first();
        }
        let (id, method) = (RequestId::from(id), method.to_owned());
        Request { id, method, params }.into()
    }

    /// The purpose of the answer with this id; nothing if no caller waits for it any more.
    pub fn answered(&mut self, id: &RequestId) -> Option<T> {
        let id = id.to_string().parse().ok()?;
        self.pending.remove(&id)
    }

    /// Waits no more for the answers that are not to be kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.pending.retain(|_, waiting| keep(waiting));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &Message) -> RequestId {
        match message {
            Message::Request(request) => request.id.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_is_for_its_request_and_counts_once() {
        let mut outgoing = Outgoing::default();
        let first = id(&outgoing.ask("a", (), 'a'));
        let second = id(&outgoing.ask("b", (), 'b'));
        assert_eq!(first, RequestId::from(1_000_000));
        assert_eq!(outgoing.answered(&second), Some('b'));
        assert_eq!(outgoing.answered(&second), None);
        assert_eq!(
            outgoing.answered(&RequestId::from("1000000".to_owned())),
            None
        );
        outgoing.retain(|waiting| *waiting != 'a');
        assert_eq!(outgoing.answered(&first), None);
    }

    #[test]
    fn an_editor_that_never_answers_costs_a_bounded_amount() {
        let mut outgoing = Outgoing::default();
        let first = id(&outgoing.ask("a", (), 0));
        for number in 1..=MAX_PENDING {
            outgoing.ask("a", (), number);
        }
        assert_eq!(outgoing.pending.len(), MAX_PENDING);
        assert_eq!(outgoing.answered(&first), None);
    }
}
