//! Views that go: because they were settled, because the agent closed them, or because a newer proposal takes their place.
//! The person's text in them stays theirs, and a person who is busy in one is not disturbed.

use std::time::{Duration, Instant};

use pillion_view::{CloseReason, DiffId, ProposalKey, Proposed, Reply};

use super::Bridge;
use crate::disk::Job;
use crate::script::{self, Settled};
use crate::view::View;

/// For so long after a proposal has gone, what is typed to decide is meant for it.
const GUARD: Duration = Duration::from_secs(1);

/// Of keys that follow each other so soon the next one is meant for the same text.
const BURST: Duration = Duration::from_millis(300);

/// Why edits are kept of a proposal that a newer one was to replace.
const NEWER: &str = "a newer proposal took the place of yours";

/// A view that is being taken away because it was asked for.
pub(super) struct Closing {
    reason: CloseReason,
    closed: Reply<String>,
}

/// A view that is settled. Its buffer goes once nobody is busy in it.
pub(super) struct Gone {
    view: View,
    how: Settled,
    /// The text of its buffer that is known to somebody.
    known: Option<Vec<u8>>,
    /// False while whoever is in it may not have seen yet that it was settled elsewhere: the keys that follow are meant for it.
    is_noticed: bool,
}

impl Bridge {
    /// Removes a view's buffer, and shows the next proposal in its place: the next file of its set, if there is one.
    pub(super) fn take_away(&mut self, view: View, how: Settled) {
        let of_set = self.views.next_of_set(view.set());
        let of_set = of_set.and_then(|at| self.views.get(at));
        let mut candidates = of_set.into_iter().chain(self.views.iter());
        let next = candidates.find(|view| view.is_loaded);
        self.guarded = Some(Instant::now() + GUARD);
        self.session.run(script::guard(true));
        self.session.run(script::close(&view, next, &how));
        let next = next.map(|view| view.diff.id);
        self.worker.order(Job::Remove(view.diff.id));
        let is_expected = how == Settled::ByPerson;
        let gone = Gone {
            is_noticed: how != Settled::Elsewhere,
            view,
            how,
            known: None,
        };
        self.gone.insert(gone.view.diff.id, gone);
        self.announce();
        match (&mut self.review, next) {
            (Some(review), Some(id)) => review.view = id,
            // Until its client is gone.
            (Some(_), None) => {}
            (None, Some(id)) => self.show(id, is_expected),
            (None, None) => self.offer.done(),
        }
    }

    /// The person has seen by now that a proposal has gone, or was settled: that goes once nobody is busy in it.
    pub(super) fn end_guard(&mut self) {
        self.guarded = None;
        self.session.run(script::guard(false));
        let settled = self.gone.values_mut().filter(|gone| !gone.is_noticed);
        let settled = settled.map(|gone| {
            gone.is_noticed = true;
            gone.view.diff.id
        });
        for id in settled.collect::<Vec<_>>() {
            self.clear_gone(id);
        }
    }

    pub(super) fn close(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) {
        // First: what the person decided stands.
        self.resolve(id);
        let view = match self.views.close(id) {
            Ok(view) => view,
            Err(stale) => return closed.failed(stale.to_string()),
        };
        // Who closes it may have been allowed to write in its own window.
        if matches!(reason, CloseReason::Settled | CloseReason::ClosedByAgent) {
            self.follow(&view);
        }
        let notes = view.notes.text();
        let notes = notes.map(|it| format!("the agent was not told your notes: {it}"));
        self.closing.insert(id, Closing { reason, closed });
        let agent = view.diff.proposer.display_name();
        let undecided = reason.undecided(agent, &view.diff.file_name());
        let is_undecided = undecided.is_some();
        // One message: a second one would cover the first.
        let said: Vec<String> = undecided.into_iter().chain(notes).collect();
        let said = said.join("; ");
        let how = match is_undecided {
            true => Settled::Undecided(said.clone()),
            false => Settled::Elsewhere,
        };
        self.take_away(view, how);
        // Who is in the view reads it there, as soon as they can change nothing any more.
        if !said.is_empty() {
            self.say("", is_undecided, &said);
        }
    }

    /// A client shows something: what nobody has decided goes from where it is not shown any more.
    pub(super) fn clear_left(&self, shown: DiffId) {
        let is_held = |gone: &&Gone| gone.how.undecided().is_some();
        for Gone { view, how, .. } in self.gone.values().filter(is_held) {
            if view.diff.id != shown {
                self.session.run(script::clear(view, None, how));
            }
        }
    }

    /// Something was typed to decide in a buffer that is settled: it goes.
    pub(super) fn decided_late(&mut self, id: DiffId, client: &str) {
        let Some(gone) = self.gone.get_mut(&id) else {
            return;
        };
        let why = match &gone.how {
            Settled::Undecided(why) => why.clone(),
            Settled::Elsewhere => {
                return self.answer(client, "this proposal was settled elsewhere");
            }
            Settled::ByPerson => {
                let why = "this proposal is about to close: nothing more counts in it";
                return self.answer(client, why);
            }
        };
        gone.how = Settled::ByPerson;
        self.clear_gone(id);
        self.answer(client, &why);
    }

    pub(super) fn given(&mut self, key: ProposalKey, text: Vec<u8>) {
        let Some(gone) = self.gone.get_mut(&key.id) else {
            return;
        };
        gone.known = Some(text.clone());
        let newest = gone.view.diff.proposed.clone();
        // It waited until the person is done in this one: their edits are of a text that nobody wants any more.
        let former = gone.view.take_former(key.revision);
        let is_former = former.is_some();
        if let Some(former) = former {
            gone.view = former;
        }
        let (form, edits) = (gone.view.form, gone.view.edits(&text));
        let path = gone.view.diff.path.clone();
        let why = gone.how.undecided().unwrap_or_default().to_owned();
        let closing = self.closing.remove(&key.id);
        if is_former {
            if let Some(edits) = edits {
                self.keep(path, edits, NEWER.to_owned(), "");
            }
            if let Some(Closing { closed, .. }) = closing {
                closed.done(newest.to_string());
            }
            return;
        }
        let Some(Closing { reason, closed }) = closing else {
            return;
        };
        // If it is closed in the agent's window, the agent takes the text from the answer.
        let is_unused = matches!(reason, CloseReason::AgentGone | CloseReason::Overruled);
        if let Some(edits) = edits.filter(|_| is_unused) {
            self.keep(path, edits, why, "");
        }
        match String::from_utf8(text) {
            // Its buffer was gone already.
            Ok(held) if held.is_empty() => closed.done(newest.to_string()),
            Ok(held) => closed.done(form.text(&held)),
            Err(_) => closed.failed("the text in the view is not UTF-8"),
        }
    }

    /// The person is done in a buffer whose proposal is settled: it goes.
    pub(super) fn left(&mut self, id: DiffId, text: Vec<u8>) {
        self.keep_late(id, text);
        match self.gone.get(&id).map(|gone| gone.is_noticed) {
            Some(true) => self.clear_gone(id),
            Some(false) => self.guarded = self.guarded.max(Some(Instant::now() + BURST)),
            None => {}
        }
    }

    fn clear_gone(&mut self, id: DiffId) {
        if let Some(gone) = self.gone.get(&id) {
            self.guarded = Some(Instant::now() + GUARD);
            self.session.run(script::guard(true));
            let review = self.review.as_ref();
            let next = review.and_then(|review| self.views.find(review.view));
            let next = next.filter(|view| view.is_loaded);
            self.session.run(script::clear(&gone.view, next, &gone.how));
        }
    }

    /// Its buffer is not there any more.
    pub(super) fn removed(&mut self, key: ProposalKey, mut text: Vec<u8>) {
        let id = key.id;
        // Whatever it showed.
        if let Some(view) = self.views.find(id) {
            let newest = view.key();
            if newest != key {
                self.keep_former(key, &text, NEWER);
                text = Vec::new();
            }
            self.close_rejects(newest, &text, "");
        } else {
            self.keep_late(id, text);
            self.gone.remove(&id);
        }
    }

    /// Keeps the person's edits from after a proposal was settled elsewhere.
    fn keep_late(&mut self, id: DiffId, text: Vec<u8>) {
        let Some(gone) = self.gone.get_mut(&id) else {
            return;
        };
        let known = gone.known.replace(text.clone());
        let edits = gone.view.edits(&text);
        if let Some(edits) = edits.filter(|_| known.is_some_and(|known| known != text)) {
            let path = gone.view.diff.path.clone();
            let why = gone
                .how
                .undecided()
                .unwrap_or("the proposal was settled elsewhere");
            let why = why.to_owned();
            self.keep(path, edits, why, "");
        }
    }

    /// This stood in the buffer into which a newer proposal is loaded.
    pub(super) fn former(&mut self, key: ProposalKey, text: &[u8]) {
        let why = "a newer proposal took the place of yours: u brings it back";
        self.keep_former(key, text, why);
    }

    fn keep_former(&mut self, key: ProposalKey, text: &[u8], why: &'static str) {
        let view = self.views.find(key.id);
        let found = view.and_then(|view| {
            let edits = view.former_edits(key, text)?;
            Some((view.diff.path.clone(), edits))
        });
        if let Some((path, edits)) = found {
            let why = why.to_owned();
            self.keep(path, edits, why, "");
        }
    }
}
