//! Positions in a text, in each of the encodings that the Language Server Protocol knows. Lines
//! and characters count from 0; what lies outside of the text means its nearest place, and what
//! lies inside of a character means its beginning.

use pillion_protocol::Cursor;

/// The unit of a position's character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    Utf8,
    /// UTF-16 units, as agents count; the default of the protocol.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The first of the client's encodings that is known here.
    pub fn choose<S: AsRef<str>>(offered: &[S]) -> Self {
        offered
            .iter()
            .find_map(|name| match name.as_ref() {
                "utf-8" => Some(Self::Utf8),
                "utf-16" => Some(Self::Utf16),
                "utf-32" => Some(Self::Utf32),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    fn units(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The length of `text`.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            _ => text.chars().map(|character| self.units(character)).sum(),
        }
    }

    /// The byte of `line` where its character number `character` begins.
    fn byte(self, line: &str, character: u32) -> usize {
        let wanted = character as usize;
        let mut passed = 0;
        for (at, next) in line.char_indices() {
            passed += self.units(next);
            if passed > wanted {
                return at;
            }
        }
        line.len()
    }
}

/// The position as agents count it: from 1, in UTF-16 units (C4.3).
pub fn cursor(line: u32, character: u32, line_text: Option<&str>, encoding: Encoding) -> Cursor {
    let character = utf16(character, line_text, encoding);
    Cursor {
        line: line.saturating_add(1),
        character: character.saturating_add(1),
    }
}

/// The character of a position in UTF-16 units. `line_text` is the line, or its part before the
/// position; without it the character is taken as it is.
pub fn utf16(character: u32, line_text: Option<&str>, encoding: Encoding) -> u32 {
    match line_text {
        Some(text) if encoding != Encoding::Utf16 => {
            let before = &text[..encoding.byte(text, character)];
            u32::try_from(Encoding::Utf16.length(before)).unwrap_or(u32::MAX)
        }
        _ => character,
    }
}

/// The byte of `text` at a position. A line ends at `\n` or `\r\n`.
pub fn offset(text: &str, line: u32, character: u32, encoding: Encoding) -> usize {
    let mut start = 0;
    for _ in 0..line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len(),
        }
    }
    let line = line_at(text, start);
    // Where line ends are mixed, Neovim and Emacs show the `\r` as a character of the line.
    let is_behind_return = character as usize == encoding.length(line) + 1
        && text[start + line.len()..].starts_with("\r\n");
    start + encoding.byte(line, character) + usize::from(is_behind_return)
}

/// The position, line and character, of a byte of `text`.
pub fn position(text: &str, offset: usize, encoding: Encoding) -> (u32, u32) {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let end = line_at(text, start).len();
    let character = encoding.length(&text[start..offset.min(start + end)]);
    let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
    (number(line), number(character))
}

/// The line that begins at `start`, without its end.
fn line_at(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    match rest.split_once('\n') {
        Some((line, _)) => line.strip_suffix('\r').unwrap_or(line),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    #[test]
    fn the_first_encoding_that_is_known_is_taken() {
        assert_eq!(
            Encoding::choose(&["utf-7", "utf-32", "utf-8"]),
            Encoding::Utf32
        );
        assert_eq!(Encoding::choose::<&str>(&[]), Encoding::Utf16);
        assert_eq!(Encoding::choose(&["latin-1"]), Encoding::Utf16);
    }

    #[test]
    fn agents_are_told_utf16_columns_from_1() {
        let line = "aé😀z";
        for (encoding, character) in ALL.into_iter().zip([7, 4, 3]) {
            let cursor = cursor(4, character, Some(line), encoding);
            assert_eq!((cursor.line, cursor.character), (5, 5), "{encoding:?}");
        }
        let part = cursor(0, 3, Some("aé"), Encoding::Utf8);
        assert_eq!(part.character, 3, "the part before the position is enough");
        let inside = cursor(0, 5, Some(line), Encoding::Utf8);
        assert_eq!(inside.character, 3, "no half of a character");
        let beyond = cursor(u32::MAX, u32::MAX, Some(line), Encoding::Utf8);
        assert_eq!((beyond.line, beyond.character), (u32::MAX, 6));
        assert_eq!(
            cursor(0, u32::MAX, None, Encoding::Utf8).character,
            u32::MAX
        );
    }

    #[test]
    fn places_outside_mean_the_nearest_one() {
        let text = "ab\r\né\n";
        assert_eq!(
            offset(text, 0, 9, Encoding::Utf16),
            2,
            "before the line's end"
        );
        assert_eq!(
            offset(text, 1, 1, Encoding::Utf8),
            4,
            "no half of a character"
        );
        assert_eq!(offset(text, 2, 0, Encoding::Utf16), text.len());
        assert_eq!(offset(text, 9, 9, Encoding::Utf16), text.len());
        assert_eq!(position(text, 3, Encoding::Utf16), (0, 2));
        assert_eq!(position(text, 5, Encoding::Utf16), (1, 0));
        assert_eq!(position(text, 99, Encoding::Utf16), (2, 0));
    }

    #[test]
    fn a_lone_carriage_return_is_a_character() {
        assert_eq!(offset("a\rb\nc", 0, 3, Encoding::Utf16), 3);
        assert_eq!(position("a\rb\nc", 4, Encoding::Utf16), (1, 0));
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same_place(text in "[a\\né😀\\r]{0,12}", at in 0..50_usize) {
            let at = text.floor_char_boundary(at);
            let in_line_end = text[..at].ends_with('\r') && text[at..].starts_with('\n');
            for encoding in ALL {
                let (line, character) = position(&text, at, encoding);
                let back = offset(&text, line, character, encoding);
                prop_assert_eq!(back, if in_line_end { at - 1 } else { at });
            }
        }

        #[test]
        fn every_position_is_a_whole_character_of_the_text(
            text: String,
            line in prop_oneof![0..5_u32, Just(u32::MAX)],
            character in prop_oneof![0..20_u32, Just(u32::MAX)],
        ) {
            for encoding in ALL {
                prop_assert!(text.is_char_boundary(offset(&text, line, character, encoding)));
                cursor(line, character, Some(&text), encoding);
            }
        }
    }
}
