//! What the plugin was asked and has not answered yet.

use pillion_companion::{CloseReason, DiffId, Reply};
use pillion_protocol::FileDiagnostics;

use crate::outgoing::Outgoing;

/// The requests whose answers are awaited.
pub type Requests = Outgoing<Asked>;

/// A request, with who waits for its answer.
#[derive(Debug)]
pub enum Asked {
    Open {
        id: DiffId,
        shown: Reply<()>,
    },
    Close {
        view: Asking,
        closed: Reply<String>,
    },
    Diagnostics {
        uri: Option<String>,
        found: Reply<Vec<FileDiagnostics>>,
    },
}

/// The view that the plugin was asked to take away. A newer proposal may open another with its id
/// before the answer comes.
#[derive(Debug)]
pub struct Asking {
    pub id: DiffId,
    pub revision: u32,
    pub reason: CloseReason,
}

impl Asked {
    /// Whether this asked for the view of a diff.
    pub fn is_open_of(&self, wanted: DiffId) -> bool {
        matches!(self, Self::Open { id, .. } if *id == wanted)
    }
}
