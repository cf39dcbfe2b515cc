//! Proposals as documents of editors: opened, edited, saved, focused and closed.

use std::path::Path;
use std::time::{Duration, Instant};

use gen_lsp_types::Command;
use pillion_protocol::Verdict;
use pillion_view::{Decide, Proposed};

use super::Proposals;
use crate::plain::showing::Showing;
use crate::plain::view::View;
use crate::plain::viewer::{Seat, Viewer};
use crate::plain::wire::DocumentEvent;
use crate::profile::Action;

/// How long an editor may take to open a document again that it closed, as it does when its
/// language is changed. Then it counts as closed, which is a rejection (C5.7).
const REOPEN_GRACE: Duration = Duration::from_secs(1);

/// How long the editor must be quiet before a proposal is compared again.
const DEBOUNCE: Duration = Duration::from_millis(150);

impl Proposals {
    /// Returns true if any waits for a decision.
    pub fn is_any_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// An editor does something with a proposal.
    pub fn document_event(
        &mut self,
        seat: Seat,
        path: &Path,
        event: DocumentEvent,
        now: Instant,
    ) -> Vec<Action> {
        match event {
            DocumentEvent::Opened { uri, text } => {
                return self.did_open(seat, path, uri, text, now);
            }
            DocumentEvent::Changed(edits) => {
                self.edited(seat, path, now, |view| view.change(edits, seat.encoding));
            }
            DocumentEvent::Saved(Some(text)) => {
                self.edited(seat, path, now, |view| view.save(text));
            }
            DocumentEvent::Saved(None) => drop(self.focus(seat.viewer, path)),
            DocumentEvent::Closed => self.did_close(seat.viewer, path, now),
        }
        Vec::new()
    }

    fn did_open(
        &mut self,
        seat: Seat,
        path: &Path,
        uri: String,
        text: String,
        now: Instant,
    ) -> Vec<Action> {
        self.focuses += 1;
        let focused = self.focuses;
        let viewer = seat.viewer;
        let has_another = viewer != Viewer::Own
            && self.pending.iter().any(|pending| {
                pending.path.as_deref() != Some(path) && pending.showing(viewer).is_some()
            });
        let Some(pending) = self.find_mut(path) else {
            return Vec::new();
        };
        pending.hint = None;
        let proposed = pending.diff.proposed.clone();
        let is_new = pending.showing(viewer).is_none();
        let showing = pending.showing_in(seat);
        showing.focused = focused;
        if is_new && has_another {
            showing.interrupts = Some(now);
        }
        showing.open(uri, text, &proposed, now);
        // What is open is shown, whatever becomes of the question.
        pending.is_shown();
        pending.is_in_own_editor |= viewer == Viewer::Own;
        // Editors forget diagnostics of documents that were not open.
        let id = pending.diff.id;
        self.compare(id, viewer).into_iter().collect()
    }

    /// The editor reports what the person edited or saved.
    fn edited(&mut self, seat: Seat, path: &Path, now: Instant, edit: impl FnOnce(&mut View)) {
        let redraw = self.next_redraw(now);
        if let Some(showing) = self.focus(seat.viewer, path) {
            if let Some(view) = &mut showing.view {
                edit(view);
            }
            showing.reported(now);
            showing.redraw = Some(redraw);
        }
    }

    fn did_close(&mut self, viewer: Viewer, path: &Path, now: Instant) {
        let showing = self.find_mut(path);
        let showing = showing.and_then(|pending| pending.showing_mut(viewer));
        if let Some(showing) = showing.filter(|showing| showing.view.is_some()) {
            showing.closes = Some(now + REOPEN_GRACE);
        }
    }

    /// Another editor is gone, and with it all that it had open.
    pub fn left(&mut self, viewer: Viewer, now: Instant) {
        let showings = self.pending.iter_mut();
        for showing in showings.filter_map(|pending| pending.showing_mut(viewer)) {
            showing.closes.get_or_insert(now + REOPEN_GRACE);
        }
    }

    /// A proposal has the focus.
    pub fn focus(&mut self, viewer: Viewer, path: &Path) -> Option<&mut Showing> {
        self.focuses += 1;
        let focused = self.focuses;
        let showing = self.find_mut(path)?.showing_mut(viewer)?;
        showing.focused = focused;
        showing.interrupts = None;
        Some(showing)
    }

    /// What can be done with a document in this editor.
    pub fn commands(&self, viewer: Viewer, path: &Path) -> Vec<Command> {
        let pending = self.find(path);
        let pending = pending.filter(|pending| pending.showing(viewer).is_some());
        pending.map_or(Vec::new(), |pending| pending.commands(viewer).into())
    }

    /// Those that editors have closed for long enough.
    pub(super) fn close_due(&mut self, now: Instant) -> Vec<Action> {
        let due = self.pending.iter_mut();
        let due = due.filter(|pending| pending.counts_as_closed().is_some_and(|due| due <= now));
        let closed = due.filter_map(|pending| pending.close_due(now).then(|| pending.key()));
        let closed: Vec<_> = closed.collect();
        let mut actions = Vec::new();
        for key in closed {
            actions.extend(self.forget(key.id));
            actions.push(Action::Decide(Decide {
                key,
                verdict: Verdict::reject(),
                seen: None,
                base: None,
            }));
        }
        actions
    }

    /// Compares those that were edited.
    pub(super) fn redraw_due(&mut self, now: Instant) -> Vec<Action> {
        let all = self.pending.iter().flat_map(|pending| {
            let showings = pending.showings.iter();
            showings.map(|showing| (pending.diff.id, showing))
        });
        let due = all.filter(|(_, showing)| showing.redraw.is_some_and(|due| due <= now));
        let due: Vec<_> = due.map(|(id, it)| (id, it.seat.viewer)).collect();
        due.into_iter()
            .filter_map(|(id, viewer)| self.compare(id, viewer))
            .collect()
    }

    /// Comparing takes a small part of the time, however big the texts are.
    fn next_redraw(&self, now: Instant) -> Instant {
        now + DEBOUNCE.max(self.cost * 10)
    }
}
