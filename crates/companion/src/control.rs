//! What commands ask of a running companion, over an endpoint with a token of its own: the wire
//! types of both sides. The server's side is `endpoint::control`, the other is [`Client`].

mod client;

use pillion_protocol::File;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

pub use client::{Client, ClientError};

use crate::diffs::{Decision, PendingDiff};
use crate::editor::DiffId;
use crate::event::Caller;

/// A command, as the loop gets it.
#[derive(Debug)]
pub(crate) enum Command {
    Diffs(oneshot::Sender<Vec<PendingDiff>>),
    Settle {
        id: DiffId,
        decision: Decision,
        caller: Caller,
    },
    Focus(File),
    Status(oneshot::Sender<CompanionStatus>),
}

/// What a companion is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanionStatus {
    /// The short names of the agents that are connected, oldest first.
    pub agents: Vec<String>,
    /// How many diffs wait for the reviewer.
    pub pending_diffs: usize,
    /// When a file was last focused here, in Unix milliseconds; none if no file is open.
    pub last_focused_ms: Option<u64>,
}

/// A diff that waits for the reviewer, as `pillion diffs --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffSummary {
    /// Its number, for `pillion accept` and `pillion reject`.
    pub id: u64,
    /// The agent's short name.
    pub agent: String,
    /// The file, as the agent spelt it.
    pub path: String,
    /// The whole proposed text.
    pub proposed: String,
}

/// What to do with a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settle {
    /// Which diff.
    pub id: u64,
    /// Whether to accept or to reject it.
    pub accept: bool,
    /// The text to accept; without it, what stands in the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
