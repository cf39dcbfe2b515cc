//! The editor as a companion sees it: what a companion asks and tells goes to the loop.

use crossbeam_channel::Sender;
use pillion_view::{Compares, DiffId, Editor, EditorEvent, ProposalKey};

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
    fn event(&mut self, event: EditorEvent) {
        let guest = self.guest;
        let event = match guest {
            Some(id) => renumbered(event, id),
            None => event,
        };
        let _ = self.events.send(Told { guest, event });
    }

    fn compares(&self) -> Compares {
        self.compares
    }
}

/// The same about a proposal of this number: those of different companions have the same ones.
fn renumbered(event: EditorEvent, id: DiffId) -> EditorEvent {
    match event {
        EditorEvent::Open(mut diff, shown) => {
            diff.id = id;
            EditorEvent::Open(diff, shown)
        }
        EditorEvent::Close(_, reason, closed) => EditorEvent::Close(id, reason, closed),
        EditorEvent::Text(key, told) => EditorEvent::Text(ProposalKey { id, ..key }, told),
        EditorEvent::Draft(key, text) => EditorEvent::Draft(ProposalKey { id, ..key }, text),
        EditorEvent::Notes(key, notes) => EditorEvent::Notes(ProposalKey { id, ..key }, notes),
        event @ (EditorEvent::Shared(_)
        | EditorEvent::Diagnostics(..)
        | EditorEvent::Status(_)
        | EditorEvent::Lost(_)
        | EditorEvent::Moved(_)
        | EditorEvent::Stopped) => event,
    }
}
