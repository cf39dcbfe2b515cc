//! Where two lines differ, word by word: what a person has to see of a line that stands in place of another.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

/// Of longer lines, all between their first and their last difference counts as one.
const MOST_WORDS: usize = 20_000;

/// Of a longer word, a part may be what differs. Bytes.
const LONGEST_WORD: usize = 40;

/// The time limit for two lines. What is not compared by then differs.
const TIMEOUT: Duration = Duration::from_millis(300);

/// Returns the bytes of the line `after`, in order, in which it differs from the line `before`: words that are new, and the
/// characters beside words that are gone. None if it has nothing in common with it, or nothing at all.
pub fn differing(before: &str, after: &str) -> Option<Vec<Range<usize>>> {
    let ends = ['\r', '\n'];
    let (before, after) = (before.trim_end_matches(ends), after.trim_end_matches(ends));
    let start = common_start(before, after);
    let end = common_end(&before[start..], &after[start..]);
    let (old, new) = (
        words(&before[start..before.len() - end]),
        words(&after[start..after.len() - end]),
    );
    let mut is_alike = start + end > 0;
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut add = |bytes: Range<usize>| match found.last_mut() {
        Some(last) if last.end >= bytes.start => last.end = last.end.max(bytes.end),
        _ => found.push(bytes),
    };
    if old.len() + new.len() > MOST_WORDS {
        add(seen_by(after, start..after.len() - end));
    } else {
        let mut starts = vec![start];
        starts.extend(new.iter().scan(start, |at, word| {
            *at += word.len();
            Some(*at)
        }));
        let deadline = Some(Instant::now() + TIMEOUT);
        for change in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline) {
            match change.tag() {
                DiffTag::Equal => is_alike = true,
                _ => {
                    let words = change.new_range();
                    add(seen_by(after, starts[words.start]..starts[words.end]));
                }
            }
        }
    }
    let is_something = found.iter().any(|it| !it.is_empty());
    (is_alike && is_something).then_some(found)
}

/// What is to be seen where these bytes are new: they, or what is beside the place if there are none.
fn seen_by(line: &str, bytes: Range<usize>) -> Range<usize> {
    if !bytes.is_empty() {
        return bytes;
    }
    let former = line[..bytes.start].chars().next_back();
    let next = line[bytes.end..].chars().next();
    bytes.start - former.map_or(0, char::len_utf8)..bytes.end + next.map_or(0, char::len_utf8)
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The number of bytes that two lines have in common at their beginning, as far as no word is cut.
fn common_start(one: &str, other: &str) -> usize {
    let same = common(one.chars(), other.chars());
    let is_cut = |line: &str| line[same..].starts_with(is_of_word);
    let whole = one[..same].trim_end_matches(is_of_word).len();
    without_part_of_word(same, whole, is_cut(one) || is_cut(other))
}

/// The same of their ends.
fn common_end(one: &str, other: &str) -> usize {
    let same = common(one.chars().rev(), other.chars().rev());
    let is_cut = |line: &str| line[..line.len() - same].ends_with(is_of_word);
    let whole = { one[one.len() - same..].trim_start_matches(is_of_word) }.len();
    without_part_of_word(same, whole, is_cut(one) || is_cut(other))
}

fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    let same = one.zip(other).take_while(|(a, b)| a == b);
    same.map(|(character, _)| character.len_utf8()).sum()
}

fn without_part_of_word(same: usize, whole: usize, is_cut: bool) -> usize {
    match is_cut && same - whole <= LONGEST_WORD {
        true => whole,
        false => same,
    }
}

/// The words of a text, the blanks between them, and each other character by itself.
fn words(text: &str) -> Vec<&str> {
    let kind = |character: char| match character {
        it if is_of_word(it) => 1,
        it if it.is_whitespace() => 2,
        _ => 0,
    };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind_of_it = kind(first);
        let end = match kind_of_it {
            0 => first.len_utf8(),
            _ => rest.find(|it| kind(it) != kind_of_it).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        found.push(word);
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_seen_of_a_line_are_the_words_that_differ() {
        let of = |before: &str, after| {
            let found = differing(before, after)?;
            Some(Vec::from_iter(found.into_iter().map(|it| &after[it])))
        };
        for (before, after, seen) in [
            ("let a = 1;", "let a = 2;", Some(vec!["2"])),
            ("let a = 1;", "let b = 2;", Some(vec!["b", "2"])),
            ("let foo = 1;\n", "let fob = 1;\r\n", Some(vec!["fob"])),
            ("a foo", "a foobar", Some(vec!["foobar"])),
            ("foobar b", "bar b", Some(vec!["bar"])),
            // What is beside what is gone.
            ("f(a, b)", "f(a)", Some(vec!["a)"])),
            ("a b", "b", Some(vec!["b"])),
            ("b a", "b", Some(vec!["b"])),
            ("grün – rot", "grün – röter", Some(vec!["röter"])),
            // All of it.
            ("one", "two", None),
            ("", "two", None),
            ("one", "", None),
        ] {
            assert_eq!(of(before, after), seen, "{before:?} {after:?}");
        }
    }

    #[test]
    fn of_a_long_word_the_part_that_differs_is_to_be_seen() {
        let long = "x".repeat(LONGEST_WORD + 1);
        let of = |before: &str, after: &str| Some(differing(before, after)?.remove(0));
        let end = long.len();
        assert_eq!(of(&format!("a{long}"), &format!("b{long}")), Some(0..1));
        assert_eq!(
            of(&format!("{long}a"), &format!("{long}b")),
            Some(end..end + 1)
        );
        assert_eq!(of(&format!("a{long}a"), &format!("b{long}b")), None);
    }

    #[test]
    fn of_a_line_with_too_many_words_all_between_its_ends_is_to_be_seen() {
        let (old, new) = ("a ".repeat(MOST_WORDS), "b ".repeat(MOST_WORDS));
        let (before, after) = (format!("x({old})"), format!("x({new})"));
        assert_eq!(
            differing(&before, &after).unwrap().first(),
            Some(&(2..after.len() - 1 - " ".len()))
        );
    }
}
