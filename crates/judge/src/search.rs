//! Finding a text in the lines of a proposal. As in editors, one without capitals is found in any case.

use std::ops::Range;

use crate::proposal::{Proposal, Side};

/// A text that is searched for.
#[derive(Debug, Clone)]
pub struct Needle {
    /// The text.
    pub text: String,
    is_case_exact: bool,
    /// It is found only where no other letter is beside it.
    is_word: bool,
}

impl Needle {
    /// For a text as it was typed.
    pub fn new(text: String) -> Self {
        let is_case_exact = text.chars().any(char::is_uppercase);
        Self {
            text,
            is_case_exact,
            is_word: false,
        }
    }

    /// For a word as it stands.
    pub fn of_word(text: String) -> Self {
        Self {
            is_case_exact: true,
            is_word: true,
            ..Self::new(text)
        }
    }

    /// The bytes of a line where it stands.
    pub fn in_line(&self, line: &str) -> Vec<Range<usize>> {
        let found = |line: &str| -> Vec<_> {
            let places = line.match_indices(&self.text);
            let places = places.map(|(at, found)| at..at + found.len());
            let is_whole = |place: &Range<usize>| !self.is_word || is_word(line, place);
            places.filter(is_whole).collect()
        };
        if self.is_case_exact {
            return found(line);
        }
        if line.is_ascii() {
            return found(&line.to_ascii_lowercase());
        }
        // A letter may have another length in lower case.
        let mut lower = String::with_capacity(line.len());
        let mut places = Vec::with_capacity(line.len());
        for (at, letter) in line.char_indices() {
            lower.extend(letter.to_lowercase());
            places.resize(lower.len(), at..at + letter.len_utf8());
        }
        let ranges = found(&lower).into_iter();
        ranges
            .filter_map(|range| Some(places[range.start].start..places.get(range.end - 1)?.end))
            .collect()
    }
}

/// Returns true if a character is one of a word.
pub fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns true if no other letter is beside these bytes of a line.
fn is_word(line: &str, place: &Range<usize>) -> bool {
    let (before, after) = (&line[..place.start], &line[place.end..]);
    !before.ends_with(is_letter) && !after.starts_with(is_letter)
}

/// The lines of both texts as they are read: of a hunk those before, then those after.
pub fn lines(proposal: &Proposal) -> impl Iterator<Item = (Side, usize)> {
    let hunks = proposal.hunks();
    let starts = std::iter::once(0).chain(hunks.iter().map(|hunk| hunk.after.end));
    let ends = hunks.iter().map(|hunk| hunk.after.start);
    let ends = ends.chain([proposal.after().len()]);
    let same = starts
        .zip(ends)
        .map(|(start, end)| (Side::Right, start..end));
    let mut hunks = hunks.iter();
    let parts = same.flat_map(move |same| {
        let hunk = hunks.next();
        let sides = hunk.map(|hunk| {
            let (before, after) = (hunk.before.clone(), hunk.after.clone());
            [(Side::Left, before), (Side::Right, after)]
        });
        [same].into_iter().chain(sides.into_iter().flatten())
    });
    parts.flat_map(|(side, lines)| lines.map(move |line| (side, line)))
}
