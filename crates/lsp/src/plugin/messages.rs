//! The messages of the plugin profile, field by field as `docs/editor-protocol.md` names them. A test
//! holds the two together.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops;

use pillion_discovery::workspace::Workspace;
use pillion_protocol::verdict::Lines;
use pillion_protocol::{Dialect, Note, Position, Proposer, ReviewChoice, Verdict};
use pillion_text::hunks::Hunk;
use pillion_text::merge::Merged;
use pillion_view::{CloseReason, DiffId, ProposalKey, Ruling, SetPlace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::uri;

pub const DID_CHANGE_CONTEXT: &str = "pillion/didChangeContext";
pub const DID_CHANGE_WORKSPACE: &str = "pillion/didChangeWorkspace";
pub const WORKSPACE: &str = "pillion/workspace";
pub const DID_SYNC: &str = "pillion/didSync";
pub const DECIDE: &str = "pillion/decide";
pub const HUNKS: &str = "pillion/hunks";
pub const MERGE: &str = "pillion/merge";
pub const MENTION: &str = "pillion/mention";
pub const REVIEW: &str = "pillion/review";
pub const SEND_NOTES: &str = "pillion/sendNotes";
pub const CHANGES: &str = "pillion/changes";
pub const KEEP: &str = "pillion/keep";
pub const TAKE_BACK: &str = "pillion/takeBack";
pub const UNDO: &str = "pillion/undo";
pub const DIAGNOSTICS: &str = "pillion/diagnostics";
pub const OPEN_DIFF: &str = "pillion/openDiff";
pub const CLOSE_DIFF: &str = "pillion/closeDiff";
pub const DIFF_TEXT: &str = "pillion/diffText";
pub const DID_CHANGE_DIFF: &str = "pillion/didChangeDiff";
pub const DID_CHANGE_NOTES: &str = "pillion/didChangeNotes";
pub const OFFER_TEXT: &str = "pillion/offerText";
pub const DID_CHANGE_STATUS: &str = "pillion/didChangeStatus";
pub const ENVIRONMENT: &str = "pillion/environment";

/// The files that are open and focused: all of them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChangeContext {
    pub open_files: Vec<OpenFile>,
    pub is_trusted: Option<bool>,
}

/// The facts that the workspace roots depend on: all of them. Those of the beginning come with `initialize`.
#[derive(Debug, Deserialize, Serialize)]
pub struct DidChangeWorkspace {
    pub folders: Vec<String>,
    /// The folders that the editor takes for the projects of its files.
    pub projects: Option<Vec<String>>,
    pub files: Vec<String>,
    /// True if the person has chosen the folders.
    pub chosen: Option<bool>,
}

/// The editor's text of a file and the file are the same now.
#[derive(Debug, Deserialize, Serialize)]
pub struct DidSync {
    pub uri: String,
    /// True if the person has saved it.
    pub saved: bool,
}

/// An open file.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenFile {
    pub uri: String,
    /// Unix time in milliseconds.
    pub last_focused: u64,
    pub active: Option<bool>,
    /// In the negotiated encoding.
    pub position: Option<Position>,
    pub line_text: Option<String>,
    pub selected_text: Option<String>,
    pub selection: Option<Range>,
}

/// A part of a text, in the negotiated encoding. Of each end the line, or its part before that end.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    pub start: Position,
    pub end: Position,
    pub start_line_text: Option<String>,
    pub end_line_text: Option<String>,
}

/// The person decided; the answer says whether that counts.
#[derive(Debug, Deserialize, Serialize)]
pub struct Decide {
    pub id: u64,
    pub revision: u32,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub seen: Option<Seen>,
}

/// The plugin's knowledge of how the person came to a decision.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    pub drawn_ms: Option<u64>,
    pub typed: bool,
    pub pauses_ms: Option<Vec<u64>>,
    /// Of [`OpenDiff::hunks`], those that were on the screen.
    pub hunks: Option<Vec<usize>>,
}

/// The answer to a [`DECIDE`].
#[derive(Debug, Serialize)]
pub struct Decided {
    pub settled: bool,
    pub code: Option<Cow<'static, str>>,
    pub message: Option<String>,
    pub repeat: bool,
    pub clipboard: Option<String>,
    pub next: Option<u64>,
}

/// Find where two texts differ.
#[derive(Debug, Deserialize, Serialize)]
pub struct FindHunks {
    pub original: Option<String>,
    pub content: String,
}

/// The answer to [`HUNKS`].
#[derive(Debug, Serialize)]
pub struct Found {
    pub hunks: Vec<HunkLines>,
}

/// Merge two texts that come from one.
#[derive(Debug, Deserialize, Serialize)]
pub struct MergeTexts {
    pub original: Option<String>,
    pub proposed: String,
    pub content: String,
}

/// The answer to [`MERGE`].
#[derive(Debug, Serialize)]
pub struct MergedTexts {
    pub content: String,
    pub hunks: Vec<HunkLines>,
    pub conflicts: usize,
}

/// These lines before become those lines after: each from the first to the one behind the last, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HunkLines {
    pub before: ops::Range<usize>,
    pub after: ops::Range<usize>,
}

/// The person points an agent to a file.
#[derive(Debug, Deserialize, Serialize)]
pub struct Mention {
    pub uri: String,
    pub lines: Option<Lines>,
}

/// The answer to a [`MENTION`].
#[derive(Debug, Serialize)]
pub struct Mentioned {
    pub agent: Option<Agent>,
}

/// The person chooses when agents ask, or wants to know it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Choose {
    pub choice: Option<String>,
}

/// The person keeps changes.
#[derive(Debug, Deserialize, Serialize)]
pub struct Keep {
    pub id: Option<String>,
    pub uri: Option<String>,
    pub typed: Option<String>,
    pub revision: Option<String>,
    pub notes: Option<Vec<Note>>,
}

/// The person takes changes back.
#[derive(Debug, Deserialize, Serialize)]
pub struct TakeBack {
    pub id: Option<String>,
    pub uri: Option<String>,
    pub typed: Option<String>,
    pub revision: Option<String>,
    pub notes: Option<Vec<Note>>,
    pub lines: Option<Lines>,
    pub buffers: Option<Vec<Buffer>>,
}

/// A file that is open in the editor.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub uri: String,
    pub content: String,
    pub is_modified: bool,
}

/// The person undoes that they have taken something back.
#[derive(Debug, Deserialize, Serialize)]
pub struct Undo {
    pub id: Option<String>,
}

/// The answer to [`KEEP`], [`TAKE_BACK`] and [`UNDO`].
#[derive(Debug, Serialize)]
pub struct Acted {
    pub done: bool,
    pub message: String,
    pub edits: Vec<Edit>,
}

/// A new text for a buffer.
#[derive(Debug, Serialize)]
pub struct Edit {
    pub uri: String,
    pub path: String,
    pub id: String,
    pub content: String,
}

/// Ask for the problems that the editor shows.
#[derive(Debug, Serialize)]
pub struct AskDiagnostics {
    pub uri: Option<String>,
}

/// The answer to [`DIAGNOSTICS`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Diagnostics {
    pub files: Vec<FileDiagnostics>,
}

/// The problems of one file.
#[derive(Debug, Deserialize, Serialize)]
pub struct FileDiagnostics {
    pub uri: String,
    pub diagnostics: Vec<Diagnostic>,
}

/// One problem.
#[derive(Debug, Deserialize, Serialize)]
pub struct Diagnostic {
    pub range: Range,
    pub severity: Option<u32>,
    pub message: String,
    pub source: Option<String>,
    pub code: Option<Code>,
}

/// A tool's name for a problem.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Code {
    Number(i64),
    Text(String),
}

/// This stands in a view; without a text, the proposal as it came.
#[derive(Debug, Deserialize, Serialize)]
pub struct DidChangeDiff {
    pub id: u64,
    pub revision: u32,
    pub content: Option<String>,
}

/// The person has these notes on a proposal.
#[derive(Debug, Deserialize, Serialize)]
pub struct DidChangeNotes {
    pub id: u64,
    pub revision: u32,
    pub notes: Vec<Note>,
}

/// The person's text from an earlier proposal of the file.
#[derive(Debug, Serialize)]
pub struct OfferText {
    #[serde(flatten)]
    pub key: ProposalKey,
    pub content: String,
}

/// The answer to [`CLOSE_DIFF`] and to [`DIFF_TEXT`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Content {
    pub content: String,
}

/// Show a proposal.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenDiff<'a> {
    pub id: u64,
    pub revision: u32,
    pub uri: String,
    pub path: String,
    pub agent: Agent,
    pub does: &'static str,
    pub original: Option<String>,
    pub original_is_lossy: bool,
    pub original_is_other: bool,
    pub proposed: &'a str,
    pub notes: Vec<String>,
    pub hunks: Vec<HunkLines>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<Set>,
}

/// The place of a file among those that belong together.
#[derive(Debug, Serialize)]
pub struct Set {
    #[serde(flatten)]
    pub place: SetPlace,
    pub label: String,
}

/// Take a view away.
#[derive(Debug, Serialize)]
pub struct CloseDiff {
    pub id: DiffId,
    pub reason: CloseReason,
}

/// The status that people may see in a status line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChangeStatus {
    pub agents: Vec<Agent>,
    pub mentions: Vec<&'static str>,
    pub pending_diffs: usize,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub review: Option<Review>,
    pub unseen: usize,
    pub changes: u64,
}

/// When agents ask before they change files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Review {
    pub label: String,
    pub choices: Vec<&'static str>,
    pub unasked: Option<String>,
}

/// An agent, for programs and for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub name: &'static str,
    pub display_name: &'static str,
}

/// The data by which agents find the companion.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    pub variables: BTreeMap<&'static str, String>,
    pub port: u16,
    pub pid: u32,
    pub discovery_files: Vec<String>,
    pub roots: Vec<String>,
    pub start_folder: Option<String>,
    pub agents: Vec<Startable>,
}

/// An agent that a person can start, as plugins need to know it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Startable {
    #[serde(flatten)]
    pub agent: Agent,
    pub package: Option<&'static str>,
    pub command: Vec<&'static str>,
    pub needs_run: bool,
    pub reads_lines_in_prompt: bool,
}

impl From<Dialect> for Startable {
    fn from(agent: Dialect) -> Self {
        Self {
            agent: agent.into(),
            package: agent.package(),
            command: vec![agent.name()],
            needs_run: agent.needs_run(),
            reads_lines_in_prompt: agent.reads_lines_in_prompt(),
        }
    }
}

/// The request by which a client gets this profile, and the answer.
#[derive(Debug, Serialize)]
pub struct Profile {
    pub version: &'static str,
}

impl OpenDiff<'_> {
    /// As JSON, without a copy of the original, which may be all that fits into memory.
    pub fn into_value(mut self) -> Value {
        let original = self.original.take();
        let mut value = serde_json::to_value(&self).unwrap_or_default();
        value["original"] = original.into();
        value
    }
}

impl From<DidChangeWorkspace> for Workspace {
    fn from(said: DidChangeWorkspace) -> Self {
        let paths = |uris: Vec<String>| uris.iter().filter_map(|uri| uri::to_path(uri)).collect();
        Self {
            folders: paths(said.folders),
            projects: paths(said.projects.unwrap_or_default()),
            files: paths(said.files),
            is_chosen: said.chosen == Some(true),
        }
    }
}

impl From<Merged> for MergedTexts {
    fn from(merged: Merged) -> Self {
        Self {
            // All three texts are UTF-8, and what is merged is whole lines of them.
            content: String::from_utf8_lossy(&merged.text).into_owned(),
            hunks: merged.hunks.iter().map(Into::into).collect(),
            conflicts: merged.conflicts,
        }
    }
}

impl From<&Hunk> for HunkLines {
    fn from(hunk: &Hunk) -> Self {
        Self {
            before: hunk.before.clone(),
            after: hunk.after.clone(),
        }
    }
}

impl From<Ruling> for Decided {
    fn from(ruling: Ruling) -> Self {
        match ruling {
            Ruling::Settled(told) => {
                let (message, clipboard) = told.map(|it| (it.message, it.clipboard)).unzip();
                Self {
                    settled: true,
                    code: None,
                    message,
                    repeat: false,
                    clipboard: clipboard.flatten(),
                    next: None,
                }
            }
            Ruling::Refused(refusal) => Self {
                settled: false,
                code: Some(refusal.code),
                message: Some(refusal.message),
                repeat: refusal.repeat,
                clipboard: None,
                next: None,
            },
        }
    }
}

impl From<SetPlace> for Set {
    fn from(place: SetPlace) -> Self {
        let label = place.to_string();
        Self { place, label }
    }
}

impl<P: Into<Proposer>> From<P> for Agent {
    fn from(proposer: P) -> Self {
        let proposer = proposer.into();
        Self {
            name: proposer.name(),
            display_name: proposer.display_name(),
        }
    }
}

impl From<pillion_view::Review> for Review {
    fn from(review: pillion_view::Review) -> Self {
        Self {
            label: review.label,
            choices: ReviewChoice::ALL.map(ReviewChoice::name).into(),
            unasked: review.unasked,
        }
    }
}
