//! The editor as a companion sees it: what a companion asks and tells goes to the loop.

use std::time::Duration;

use crossbeam_channel::Sender;
use pillion_view::{Compares, DiffId, Editor, EditorEvent};

/// The time limit for the server to read the editor's last words, and to leave, when a signal ends it.
const ENDING: Duration = Duration::from_secs(3);

/// A companion's request or report.
#[derive(Debug)]
pub struct Told {
    /// The guest that it is for; none if it is for the editor's own view.
    pub guest: Option<DiffId>,
    pub event: EditorEvent,
}

/// A view of the editor.
pub struct Client {
    pub guest: Option<DiffId>,
    pub compares: Compares,
    pub events: Sender<Told>,
}

impl Editor for Client {
    fn event(&mut self, mut event: EditorEvent) {
        let guest = self.guest;
        // Those of different companions have the same numbers.
        if let Some((own, number)) = guest.zip(event.diff_mut()) {
            *number = own;
        }
        let _ = self.events.send(Told { guest, event });
    }

    fn compares(&self) -> Compares {
        self.compares
    }

    /// The server leaves once it has read what the editor had still to say.
    fn ending(&mut self) -> Duration {
        ENDING
    }
}
