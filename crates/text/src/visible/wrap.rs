//! Breaks prose into rows: between words, as people would, and within one only if it is longer than a
//! row. Counts columns, not characters.

use std::ops::Range;

use super::{Piece, Place, pieces};

/// Wide characters that may not start a row.
const CLOSING: &str = "、。，．：；！？）］｝」』】〉》〕…";

/// Wide characters that may not end a row.
const OPENING: &str = "（［｛「『【〈《〔";

/// The rows of `text`, a safe line, in at most `max` columns each; there is always one. Spaces at a
/// break belong to no row.
pub fn rows(text: &str, max: usize) -> Vec<Range<usize>> {
    let max = max.max(1);
    let mut rows: Vec<Range<usize>> = Vec::new();
    // Columns of the last row, with the spaces behind it.
    let mut column = 0;
    for word in words(text) {
        let Word { bytes, width, gap } = word;
        if let Some(row) = rows.last_mut().filter(|_| column + width <= max) {
            row.end = bytes.end;
            column += width + gap;
            continue;
        }
        if rows.iter().all(Range::is_empty) {
            rows.clear();
        }
        let (cut, last) = cut(text, bytes, max);
        rows.extend(cut);
        column = last + gap;
    }
    if rows.is_empty() {
        rows.push(0..0);
    }
    rows
}

/// Something that is not broken, and the spaces behind it.
struct Word {
    bytes: Range<usize>,
    width: usize,
    gap: usize,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut former: Option<Piece<'_>> = None;
    for piece in pieces(text, Place::default()) {
        let goes_on = former
            .as_ref()
            .is_some_and(|former| piece.text == " " || !can_part(&former.text, &piece.text));
        if !goes_on {
            words.push(Word {
                bytes: piece.at.byte..piece.at.byte,
                width: 0,
                gap: 0,
            });
        }
        if let Some(word) = words.last_mut() {
            if piece.text == " " {
                word.gap += 1;
            } else {
                word.bytes.end = piece.at.byte + piece.bytes;
                word.width += piece.width;
            }
        }
        former = Some(piece);
    }
    words
}

/// Returns true if a row may end between two clusters: behind a space, and between signs of scripts
/// that write no spaces.
fn can_part(one: &str, other: &str) -> bool {
    let is_wide = |text: &str| {
        let is_letter = text.chars().next().is_some_and(char::is_alphabetic);
        let is_sign = CLOSING.contains(text) || OPENING.contains(text);
        super::width(text) > 1 && (is_letter || is_sign)
    };
    one == " "
        || (is_wide(one) || is_wide(other)) && !CLOSING.contains(other) && !OPENING.contains(one)
}

/// A word that is longer than a row, in rows of its own; and how many columns the last has.
fn cut(text: &str, bytes: Range<usize>, max: usize) -> (Vec<Range<usize>>, usize) {
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut column = 0;
    for piece in pieces(&text[..bytes.end], Place::default()) {
        if piece.at.byte < bytes.start {
            continue;
        }
        if rows.is_empty() || column > 0 && column + piece.width > max {
            rows.push(piece.at.byte..piece.at.byte);
            column = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.end = piece.at.byte + piece.bytes;
        }
        column += piece.width;
    }
    if rows.is_empty() {
        rows.push(bytes);
    }
    (rows, column)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::visible::{one_line, width};

    fn broken(text: &str, max: usize) -> Vec<&str> {
        rows(text, max).into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn rows_end_between_words_and_spaces_there_go() {
        let text = "the file changed on disk: o merges both";
        assert_eq!(
            broken(text, 16),
            ["the file changed", "on disk: o", "merges both"]
        );
        assert_eq!(broken("one   two", 3), ["one", "two"]);
        assert_eq!(broken("one   two", 9), ["one   two"]);
        assert_eq!(broken("  indented", 10), ["  indented"]);
        assert_eq!(broken("", 5), [""]);
    }

    #[test]
    fn only_a_word_that_is_longer_than_a_row_is_cut() {
        let text = "kept in /tmp/pillion-4711/a.rs today";
        assert_eq!(
            broken(text, 12),
            ["kept in", "/tmp/pillion", "-4711/a.rs", "today"]
        );
        assert_eq!(
            broken(text, 26),
            ["kept in", "/tmp/pillion-4711/a.rs", "today"]
        );
        assert_eq!(broken("abcdef", 4), ["abcd", "ef"]);
    }

    #[test]
    fn columns_count_and_not_characters() {
        assert_eq!(broken("Café e\u{301}tude", 5), ["Café", "e\u{301}tude"]);
        assert_eq!(broken("変更を承認、却下", 9), ["変更を承", "認、却下"]);
        assert_eq!(
            broken("変更を承認、却下", 10),
            ["変更を承", "認、却下"],
            "no row begins with 、"
        );
        assert_eq!(broken("🦀🦀 🦀", 5), ["🦀🦀", "🦀"]);
    }

    proptest! {
        #[test]
        fn every_row_fits_and_nothing_but_spaces_is_lost(text: String, max in 2_usize..30) {
            let text = one_line(&text);
            let rows = rows(&text, max);
            let mut next = 0;
            for row in &rows {
                prop_assert!(text[next..row.start].chars().all(|char| char == ' '));
                let columns: usize = pieces(&text[row.clone()], Place::default())
                    .map(|piece| piece.width)
                    .sum();
                prop_assert!(columns <= max || text[row.clone()].chars().count() <= 12, "{:?}", &text[row.clone()]);
                next = row.end;
            }
            prop_assert!(text[next..].chars().all(|char| char == ' '));
            prop_assert!(width(&text) <= max || rows.len() > 1 || text.trim_end().len() < text.len()
                || text.trim_start().len() < text.len());
        }
    }
}
