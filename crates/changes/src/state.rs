//! The state of a file at one moment, and the name of its text in the store.

use std::path::Path;
use std::str::FromStr;

use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};

use crate::scan::Stat;

/// The SHA-256 of a text, in hexadecimal: its name in the store.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, derive_more::Debug,
)]
#[debug("{}", &_0[..8])]
#[serde(try_from = "String", into = "String")]
pub struct Hash(String);

/// A text that is not the name of one.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a SHA-256 in hexadecimal")]
pub struct NoHash(String);

impl Hash {
    /// The name of this text.
    pub fn of(bytes: &[u8]) -> Self {
        Self(fingerprint::hash(bytes))
    }

    /// 64 hexadecimal digits, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Hash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match text.len() == 64 && text.bytes().all(is_digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(NoHash(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Hash {
    type Error = NoHash;

    fn try_from(text: String) -> Result<Self, NoHash> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.0
    }
}

/// Permissions that no agent gives a new file that it writes: who may run it, and as whom.
const RUNS: u32 = 0o7111;

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Its permissions, as Unix has them; 0 elsewhere.
        mode: u32,
        /// Its size in bytes.
        size: u64,
        /// Its text; none if that was not kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        text: Option<Hash>,
    },
    /// A symbolic link.
    Link {
        /// The target of the link, as bytes in the store; none if that was not kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        text: Option<Hash>,
    },
}

impl FileState {
    /// A file of which nothing is known.
    pub fn unknown() -> Self {
        Self::File {
            mode: 0,
            size: 0,
            text: None,
        }
    }

    /// The name of its text; none if there is none, or if it was not kept.
    pub fn text(&self) -> Option<&Hash> {
        match self {
            Self::Absent => None,
            Self::File { text, .. } | Self::Link { text } => text.as_ref(),
        }
    }

    /// The fingerprint of the text that is shown of it; none of a link, or if its text was not kept.
    fn fingerprint(&self) -> Option<String> {
        match self {
            Self::Absent => Some(fingerprint::of(None)),
            Self::File { text, .. } => Some(fingerprint::of_hash(text.as_ref()?.as_str())),
            Self::Link { .. } => None,
        }
    }

    /// Returns true if a person who was shown what leads from one of these texts to the one after was shown all that leads from
    /// this state to that one: permissions are not shown.
    pub(crate) fn is_all_shown(&self, texts: &[String], after: &Self) -> bool {
        let is_as_before = match (self.mode(), after.mode()) {
            (Some(before), Some(after)) => before == after,
            (None, Some(after)) => after & RUNS == 0,
            (_, None) => after.is_absent(),
        };
        is_as_before && self.fingerprint().is_some_and(|it| texts.contains(&it))
    }

    /// The permissions of a regular file.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } => Some(*mode),
            Self::Absent | Self::Link { .. } => None,
        }
    }

    /// The permissions before, if there was a file, and after, where they became others or a new file runs: no text shows them.
    pub fn mode_beside_text(&self, after: &Self) -> Option<(Option<u32>, u32)> {
        let (before, after) = (self.mode(), after.mode()?);
        let is_shown = before.map_or(after & RUNS != 0, |before| before != after);
        is_shown.then_some((before, after))
    }

    /// What became of a file, in a word.
    pub fn kind_of_change(&self, after: &Self) -> &'static str {
        match (self, after) {
            (Self::Link { .. }, _) | (_, Self::Link { .. }) => "link",
            (Self::Absent, _) => "new",
            (_, Self::Absent) => "deleted",
            (
                Self::File {
                    mode: old, text, ..
                },
                Self::File {
                    mode: new,
                    text: now,
                    ..
                },
            ) => match old != new && text == now && text.is_some() {
                true => "mode",
                false => "changed",
            },
        }
    }

    /// Returns true if there was nothing.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns true if it is a file without a text.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::File { size: 0, .. })
    }

    /// Returns true if all of it is known: nothing was there, or its text was kept.
    pub fn is_known(&self) -> bool {
        self.is_absent() || self.text().is_some()
    }
}

/// The permissions of a folder, as Unix has them: 0 elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderMode {
    /// Those before.
    pub before: u32,
    /// Those after; none if it was gone then.
    pub after: Option<u32>,
}

/// The state that is being written to a path for a person, and the one that it replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Writing {
    /// The state that is to be there.
    pub written: FileState,
    /// The time when that was decided, in milliseconds since 1970.
    #[serde(default)]
    pub at: u64,
    /// The time by which the person's act is known of which it is a part.
    #[serde(default)]
    pub act: u64,
    /// The turn of the change; none if that was not noted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<u64>,
    /// The state that was there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub overwritten: Option<FileState>,
    /// The permissions of the folders around it, if they may be others since.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub folder_modes: Vec<FolderMode>,
    /// The text that what is written is a change of: with the same one, the same was decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<FileState>,
    /// The `after` of the change that is taken back or edited, or for which that is undone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<FileState>,
    /// The progress of it.
    #[serde(default)]
    pub stage: Stage,
}

impl Writing {
    /// Returns true if what is at this path may be what was written: nobody has written it again. Without a path, nothing is there.
    pub(crate) fn stands_at(&self, path: Option<&Path>) -> bool {
        match self.stage {
            Stage::Begun | Stage::InPlace => true,
            Stage::Failed => false,
            Stage::Done { stat, .. } => {
                path.map_or(Some(None), |it| Stat::at(it).ok()) == Some(stat)
            }
        }
    }
}

/// The progress of what is written for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// It may be there, or not yet.
    #[default]
    Begun,
    /// It is written in place, and a part of it may be there.
    InPlace,
    /// It was not written.
    Failed,
    /// All of it is there.
    Done {
        /// The facts about the file then: with others, somebody has written it again.
        stat: Option<Stat>,
        /// The time then, in milliseconds since 1970.
        at: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_is_read_as_one() {
        let hash = Hash::of(b"text");
        assert_eq!(hash.as_str().parse::<Hash>().unwrap(), hash);
        for wrong in [
            "",
            "../../etc/passwd",
            &hash.as_str().to_uppercase(),
            &hash.as_str()[1..],
        ] {
            assert!(wrong.parse::<Hash>().is_err(), "{wrong}");
            assert!(serde_json::from_value::<Hash>(wrong.into()).is_err());
        }
    }

    #[test]
    fn a_state_is_written_and_read_again() {
        let text = Some(Hash::of(b"a"));
        for state in [
            FileState::Absent,
            FileState::File {
                mode: 0o644,
                size: 1,
                text: text.clone(),
            },
            FileState::File {
                mode: 0,
                size: 9,
                text: None,
            },
            FileState::Link { text },
        ] {
            let json = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<FileState>(&json).unwrap(), state);
        }
    }
}
