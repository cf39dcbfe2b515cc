//! Damage that a change may do to a text: most of it is deleted, or becomes unreadable.

use crate::Text;
use crate::hunks::Hunk;

/// A file of fewer lines is short enough to be seen whole.
const LONG_FILE: usize = 20;

/// Stands for what could not be read.
const UNREADABLE: char = '\u{fffd}';

/// Returns true if so few of so many lines are left that a person would want to know.
pub fn deletes_most(of: usize, left: usize) -> bool {
    of >= LONG_FILE && of.saturating_sub(left) > of / 2
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
