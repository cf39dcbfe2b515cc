//! The messages of the plugin profile, as `docs/editor-protocol.md` names them; a test holds the two together. What views and
//! companions say to each other has the same types here, in another [codec]: this file has what only plugins say
//! or read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process;

use lsp_server::Message;
use pillion_discovery::workspace::Workspace;
use pillion_protocol::discovery::join_roots;
use pillion_protocol::{Dialect, FileDiagnostics, Position, Proposer, ReviewChoice, diagnostics};
use pillion_text::words;
use pillion_view::decision::Seen;
use pillion_view::{CloseReason, Decide, Diff, DiffId, ProposalKey, Reply, Ruling, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::codec;
use crate::message;
use crate::outgoing::Outgoing;
use crate::profile::Published;
use crate::uri;

pub const DID_CHANGE_CONTEXT: &str = "pillion/didChangeContext";
pub const DID_CHANGE_WORKSPACE: &str = "pillion/didChangeWorkspace";
pub const WORKSPACE: &str = "pillion/workspace";
pub const DID_SYNC: &str = "pillion/didSync";
pub const WATCH: &str = "pillion/watch";
pub const DECIDE: &str = "pillion/decide";
pub const HUNKS: &str = "pillion/hunks";
pub const MERGE: &str = "pillion/merge";
pub const RESTORE: &str = "pillion/restore";
pub const LEAVE: &str = "pillion/leave";
pub const MENTION: &str = "pillion/mention";
pub const REVIEW: &str = "pillion/review";
pub const SEND_NOTES: &str = "pillion/sendNotes";
pub const CHANGES: &str = "pillion/changes";
pub const KEEP: &str = "pillion/keep";
pub const TAKE_BACK: &str = "pillion/takeBack";
pub const UNDO: &str = "pillion/undo";
pub const LOOK: &str = "pillion/look";
pub const DIAGNOSTICS: &str = "pillion/diagnostics";
pub const OPEN_DIFF: &str = "pillion/openDiff";
pub const CLOSE_DIFF: &str = "pillion/closeDiff";
pub const DIFF_TEXT: &str = "pillion/diffText";
pub const DID_CHANGE_DIFF: &str = "pillion/didChangeDiff";
pub const DID_CHANGE_NOTES: &str = "pillion/didChangeNotes";
pub const OFFER_TEXT: &str = "pillion/offerText";
pub const DID_CHANGE_FILE: &str = "pillion/didChangeFile";
pub const DID_CHANGE_STATUS: &str = "pillion/didChangeStatus";
pub const ENVIRONMENT: &str = "pillion/environment";

/// The lines of a proposal that every window shows whole: no part of them is told. Bytes.
const SHORT: usize = 30;

/// The most that is compared word by word in one proposal. Bytes.
const MOST_COMPARED: usize = 1 << 20;

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
    pub fn is_open_of(&self, wanted: DiffId) -> bool {
        matches!(self, Self::Open { key, .. } if key.id == wanted)
    }
}

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

/// The files whose changes on the disk are told: all of them.
#[derive(Debug, Deserialize, Serialize)]
pub struct Watch {
    pub files: Vec<String>,
}

/// Find where two texts differ.
#[derive(Debug, Deserialize, Serialize)]
pub struct FindHunks {
    pub original: Option<String>,
    pub content: String,
}

/// Merge a proposal with what the person has not saved, or with the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct MergeTexts {
    #[serde(flatten)]
    pub key: ProposalKey,
    pub original: Option<String>,
    pub proposed: String,
    pub content: Option<String>,
}

/// Give a text the bytes that the editor shows of no text.
#[derive(Debug, Deserialize, Serialize)]
pub struct RestoreText {
    pub proposed: String,
    pub shown: String,
    pub content: String,
}

/// The person chooses when agents ask, or wants to know it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Choose {
    pub choice: Option<String>,
}

/// A change or a turn that the person names, or none: they undo what was done with it, or look at it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Named {
    pub id: Option<String>,
}

/// The answer to [`DIAGNOSTICS`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Diagnostics {
    pub files: Vec<FileDiagnostics<Diagnostic>>,
}

/// The answer to [`CLOSE_DIFF`] and to [`DIFF_TEXT`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Content {
    pub content: String,
}

/// An agent, for programs and for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub name: &'static str,
    pub display_name: &'static str,
}

/// A problem as a plugin tells it: in the negotiated encoding, and with a number for its severity.
pub type Diagnostic = diagnostics::Diagnostic<Range, Option<u32>>;

/// A decision as a plugin tells it: with the hunks that were on the screen.
pub type DecideSeen = Decide<Option<Seen<Vec<usize>>>>;

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

impl<P: Into<Proposer>> From<P> for Agent {
    fn from(proposer: P) -> Self {
        let proposer = proposer.into();
        Self {
            name: proposer.name(),
            display_name: proposer.display_name(),
        }
    }
}

pub fn open_diff(mut diff: Diff) -> Value {
    // Without a copy of it, which may be all that fits into memory.
    let original = diff.original.text.take();
    let parts = parts_to_see(&diff, original.as_deref().unwrap_or_default());
    let original = original.map(String::from_utf8);
    let is_lossy = matches!(original, Some(Err(_)));
    let original = original.map(|text| text.unwrap_or_else(|it| readable(it.as_bytes())));
    let mut value = codec::written(&diff);
    if let Some(fields) = value.as_object_mut() {
        let others = [
            "proposer",
            "number",
            "written",
            "deletes",
            "isUnclear",
            "isOfSubagent",
            "mode",
            "runner",
        ];
        fields.retain(|name, _| !others.contains(&name.as_str()));
    }
    if let Some(set) = diff.set {
        value["set"]["label"] = set.to_string().into();
    }
    for (hunk, parts) in parts {
        value["hunks"][hunk]["parts"] = parts.into();
    }
    value["agent"] = json!(Agent::from(diff.proposer));
    value["does"] = diff.does().into();
    value["original"] = original.into();
    value["originalIsLossy"] = is_lossy.into();
    value
}

/// Of lines that stand in place of others, by the index of their hunk: what is to be seen of them.
fn parts_to_see(diff: &Diff, original: &[u8]) -> Vec<(usize, Vec<Value>)> {
    let mut before = original.split(|byte| *byte == b'\n').enumerate();
    let mut after = diff.proposed.split('\n').enumerate();
    let mut left = MOST_COMPARED;
    let mut found = Vec::new();
    for (at, hunk) in diff.hunks.iter().enumerate() {
        let mut parts = Vec::new();
        for (old, new) in hunk.before.clone().zip(hunk.after.clone()) {
            let old = before.find(|(line, _)| *line == old);
            let new = after.find(|(line, _)| *line == new);
            let (Some((_, old)), Some((line, new))) = (old, new) else {
                continue;
            };
            // An editor may hide a BOM, and no column is that of the program then.
            let is_counted = new.len() > SHORT && !new.starts_with('\u{feff}');
            let Some(old) = str::from_utf8(old).ok().filter(|_| is_counted && left > 0) else {
                continue;
            };
            left = left.saturating_sub(old.len() + new.len());
            for part in words::to_see(old, new).unwrap_or_default() {
                let start = new[..part.start].chars().count();
                let end = start + new[part].chars().count();
                parts.push(json!({"line": line, "start": start, "end": end}));
            }
        }
        found.extend((!parts.is_empty()).then_some((at, parts)));
    }
    found
}

/// A text with U+FFFD in place of what is no UTF-8. Made at once in its size: it may be large.
fn readable(bytes: &[u8]) -> String {
    let shown = |bytes: &[u8]| if bytes.is_empty() { "" } else { "\u{fffd}" };
    let parts = || {
        let chunks = bytes.utf8_chunks();
        chunks.flat_map(move |chunk| [chunk.valid(), shown(chunk.invalid())])
    };
    let mut text = String::with_capacity(parts().map(str::len).sum());
    text.extend(parts());
    text
}

/// The answer to a [`DECIDE`], with the diff that comes next.
pub fn decided(ruling: Ruling, next: Option<DiffId>) -> Value {
    match ruling {
        Ruling::Settled(told) => {
            let (message, clipboard) = told.map(|it| (it.message, it.clipboard)).unzip();
            json!({
                "settled": true, "code": null, "message": message, "repeat": false,
                "clipboard": clipboard.flatten(), "next": next,
            })
        }
        Ruling::Refused(refusal) => json!({
            "settled": false, "code": refusal.code, "message": refusal.message, "repeat": refusal.repeat,
            "clipboard": null, "next": null,
        }),
    }
}

/// The message that a file has another state on the disk, and this size; without one, it is gone.
pub fn changed_file(uri: &str, size: Option<u64>) -> Message {
    message::notification(DID_CHANGE_FILE, json!({"uri": uri, "size": size}))
}

/// The status that people may see in a status line, with so many diffs that wait for a decision.
pub fn status(status: &Status, pending_diffs: usize) -> Value {
    let agents = &status.agents;
    let mut knowing = Dialect::ALL.to_vec();
    knowing.retain(|agent| agent.knows_mentions() && agents.contains(agent));
    let warnings = [&*status.warnings, &*status.unasked].concat();
    json!({
        "agents": agents.iter().copied().map(Agent::from).collect::<Vec<_>>(),
        "mentions": knowing.into_iter().map(Dialect::name).collect::<Vec<_>>(),
        "pendingDiffs": pending_diffs,
        "warnings": warnings,
        "notes": status.asking,
        "review": status.review.as_ref().map(|review| json!({
            "label": review.label,
            "choices": ReviewChoice::ALL.map(ReviewChoice::name),
            "unasked": review.unasked,
        })),
        "unseen": status.unseen,
        "changes": status.changes,
        "decided": status.decided.as_ref().map(|it| &it.text),
        "atQuit": status.waiting_at_quit(),
    })
}

/// The data by which agents find the companion.
pub fn environment(published: &Published) -> Value {
    // The roots were checked when they came.
    let workspace = join_roots(&published.roots).unwrap_or_default();
    let variables = Dialect::ALL
        .into_iter()
        .flat_map(|dialect| dialect.environment(published.port, &workspace));
    let named = |paths: &[PathBuf]| -> Vec<_> {
        let names = paths.iter().map(|path| path.to_string_lossy());
        names.map(String::from).collect()
    };
    json!({
        "variables": variables.collect::<BTreeMap<_, _>>(),
        "port": published.port,
        "pid": process::id(),
        "discoveryFiles": named(&published.discovery_files),
        "roots": named(&published.roots),
        "startFolder": named(published.start.as_slice()).first(),
        "agents": Dialect::ALL.map(startable),
    })
}

/// An agent that a person can start, as plugins need to know it.
fn startable(agent: Dialect) -> Value {
    json!({
        "name": agent.name(),
        "displayName": agent.display_name(),
        "package": agent.package(),
        "command": [agent.name()],
        "extension": agent.extension(),
        "needsRun": agent.needs_run(),
        "readsLinesInPrompt": agent.reads_lines_in_prompt(),
    })
}
