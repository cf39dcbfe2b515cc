//! An [`Editor`] for front ends that have a loop of their own: hands on everything that it is asked
//! and told.

use std::fmt;

use pillion_protocol::FileDiagnostics;

use crate::editor::{CloseReason, Diff, DiffId, Editor, Reply, Status};
use crate::lost::LostOutcome;

/// What the companion requests from its front end, or reports to it.
#[derive(Debug)]
pub enum EditorEvent {
    /// [`Editor::open_diff`].
    Open(Diff, Reply<()>),
    /// [`Editor::close_diff`].
    Close(DiffId, CloseReason, Reply<String>),
    /// [`Editor::diagnostics`].
    Diagnostics(Option<String>, Reply<Vec<FileDiagnostics>>),
    /// [`Editor::status_changed`].
    Status(Status),
    /// [`Editor::outcome_lost`]. May come after [`EditorEvent::Stopped`].
    Lost(LostOutcome),
    /// [`Editor::stopped`].
    Stopped,
}

/// Hands each event on, in order.
pub struct Forward {
    send: Box<dyn FnMut(EditorEvent) + Send>,
    interrupted: Option<Box<dyn FnMut() + Send>>,
}

impl Forward {
    /// Hands events to `send`, which returns at once: it sends into a channel. If nothing listens there
    /// any more, dropping a reply reports that.
    pub fn new(send: impl FnMut(EditorEvent) + Send + 'static) -> Self {
        Self {
            send: Box::new(send),
            interrupted: None,
        }
    }

    /// Ctrl-C does not end the companion: the front end is notified, and decides.
    pub fn when_interrupted(mut self, interrupted: impl FnMut() + Send + 'static) -> Self {
        self.interrupted = Some(Box::new(interrupted));
        self
    }
}

impl Editor for Forward {
    fn open_diff(&mut self, diff: Diff, shown: Reply<()>) {
        (self.send)(EditorEvent::Open(diff, shown));
    }

    fn close_diff(&mut self, id: DiffId, reason: CloseReason, closed: Reply<String>) {
        (self.send)(EditorEvent::Close(id, reason, closed));
    }

    fn diagnostics(&mut self, uri: Option<String>, found: Reply<Vec<FileDiagnostics>>) {
        (self.send)(EditorEvent::Diagnostics(uri, found));
    }

    fn status_changed(&mut self, status: Status) {
        (self.send)(EditorEvent::Status(status));
    }

    fn outcome_lost(&mut self, lost: LostOutcome) {
        (self.send)(EditorEvent::Lost(lost));
    }

    fn interrupted(&mut self) -> bool {
        match &mut self.interrupted {
            Some(interrupted) => {
                interrupted();
                false
            }
            None => true,
        }
    }

    fn stopped(&mut self) {
        (self.send)(EditorEvent::Stopped);
    }
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Forward")
    }
}
