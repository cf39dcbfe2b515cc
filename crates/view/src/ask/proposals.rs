//! The requests of programs that have a person decide about files: hooks, for their agents, and `pillion diff`.

use pillion_protocol::{Dialect, Note, ProposedFile};
use serde::{Deserialize, Serialize};

use super::ask;

/// The most files of a set.
pub const MAX_FILES: usize = 100;

/// Proposes files as one set, each to be decided on its own. Answered when all are shown, or one cannot be; then the program asks
/// for what came of them ([`Decisions`]). They stay as long as its connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Propose {
    /// The files, each with another path, and no more than [`MAX_FILES`].
    pub files: Vec<ProposedFile>,
    /// The agent whose change it is, if the program is its hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Dialect>,
    /// The agent's name for its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent's process, if that is known: its turn ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
}

ask!(Propose => (), "propose", for_person: false);

/// Waits for what comes of the files that this connection has proposed: answered with the next decision, or with the end of all
/// that are left. A program that has read the last answer says so ([`PassedOn`](super::PassedOn)): otherwise the person is told
/// that what they accepted was never received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions;

ask!(Decisions => Decided, "decisions", for_person: false);

/// Withdraws what this connection has proposed, and nobody has decided about. [`Decisions`] is answered then, with what the
/// person had edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdraw;

ask!(Withdraw => (), "withdraw", for_person: false);

/// Shows changes that are written already, as diffs: `7.2`, all of a turn that nobody has seen, or without a name, of the newest
/// turn that has such. What a person decides about each is done at once. Answered when all are decided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The change or the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

ask!(Look => LookedAt, "look", for_person: true);

/// What came of looking at changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LookedAt {
    /// What cannot be shown, and why: a sentence each.
    pub left_out: Vec<String>,
    /// What was done, a line each.
    pub said: Vec<String>,
    /// The reason why not all were decided.
    pub undecided: Option<Undecided>,
}

/// What came of some of the files that were proposed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The end of each, with its place among them, from 0.
    pub ends: Vec<(usize, End)>,
    /// The reason why not all were decided, if the program has not withdrawn them.
    pub why: Option<Undecided>,
}

/// The reason why a file was not decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Undecided {
    /// One could not be shown, as this sentence says.
    NotShown(String),
    /// No view shows them any more.
    Unseen,
}

/// The end for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum End {
    /// A person accepted it.
    Accepted {
        /// The text, which they may have edited.
        content: String,
        /// The text of the file over which it is to be written, as a fingerprint: the one that they compared it with last,
        /// or for a hook, the one that the file had when they decided, of which they were warned.
        base: Option<String>,
        /// Their notes.
        notes: Vec<Note>,
    },
    /// A person rejected it.
    Rejected {
        /// Their notes.
        notes: Vec<Note>,
    },
    /// Nobody decided.
    Withdrawn {
        /// The text in its view, if the person had edited it.
        edited: Option<String>,
        /// False if the view does not respond, so that it may show the proposal still.
        is_closed: bool,
    },
}

impl End {
    /// The end for a file that was not shown.
    pub const NOT_SHOWN: Self = Self::Withdrawn {
        edited: None,
        is_closed: true,
    };

    /// Returns true if a person decided.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Self::Withdrawn { .. })
    }

    /// The text that a person accepted.
    pub fn accepted(&self) -> Option<&str> {
        match self {
            Self::Accepted { content, .. } => Some(content),
            Self::Rejected { .. } | Self::Withdrawn { .. } => None,
        }
    }

    /// What the person had to say.
    pub fn notes(&self) -> &[Note] {
        match self {
            Self::Accepted { notes, .. } | Self::Rejected { notes } => notes,
            Self::Withdrawn { .. } => &[],
        }
    }
}
