//! Proposals as documents of the editor: opened, edited, saved, focused and closed.

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_protocol::Verdict;
use pillion_view::{By, Decide, ProposalKey, Proposed, Tell};

use serde_json::Value;

use super::Proposals;
use crate::message::MessageType;
use crate::plain::proposal::Proposal;
use crate::plain::showing::Showing;
use crate::plain::view::View;
use crate::plain::wire::DocumentEvent;
use crate::profile::Action;

/// The time limit for an editor to open a document again that it closed, as it does when its
/// language is changed. Then it counts as closed, which is a rejection (C5.7).
const REOPEN_GRACE: Duration = Duration::from_secs(1);

/// The time for which the editor must be quiet before a proposal is compared again.
const DEBOUNCE: Duration = Duration::from_millis(150);

impl Proposals {
    pub fn document_event(
        &mut self,
        path: &Path,
        event: DocumentEvent,
        now: Instant,
    ) -> Vec<Action> {
        let encoding = self.setup.encoding;
        match event {
            DocumentEvent::Opened { uri, text } => return self.did_open(path, uri, text, now),
            DocumentEvent::Changed(edits) => {
                self.edited(path, now, |view| view.change(edits, encoding));
            }
            DocumentEvent::Saved(Some(text)) => self.edited(path, now, |view| view.save(text)),
            DocumentEvent::Saved(None) => drop(self.focus(path)),
            DocumentEvent::Closed => return self.did_close(path, now),
        }
        Vec::new()
    }

    fn did_open(&mut self, path: &Path, uri: String, text: String, now: Instant) -> Vec<Action> {
        self.focuses += 1;
        let focused = self.focuses;
        let Some(pending) = self.find_mut(path) else {
            return self.open_guest(path, uri, text, now);
        };
        pending.hint = None;
        let proposed = pending.diff.proposed.clone();
        pending.showing.focused = focused;
        pending.showing.open(uri, text, &proposed, now);
        // What is open is shown, whatever becomes of the question.
        pending.is_shown();
        // Editors forget diagnostics of documents that were not open.
        let id = pending.diff.id;
        let kept = tell_kept(pending);
        self.compare(id).into_iter().chain(kept).collect()
    }

    /// This is what the person had made of an earlier proposal of the file. They are told once the editor has it open.
    pub fn offer(&mut self, key: ProposalKey, text: String) -> Vec<Action> {
        let Ok(pending) = self.pending.current_mut(key) else {
            return Vec::new();
        };
        if !pending.offered.contains(&text) {
            pending.offered.push(text);
        }
        tell_kept(pending).into_iter().collect()
    }

    /// The editor reports what the person edited or saved.
    fn edited(&mut self, path: &Path, now: Instant, edit: impl FnOnce(&mut View)) {
        let redraw = self.next_redraw(now);
        if let Some(showing) = self.focus(path) {
            if let Some(view) = &mut showing.view {
                edit(view);
            }
            showing.reported(now);
            showing.redraw = Some(redraw);
        }
    }

    fn did_close(&mut self, path: &Path, now: Instant) -> Vec<Action> {
        let Some(pending) = self.find_mut(path) else {
            return self.close_guest(path);
        };
        if pending.showing.view.is_some() {
            pending.showing.closes = Some(now + REOPEN_GRACE);
        }
        Vec::new()
    }

    pub fn focus(&mut self, path: &Path) -> Option<&mut Showing> {
        self.focuses += 1;
        let focused = self.focuses;
        let showing = self.showing_mut(path)?;
        showing.focused = focused;
        showing.interrupts = None;
        Some(showing)
    }

    pub fn commands(&self, path: &Path) -> Vec<Value> {
        let pending = self.find(path);
        pending.map_or(Vec::new(), Proposal::commands)
    }

    /// Those that the editor has closed for long enough.
    pub(super) fn close_due(&mut self, now: Instant) -> Vec<Action> {
        let closed = self.pending.iter().filter(|pending| {
            let due = pending.counts_as_closed();
            due.is_some_and(|due| due <= now)
        });
        let closed: Vec<_> = closed.map(Proposed::key).collect();
        let closed = closed.into_iter().flat_map(|key| self.closed(key));
        closed.collect()
    }

    /// The session ends: those that the editor has closed will not come back.
    pub fn finish(&mut self) -> Vec<Action> {
        self.close_due(Instant::now() + REOPEN_GRACE)
    }

    fn closed(&mut self, key: ProposalKey) -> Vec<Action> {
        let mut actions = self.forget(key.id);
        if self.rejects_when_closed(key.id) {
            actions.push(Action::Decide(Decide {
                key,
                verdict: Verdict::reject(),
                by: By::View,
                base: None,
            }));
        }
        actions.extend(self.part(key.id));
        actions
    }

    /// Compares those that were edited, and has the edits kept.
    pub(super) fn redraw_due(&mut self, now: Instant) -> Vec<Action> {
        let is_due = |it: &&Proposal| it.showing.redraw.is_some_and(|due| due <= now);
        let due = self.pending.iter().filter(is_due);
        let due: Vec<_> = due
            .map(|pending| (pending.key(), pending.draft()))
            .collect();
        let actions = due.into_iter().flat_map(|(key, draft)| {
            let keep = draft.map(|text| Action::Tell(Tell::Draft { key, text }));
            [keep, self.compare(key.id)].into_iter().flatten()
        });
        actions.collect()
    }

    /// Comparing takes a small part of the time, however big the texts are.
    fn next_redraw(&self, now: Instant) -> Instant {
        now + DEBOUNCE.max(self.cost * 10)
    }
}

fn tell_kept(pending: &mut Proposal) -> Option<Action> {
    let told = pending.tell_kept()?;
    Some(Action::show(MessageType::Info, told))
}
