//! The lines that a proposal removes, for a person who sees what it adds: marks beside the lines, and the
//! lines that went, for each place.

use std::fmt::Write as _;
use std::ops::Range;

use crate::seen::SeenLines;
use pillion_text::hunks::{self, Hunk};
use pillion_text::{Text, endings, visible};
use pillion_view::changes::ListedHunk;

/// Nobody reads more lines than this in a box.
const MAX_LINES: usize = 30;

/// More marks than this slow an editor down.
const MAX_HUNKS: usize = 1000;

/// Everything there is to see of a proposal beside its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// `LINE|MARK`, as a `line-specs` option has it.
    pub marks: Vec<String>,
    /// `FIRST LAST NUMBER` in each line: from where to where the text of this number belongs.
    pub index: String,
    /// The texts, by number.
    pub texts: Vec<String>,
    pub first: usize,
    /// The changed lines that are to be seen.
    pub seen_lines: SeenLines,
}

impl Removed {
    /// The changes that `held`, the proposed text in a buffer, makes.
    pub fn between(original: Option<&[u8]>, held: &str) -> Self {
        let mut all = Self {
            first: 1,
            ..Self::default()
        };
        let after = Text::new(held);
        let Some(original) = original else {
            // All of it is new: no mark says more.
            let nothing = Text::new("");
            all.seen_lines = SeenLines::of(&hunks::between(&nothing, &after), &nothing, held);
            return all;
        };
        let before = endings::comparable(Text::new(original), held);
        let found = hunks::between(&before, &after);
        for hunk in found.iter().take(MAX_HUNKS) {
            all.add(hunk, &before, after.len());
        }
        all.seen_lines = SeenLines::of(&found, &before, held);
        if let Some(hunk) = found.first() {
            all.first = (hunk.after.start + 1).min(after.len().max(1));
        }
        all
    }

    fn add(&mut self, hunk: &Hunk, before: &Text, len: usize) {
        // Where nothing is left, the line before which it stood, or the last one.
        let line = hunk.after.start.min(len.saturating_sub(1));
        let (marks, lines) = marks(hunk.before.len(), &hunk.after, line);
        self.marks.extend(marks);
        if hunk.before.is_empty() {
            return;
        }
        let number = self.texts.len();
        let (first, last) = (lines.start + 1, lines.end);
        // Writing to a String cannot fail.
        let _ = writeln!(self.index, "{first} {last} {number}");
        let shown = hunk.before.clone().take(MAX_LINES).map(|line| {
            let line = before.shown(line).trim_end_matches(['\r', '\n']);
            let parts: Vec<_> = line.split('\t').map(visible::one_line).collect();
            format!("- {}", parts.join("    "))
        });
        let mut lines: Vec<String> = shown.collect();
        let more = hunk.before.len().saturating_sub(MAX_LINES);
        if more > 0 {
            lines.push(format!("… and {more} more lines"));
        }
        self.texts.push(lines.join("\n"));
    }
}

/// The marks of a hunk that takes this many lines away and leaves these, and the lines that have them: `place` where none
/// is left.
fn marks(
    removed: usize,
    left: &Range<usize>,
    place: usize,
) -> (impl Iterator<Item = String> + use<>, Range<usize>) {
    let (mark, lines) = match (removed, left.len()) {
        (0, _) => ("{green}+", left.clone()),
        (_, 0) => ("{red}-", place..place + 1),
        _ => ("{yellow}~", left.clone()),
    };
    let marks = lines
        .clone()
        .map(move |line| format!("{}|{mark}", line + 1));
    (marks, lines)
}

/// The marks of hunks that stand in a file. Where nothing is left of one, the line above has it: there may be none below.
pub fn flags(hunks: &[ListedHunk]) -> impl Iterator<Item = String> {
    let of_hunk =
        |it: &ListedHunk| marks(it.removed, &it.lines, it.lines.start.saturating_sub(1)).0;
    hunks.iter().take(MAX_HUNKS).flat_map(of_hunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_change_has_its_mark_and_its_lines() {
        let removed = Removed::between(Some(b"a\nb\nc\nd\n"), "a\nB\nc\nnew\n");
        assert_eq!(removed.marks, ["2|{yellow}~", "4|{yellow}~"]);
        assert_eq!(removed.index, "2 2 0\n4 4 1\n");
        assert_eq!(removed.texts, ["- b", "- d"]);
        assert_eq!(removed.first, 2);
        let removed = Removed::between(Some(b"a\nb\n"), "a\n");
        assert_eq!(removed.marks, ["1|{red}-"]);
        assert_eq!(removed.index, "1 1 0\n");
        let removed = Removed::between(Some(b"a\n"), "a\nb\nc\n");
        assert_eq!(removed.marks, ["2|{green}+", "3|{green}+"]);
        assert!(removed.texts.is_empty());
        let removed = Removed::between(None, "a\nb\n");
        assert!(removed.marks.is_empty(), "all of it is new");
        assert_eq!(
            removed.seen_lines.specs().collect::<Vec<_>>(),
            ["1|0", "2|1"]
        );
    }

    #[test]
    fn what_went_controls_no_terminal() {
        let removed = Removed::between(Some(b"\x1b[31mred\n"), "x\n");
        assert!(!removed.texts[0].contains('\u{1b}'), "{removed:?}");
    }
}
