//! A proposal: a change of one file, in one revision.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use pillion_discovery::exact;
use pillion_protocol::Proposer;
use pillion_text::hunks::Hunk;
use pillion_text::visible;
use serde::{Deserialize, Serialize};

use crate::original::Original;

/// The number of a diff. Never used twice: not by another hub or companion either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DiffId(pub u64);

impl fmt::Display for DiffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One revision of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, derive_more::Display)]
#[display("{id}.{revision}")]
pub struct ProposalKey {
    /// The diff.
    pub id: DiffId,
    /// The number of this one among the proposals that were put into its view, from 1.
    pub revision: u32,
}

/// The place of a file in a set: files that belong together, and are decided one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[display("{place} of {of}")]
pub struct SetPlace {
    /// The number of the set, the same for all of its files, and never that of another set.
    pub id: u64,
    /// The place of this file, from 1.
    pub place: u32,
    /// The number of files in the set, those that are decided included.
    pub of: u32,
}

impl SetPlace {
    /// Returns the text after the name of a file: ` (2 of 3)`, or nothing if it is in no set.
    pub fn after_name(set: Option<Self>) -> String {
        set.map_or_else(String::new, |place| format!(" ({place})"))
    }
}

/// A proposed change, to be shown to the person who reviews it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Its number. An [`EditorEvent::Open`](crate::EditorEvent::Open) with the number of a view that is open puts the new
    /// proposal into that view.
    pub id: DiffId,
    /// Counts the proposals that were put into this view, from 1. A decision names the one that it
    /// is about.
    pub revision: u32,
    /// Who proposes it.
    pub proposer: Proposer,
    /// The proposer's number, which no other one gets.
    pub number: u64,
    /// The file that the agent wants to change: absolute, no folder, perhaps not there yet.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// That file as it was when the proposal came.
    pub original: Original,
    /// The whole proposed text.
    #[serde(with = "exact::shared")]
    pub proposed: Arc<String>,
    /// The notes for the person about what the agent will write, each a sentence.
    pub notes: Vec<String>,
    /// The places where the two texts differ; empty unless [`Editor::compares`](crate::Editor::compares) asks for it.
    pub hunks: Vec<Hunk>,
    /// Its place among the files that belong together, the same in every revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<SetPlace>,
    /// True if the file is to be deleted, for which the proposed text is empty.
    #[serde(default)]
    pub deletes: bool,
    /// True if `original` is not what the file has: a part of it, or the text before a change that is written already.
    #[serde(default)]
    pub original_is_other: bool,
    /// If the change is in the file already, which change of which turn it is: `7.2`.
    pub written: Option<String>,
    /// True if it is, and nobody knows who made it.
    #[serde(default)]
    pub is_unclear: bool,
    /// True if a subagent of the agent proposes it.
    #[serde(default)]
    pub is_of_subagent: bool,
    /// The program that runs or obeys the file, if any does: a sentence without a full stop.
    #[serde(default)]
    pub runner: Option<String>,
    /// The permissions, if the change that is written already gave the file others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeChange>,
}

/// A change of a file's permissions, which no text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeChange {
    /// Those before, as Unix has them; none if the file was not there.
    pub before: Option<u32>,
    /// Those that it got.
    pub after: u32,
}

impl ModeChange {
    /// Returns true if more people may run the file, or as somebody else.
    pub fn makes_executable(self) -> bool {
        self.after & !self.before.unwrap_or_default() & 0o7111 != 0
    }
}

impl fmt::Display for ModeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, after) = (
            if self.makes_executable() {
                "The file is made executable"
            } else {
                "The file gets other permissions"
            },
            self.after,
        );
        match self.before {
            Some(before) => write!(f, "{what}: mode {before:o} → {after:o}."),
            None => write!(f, "{what}: mode {after:o}."),
        }
    }
}

impl Diff {
    /// Returns the name of its file for people.
    pub fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        visible::one_line(&name.to_string_lossy())
    }

    /// Returns the verb for what the proposer does, between its name and that of the file.
    pub fn does(&self) -> &'static str {
        match (self.written.is_some(), self.deletes) {
            (true, false) if self.is_unclear => "may have written",
            (true, true) if self.is_unclear => "may have deleted",
            (true, false) => "has written",
            (true, true) => "has deleted",
            (false, true) => "proposes to delete",
            (false, false) => "proposes",
        }
    }
}
