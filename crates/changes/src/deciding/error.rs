//! What a person does to changes, and why it is not done.

use crate::save::SaveError;
use crate::staging::StageError;
use crate::store::StoreError;
use crate::take_back::TakeBackError;
use crate::turn::ChangeRef;

/// An action of a person on changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// They stay, and count as seen.
    Keep,
    /// The text before comes back.
    TakeBack,
    /// A change that was taken back or edited comes back.
    Undo,
}

/// Changes of a turn with which an act is done at once, or not at all.
#[derive(Debug)]
pub struct Together {
    /// The act.
    pub act: Act,
    /// The changes: the one with which it was tried is the first.
    pub names: Vec<ChangeRef>,
}

impl Together {
    /// The command for that, as advice.
    fn hint(&self) -> String {
        let turn = self.names.first().map_or(0, |it| it.turn).to_string();
        let names: Vec<_> = self.names.iter().map(ToString::to_string).collect();
        match (self.act, names.len()) {
            (Act::Undo, _) => format!("Undo them at once: `pillion undo {turn}`"),
            (_, ..=MOST_NAMED) => {
                format!(
                    "Take them back at once: `pillion revert {}`",
                    names.join(" ")
                )
            }
            _ => format!("Take them back at once: `pillion revert {turn}`"),
        }
    }
}

/// Of more changes, their turn is named.
pub(super) const MOST_NAMED: usize = 5;

/// The reason why something is not done. Everything is as it was then.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is nothing to undo.
    #[error("{0} was not taken back")]
    NotTakenBack(ChangeRef),
    /// There is nothing to undo in the folder.
    #[error("nothing has been kept or taken back here")]
    NothingDecided,
    /// The agent has written it again since the person was shown it.
    #[error("the agent has changed it since it was shown: look at it again")]
    ChangedSinceShown,
    /// No hunk stands at the lines that were named.
    #[error("at these lines of {0}, nothing of an agent's change can be taken back by itself")]
    NoHunk(String),
    /// The agent may be writing the file at this moment.
    #[error("{agent} is running {tool}, which may be changing it")]
    Running {
        /// The name that people use for the agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The agent has moved a file, and the text is not back in its former place.
    #[error("{path} holds the text of {of}, which is not back")]
    OnlyCopy {
        /// The file, as it is shown.
        path: String,
        /// The one whose text it is, as it is shown.
        of: String,
        /// The names of both changes, and how they are decided about at once.
        both: Together,
    },
    /// Another change of the turn is in the place of the file, or of one of its folders.
    #[error("{by} is in the way of {path}")]
    InTheWay {
        /// The file, as it is shown.
        path: String,
        /// The other one, as it is shown.
        by: String,
        /// The names of both changes and of all others that are in the way.
        all: Together,
    },
    /// The agent may have moved a file of which no text is kept.
    #[error("{path} may be {of}, moved: that is gone, was as long, and its contents were not kept")]
    MayBeMoved {
        /// The file, as it is shown.
        path: String,
        /// The one that is gone, as it is shown.
        of: String,
    },
    /// The two names of a file that was renamed are one to the system, as where it ignores case.
    #[error("{path} is {of} as well: the system does not tell these names apart")]
    OneFile {
        /// The file, as it is shown.
        path: String,
        /// Its former name, as it is shown.
        of: String,
    },
    /// What was taken back does not fit into the file any more.
    #[error("{why}")]
    NotUndone {
        /// The change.
        name: ChangeRef,
        /// The reason.
        why: String,
    },
    /// It cannot be taken back.
    #[error(transparent)]
    TakeBack(#[from] TakeBackError),
    /// It cannot be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DecideError {
    /// Advice on what a person can do about it, if there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::MayBeMoved { path, of } => {
                return Some(format!(
                    "Move {path} to {of} yourself, or delete it if nothing is missing in it."
                ));
            }
            Self::OneFile { path, of } => {
                return Some(format!(
                    "Rename {path} to {of} yourself: nothing else is left to do."
                ));
            }
            Self::Running { .. } => "Try again when it has ended.",
            Self::OnlyCopy { of, both, .. } => {
                let at_once = both.hint();
                return Some(format!(
                    "{at_once}; if something else is at {of}, move that aside before."
                ));
            }
            Self::InTheWay { all, .. } => return Some(format!("{}.", all.hint())),
            Self::NotUndone { name, .. } => {
                return Some(format!("`pillion show {name}` prints what was taken back."));
            }
            Self::Store(error) => return error.hint().map(|hint| format!("{hint}.")),
            Self::TakeBack(error) => return error.hint(),
            Self::Stage(error) => return error.hint(),
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// The error, and what to do about it, for a status line.
    pub fn in_full(&self) -> String {
        if let Self::Store(error) = self {
            return error.in_full();
        }
        let hint = self.hint();
        let hint = hint.as_deref().map(|hint| hint.trim_end_matches('.'));
        hint.map_or_else(|| self.to_string(), |hint| format!("{self}; {hint}"))
    }

    /// Returns true if the file is neither as it was nor as it is to be: that can be done again.
    pub fn is_unfinished(&self) -> bool {
        let is_incomplete =
            |it: &TakeBackError| matches!(it, TakeBackError::Save(SaveError::Incomplete { .. }));
        matches!(self, Self::TakeBack(error) if is_incomplete(error))
    }
}
