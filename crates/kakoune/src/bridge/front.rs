//! The proposal in front of the person, and the place in it where they are; when it comes there, and from when on their
//! keys change it.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use pillion_view::{DiffId, ProposalKey, Proposed};

use super::{Bridge, Review};
use crate::disk::Job;
use crate::view::View;
use crate::{script, tmux};

impl Bridge {
    /// Puts a proposal in front of the person, unless another one is there: then it is its turn later. `is_expected`: they
    /// have just settled another one.
    pub(super) fn show(&mut self, id: DiffId, is_expected: bool) {
        let reviewed = self.review.as_ref().map(|review| review.view);
        let is_in_front =
            |view: &View| view.diff.id != id && (view.is_drawn() || reviewed == Some(view.diff.id));
        if self.views.iter().any(is_in_front) {
            return;
        }
        let Some(view) = self.views.find(id) else {
            return;
        };
        if let Some(review) = &mut self.review {
            self.session.run(script::display(view));
            review.view = id;
            return;
        }
        let report = self.clients.newest().filter(|_| self.options.may_split);
        if let Some(report) = report.filter(|report| !report.tmux.is_empty()) {
            let client = format!("{}-{id}", std::process::id());
            let commands = script::first_display(view);
            let session = self.session.name();
            tmux::split(report, &session, &client, &commands, &self.done.0);
            self.review = Some(Review { client, view: id });
            return;
        }
        self.offer.want(is_expected, Instant::now());
    }

    /// The person pauses, or Kakoune may find that they do.
    pub(super) fn make_offer(&mut self) {
        self.offer.attempt();
        for view in self.views.iter_mut().filter(|view| view.is_deferred) {
            view.is_deferred = false;
            self.worker.order(Job::Write(Arc::downgrade(&view.diff)));
        }
        if self.review.is_none() && !self.views.is_empty() {
            self.session.run(script::offer(self.clients.name()));
        }
    }

    /// A proposal came into a window.
    pub(super) fn is_shown(&mut self) {
        if !self.views.iter().any(|view| view.is_deferred) {
            self.offer.done();
        }
    }

    /// It is loaded once the person is done with the former one. Its agent need not wait for that.
    pub(super) fn later(&mut self, key: ProposalKey) {
        let Ok(view) = self.views.current_mut(key) else {
            return;
        };
        view.is_deferred = true;
        if let Some(shown) = view.shown.take() {
            shown.done(());
            self.show_message("a newer proposal opens here once you are done");
        }
        self.offer.want(false, Instant::now());
    }

    pub(super) fn client_closed(&mut self, pid: u32, client: &str) {
        self.clients.closed(pid);
        let Some(review) = self.review.take_if(|review| review.client == client) else {
            return;
        };
        let Some(view) = self.views.find(review.view) else {
            return;
        };
        match view.is_displayed {
            // Closing it rejects. Its buffer, edits and all, is read while it is taken away.
            true => self.session.run(script::close_as_person(view)),
            // Another proposal was closed, and this one was to be next.
            false => self.show(view.diff.id, false),
        }
    }

    /// When the next proposal may be edited.
    pub(super) fn unlock_due(&self) -> Option<Instant> {
        let due = self.views.iter().filter_map(View::unlock_at).min()?;
        // At once, if the clock says that it is past.
        let left = due.duration_since(SystemTime::now()).unwrap_or_default();
        Some(Instant::now() + left)
    }

    /// Lets the person edit the proposals that they have looked at, unless they are busy in one: then once they pause.
    pub(super) fn unlock(&mut self) {
        let now = SystemTime::now();
        for view in self.views.iter_mut() {
            if view.unlock_at().is_some_and(|due| due <= now) {
                view.try_unlock();
                self.session.run(script::unlock(view));
            }
        }
    }

    /// Goes to what was not on the screen, in this proposal or in another one.
    pub(super) fn next(&mut self, key: ProposalKey, client: &str) {
        let view = match self.views.current(key) {
            Ok(view) => view,
            Err(stale) => return self.refuse(key, stale, client),
        };
        if let Some(place) = view.next() {
            return self.session.run(script::go(client, key.id, place));
        }
        let is_followed = view.seen_lines.unseen().is_some();
        let mut others = self.views.iter();
        let other = others.find(|it| it.key() != key && it.is_loaded && it.has_unseen());
        let Some(other) = other else {
            return self.answer(
                client,
                match is_followed {
                    true => "all of it has been on the screen",
                    false => "too many lines change to know which have been on the screen",
                },
            );
        };
        let name = other.diff.path.file_name().unwrap_or_default();
        let said = format!("this is the next proposal: {}", name.display());
        self.session.run(script::display_in(client, other));
        if client == script::REVIEW_CLIENT
            && let Some(review) = &mut self.review
        {
            review.view = other.diff.id;
        }
        self.answer(client, &said);
    }
}
