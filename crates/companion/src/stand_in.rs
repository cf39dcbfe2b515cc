//! The stand-in that a proposal is compared with, in place of the text that its file has.

use std::sync::Arc;

use pillion_changes::looking::Shown;
use pillion_protocol::held::{Held, HeldCall};
use pillion_view::ModeChange;
use pillion_view::changes::IS_WRITTEN;

/// A stand-in for the file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StandIn {
    /// The call that a hook holds: of a part of the file, or of what is no file.
    Held(HeldCall),
    /// The text before a change that is written already, and whether it says what deciding about it does: the first one does.
    Written(Arc<Shown>, bool),
}

impl StandIn {
    /// The text, where the file has these bytes, and what people are told of it.
    ///
    /// # Errors
    /// A sentence for the agent: there is no such part.
    pub(crate) fn find(&self, file: &[u8]) -> Result<Held, String> {
        match self {
            Self::Held(held) => held.find(file),
            Self::Written(shown, explains) => Ok(Held {
                text: shown.text_before(),
                notes: { self.mode().map(|mode| mode.to_string()).into_iter() }
                    .chain(shown.link.map(str::to_owned))
                    .chain(shown.moved())
                    .chain(shown.present.since())
                    .chain(explains.then(|| IS_WRITTEN.to_owned()))
                    .collect(),
            }),
        }
    }

    /// The permissions, if a change that is written already gave the file others.
    pub(crate) fn mode(&self) -> Option<ModeChange> {
        let Self::Written(shown, _) = self else {
            return None;
        };
        let (before, after) = shown.mode?;
        Some(ModeChange { before, after })
    }

    /// Returns the call that a hook holds.
    pub(crate) fn held(&self) -> Option<&HeldCall> {
        match self {
            Self::Held(held) => Some(held),
            Self::Written(..) => None,
        }
    }

    /// What the file has beside the cell of a notebook that this is.
    pub(crate) fn beside(&self, file: &[u8]) -> Option<String> {
        self.held()?.split(file, false).map(|(rest, _)| rest)
    }

    /// Returns true if what is accepted is still to be written to the file: a shell command is no file, and a change may be
    /// written already.
    pub(crate) fn is_to_be_written(&self) -> bool {
        self.held().is_some_and(|held| !held.is_command())
    }
}
