//! Tells if a text can be read on a screen at all.

use crate::Text;

/// The number of first bytes among which a zero byte means that a file is not text, as version control has it.
const START: usize = 8_000;

/// No text of a few bytes that are not UTF-8 has a longer line.
const MAX_LINE: usize = 1 << 20;

/// Returns true if `text` cannot be read, and is not shown. Text in another encoding than UTF-8 can, more or less.
pub fn is_binary(text: &Text) -> bool {
    let bytes = text.bytes();
    let has_long_line = text.longest_line() > MAX_LINE;
    let has_zero = |bytes: &[u8]| bytes.contains(&0);
    if text.is_utf8() {
        has_long_line && has_zero(bytes)
    } else {
        has_long_line || has_zero(&bytes[..bytes.len().min(START)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_text_is_detected_and_odd_text_is_shown() {
        let is_hidden = |bytes: &[u8]| is_binary(&Text::new(bytes));
        assert!(is_hidden(b"\x89PNG\r\n\x1a\n\0\0"));
        assert!(is_hidden(&vec![0; MAX_LINE + 1]));
        assert!(is_hidden(&vec![0xff; MAX_LINE + 1]));
        assert!(!is_hidden(&vec![b'x'; MAX_LINE + 1]));
        assert!(!is_hidden(&vec![b'x'; MAX_LINE]));
        assert!(!is_hidden(&b"x\n".repeat(MAX_LINE)));
        assert!(!is_hidden(b"caf\xe9\n"));
        assert!(!is_hidden(b"a zero \0 in text\n"));
        assert!(!is_hidden(b""));
    }
}
