//! What of a file an agent does not see. Claude Code reads a text with LF only, decodes UTF-16, and
//! restores both when it writes. So the person compares like with like, and sees what will be written.

/// The BOM in UTF-8.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// Of a file's text, Claude Code counts the line endings in so many UTF-16 code units.
const COUNTED_UNITS: usize = 4096;

/// One unit has at most so many bytes in UTF-8.
const MAX_UNIT_LEN: usize = 3;

/// A file's text and a proposal for it, made comparable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Adapted {
    pub(crate) original: Vec<u8>,
    /// If it is not to be shown as it came.
    pub(crate) proposed: Option<String>,
    /// What cannot be shown, for the person.
    pub(crate) note: Option<String>,
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnding {
    Lf,
    CrLf,
}

/// Makes them comparable.
///
/// - A file whose lines all end in CRLF gets a proposal that does: an edit is written so, whichever of
///   the two it is answered with.
/// - A file whose line endings will be others afterwards, also without a companion, is shown with those, and
///   a note says so.
/// - A file in UTF-16 is shown decoded.
/// - A file with a BOM keeps it, also if the proposal has none: then neither is shown with one.
pub(crate) fn adapt(mut original: Vec<u8>, proposed: &str) -> Adapted {
    if let Some(text) = decoded(&original) {
        original = text.into_bytes();
    }
    // With the BOM.
    let written = LineEnding::written(&original);
    if original.starts_with(BOM) && !proposed.starts_with('\u{feff}') {
        original.drain(..BOM.len());
    }
    let (lf, crlf) = LineEnding::count(&original);
    // A whole text that came with CRLF is written as it is.
    if proposed.contains("\r\n") || crlf == 0 {
        return Adapted {
            original,
            proposed: None,
            note: None,
        };
    }
    let note = |found: &str, written: &str| {
        format!("The file {found} line endings; the agent writes all of it with {written}.")
    };
    match (written, lf) {
        (LineEnding::CrLf, 0) => Adapted {
            original,
            proposed: Some(proposed.replace('\n', "\r\n")),
            note: None,
        },
        (LineEnding::CrLf, _) => Adapted {
            original: with_crlf(&original),
            proposed: Some(proposed.replace('\n', "\r\n")),
            note: Some(note("mixes CRLF and LF", "CRLF")),
        },
        (LineEnding::Lf, 0) => Adapted {
            original: with_lf(&original),
            proposed: None,
            note: Some(note("has CRLF", "LF")),
        },
        (LineEnding::Lf, _) => Adapted {
            original: with_lf(&original),
            proposed: None,
            note: Some(note("mixes CRLF and LF", "LF")),
        },
    }
}

impl LineEnding {
    /// What Claude Code writes an edited file with: what more of the first lines end in.
    fn written(text: &[u8]) -> Self {
        let start = &text[..text.len().min(COUNTED_UNITS * MAX_UNIT_LEN)];
        let start: Vec<u16> = String::from_utf8_lossy(start)
            .encode_utf16()
            .take(COUNTED_UNITS)
            .collect();
        let (lf, crlf) = Self::count(&start);
        if crlf > lf { Self::CrLf } else { Self::Lf }
    }

    /// How many lines end in LF alone, and in CRLF.
    fn count<T: Copy + PartialEq + From<u8>>(text: &[T]) -> (usize, usize) {
        let ends = |text: &[T]| text.last() == Some(&T::from(b'\n'));
        let all = text.iter().filter(|unit| **unit == T::from(b'\n')).count();
        let pairs = text
            .windows(2)
            .filter(|pair| ends(pair) && pair[0] == T::from(b'\r'));
        let crlf = pairs.count();
        (all - crlf, crlf)
    }
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'\n' && !text[..at].ends_with(b"\r") {
            lines.push(b'\r');
        }
        lines.push(*byte);
    }
    lines
}

fn with_lf(text: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if !(*byte == b'\r' && text.get(at + 1) == Some(&b'\n')) {
            lines.push(*byte);
        }
    }
    lines
}

/// The text of a file in UTF-16 that says so.
fn decoded(text: &[u8]) -> Option<String> {
    if !text.starts_with(&[0xff, 0xfe]) {
        return None;
    }
    let (units, rest) = text.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
    char::decode_utf16(units).collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(original: impl AsRef<[u8]>, proposed: &str) -> (String, String, bool) {
        let adapted = adapt(original.as_ref().to_vec(), proposed);
        let shown = adapted.proposed.unwrap_or_else(|| proposed.to_owned());
        let original = String::from_utf8(adapted.original).unwrap();
        (original, shown, adapted.note.is_some())
    }

    #[test]
    fn a_proposal_gets_the_line_endings_that_the_file_will_have() {
        for (original, proposed, shown) in [
            ("a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"),
            ("a\r\nb", "\u{feff}a\nc", "\u{feff}a\r\nc"),
            ("a\nb\n", "a\nc\n", "a\nc\n"),
            ("a\rb\n", "a\rc\n", "a\rc\n"),
            ("a\r\n", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("a\n", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("one line", "one\n", "one\n"),
            ("\u{feff}a\n", "\u{feff}b\n", "\u{feff}b\n"),
            ("", "one\n", "one\n"),
        ] {
            let expected = (original.to_owned(), shown.to_owned(), false);
            assert_eq!(adapted(original, proposed), expected, "{original:?}");
        }
    }

    #[test]
    fn a_bom_that_stays_whatever_is_proposed_is_not_shown() {
        let expected = ("a\n".to_owned(), "b\n".to_owned(), false);
        assert_eq!(adapted("\u{feff}a\n", "b\n"), expected);
    }

    #[test]
    fn mixed_line_endings_are_compared_without_them_and_said() {
        let expected = ("a\nb\n\rc".to_owned(), "a\nx\n".to_owned(), true);
        assert_eq!(adapted("a\r\nb\n\rc", "a\nx\n"), expected);
        let expected = (
            "a\r\nb\r\n\rc\r\n".to_owned(),
            "a\r\nx\r\n".to_owned(),
            true,
        );
        assert_eq!(adapted("a\r\nb\n\rc\r\n", "a\nx\n"), expected);
    }

    #[test]
    fn the_start_of_a_text_decides_which_line_endings_are_written() {
        let written = |start: &str, rest: &str| {
            let text = format!("{start}{}", rest.repeat(9000));
            LineEnding::written(text.as_bytes())
        };
        for (start, count, expected) in [
            ("x\n", 818, LineEnding::CrLf),
            ("x\n", 819, LineEnding::Lf),
            ("\u{e9}\n", 818, LineEnding::CrLf),
            ("\u{e9}\n", 819, LineEnding::Lf),
            ("\u{1f600}\n", 682, LineEnding::CrLf),
            ("\u{1f600}\n", 683, LineEnding::Lf),
        ] {
            assert_eq!(
                written(&start.repeat(count), "y\r\n"),
                expected,
                "{start:?} {count}"
            );
        }
        for (mark, count, expected) in [
            ("", 4094, LineEnding::CrLf),
            ("", 4095, LineEnding::Lf),
            ("\u{feff}", 4093, LineEnding::CrLf),
            ("\u{feff}", 4094, LineEnding::Lf),
        ] {
            let start = format!("{mark}{}\r\n", "x".repeat(count));
            assert_eq!(written(&start, ""), expected, "{mark:?} {count}");
        }
        assert_eq!(written("a\r\nb\n", ""), LineEnding::Lf);
        assert_eq!(written("", ""), LineEnding::Lf);
    }

    #[test]
    fn crlf_that_comes_too_late_to_be_kept_is_said() {
        let line = "x".repeat(5000);
        let file = format!("{line}\r\ntwo\r\n");
        let adapted = adapt(file.into_bytes(), &format!("{line}\nTWO\n"));
        assert_eq!(adapted.original, format!("{line}\ntwo\n").into_bytes());
        assert_eq!(adapted.proposed, None);
        let note = adapted.note.expect("it is said");
        assert!(
            note.contains("has CRLF") && note.ends_with("with LF."),
            "{note}"
        );
    }

    #[test]
    fn utf_16_is_decoded_and_what_only_looks_like_it_is_not() {
        let encode = |text: &str| -> Vec<u8> {
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        };
        let expected = |text: &str, proposed: &str| (text.to_owned(), proposed.to_owned(), false);
        assert_eq!(adapted(encode("é😀\n"), "x\n"), expected("é😀\n", "x\n"));
        let bom = "\u{feff}x\n";
        assert_eq!(adapted(encode("é\n"), bom), expected("\u{feff}é\n", bom));
        assert_eq!(adapted(encode("a\r\n"), "x\n"), expected("a\r\n", "x\r\n"));
        let odd = [encode("a"), vec![0]].concat();
        assert_eq!(adapt(odd.clone(), "x").original, odd);
        let half = [0xff, 0xfe, 0x00, 0xd8];
        assert_eq!(adapt(half.to_vec(), "x").original, half);
    }
}
