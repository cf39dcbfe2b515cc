//! The name of a diff: its number, or that with the revision of the proposal.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
