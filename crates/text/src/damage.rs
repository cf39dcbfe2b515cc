//! Damage that a change may do to a text: most of it is deleted, or becomes unreadable.

use crate::Text;
use crate::hunks::{self, Hunk};

/// A file of fewer lines is short enough to be seen whole.
const LONG_FILE: usize = 20;

/// Stands for what could not be read.
const UNREADABLE: &str = "\u{fffd}";

/// Returns true if so few of so many lines are left that a person would want to know.
pub fn deletes_most(of: usize, left: usize) -> bool {
    of >= LONG_FILE && of.saturating_sub(left) > of / 2
}

/// The number of lines that say U+FFFD after, and did not say it before. Texts are compared only if one says it.
pub fn count_unreadable(before: &[u8], after: &str) -> usize {
    if !after.contains(UNREADABLE) {
        return 0;
    }
    let (before, after) = (Text::new(before), Text::new(after));
    let hunks = hunks::between(&before, &after);
    let lines = hunks.iter().map(|it| unreadable(it, &before, &after).len());
    lines.sum()
}

/// The lines after, of a hunk, that say U+FFFD and did not say it before.
pub fn unreadable(hunk: &Hunk, before: &Text, after: &Text) -> Vec<usize> {
    let count = |line: &[u8]| String::from_utf8_lossy(line).matches(UNREADABLE).count();
    // What is not UTF-8 is shown so, but does not say it.
    let said =
        |line: &[u8]| std::str::from_utf8(line).map_or(0, |line| line.matches(UNREADABLE).count());
    let mut known: usize = hunk
        .before
        .clone()
        .map(|line| said(before.line(line)))
        .sum();
    let mut lines = Vec::new();
    for line in hunk.after.clone() {
        let found = count(after.line(line));
        if found > known {
            lines.push(line);
        }
        known = known.saturating_sub(found);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_unreadable_that_say_so_and_did_not_before() {
        for (before, after, expected) in [
            (&b"a\n"[..], "b\n", 0),
            (b"", "", 0),
            (b"a\nb\n", "a\u{fffd}\nb\n", 1),
            (b"a\xff\nb\n", "a\u{fffd}\nb\n", 1),
            ("a\u{fffd}\nb\n".as_bytes(), "a\u{fffd}\nc\n", 0),
            ("a\u{fffd}\n".as_bytes(), "b\u{fffd}\n", 0),
            (b"", "\u{fffd}\n\u{fffd}", 2),
            // The last byte of it is that of other characters, too.
            (b"", "\u{bd}\n", 0),
        ] {
            assert_eq!(count_unreadable(before, after), expected, "{after:?}");
        }
    }
}
