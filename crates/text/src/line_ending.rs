//! The ends of a text's lines, and those with which an agent writes a file that it edits.

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
