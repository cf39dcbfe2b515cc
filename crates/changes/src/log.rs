//! The log: what a person decided about each proposal, and what they wrote in one that nobody has decided about.

use std::fmt;
use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pillion_discovery::exact;
use pillion_protocol::Note;
use pillion_system::process;
use serde::{Deserialize, Serialize};

use crate::state::{FileState, Hash};
use crate::turn;

/// A proposal of one file, with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its number, from 1.
    pub number: u64,
    /// Its state.
    pub state: EntryState,
    /// The time when it was decided, or edited last: milliseconds since 1970.
    pub at: u64,
    /// The proposal.
    #[serde(flatten)]
    pub proposal: Proposal,
    /// The turn of the agent in which it was decided, if one was known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<u64>,
    /// The person's notes to the agent.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
    /// The text that was accepted, or that the person has made of it; none if that is the text as proposed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edited: Option<FileState>,
    /// The process in which it is pending; none once it is not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pending_in: Option<u32>,
    /// The process that finds out what comes of it, if it was accepted; none once that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub awaited_in: Option<u32>,
    /// What came of it, if it was accepted and that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<WriteOutcome>,
    /// True if the person answered in the agent's own window.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_elsewhere: bool,
    /// True if this was offered to the person again, or if a later proposal of the file was decided: it is not offered again.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_closed: bool,
}

/// A proposal as the log knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The short name of the agent.
    pub agent: String,
    /// The file.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// The folders of the workspace.
    #[serde(with = "exact::paths")]
    pub roots: Vec<PathBuf>,
    /// Its place in its set, and how many files that has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub set: Option<(u32, u32)>,
    /// The change that it shows, if that is written already: what was decided about it stands in its turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written: Option<String>,
    /// The text that it was compared with.
    pub before: FileState,
    /// The proposed text; absent if the file was to be deleted.
    pub proposed: FileState,
}

/// The state of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryState {
    /// It was accepted as proposed.
    Accepted,
    /// It was accepted with edits, or without some of its hunks.
    Edited,
    /// It was rejected.
    Rejected,
    /// Nobody has decided about what the person has made of it.
    Undecided,
}

/// What came of a text that was accepted: a fact of its own, which is known later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub enum WriteOutcome {
    /// The file has it.
    Written,
    /// The agent wrote another text.
    WrittenDifferently,
    /// The file is as it was.
    NotWritten {
        /// The reason, as a few words.
        why: String,
    },
}

impl WriteOutcome {
    /// Its name in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::WrittenDifferently => "written differently",
            Self::NotWritten { .. } => "not written",
        }
    }

    /// The reason why nothing was written.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::NotWritten { why } => Some(why),
            Self::Written | Self::WrittenDifferently => None,
        }
    }
}

/// With the reason.
impl fmt::Display for WriteOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.why().map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}

impl EntryState {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Edited => "edited",
            Self::Rejected => "rejected",
            Self::Undecided => "not decided",
        }
    }
}

impl Entry {
    /// Returns true if the proposal still waits for a decision.
    pub fn is_pending(&self) -> bool {
        self.pending_in.is_some_and(process::is_alive)
    }

    /// The text after: what was accepted, what the person has made of it, or what was rejected.
    pub fn after(&self) -> &FileState {
        self.edited.as_ref().unwrap_or(&self.proposal.proposed)
    }

    /// Its state in words. What was not written is not called accepted.
    pub fn shown_state(&self) -> &'static str {
        match &self.outcome {
            Some(outcome @ WriteOutcome::NotWritten { .. }) => outcome.name(),
            _ => self.state.name(),
        }
    }

    /// What came of it, in the words that stand beside its state; none if nothing is known.
    pub fn shown_outcome(&self) -> Option<&str> {
        let outcome = self.outcome.as_ref()?;
        Some(outcome.why().unwrap_or(outcome.name()))
    }

    /// This came of it. What the person answered in the agent's own window is known by that.
    pub(crate) fn came_of(&mut self, outcome: WriteOutcome) {
        self.awaited_in = None;
        let is_rejected = self.is_elsewhere && outcome.why().is_some();
        if self.is_elsewhere {
            self.state = match is_rejected {
                true => EntryState::Rejected,
                false => EntryState::Accepted,
            };
        }
        self.outcome = Some(outcome).filter(|_| !is_rejected);
    }

    /// The names of the texts that it needs.
    pub fn texts(&self) -> impl Iterator<Item = &Hash> {
        let Proposal {
            before, proposed, ..
        } = &self.proposal;
        let states = [Some(before), Some(proposed), self.edited.as_ref()];
        states.into_iter().flatten().filter_map(FileState::text)
    }

    /// Its name.
    pub fn name(&self) -> EntryRef {
        EntryRef(self.number)
    }
}

impl Proposal {
    /// Returns true if both are proposals of one file, or show one change that is written.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        self.path == other.path && self.written == other.written
    }

    /// The path as it is shown, as in turns.
    pub fn shown(&self) -> &Path {
        turn::shown(&self.roots, &self.path)
    }
}

/// Names an entry: `d12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("d{_0}")]
pub struct EntryRef(pub u64);

impl FromStr for EntryRef {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.strip_prefix('d').unwrap_or("").parse().map(Self)
    }
}
