//! The requests that the plugin has not answered yet.

use pillion_protocol::FileDiagnostics;
use pillion_view::{CloseReason, DiffId, ProposalKey, Reply};

use crate::outgoing::Outgoing;

/// The requests whose answers are awaited.
pub type Requests = Outgoing<Asked>;

/// A request, with the caller that waits for its answer. A newer proposal may have come before that.
#[derive(Debug)]
pub enum Asked {
    Open {
        key: ProposalKey,
        shown: Reply<()>,
    },
    Close {
        key: ProposalKey,
        reason: CloseReason,
        closed: Reply<String>,
    },
    Text {
        told: Reply<String>,
    },
    Diagnostics {
        uri: Option<String>,
        found: Reply<Vec<FileDiagnostics>>,
    },
}

impl Asked {
    /// Returns true if this asked for the view of a diff.
    pub fn is_open_of(&self, wanted: DiffId) -> bool {
        matches!(self, Self::Open { key, .. } if key.id == wanted)
    }
}
