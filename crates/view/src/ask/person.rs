//! The requests by which a person speaks, beside decisions about diffs, and sees what agents see.

use std::path::PathBuf;

use pillion_discovery::exact;
use pillion_protocol::verdict::Lines;
use pillion_protocol::{Dialect, IdeContext, ReviewChoice, Stranger};
use serde::{Deserialize, Serialize};

use super::ask;
use crate::changes::{ActDone, ChangesAct, ChangesList};
use crate::editor::Chosen;
use crate::tell::OpenFile;

/// A file has the focus. Answered when that was sent to agents, or would have been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Focus(pub OpenFile);

ask!(Focus => (), "focus", for_person: true);

/// Waits for the context that agents are shown, if it is another one than this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetContext {
    /// The number of the one that is known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
}

ask!(GetContext => ShownContext, "context", for_person: false);

/// A context that agents are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownContext {
    /// Its number among those of the companion.
    pub number: u64,
    /// What they are shown.
    pub context: IdeContext,
}

/// A file that an agent is pointed to: the agent that was last active, of those that know mentions. Answered with the one
/// whose prompt names it now, if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// Its absolute path.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// Its lines that are meant; the whole file if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
}

ask!(Mention => Option<Dialect>, "mention", for_person: true);

/// Chooses when agents are to ask before they change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetReview {
    /// The person's choice.
    pub choice: ReviewChoice,
    /// The number of the one agent that is meant, where several of a kind are connected; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

ask!(SetReview => Chosen, "setReview", for_person: true);

/// Tells when agents ask before they change files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetReview {
    /// As in [`SetReview`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

ask!(GetReview => Chosen, "getReview", for_person: false);

/// A person has judged elsewhere what agents had written: what nobody has seen is to be counted anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recount;

ask!(Recount => (), "recount", for_person: true);

/// Answered once it is known what agents have changed by now; false if that takes long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatchUp;

ask!(CatchUp => bool, "catchUp", for_person: false);

/// Nothing but whether whoever asks speaks for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speak;

ask!(Speak => (), "speak", for_person: true);

/// Whether processes are the person's, of which one may dial a view: a browser. Answered with the reason why one is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArePersons {
    /// The processes.
    pub pids: Vec<u32>,
}

ask!(ArePersons => Option<Stranger>, "arePersons", for_person: false);

/// Sends the notes that wait for an agent at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendNotes {
    /// The agent that is meant; all without it.
    pub agent: Option<Dialect>,
    /// Its number, where several of a kind are connected; all without it.
    pub number: Option<u64>,
}

ask!(SendNotes => Chosen, "sendNotes", for_person: true);

/// The changes that agents have written already are to be listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes;

ask!(Changes => ChangesList, "changes", for_person: false);
ask!(ChangesAct => ActDone, "act", for_person: true);
