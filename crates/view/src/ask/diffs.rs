//! The requests about diffs that wait for the reviewer.

use serde::{Deserialize, Serialize};

use super::{DiffRef, ask};
use crate::decision::{Decide, Ruling};
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

/// One diff, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetDiff {
    /// Its name.
    pub diff: DiffRef,
    /// True if the text that would be accepted is printed: if whoever asks is the person, they know then what the name means.
    pub is_printed: bool,
}

ask!(GetDiff => DiffText, "diff", for_person: false);

ask!(Decide => Ruling, "decide", for_person: true);
