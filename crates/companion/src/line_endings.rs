//! Handles what an agent does not see of a file. Claude Code reads a text with LF only, decodes UTF-16, and
//! restores both when it writes; Gemini CLI and Qwen Code write CRLF over any file that has one. So the person compares like with like, and sees what will be written.

use pillion_text::endings::LineEnding;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// The note for a person on a proposal by a release that drops the last line feed of a `Write`.
pub(crate) const MAY_LOSE_LINE_FEED: &str =
    "A Write by this release of the agent loses the last newline.";

/// A file's text and a proposal for it, made comparable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Adapted {
    pub(crate) original: Vec<u8>,
    /// If it is not to be shown as it came.
    pub(crate) proposed: Option<String>,
    /// If the proposal shows it.
    pub(crate) tool: Option<Tool>,
    /// The note for the person on what cannot be shown.
    pub(crate) note: Option<String>,
}

/// The agent's tool behind a proposal, which does not name it: its hooks may have, or the texts show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Changes a part: the text is written with the file's own line endings, whatever is answered.
    Edit,
    /// Writes a whole text, as it is answered.
    Write,
}

/// Makes them comparable.
///
/// - A file whose lines all end in CRLF gets a proposal that does: an edit is written so, whichever of
///   the two it is answered with.
/// - A file whose line endings will be others afterwards, also without a companion, is shown with those, and
///   a note reports that.
/// - Where it depends on the tool, and that is not known, a note reports it.
/// - A file in UTF-16 is shown decoded.
/// - A file with a BOM gets a proposal that has it.
pub(crate) fn adapt(mut original: Vec<u8>, proposed: &str, tool: Option<Tool>) -> Adapted {
    if let Some(text) = decoded(&original) {
        original = text.into_bytes();
    }
    let tool = tool.or_else(|| Tool::of(&original, proposed));
    let loses_bom = original.starts_with(BOM) && !proposed.starts_with('\u{feff}');
    let with_bom = loses_bom.then(|| format!("\u{feff}{proposed}"));
    let written = LineEnding::written(&original);
    let (lf, crlf) = LineEnding::count(&original);
    // A whole text that came with CRLF is written as it is.
    if proposed.contains("\r\n") || crlf == 0 {
        return Adapted {
            original,
            proposed: with_bom,
            tool,
            note: None,
        };
    }
    let proposed = match written {
        LineEnding::CrLf => {
            let proposed = with_bom.as_deref().unwrap_or(proposed);
            Some(proposed.replace('\n', "\r\n"))
        }
        LineEnding::Lf => with_bom,
    };
    let note = note(written, lf > 0, tool);
    match (written, lf) {
        (LineEnding::CrLf, 0) => {}
        (LineEnding::CrLf, _) => original = with_crlf(&original),
        (LineEnding::Lf, _) => original = with_lf(&original),
    }
    Adapted {
        original,
        proposed,
        tool,
        note,
    }
}

/// The proposal of an agent that sends LF and writes CRLF over any file that has one, as it will be written; none if that is how
/// it came.
pub(crate) fn with_crlf_of(original: &[u8], proposed: &str) -> Option<String> {
    let has_crlf = LineEnding::count(original).1 > 0;
    let written = has_crlf.then(|| proposed.replace("\r\n", "\n").replace('\n', "\r\n"));
    written.filter(|it| it != proposed)
}

/// Returns the note on a file with CRLF, in all lines or in some.
fn note(written: LineEnding, is_mixed: bool, tool: Option<Tool>) -> Option<String> {
    let found = match is_mixed {
        true => "mixes CRLF and LF",
        false => "has CRLF",
    };
    let becomes = match (written, is_mixed, tool) {
        (LineEnding::Lf, ..) => "; the agent writes all of it with LF",
        (LineEnding::CrLf, true, Some(_)) => "; the agent writes all of it with CRLF",
        (LineEnding::CrLf, true, None) => {
            "; the agent writes all of it with CRLF, a Write accepted unchanged with LF"
        }
        (LineEnding::CrLf, false, None) => {
            ": an Edit keeps them, a Write accepted unchanged gets LF"
        }
        (LineEnding::CrLf, false, Some(_)) => return None,
    };
    Some(format!("The file {found} line endings{becomes}."))
}

impl Tool {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "Edit" => Some(Self::Edit),
            "Write" => Some(Self::Write),
            _ => None,
        }
    }

    /// An `Edit` comes with the file's BOM, and with LF alone. Those of a `Write` are the model's.
    fn of(original: &[u8], proposed: &str) -> Option<Self> {
        if proposed.contains("\r\n") {
            Some(Self::Write)
        } else if original.starts_with(BOM) {
            match proposed.starts_with('\u{feff}') {
                true => Some(Self::Edit),
                false => Some(Self::Write),
            }
        } else {
            None
        }
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

/// The text of a file in UTF-16 with a byte order mark.
pub(crate) fn decoded(text: &[u8]) -> Option<String> {
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

    /// The original, the proposal, and the note about them.
    fn adapted(original: impl AsRef<[u8]>, proposed: &str) -> (String, String, String) {
        let adapted = adapt(original.as_ref().to_vec(), proposed, None);
        let shown = adapted.proposed.unwrap_or_else(|| proposed.to_owned());
        let original = String::from_utf8(adapted.original).unwrap();
        (original, shown, adapted.note.unwrap_or_default())
    }

    fn texts(original: &str, proposed: &str, note: &str) -> (String, String, String) {
        (original.to_owned(), proposed.to_owned(), note.to_owned())
    }

    #[test]
    fn a_proposal_gets_the_line_endings_that_the_file_will_have() {
        for (original, proposed, shown) in [
            ("\u{feff}a\r\nb", "\u{feff}a\nc", "\u{feff}a\r\nc"),
            ("a\nb\n", "a\nc\n", "a\nc\n"),
            ("a\rb\n", "a\rc\n", "a\rc\n"),
            ("a\r\n", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("a\n", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("one line", "one\n", "one\n"),
            ("\u{feff}a\n", "\u{feff}b\n", "\u{feff}b\n"),
            ("", "one\n", "one\n"),
        ] {
            let expected = texts(original, shown, "");
            assert_eq!(adapted(original, proposed), expected, "{original:?}");
        }
    }

    #[test]
    fn where_line_endings_depend_on_the_tool_a_note_says_so() {
        let note = "The file has CRLF line endings: an Edit keeps them, a Write accepted unchanged gets LF.";
        for (original, proposed, shown) in [
            ("a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"),
            ("a\r\nb", "\u{feff}a\nc", "\u{feff}a\r\nc"),
        ] {
            let expected = texts(original, shown, note);
            assert_eq!(adapted(original, proposed), expected, "{original:?}");
        }
    }

    #[test]
    fn where_the_tool_is_known_nothing_depends_on_it() {
        for (tool, original) in [
            (Tool::Edit, "a\r\nb\r\n"),
            (Tool::Write, "a\r\nb\r\n"),
            (Tool::Write, "a\r\nb\r\nc\r\nd\n"),
        ] {
            let adapted = adapt(original.into(), "a\nc\n", Some(tool));
            assert_eq!(adapted.tool, Some(tool));
            assert_eq!(adapted.proposed.as_deref(), Some("a\r\nc\r\n"));
            let note = adapted.note.unwrap_or_default();
            assert!(!note.contains("Write"), "{note}");
        }
    }

    #[test]
    fn what_is_written_with_crlf_over_a_file_that_has_one_is_shown_so() {
        for (original, proposed, shown) in [
            (&b"a\r\nb\r\n"[..], "a\nc\n", Some("a\r\nc\r\n")),
            (b"a\r\nb\n", "a\nc\r\nd", Some("a\r\nc\r\nd")),
            (b"\xe4\r\n", "\u{e4}\n", Some("\u{e4}\r\n")),
            ("\u{feff}a\r\n".as_bytes(), "b\n", Some("b\r\n")),
            (b"a\r\n", "a\r\nc\r\n", None),
            (b"a\nb\n", "a\nc\n", None),
            (b"a\rb\r", "a\rc\n", None),
            (b"", "one\n", None),
        ] {
            assert_eq!(
                with_crlf_of(original, proposed).as_deref(),
                shown,
                "{original:?}"
            );
        }
    }

    #[test]
    fn an_edit_brings_the_bom_of_its_file_and_a_write_gets_it() {
        let tool = |original: &str, proposed| adapt(original.into(), proposed, None).tool;
        let (edit, write) = (Some(Tool::Edit), Some(Tool::Write));
        assert_eq!(tool("\u{feff}a\n", "\u{feff}b\n"), edit);
        assert_eq!(tool("\u{feff}a\n", "b\n"), write);
        assert_eq!(tool("a\n", "b\r\n"), write);
        assert_eq!(tool("a\r\n", "b\n"), None);
        assert_eq!(tool("a\n", "\u{feff}b\n"), None);
        for (original, proposed, shown) in [
            ("\u{feff}a\n", "b\n", "\u{feff}b\n"),
            ("\u{feff}a\r\n", "b\n", "\u{feff}b\r\n"),
            ("\u{feff}a\r\n", "b\r\n", "\u{feff}b\r\n"),
        ] {
            let expected = texts(original, shown, "");
            assert_eq!(adapted(original, proposed), expected, "{original:?}");
        }
    }

    #[test]
    fn mixed_line_endings_are_compared_without_them_and_said() {
        let note =
            |what: &str| format!("The file mixes CRLF and LF line endings; the agent {what}.");
        let expected = texts("a\nb\n\rc", "a\nx\n", &note("writes all of it with LF"));
        assert_eq!(adapted("a\r\nb\n\rc", "a\nx\n"), expected);
        let depends = "writes all of it with CRLF, a Write accepted unchanged with LF";
        let expected = texts("a\r\nb\r\n\rc\r\n", "a\r\nx\r\n", &note(depends));
        assert_eq!(adapted("a\r\nb\n\rc\r\n", "a\nx\n"), expected);
        let all = note("writes all of it with CRLF");
        for proposed in ["\u{feff}x\n", "x\n"] {
            let expected = texts("\u{feff}a\r\nb\r\nc\r\n", "\u{feff}x\r\n", &all);
            assert_eq!(adapted("\u{feff}a\r\nb\nc\r\n", proposed), expected);
        }
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
        let adapted = adapt(file.into_bytes(), &format!("{line}\nTWO\n"), None);
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
        let bom = "\u{feff}x\n";
        assert_eq!(
            adapted(encode("é😀\n"), "x\n"),
            texts("\u{feff}é😀\n", bom, "")
        );
        assert_eq!(adapted(encode("é\n"), bom), texts("\u{feff}é\n", bom, ""));
        let crlf = "\u{feff}x\r\n";
        assert_eq!(
            adapted(encode("a\r\n"), "x\n"),
            texts("\u{feff}a\r\n", crlf, "")
        );
        let odd = [encode("a"), vec![0]].concat();
        assert_eq!(adapt(odd.clone(), "x", None).original, odd);
        let half = [0xff, 0xfe, 0x00, 0xd8];
        assert_eq!(adapt(half.to_vec(), "x", None).original, half);
    }
}
