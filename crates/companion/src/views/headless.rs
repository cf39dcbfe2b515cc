//! A view that shows nothing: what it would do with proposals is done here, in its place. Its process may be another one,
//! and then no text has to go there and back.

use pillion_view::{Compares, Diff, Editor, EditorEvent, Pending};

/// Keeps every proposal as it came, and tells the view only of what people are to hear.
pub(super) struct Headless {
    view: Box<dyn Editor>,
    pending: Pending<Diff>,
}

impl Headless {
    pub(super) fn new(view: Box<dyn Editor>) -> Self {
        Self {
            view,
            pending: Pending::default(),
        }
    }
}

impl Editor for Headless {
    fn event(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Open(diff, shown) => {
                self.pending.put(diff);
                shown.done(());
            }
            EditorEvent::Close(id, _, closed) => match self.pending.close(id) {
                Ok(diff) => closed.done(diff.proposed.to_string()),
                Err(stale) => closed.failed(stale.to_string()),
            },
            EditorEvent::Text(key, told) => match self.pending.current(key) {
                Ok(diff) => told.done(diff.proposed.to_string()),
                Err(stale) => told.failed(stale.to_string()),
            },
            EditorEvent::Diagnostics(_, found) => found.done(Vec::new()),
            EditorEvent::Shared(_) | EditorEvent::Draft(..) | EditorEvent::Notes(..) => {}
            EditorEvent::Lost(_)
            | EditorEvent::Status(_)
            | EditorEvent::Moved(_)
            | EditorEvent::Stopped => {
                self.view.event(event);
            }
        }
    }

    fn compares(&self) -> Compares {
        self.view.compares()
    }

    fn interrupted(&mut self) -> bool {
        self.view.interrupted()
    }
}
