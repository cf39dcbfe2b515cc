//! A proposal that the person has merged with the file, which another program has changed since the proposal came.

use std::ops::Range;
use std::path::Path;

use pillion_text::endings::comparable;
use pillion_text::merge::{self, Merged};
use pillion_text::{Text, fingerprint};

use crate::original::Original;

/// What was found in the file.
#[derive(Debug)]
pub struct FileChange {
    before: Text,
    now: Text,
    fingerprint: String,
}

impl FileChange {
    /// Merges what is `proposed`, which comes from the text `before`, with the file as it is now. Where both changed the
    /// same lines, those of the file stay. Waits for the disk.
    ///
    /// # Errors
    /// If there is nothing to merge with, as a sentence for the person.
    pub fn merge(path: &Path, before: &[u8], proposed: &str) -> Result<(Self, Merged), String> {
        let file = Original::read(path).map_err(|error| error.to_string())?;
        let bytes = file
            .text
            .ok_or("the file is gone: there is nothing to merge with")?;
        let fingerprint = fingerprint::of(Some(&bytes));
        if std::str::from_utf8(&bytes).is_err() || bytes.contains(&0) {
            return Err("the file is no text in UTF-8, so it cannot be merged".to_owned());
        }
        let [before, now] =
            [before.to_owned(), bytes].map(|it| comparable(Text::new(it), proposed));
        if before.bytes() == now.bytes() {
            return Err(
                "the file is as it was proposed: there is nothing to merge with".to_owned(),
            );
        }
        let merged = merge::texts(&before, &Text::new(proposed), &now);
        let found = Self {
            before,
            now,
            fingerprint,
        };
        Ok((found, merged))
    }

    /// The fingerprint of the file that it was merged with, if what is `accepted` has all that was changed there: whoever
    /// has taken the merge back loses that change.
    pub fn base(&self, accepted: &str) -> Option<&str> {
        let accepted = Text::new(accepted);
        let merged = merge::texts(&self.before, &self.now, &accepted);
        // Where both have changed lines, those of the file may stand among others.
        let stands = |[_, now, in_accepted]: [Range<usize>; 3]| {
            let lines = self.now.slice(now.clone());
            let mut starts = in_accepted.start..in_accepted.end;
            !now.is_empty()
                && starts.any(|at| {
                    let end = (at + now.len()).min(in_accepted.end);
                    accepted.slice(at..end) == lines
                })
        };
        let conflicts = merge::conflicts(&self.before, &self.now, &accepted);
        let has_all = merged.text == accepted.bytes() && conflicts.into_iter().all(stands);
        has_all.then_some(&*self.fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_has_the_change_of_the_file_or_is_not_based_on_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        for (before, now, proposed, merged, without) in [
            (
                "a\nb\nc\n",
                "a\nb\nC\n",
                "A\nb\nc\n",
                "A\nb\nC\n",
                "A\nb\nc\n",
            ),
            // Both changed the line: that of the file stays.
            ("a\nb\n", "1\nb\n", "2\nb\n", "1\nb\n", "2\nb\n"),
            (
                "a\r\nb\r\n",
                "a\r\nb\r\nc\r\n",
                "A\nb\n",
                "A\nb\nc\n",
                "A\nb\n",
            ),
            ("", "mine\n", "theirs\n", "mine\n", "theirs\n"),
        ] {
            std::fs::write(&path, now).unwrap();
            let (change, found) = FileChange::merge(&path, before.as_bytes(), proposed).unwrap();
            assert_eq!(String::from_utf8_lossy(&found.text), merged);
            let file = fingerprint::of(Some(now.as_bytes()));
            assert_eq!(change.base(merged), Some(&*file), "{now:?}");
            assert_eq!(
                change.base(&format!("{merged}more\n")),
                Some(&*file),
                "{now:?}"
            );
            assert_eq!(change.base(without), None, "{now:?}");
            assert_eq!(change.base(before), None, "{now:?}");
        }
    }

    #[test]
    fn where_there_is_nothing_to_merge_with_that_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let why = |now: Option<&[u8]>| {
            drop(std::fs::remove_file(&path));
            if let Some(now) = now {
                std::fs::write(&path, now).unwrap();
            }
            FileChange::merge(&path, b"a\n", "b\n").unwrap_err()
        };
        for (now, expected) in [
            (None, "the file is gone"),
            (Some(&b"a\n"[..]), "as it was proposed"),
            (Some(b"caf\xe9\n"), "no text in UTF-8"),
            (Some(b"a\0\n"), "no text in UTF-8"),
        ] {
            assert!(why(now).contains(expected), "{now:?}");
        }
    }
}
