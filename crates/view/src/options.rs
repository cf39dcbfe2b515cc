//! The options with which a front end attaches, and the reasons why a companion could not start.

use std::io;
use std::path::PathBuf;

use pillion_discovery::tokens::RandomError;
use pillion_discovery::{Environment, exact};
use pillion_protocol::IdeInfo;
use pillion_protocol::discovery::RootError;
use serde::{Deserialize, Serialize};

use crate::editor::Shows;

/// The options of a front end, which its companion needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// The variables that determine where discovery files go.
    pub environment: Environment,
    /// The editor's process: agents look for it, or for one of its ancestors (C2.3).
    pub editor_pid: u32,
    /// The editor's identity.
    pub ide: IdeInfo,
    /// The workspace roots, absolute.
    #[serde(with = "exact::paths")]
    pub roots: Vec<PathBuf>,
    /// The condition under which it is shown proposals.
    pub shows: Shows,
}

impl Options {
    /// Returns true if the view is there for one proposal of another view.
    pub fn is_guest(&self) -> bool {
        matches!(self.shows, Shows::Only { .. })
    }
}

/// The reason why a companion could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No port on loopback, no thread, or no signal handler.
    #[error("cannot {what}")]
    System {
        /// The action that failed.
        what: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The system has no random bytes for the tokens.
    #[error("cannot make a token")]
    Random(#[from] RandomError),
    /// A workspace root that no discovery file can hold.
    #[error("cannot publish the workspace")]
    Roots(#[from] RootError),
    /// A signal came before it was ready.
    #[error("received a signal before it was ready")]
    Interrupted,
    /// A guest needs the hub that its host is attached to.
    #[error("Pillion's hub, through which editors share proposals, does not run")]
    NoHub,
    /// The hub could not start it: its reason.
    #[error("{0}")]
    Refused(String),
}
