//! The ends of lines: those with which an agent writes a file that it edits, and those that it does not mean to change. Agents
//! read a file with CRLF as if it had LF, propose LF, and write CRLF again: compared as they are, every line would differ.

use crate::Text;

/// Of a file's text, Claude Code counts the line endings in so many UTF-16 code units.
const COUNTED_UNITS: usize = 4096;

/// One unit has at most so many bytes in UTF-8.
const MAX_UNIT_LEN: usize = 3;

/// The end of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// In LF alone.
    Lf,
    /// In CRLF.
    CrLf,
}

impl LineEnding {
    /// The ending with which Claude Code writes an edited file: the more frequent one of the first lines.
    pub fn written(text: &[u8]) -> Self {
        let start = &text[..text.len().min(COUNTED_UNITS * MAX_UNIT_LEN)];
        let start: Vec<u16> = String::from_utf8_lossy(start)
            .encode_utf16()
            .take(COUNTED_UNITS)
            .collect();
        let (lf, crlf) = Self::count(&start);
        if crlf > lf { Self::CrLf } else { Self::Lf }
    }

    /// The numbers of lines that end in LF alone, and in CRLF.
    pub fn count<T: Copy + PartialEq + From<u8>>(text: &[T]) -> (usize, usize) {
        let ends = |text: &[T]| text.last() == Some(&T::from(b'\n'));
        let all = text.iter().filter(|unit| **unit == T::from(b'\n')).count();
        let pairs = text
            .windows(2)
            .filter(|pair| ends(pair) && pair[0] == T::from(b'\r'));
        let crlf = pairs.count();
        (all - crlf, crlf)
    }
}

/// The text before as a proposal is compared with it.
pub fn comparable(original: Text, proposed: &str) -> Text {
    for_lf(&original, proposed).unwrap_or(original)
}

/// A text with CRLF as if it had LF, if the proposal takes it so.
pub fn for_lf(original: &Text, proposed: &str) -> Option<Text> {
    let is_lf = proposed.contains('\n') && !proposed.contains('\r');
    (is_lf && has_crlf_throughout(original)).then(|| with_lf(original))
}

/// Returns true if every line that ends ends so; the last one may lack its end.
fn has_crlf_throughout(text: &Text) -> bool {
    let mut ended = (0..text.len())
        .map(|line| text.line(line))
        .filter(|line| line.ends_with(b"\n"))
        .peekable();
    ended.peek().is_some() && ended.all(|line| line.ends_with(b"\r\n"))
}

fn with_lf(text: &Text) -> Text {
    let mut bytes = Vec::with_capacity(text.bytes().len());
    for line in 0..text.len() {
        let line = text.line(line);
        match line.strip_suffix(b"\r\n") {
            Some(line) => {
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
            }
            None => bytes.extend_from_slice(line),
        }
    }
    Text::new(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(original: &str, proposed: &str) -> String {
        let text = comparable(Text::new(original), proposed);
        String::from_utf8(text.bytes().to_vec()).unwrap()
    }

    #[test]
    fn only_crlf_throughout_against_lf_throughout_is_not_compared() {
        assert_eq!(compared("a\r\nb\r\n", "a\nc\n"), "a\nb\n");
        assert_eq!(compared("a\r\nb", "a\n"), "a\nb");
        for (original, proposed) in [
            ("a\r\nb\n", "a\n"),
            ("a\r\n", "a\r\n"),
            ("a\r\n", "a\nb\r\n"),
            ("a\r\n", "one line"),
            ("a\n", "b\n"),
            ("", "b\n"),
        ] {
            let text = compared(original, proposed);
            assert_eq!(text, original, "{original:?} {proposed:?}");
        }
    }
}
