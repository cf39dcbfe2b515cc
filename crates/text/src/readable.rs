//! Tells if a text can be read on a screen at all.

use std::fmt;

use crate::Text;

/// The number of first bytes among which a zero byte means that a file is not text, as version control has it.
const START: usize = 8_000;

/// No text of a few bytes that are not UTF-8 has a longer line.
const MAX_LINE: usize = 1 << 20;

/// The reason why a text is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not text.
    Binary,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary => "binary",
        })
    }
}

/// The reason why `text` cannot be read, if so. Text in another encoding than UTF-8 can, more or less.
pub fn unreadable(text: &Text) -> Option<Unreadable> {
    let bytes = text.bytes();
    let has_long_line = text.longest_line() > MAX_LINE;
    let has_zero = |bytes: &[u8]| bytes.contains(&0);
    let is_binary = if text.is_utf8() {
        has_long_line && has_zero(bytes)
    } else {
        has_long_line || has_zero(&bytes[..bytes.len().min(START)])
    };
    is_binary.then_some(Unreadable::Binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_text_is_detected_and_odd_text_is_shown() {
        let why = |bytes: &[u8]| unreadable(&Text::new(bytes));
        assert_eq!(why(b"\x89PNG\r\n\x1a\n\0\0"), Some(Unreadable::Binary));
        assert_eq!(why(&vec![0; MAX_LINE + 1]), Some(Unreadable::Binary));
        assert_eq!(why(&vec![0xff; MAX_LINE + 1]), Some(Unreadable::Binary));
        assert_eq!(why(&vec![b'x'; MAX_LINE + 1]), None);
        assert_eq!(why(&vec![b'x'; MAX_LINE]), None);
        assert_eq!(why(&b"x\n".repeat(MAX_LINE)), None);
        assert_eq!(why(b"caf\xe9\n"), None);
        assert_eq!(why(b"a zero \0 in text\n"), None);
        assert_eq!(why(b""), None);
    }
}
