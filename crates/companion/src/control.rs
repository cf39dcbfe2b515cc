//! What commands ask of a running companion, over an endpoint with a token of its own: the wire
//! types of both sides. The server's side is `endpoint::control`, the other is [`Client`].

mod client;
mod diff_ref;
pub(crate) mod on_disk;

use std::path::PathBuf;

use pillion_protocol::Verdict;
use serde::{Deserialize, Serialize};

pub use client::{Client, ClientError};
pub use diff_ref::DiffRef;
use pillion_view::{SetPlace, Told};

/// The header with the id of the process that a command runs in.
pub(crate) const PROCESS_HEADER: &str = "pillion-process";

/// The header with the names of the agents whose variables are in a command's environment.
pub(crate) const COMMANDING_HEADER: &str = "pillion-commanded-by";

/// A file that agents are pointed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionedFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its first and its last line that are meant, from 0; the whole file if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
}

/// Who was pointed to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mentioned {
    /// The short name of the agent whose prompt names it now; none if no agent that is connected
    /// knows mentions.
    pub agent: Option<String>,
}

/// One of the editors and reviews that a companion serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewStatus {
    /// Its short name.
    pub name: String,
    /// Its name for people.
    pub display_name: String,
    /// Its process.
    pub pid: u32,
}

/// What a companion is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanionStatus {
    /// The short names of the agents that are connected, oldest first.
    pub agents: Vec<String>,
    /// The editors and reviews that are attached, oldest first.
    #[serde(default)]
    pub views: Vec<ViewStatus>,
    /// How many diffs wait for the reviewer.
    pub pending_diffs: usize,
    /// When a file was last focused here, in Unix milliseconds; none if no file is open.
    pub last_focused_ms: Option<u64>,
}

/// A diff that waits for the reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffSummary {
    /// Its number.
    pub id: u64,
    /// Which of the agent's proposals for it this is, from 1.
    pub revision: u32,
    /// The agent's short name.
    pub agent: String,
    /// The file, as the agent spelt it.
    pub path: String,
    /// Where that path leads, if it is elsewhere.
    pub leads_to: Option<String>,
    /// Its place among the files that belong together.
    #[serde(default)]
    pub set: Option<SetPlace>,
}

/// A diff with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffText {
    /// What a list holds of it.
    pub summary: DiffSummary,
    /// The whole text as the agent proposed it.
    pub proposed: String,
    /// What stands in the view, and would be accepted, if that is another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// Whether the editor has told what stands in the view.
    #[serde(default)]
    pub is_text_known: bool,
}

/// What to do with a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settle {
    /// Which diff.
    pub id: u64,
    /// Which revision of it: the one that the person has seen.
    pub revision: u32,
    /// Accepting without a content means what stands in the view.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Accept although the file has changed since the proposal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub despite_change: bool,
}

/// What became of a decision that stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// The accepted text contains edits made in the view.
    pub edited: bool,
    /// What becomes of the notes, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
}

/// Why a diff is not given out, or what a command says in the person's name does not stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "why", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DiffError {
    /// There is none, or it was decided.
    #[error("no diff {id} is pending")]
    NotPending {
        /// The number that was named.
        id: u64,
    },
    /// The revision that was named is not the one that is shown.
    #[error("{}diff {id} is at {id}.{current}, not {id}.{named}", replaced(*named < *current))]
    OtherRevision {
        /// The diff.
        id: u64,
        /// What was named.
        named: u32,
        /// What is shown.
        current: u32,
    },
    /// The file is another one than when the agent proposed.
    #[error("the file of diff {id} changed on disk since {id}.{revision} was proposed")]
    FileChanged {
        /// The diff.
        id: u64,
        /// The revision that is shown.
        revision: u32,
    },
    /// A process of an agent's asked for it.
    #[error("this command was started by {agent}, which is connected: it does not speak for you")]
    ByAgent {
        /// The agent, as people know it.
        agent: String,
    },
    /// The editor did not do it, or something came first.
    #[error("{reason}")]
    Failed {
        /// One sentence.
        reason: String,
    },
}

fn replaced(is_older: bool) -> &'static str {
    match is_older {
        true => "a newer proposal has arrived: ",
        false => "",
    }
}
