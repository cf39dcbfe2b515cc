//! The requests about diffs that wait for the reviewer.

use pillion_protocol::Verdict;
use serde::{Deserialize, Serialize};

use super::{DiffRef, ask};
use crate::decision::{Decide, Ruling, Told};
use crate::proposal::SetPlace;

/// The diffs that wait for the reviewer, oldest first. Answered when no acceptance that has begun is being weighed any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diffs;

ask!(Diffs => Vec<DiffSummary>, "diffs", for_person: false);

/// A diff that waits for the reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffSummary {
    /// Its number.
    pub id: u64,
    /// The number of this one among the agent's proposals for it, from 1.
    pub revision: u32,
    /// The agent's short name.
    pub agent: String,
    /// The file, as the agent spelt it.
    pub path: String,
    /// The place to which that path leads, if it is elsewhere.
    pub leads_to: Option<String>,
    /// Its place among the files that belong together.
    pub set: Option<SetPlace>,
}

/// A diff with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffText {
    /// The part that a list holds of it.
    pub summary: DiffSummary,
    /// The whole text as the agent proposed it.
    pub proposed: String,
    /// The text that stands in the view, and would be accepted, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// True if the editor has told what stands in the view.
    #[serde(default)]
    pub is_text_known: bool,
}

ask!(DiffRef => DiffText, "diff", for_person: false);

ask!(Decide => Ruling, "decide", for_person: true);

/// A decision about a diff: accept or reject it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settle {
    /// The number of the diff.
    pub id: u64,
    /// The revision of it that the person has seen.
    pub revision: u32,
    /// Accepting without a content means what stands in the view.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Accept although the file has changed since the proposal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub despite_change: bool,
}

ask!(Settle => Settled, "settle", for_person: true);

/// The outcome of a decision that stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// The accepted text contains edits made in the view.
    pub edited: bool,
    /// The message about the notes, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
}
