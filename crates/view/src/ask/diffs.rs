//! The requests about diffs that wait for the reviewer, and how one is named.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::ask;
use crate::decision::{Decide, Ruling};
use crate::proposal::{ProposalKey, SetPlace};

/// The diffs that wait for the reviewer, oldest first. Answered when no acceptance that has begun is being weighed any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diffs;

ask!(Diffs => Vec<PendingDiff>, "diffs", for_person: false);

/// A diff that waits for the reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingDiff {
    /// The proposal that is there now.
    #[serde(flatten)]
    pub key: ProposalKey,
    /// The agent's short name.
    pub agent: String,
    /// The file, as the agent spelt it.
    pub path: String,
    /// The place to which that path leads, if it is elsewhere.
    pub leads_to: Option<String>,
    /// Its place among the files that belong together.
    pub set: Option<SetPlace>,
    /// Of one that was asked for, the whole text as the agent proposed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
    /// The text that stands in the view, and would be accepted, if the editor has told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
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

ask!(GetDiff => PendingDiff, "diff", for_person: false);

ask!(Decide => Ruling, "decide", for_person: true);

/// `1`, or `1.3` for exactly the third proposal of diff 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRef {
    /// The diff's number.
    pub id: u64,
    /// The revision, if one is named.
    pub revision: Option<u32>,
}

impl DiffRef {
    /// This revision of a diff, and no other.
    pub fn exactly(id: u64, revision: u32) -> Self {
        let revision = Some(revision);
        Self { id, revision }
    }
}

/// That a word names no diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a diff is named by its number, such as `1`, or with its revision, such as `1.3`")]
pub struct DiffRefError;

impl FromStr for DiffRef {
    type Err = DiffRefError;

    fn from_str(text: &str) -> Result<Self, DiffRefError> {
        let (id, revision) = match text.split_once('.') {
            Some((id, revision)) => (id, Some(number(revision)?)),
            None => (text, None),
        };
        let id = number(id)?;
        Ok(Self { id, revision })
    }
}

/// Digits only: the standard library takes a sign, too.
fn number<T: FromStr>(digits: &str) -> Result<T, DiffRefError> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    number.ok_or(DiffRefError)
}

impl fmt::Display for DiffRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.revision {
            Some(revision) => write!(f, "{}.{revision}", self.id),
            None => self.id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_named_by_its_number_or_with_its_revision() {
        for (text, id, revision) in [("1", 1, None), ("1.3", 1, Some(3)), ("12.10", 12, Some(10))] {
            let diff: DiffRef = text.parse().unwrap();
            assert_eq!(diff, DiffRef { id, revision });
            assert_eq!(diff.to_string(), text);
        }
        for text in [
            "",
            "x",
            "1.",
            ".1",
            "1.2.3",
            "+1",
            "-1",
            "1.+2",
            " 1",
            "99999999999999999999",
        ] {
            assert_eq!(text.parse::<DiffRef>(), Err(DiffRefError), "{text:?}");
        }
    }
}
