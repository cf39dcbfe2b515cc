//! A text as lines of bytes, kept exactly as it is; the differences of two of them; and the part of them that may
//! reach a terminal. Knows nothing of companions or screens.
//!
//! Lines end only at `\n`.

pub mod damage;
pub mod endings;
pub mod failure;
pub mod fingerprint;
pub mod hunks;
pub mod merge;
pub mod patch;
pub mod readable;
pub mod restore;
pub mod stderr;
pub mod unified;
pub mod visible;
pub mod words;

use std::io::BufRead;
use std::ops::Range;

/// A text that is split into lines at `\n` only: a lone `\r`, U+2028 or NUL is content like any
/// other. Every line holds its own `\n`; only the last one may lack it.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    content: Content,
    /// The beginning of each line, and at the end the end of the text.
    starts: Vec<usize>,
    is_crlf: bool,
}

/// The bytes. Their shown form is known, so that showing a line of them costs nothing.
#[derive(Debug, PartialEq, Eq)]
enum Content {
    Utf8(String),
    Other { bytes: Vec<u8>, shown: Shown },
}

/// The shown form of bytes that are not UTF-8: as many lines, of other lengths.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    text: String,
    starts: Vec<usize>,
}

impl Text {
    /// Splits `bytes`, which need not be UTF-8.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let starts = starts(&bytes);
        let ends = |line: &[usize]| bytes[line[0]..line[1]].ends_with(b"\r\n");
        let is_crlf = starts.len() > 1 && starts.windows(2).all(ends);
        let content = match String::from_utf8(bytes) {
            Ok(text) => Content::Utf8(text),
            Err(error) => {
                let bytes = error.into_bytes();
                // No newline is ever part of what is not UTF-8, so the lines are the same ones.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let starts = self::starts(text.as_bytes());
                let shown = Shown { text, starts };
                Content::Other { bytes, shown }
            }
        };
        Self {
            content,
            starts,
            is_crlf,
        }
    }

    /// The whole text.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Utf8(text) => text.as_bytes(),
            Content::Other { bytes, .. } => bytes,
        }
    }

    /// The whole text, which is given back.
    pub fn into_bytes(self) -> Vec<u8> {
        match self.content {
            Content::Utf8(text) => text.into_bytes(),
            Content::Other { bytes, .. } => bytes,
        }
    }

    /// The number of lines: none in an empty text.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns true if there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if all of it is UTF-8.
    pub fn is_utf8(&self) -> bool {
        matches!(self.content, Content::Utf8(_))
    }

    /// The bytes of `lines`, which are cut to the lines that exist.
    pub fn slice(&self, lines: Range<usize>) -> &[u8] {
        &self.bytes()[range(&self.starts, lines)]
    }

    /// One line with its `\n`; empty where there is none.
    pub fn line(&self, index: usize) -> &[u8] {
        self.slice(index..index.saturating_add(1))
    }

    /// One line with its `\n`, for showing: what is not UTF-8 reads `\u{fffd}`.
    pub fn shown(&self, index: usize) -> &str {
        let lines = index..index.saturating_add(1);
        match &self.content {
            Content::Utf8(text) => &text[range(&self.starts, lines)],
            Content::Other { shown, .. } => &shown.text[range(&shown.starts, lines)],
        }
    }

    /// The number of bytes of the longest line.
    pub fn longest_line(&self) -> usize {
        let lines = self.starts.windows(2).map(|line| line[1] - line[0]);
        lines.max().unwrap_or_default()
    }

    /// Returns true if every line ends in `\r\n`.
    pub fn is_crlf(&self) -> bool {
        self.is_crlf
    }
}

/// Counts the lines of a text that is not split.
pub fn count_lines(bytes: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    let is_unended = bytes.last().is_some_and(|last| *last != b'\n');
    ends + usize::from(is_unended)
}

/// The beginning of each line of `bytes`, and at the end their end.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = vec![0];
    let (mut at, mut rest) = (0, bytes);
    // The library's search is quick in every build, also where a line has millions of bytes.
    while let Ok(line) = rest.skip_until(b'\n')
        && line > 0
    {
        at += line;
        starts.push(at);
    }
    starts
}

/// The bytes of `lines`, as positions.
fn range(starts: &[usize], lines: Range<usize>) -> Range<usize> {
    let len = starts.len() - 1;
    let start = lines.start.min(len);
    let end = lines.end.clamp(start, len);
    starts[start]..starts[end]
}

impl Default for Text {
    fn default() -> Self {
        Self::new("")
    }
}

/// So many things, in words: `1 line`, `2 lines`.
pub fn counted(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_end_at_newlines_only() {
        let text = Text::new("\u{feff}a\r\nb\rc\u{2028}d\0\n\nlast");
        let lines: Vec<_> = (0..text.len()).map(|line| text.shown(line)).collect();
        assert_eq!(lines, ["\u{feff}a\r\n", "b\rc\u{2028}d\0\n", "\n", "last"]);
        assert_eq!(Text::new("").len(), 0);
        assert_eq!(Text::new("\n").len(), 1);
        assert!(text.line(99).is_empty());
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_replacements() {
        let text = Text::new(b"a\xff\n".to_vec());
        assert!(!text.is_utf8());
        assert_eq!(text.shown(0), "a\u{fffd}\n");
        assert_eq!(text.line(0), b"a\xff\n");
    }

    proptest! {
        #[test]
        fn the_lines_are_the_text(bytes: Vec<u8>) {
            let text = Text::new(bytes.clone());
            let lines: Vec<u8> = (0..text.len()).flat_map(|line| text.line(line).to_vec()).collect();
            prop_assert_eq!(lines, bytes);
        }

        #[test]
        fn lines_are_counted_as_they_are_split(bytes in "[a\n\r]*") {
            prop_assert_eq!(count_lines(bytes.as_bytes()), Text::new(bytes).len());
        }
    }
}
