//! The person's decision about a proposal, and the end of its view once the gate has ruled.
//!
//! A decision is a command that was typed: a prompt was opened in front of the proposal, no hook is running, and
//! `RawKey` reports the key that ended it. Kakoune does that after the key, but not for keys that code or a macro
//! plays.

use std::time::SystemTime;

use pillion_protocol::Verdict;
use pillion_view::{By, Decide, DiffId, NOT_SEEN, ProposalKey, Ruling, Stale, Tell, Told};

use super::Bridge;
use super::done::Decided;
use crate::notes::Said;
use crate::script::{self, Settled};
use crate::view::View;

/// The client that waits for a ruling, and the texts of its buffer.
#[derive(Debug, Default)]
pub(super) struct Asked {
    client: String,
    /// The text in the buffer that they reject.
    rejected: Option<Vec<u8>>,
    /// The text in it if they have closed it since.
    closed: Option<Vec<u8>>,
}

impl Bridge {
    pub(super) fn accept(&mut self, key: ProposalKey, text: Vec<u8>, at: SystemTime, said: Said) {
        let view = match self.views.current_mut(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(key, stale, &said.client),
        };
        let Ok(held) = String::from_utf8(text) else {
            let why = "the text is not UTF-8, so it cannot be sent to the agent";
            return self.answer(&said.client, why);
        };
        if self.ruling.contains_key(&key.id) {
            return;
        }
        let content = view.form.text(&held);
        let base = view.base(&content);
        let decide = Decide {
            key,
            verdict: Verdict {
                notes: view.notes.with(&said),
                ..Verdict::accept(Some(content))
            },
            by: By::Seen(view.seen(at)),
            base,
        };
        let view = self.views.find(key.id);
        let is_followed = view.is_some_and(|view| self.follow(view));
        self.decided.insert(key.id, Decided::now(decide));
        let asked = Asked {
            client: said.client,
            ..Asked::default()
        };
        self.ruling.insert(key.id, asked);
        if !is_followed {
            self.resolve(key.id);
        }
    }

    /// The person typed that they reject it.
    pub(super) fn reject(&mut self, key: ProposalKey, text: Vec<u8>, at: SystemTime, said: Said) {
        // What came first stands.
        if self.ruling.contains_key(&key.id) {
            return;
        }
        let view = match self.views.current_mut(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(key, stale, &said.client),
        };
        let decide = Decide {
            key,
            verdict: Verdict {
                notes: view.notes.with(&said),
                ..Verdict::reject()
            },
            by: By::Seen(view.seen(at)),
            base: None,
        };
        self.decided.insert(key.id, Decided::now(decide));
        let asked = Asked {
            client: said.client,
            rejected: Some(text),
            closed: None,
        };
        self.ruling.insert(key.id, asked);
        self.resolve(key.id);
    }

    pub(super) fn ruled(&mut self, key: ProposalKey, ruling: &Ruling) {
        let Asked {
            client,
            rejected,
            closed,
        } = self.ruling.remove(&key.id).unwrap_or_default();
        let refusal = match ruling {
            Ruling::Settled(told) => {
                if let Ok(view) = self.views.take(key) {
                    let edits = rejected.and_then(|text| view.edits(&text));
                    if let Some(edits) = edits {
                        self.keep(view.diff.path.clone(), edits, String::new(), &client);
                    }
                    self.take_away(view, Settled::ByPerson);
                }
                if let Some(told) = told {
                    self.told_agent(told, &client);
                }
                return;
            }
            Ruling::Refused(refusal) => refusal,
        };
        self.unfollow(key);
        if let Some(text) = closed {
            self.answer(&client, &refusal.message);
            self.close_rejects(key, &text, &client);
        } else if self.views.current(key).is_ok() {
            let view = self.views.find_mut(key.id);
            let is_displayed = view.is_some_and(|view| {
                view.refuse(SystemTime::now());
                view.is_displayed
            });
            // What is there already would only cover the answer.
            if refusal.code == NOT_SEEN && !is_displayed {
                self.show(key.id, false);
            }
            self.is_ready(key.id);
            let has_unseen = self.views.find(key.id).is_some_and(View::has_unseen);
            let how = match refusal.repeat && has_unseen {
                true => "; :pillion-next shows what was not on the screen",
                false => "",
            };
            self.answer(&client, &format!("{}{how}", refusal.message));
        }
    }

    /// Tells the person the outcome of their notes.
    fn told_agent(&self, told: &Told, client: &str) {
        let how = match &told.clipboard {
            Some(text) => {
                self.session.run(script::yank(text));
                ", where p inserts them"
            }
            None => "",
        };
        self.answer(client, &format!("{}{how}", told.message));
    }

    /// The person writes a note on lines of a proposal.
    pub(super) fn note(&mut self, key: ProposalKey, said: Said, selection: &str) {
        let client = said.client.clone();
        let view = match self.views.current_mut(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(key, stale, &client),
        };
        if view.notes.write(said, selection).is_none() {
            return;
        }
        let text = match view.notes.len() {
            0 => "no note is left".to_owned(),
            1 => "1 note goes to the agent with your decision".to_owned(),
            count => format!("{count} notes go to the agent with your decision"),
        };
        let mark = script::mark_notes(view);
        let notes = view.notes.all().collect();
        // They are kept, whatever ends Kakoune, the hub or the agent before the decision.
        self.handle.tell(Tell::Notes { key, notes });
        self.session.run(mark);
        self.answer(&client, &text);
    }

    /// Writes into its buffer from when on it may be accepted.
    pub(super) fn is_ready(&self, id: DiffId) {
        let view = self.views.find(id);
        if let Some((view, at)) = view.and_then(|view| Some((view, view.ready_at()?))) {
            self.session.run(script::ready(view, at));
        }
    }

    /// The person closed its buffer: that rejects, always.
    pub(super) fn close_rejects(&mut self, key: ProposalKey, text: &[u8], client: &str) {
        // What came first stands, if it counts.
        if let Some(asked) = self.ruling.get_mut(&key.id) {
            asked.closed = Some(text.to_owned());
            return;
        }
        match self.views.current(key) {
            Ok(_) => self.settle_rejected(key, text, client),
            Err(stale) => self.refuse(key, stale, client),
        }
    }

    /// A decision does not count. That a proposal is gone, the person knows who sees that it is.
    pub(super) fn refuse(&mut self, key: ProposalKey, stale: Stale, client: &str) {
        match stale {
            Stale::Replaced => self.answer(client, &stale.to_string()),
            Stale::NotPending => self.decided_late(key.id, client),
        }
    }

    fn settle_rejected(&mut self, key: ProposalKey, text: &[u8], client: &str) {
        let Ok(mut view) = self.views.take(key) else {
            return;
        };
        if let Some(edits) = view.edits(text) {
            self.keep(view.diff.path.clone(), edits, String::new(), client);
        }
        let decide = Decide {
            key,
            verdict: Verdict {
                notes: view.notes.with(&Said::default()),
                ..Verdict::reject()
            },
            by: By::View,
            base: None,
        };
        self.decided.insert(key.id, Decided::now(decide));
        self.resolve(key.id);
        self.take_away(view, Settled::ByPerson);
    }
}
