//! What of a file an agent does not see. Claude Code reads a text with LF only, decodes UTF-16, and
//! restores both when it writes. So the person compares like with like, and sees what will be written.

/// The BOM in UTF-8.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// A file's text and a proposal for it, made comparable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Adapted {
    pub(crate) original: Vec<u8>,
    /// If it is not to be shown as it came.
    pub(crate) proposed: Option<String>,
    /// What cannot be shown, for the person.
    pub(crate) note: Option<String>,
}

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEndings {
    Lf,
    CrLf,
    Mixed,
}

/// Makes them comparable.
///
/// - A file whose lines all end in CRLF gets a proposal that does: an edit is written so, whichever of
///   the two it is answered with.
/// - A file that mixes line endings is written with LF only, also without a companion: its text is shown
///   like that, and a note says so.
/// - A file in UTF-16 is shown decoded.
/// - A file with a BOM keeps it, also if the proposal has none: then neither is shown with one.
pub(crate) fn adapt(mut original: Vec<u8>, proposed: &str) -> Adapted {
    if let Some(text) = decoded(&original) {
        original = text.into_bytes();
    }
    if original.starts_with(BOM) && !proposed.starts_with('\u{feff}') {
        original.drain(..BOM.len());
    }
    // A whole text that came with CRLF is written as it is.
    let is_lf = !proposed.contains("\r\n");
    match LineEndings::of(&original) {
        LineEndings::CrLf if is_lf => Adapted {
            original,
            proposed: Some(proposed.replace('\n', "\r\n")),
            note: None,
        },
        LineEndings::Mixed if is_lf => Adapted {
            original: with_lf(&original),
            proposed: None,
            note: Some(
                "The file mixes CRLF and LF line endings; the agent writes all of it with LF."
                    .to_owned(),
            ),
        },
        _ => Adapted {
            original,
            proposed: None,
            note: None,
        },
    }
}

impl LineEndings {
    fn of(text: &[u8]) -> Self {
        let mut found = None;
        let mut before = None;
        for byte in text {
            if *byte == b'\n' {
                let this = match before {
                    Some(b'\r') => Self::CrLf,
                    _ => Self::Lf,
                };
                if found.is_some_and(|found| found != this) {
                    return Self::Mixed;
                }
                found = Some(this);
            }
            before = Some(*byte);
        }
        found.unwrap_or(Self::Lf)
    }
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
