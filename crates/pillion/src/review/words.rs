//! Which words of a changed line changed.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use unicode_segmentation::UnicodeSegmentation;

/// Longer lines are not compared word by word.
const MAX_LINE: usize = 2_000;

/// The byte ranges of a line that differ from the other version of it.
pub type Ranges = Vec<Range<usize>>;

/// The words of `text`: runs of letters and digits, runs of spaces, and every other character.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = kind(rest.chars().next()?);
        let end = match kind {
            Kind::Other => rest.graphemes(true).next().map_or(1, str::len),
            _ => rest
                .find(|char| self::kind(char) != kind)
                .unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// What differs between two versions of a line; `None` when they are so different that marking
/// words would only be noise.
pub fn changed(left: &str, right: &str) -> Option<(Ranges, Ranges)> {
    if left.len().max(right.len()) > MAX_LINE {
        return None;
    }
    let mut input = InternedInput::default();
    input.update_before(split(left));
    input.update_after(split(right));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let before: Vec<_> = split(left).collect();
    let after: Vec<_> = split(right).collect();
    let common: usize = (before.iter().enumerate())
        .filter(|(index, word)| {
            !word.trim().is_empty() && u32::try_from(*index).is_ok_and(|at| !diff.is_removed(at))
        })
        .map(|(_, word)| word.len())
        .sum();
    let (left_len, right_len) = (left.trim().len(), right.trim().len());
    let (shorter, longer) = (left_len.min(right_len), left_len.max(right_len));
    if common * 10 < longer * 3 || common * 10 < shorter * 6 {
        return None;
    }
    let hunks: Vec<_> = diff.hunks().collect();
    let removed = hunks.iter().map(|hunk| hunk.before.clone());
    let added = hunks.iter().map(|hunk| hunk.after.clone());
    Some((ranges(&before, removed), ranges(&after, added)))
}

/// Turns ranges of words into ranges of bytes; two with only spaces between them become one.
fn ranges(words: &[&str], changed: impl Iterator<Item = Range<u32>>) -> Ranges {
    let mut ends = Vec::with_capacity(words.len() + 1);
    ends.push(0);
    for word in words {
        ends.push(ends[ends.len() - 1] + word.len());
    }
    let mut ranges: Ranges = Vec::new();
    let mut last_word = 0;
    for range in changed.filter(|range| !range.is_empty()) {
        let (start, end) = (range.start as usize, range.end as usize);
        let between = words.get(last_word..start).unwrap_or_default();
        match ranges.last_mut() {
            Some(last) if between.iter().all(|word| word.trim().is_empty()) => last.end = ends[end],
            _ => ranges.push(ends[start]..ends[end]),
        }
        last_word = end;
    }
    ranges
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Word,
    Space,
    Other,
}

fn kind(char: char) -> Kind {
    if char.is_alphanumeric() || char == '_' {
        Kind::Word
    } else if char == ' ' || char == '\t' {
        Kind::Space
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(left: &str, right: &str) -> Option<(String, String)> {
        let mark = |text: &str, ranges: Ranges| {
            let mut marked = text.to_owned();
            for range in ranges.into_iter().rev() {
                marked.insert(range.end, ']');
                marked.insert(range.start, '[');
            }
            marked
        };
        changed(left, right).map(|(a, b)| (mark(left, a), mark(right, b)))
    }

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(
            marked("let total = sum(a, b);", "let total = product(a, b);"),
            Some((
                "let total = [sum](a, b);".into(),
                "let total = [product](a, b);".into()
            ))
        );
        assert_eq!(
            marked("return a", "return a + b"),
            Some(("return a".into(), "return a[ + b]".into()))
        );
    }

    #[test]
    fn lines_without_much_in_common_are_left_alone() {
        assert_eq!(marked("import os", "class Session(Base):"), None);
        assert_eq!(marked(&"x".repeat(3_000), "x"), None);
    }

    proptest! {
        #[test]
        fn ranges_lie_on_characters(left: String, right: String) {
            prop_assert_eq!(split(&left).collect::<String>(), left.clone());
            if let Some((a, b)) = changed(&left, &right) {
                prop_assert!(a.iter().all(|range| left.get(range.clone()).is_some()));
                prop_assert!(b.iter().all(|range| right.get(range.clone()).is_some()));
            }
        }
    }
}
