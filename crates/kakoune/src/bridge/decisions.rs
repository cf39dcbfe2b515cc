//! What the person decides about a proposal, and what becomes of its view once the gate has ruled.

use std::time::SystemTime;

use pillion_companion::gate::{Decide, Decision, NOT_SEEN, Ruling};
use pillion_companion::{DiffId, ProposalKey, Stale};

use super::Bridge;
use super::done::Decided;
use crate::script;

impl Bridge {
    pub(super) fn accept(&mut self, key: ProposalKey, text: Vec<u8>, at: SystemTime) {
        let view = match self.views.current_mut(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(stale),
        };
        let Ok(held) = String::from_utf8(text) else {
            self.show_message("the text is not UTF-8, so it cannot be sent to the agent");
            return;
        };
        if self.ruling.contains_key(&key.id) {
            return;
        }
        let content = Some(view.form.text(&held));
        let decide = Decide {
            key,
            decision: Decision::Accept { content },
            seen: Some(view.seen(at)),
            base: None,
        };
        let view = self.views.find(key.id);
        let is_followed = view.is_some_and(|view| self.follow(view));
        self.decided.insert(key.id, Decided::now(decide));
        self.ruling.insert(key.id, None);
        if !is_followed {
            self.resolve(key.id);
        }
    }

    /// The gate has ruled about an acceptance.
    pub(super) fn ruled(&mut self, key: ProposalKey, ruling: &Ruling) {
        let closed = self.ruling.remove(&key.id).flatten();
        let refusal = match ruling {
            Ruling::Settled => {
                if let Ok(view) = self.views.take(key) {
                    self.take_away(&view);
                }
                return;
            }
            Ruling::Refused(refusal) => refusal,
        };
        self.unfollow(key);
        if let Some(text) = closed {
            self.show_message(&refusal.message);
            self.reject(key, &text);
        } else if self.views.current(key).is_ok() {
            if refusal.code == NOT_SEEN {
                self.show(key.id);
            }
            if let Some(view) = self.views.find_mut(key.id) {
                view.refuse(SystemTime::now());
            }
            self.is_ready(key.id);
            self.show_message(&refusal.message);
        }
    }

    /// Writes into its buffer from when on it may be accepted.
    pub(super) fn is_ready(&self, id: DiffId) {
        let view = self.views.find(id);
        if let Some((view, at)) = view.and_then(|view| Some((view, view.ready_at()?))) {
            self.session.run(script::ready(view, at));
        }
    }

    pub(super) fn reject(&mut self, key: ProposalKey, text: &[u8]) {
        // What came first stands, if it counts.
        if let Some(closed) = self.ruling.get_mut(&key.id) {
            *closed = Some(text.to_owned());
            return;
        }
        match self.views.current(key) {
            Ok(view) => {
                if let Some(edits) = view.edits(text) {
                    self.keep(view.diff.path.clone(), edits);
                }
                self.settle_rejected(key);
            }
            Err(stale) => self.refuse(stale),
        }
    }

    /// A decision does not count. That a proposal is gone, the person already knows.
    pub(super) fn refuse(&self, stale: Stale) {
        if stale == Stale::Replaced {
            self.show_message(&stale.to_string());
        }
    }

    pub(super) fn settle_rejected(&mut self, key: ProposalKey) {
        let Ok(view) = self.views.take(key) else {
            return;
        };
        let decide = Decide {
            key,
            decision: Decision::Reject,
            seen: None,
            base: None,
        };
        self.decided.insert(key.id, Decided::now(decide));
        self.resolve(key.id);
        self.take_away(&view);
    }
}
