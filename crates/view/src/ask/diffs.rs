//! The requests about diffs that wait for the reviewer.

use serde::{Deserialize, Serialize};

use super::{DiffRef, ask};
use crate::decision::{Decide, Ruling};
use crate::proposal::{ProposalKey, SetPlace};

/// The diffs that wait for the reviewer, oldest first. Answered when no acceptance that has begun is being weighed any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diffs;

ask!(Diffs => Vec<PendingDiff>, "diffs", for_person: false);

/// A diff that waits for the reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingDiff {
    /// The proposal that is there now.
    #[serde(flatten)]
    pub key: ProposalKey,
    /// The agent's short name.
    pub agent: String,
    /// The file, as the agent spelt it.
    pub path: String,
    /// The place to which that path leads, if it is elsewhere.
    pub leads_to: Option<String>,
    /// Its place among the files that belong together.
    pub set: Option<SetPlace>,
    /// Of one that was asked for, the whole text as the agent proposed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
    /// The text that stands in the view, and would be accepted, if the editor has told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
}

/// One diff, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetDiff {
    /// Its name.
    pub diff: DiffRef,
    /// True if the text that would be accepted is printed: if whoever asks is the person, they know then what the name means.
    pub is_printed: bool,
}

ask!(GetDiff => PendingDiff, "diff", for_person: false);

ask!(Decide => Ruling, "decide", for_person: true);
