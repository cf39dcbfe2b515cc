//! The differences between two texts as a unified diff.

use std::ops::Range;

use crate::Text;
use crate::hunks::{self, Hunk};

/// The number of unchanged lines that are printed around a change.
const CONTEXT: usize = 3;

/// The hunks between two texts as `diff -u` prints them, without the header that names the files. Empty if the texts are
/// the same.
pub fn unified(before: &str, after: &str) -> String {
    // Of lines of UTF-8, nothing else is made.
    String::from_utf8(patch(&Text::new(before), &Text::new(after))).unwrap_or_default()
}

/// The same of any bytes.
pub fn patch(before: &Text, after: &Text) -> Vec<u8> {
    let mut printed = Vec::new();
    let is_near = |one: &Hunk, next: &Hunk| next.before.start - one.before.end <= 2 * CONTEXT;
    for group in hunks::between(before, after).chunk_by(is_near) {
        print(&mut printed, before, after, group);
    }
    printed
}

/// Prints hunks that share their context under one header.
fn print(printed: &mut Vec<u8>, before: &Text, after: &Text, group: &[Hunk]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let leading = first.before.start.min(CONTEXT);
    let trailing = (before.len() - last.before.end).min(CONTEXT);
    let old = first.before.start - leading..last.before.end + trailing;
    let new = first.after.start - leading..last.after.end + trailing;
    printed.extend(format!("@@ -{} +{} @@\n", place(&old), place(&new)).as_bytes());
    let mut next = old.start;
    for hunk in group {
        lines(printed, b' ', before, next..hunk.before.start);
        lines(printed, b'-', before, hunk.before.clone());
        lines(printed, b'+', after, hunk.after.clone());
        next = hunk.before.end;
    }
    lines(printed, b' ', before, next..old.end);
}

/// Lines as a header of `diff -u` names them: those that are none by the line before them.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn lines(printed: &mut Vec<u8>, kind: u8, text: &Text, lines: Range<usize>) {
    for line in lines.map(|line| text.line(line)) {
        printed.push(kind);
        printed.extend(line);
        if !line.ends_with(b"\n") {
            printed.extend(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_as_diff_prints_them() {
        for (before, after, expected) in [
            ("one\ntwo\n", "one\ntwo\n", ""),
            (
                "one\ntwo\n",
                "one\nzwei\n",
                "@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n",
            ),
            ("", "new\n", "@@ -0,0 +1 @@\n+new\n"),
            (
                "a\n",
                "a",
                "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n",
            ),
            (
                "a\rb\nc\n",
                "a\rB\nc\n",
                "@@ -1,2 +1,2 @@\n-a\rb\n+a\rB\n c\n",
            ),
        ] {
            assert_eq!(unified(before, after), expected);
        }
    }

    #[test]
    fn changes_near_each_other_share_a_header_and_others_have_their_own() {
        let text = |changed: &[usize]| {
            let line = |at| match changed.contains(&at) {
                true => format!("changed {at}\n"),
                false => format!("line {at}\n"),
            };
            (1..=30).map(line).collect::<String>()
        };
        let headers = |changed: &[usize]| {
            let diff = unified(&text(&[]), &text(changed));
            let headers = diff.lines().filter(|line| line.starts_with("@@"));
            headers.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(headers(&[10, 17]), ["@@ -7,14 +7,14 @@"]);
        let apart = ["@@ -7,7 +7,7 @@", "@@ -15,7 +15,7 @@"];
        assert_eq!(headers(&[10, 18]), apart);
    }
}
