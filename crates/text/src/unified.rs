//! The differences between two texts as a unified diff.

use std::time::Duration;

use similar::TextDiff;

/// The time limit for the comparison. Lines that were not compared by then count as changed.
const TIMEOUT: Duration = Duration::from_millis(200);

/// The number of unchanged lines that are printed around a change.
const CONTEXT: usize = 3;

/// The hunks between two texts as `diff -u` prints them, without the header that names the files. Empty if the texts are
/// the same.
pub fn unified(before: &str, after: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(TIMEOUT)
        .diff_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).to_string()
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
        ] {
            assert_eq!(unified(before, after), expected);
        }
    }
}
