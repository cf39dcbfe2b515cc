//! Line endings that an agent does not mean to change. Agents read a file with CRLF as if it had LF,
//! propose LF, and write CRLF again: compared as they are, every line would differ.

use crate::Text;

/// The text before as a proposal is compared with it, and whether its line endings are not.
pub fn comparable(original: Option<Text>, proposed: &str) -> (Option<Text>, bool) {
    let lf = original.as_ref().and_then(|text| for_lf(text, proposed));
    match lf {
        Some(text) => (Some(text), true),
        None => (original, false),
    }
}

/// A text with CRLF as if it had LF, if the proposal takes it so.
pub fn for_lf(original: &Text, proposed: &str) -> Option<Text> {
    let is_lf = proposed.contains('\n') && !proposed.contains('\r');
    (is_lf && has_crlf_throughout(original)).then(|| with_lf(original))
}

/// Whether every line that ends ends so; the last one may lack its end.
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

    fn compared(original: &str, proposed: &str) -> (String, bool) {
        let (text, ignored) = comparable(Some(Text::new(original)), proposed);
        let bytes = text.unwrap().bytes().to_vec();
        (String::from_utf8(bytes).unwrap(), ignored)
    }

    #[test]
    fn only_crlf_throughout_against_lf_throughout_is_not_compared() {
        let lf = ("a\nb\n".to_owned(), true);
        assert_eq!(compared("a\r\nb\r\n", "a\nc\n"), lf);
        let bare = ("a\nb".to_owned(), true);
        assert_eq!(compared("a\r\nb", "a\n"), bare);
        for (original, proposed) in [
            ("a\r\nb\n", "a\n"),
            ("a\r\n", "a\r\n"),
            ("a\r\n", "a\nb\r\n"),
            ("a\r\n", "one line"),
            ("a\n", "b\n"),
            ("", "b\n"),
        ] {
            let same = (original.to_owned(), false);
            assert_eq!(
                compared(original, proposed),
                same,
                "{original:?} {proposed:?}"
            );
        }
        assert_eq!(comparable(None, "a\n"), (None, false));
    }
}
