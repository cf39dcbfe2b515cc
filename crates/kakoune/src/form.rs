//! A text as Kakoune's buffer holds it. A buffer ends with a newline, and its lines end alike: what else there is
//! to know about the bytes is kept beside it.

/// The parts of a text that a buffer does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    has_bom: bool,
    is_crlf: bool,
    has_final_newline: bool,
}

const BOM: char = '\u{feff}';

impl Form {
    /// The form of a text, and the text as a buffer holds it.
    pub fn of(text: &str) -> (Self, String) {
        let body = text.strip_prefix(BOM);
        let newlines = text.matches('\n').count();
        let form = Self {
            has_bom: body.is_some(),
            is_crlf: newlines > 0 && text.matches("\r\n").count() == newlines,
            has_final_newline: text.ends_with('\n'),
        };
        let body = body.unwrap_or(text);
        let mut held = if form.is_crlf {
            body.replace("\r\n", "\n")
        } else {
            body.to_owned()
        };
        if !form.has_final_newline {
            held.push('\n');
        }
        (form, held)
    }

    /// The form in which Kakoune saves a buffer.
    pub fn saved(is_crlf: bool, has_bom: bool) -> Self {
        Self {
            has_bom,
            is_crlf,
            has_final_newline: true,
        }
    }

    /// The text of which a buffer holds `held`.
    pub fn text(self, held: &str) -> String {
        let body = match held.strip_suffix('\n') {
            Some(body) if !self.has_final_newline => body,
            _ => held,
        };
        let mut text = String::with_capacity(held.len() + BOM.len_utf8());
        if self.has_bom {
            text.push(BOM);
        }
        if self.is_crlf {
            text.push_str(&body.replace('\n', "\r\n"));
        } else {
            text.push_str(body);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_byte_for_byte() {
        for (text, held) in [
            ("", "\n"),
            ("\n", "\n"),
            ("a", "a\n"),
            ("a\n", "a\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\r\nb", "a\nb\n"),
            ("a\r\nb\n", "a\r\nb\n"),
            ("a\rb\n", "a\rb\n"),
            ("\u{feff}a\r\n", "a\n"),
            ("\u{feff}", "\n"),
            ("a\0b\u{2028}\n\n", "a\0b\u{2028}\n\n"),
            ("a\r", "a\r\n"),
        ] {
            let (form, found) = Form::of(text);
            assert_eq!((found.as_str(), form.text(&found).as_str()), (held, text));
        }
    }

    #[test]
    fn edits_keep_the_form() {
        let (form, _) = Form::of("\u{feff}a\r\nb");
        assert_eq!(form.text("x\ny\nz\n"), "\u{feff}x\r\ny\r\nz");
    }
}
