//! The text of an open document, kept current by the editor's edits. A place that does not exist
//! becomes the nearest one that does: a client may be wrong about a text, and nothing may break. And the edits by which an
//! editor makes one text of another, so that its undo works.

use std::ops::Range;

use pillion_protocol::Cursor;
use pillion_text::{Text, hunks};
use serde_json::{Value, json};

use crate::plain::wire::{self, Edits, Position};
use crate::position::{self, Encoding};

/// A document as the editor has it.
#[derive(Debug, Default)]
pub struct Document {
    text: String,
    /// The text of a save that the edits have not led to yet: Kate sends first what it saved, and
    /// then which edits led there.
    saved: Option<String>,
    /// The version of the text, once the editor has sent it.
    version: Option<i64>,
}

impl Document {
    pub fn new(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    pub fn text(&self) -> &str {
        self.saved.as_ref().unwrap_or(&self.text)
    }

    /// Makes the edits, one after the other. A whole text that comes after a newer one changes nothing.
    pub fn change(&mut self, edits: Edits, encoding: Encoding) {
        let Edits { version, changes } = edits;
        let is_older = version
            .zip(self.version)
            .is_some_and(|(new, known)| new < known);
        if is_older && changes.iter().all(|change| change.range.is_none()) {
            return;
        }
        self.version = version.max(self.version);
        self.saved = None;
        for change in changes {
            match change.range {
                Some(range) => {
                    let range = bytes(&self.text, range, encoding);
                    self.text.replace_range(range, &change.text);
                }
                None => self.text = change.text,
            }
        }
    }

    pub fn save(&mut self, text: String) {
        self.saved = (text != self.text).then_some(text);
    }

    pub fn slice(&self, range: wire::Range, encoding: Encoding) -> &str {
        let text = self.text();
        &text[bytes(text, range, encoding)]
    }

    /// A place as agents count: from 1, in UTF-16 units (C4.3).
    pub fn cursor(&self, place: Position, encoding: Encoding) -> Cursor {
        let text = self.text();
        let place = utf16(text, byte(text, place, encoding));
        position::cursor(place.line, place.character, None, Encoding::Utf16)
    }

    /// The range of [`Self::slice`], in UTF-16 units.
    pub fn range(&self, range: wire::Range, encoding: Encoding) -> pillion_protocol::Range {
        let text = self.text();
        let bytes = bytes(text, range, encoding);
        pillion_protocol::Range {
            start: utf16(text, bytes.start),
            end: utf16(text, bytes.end),
        }
    }
}

fn bytes(text: &str, range: wire::Range, encoding: Encoding) -> Range<usize> {
    let start = byte(text, range.start, encoding);
    let end = byte(text, range.end, encoding);
    start.min(end)..start.max(end)
}

fn utf16(text: &str, byte: usize) -> pillion_protocol::Position {
    let (line, character) = position::position(text, byte, Encoding::Utf16);
    pillion_protocol::Position { line, character }
}

fn byte(text: &str, place: Position, encoding: Encoding) -> usize {
    position::offset(text, place.line, place.character, encoding)
}

/// The edits that turn one text into the other, line by line, so that the cursor and marks elsewhere stay.
pub fn text_edits(former: &str, newer: &str, encoding: Encoding) -> Vec<Value> {
    let texts = [former, newer].map(|it| Text::new(it.as_bytes()));
    let place = |line: usize| {
        let bytes = texts[0].slice(0..line).len();
        let (line, character) = position::position(former, bytes, encoding);
        json!({"line": line, "character": character})
    };
    let hunks = hunks::between(&texts[0], &texts[1]);
    let edits = hunks.iter().map(|hunk| {
        let text = String::from_utf8_lossy(texts[1].slice(hunk.after.clone()));
        json!({
            "range": {"start": place(hunk.before.start), "end": place(hunk.before.end)},
            "newText": text,
        })
    });
    edits.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plain::wire::Change;

    const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn between(start: (u32, u32), end: (u32, u32)) -> wire::Range {
        wire::Range {
            start: at(start.0, start.1),
            end: at(end.0, end.1),
        }
    }

    fn edit(range: wire::Range, text: &str) -> Change {
        Change {
            range: Some(range),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_place_is_the_same_in_every_encoding() {
        let document = Document::new("é\n😀é!\n".to_owned());
        for (encoding, character) in ALL.into_iter().zip([6, 3, 2]) {
            let cursor = document.cursor(at(1, character), encoding);
            assert_eq!((cursor.line, cursor.character), (2, 4), "{encoding:?}");
            let rest = between((1, character), (1, character + 1));
            assert_eq!(document.slice(rest, encoding), "!");
        }
    }

    #[test]
    fn places_that_do_not_exist_become_the_nearest_ones() {
        let document = Document::new("ab\r\ncd".to_owned());
        let cursor = |line, character| {
            let cursor = document.cursor(at(line, character), Encoding::Utf16);
            (cursor.line, cursor.character)
        };
        assert_eq!(cursor(0, 99), (1, 3), "before the line end");
        assert_eq!(cursor(1, u32::MAX), (2, 3));
        let backwards = between((9, 9), (0, 1));
        assert_eq!(document.slice(backwards, Encoding::Utf8), "b\r\ncd");
    }

    #[test]
    fn edits_are_made_one_after_the_other() {
        let mut document = Document::new("one\ntwo\nthree\n".to_owned());
        let changes = vec![
            edit(between((0, 0), (1, 0)), ""),
            edit(between((1, 5), (1, 5)), "!"),
            edit(between((2, 0), (2, 0)), "four\n"),
        ];
        document.change(changes.into(), Encoding::Utf16);
        assert_eq!(document.text(), "two\nthree!\nfour\n");
        let whole = Change {
            range: None,
            text: "all".to_owned(),
        };
        document.change(vec![whole].into(), Encoding::Utf16);
        assert_eq!(document.text(), "all");
    }

    #[test]
    fn the_newest_of_whole_texts_counts_in_whatever_order_they_come() {
        let mut document = Document::new("".to_owned());
        let mut change = |version, text: &str| {
            let whole = Change {
                range: None,
                text: text.to_owned(),
            };
            let edits = Edits {
                version,
                changes: vec![whole],
            };
            document.change(edits, Encoding::Utf8);
            document.text().to_owned()
        };
        assert_eq!(change(Some(1), "m"), "m");
        assert_eq!(change(Some(3), "min"), "min");
        assert_eq!(change(Some(2), "mi"), "min");
        assert_eq!(change(Some(4), "mine"), "mine");
        assert_eq!(
            change(None, "yours"),
            "yours",
            "of a client that counts nothing"
        );
    }

    #[test]
    fn a_carriage_return_that_is_shown_can_be_edited() {
        for encoding in ALL {
            let changed = |range| {
                let mut document = Document::new("ab\r\ncd\n".to_owned());
                document.change(vec![edit(range, "")].into(), encoding);
                document.text().to_owned()
            };
            assert_eq!(changed(between((0, 2), (0, 3))), "ab\ncd\n");
            assert_eq!(changed(between((0, 3), (1, 0))), "ab\rcd\n");
            assert_eq!(changed(between((0, 2), (1, 0))), "abcd\n");
            assert_eq!(changed(between((0, 1), (0, 9))), "a\r\ncd\n");
        }
    }

    #[test]
    fn the_text_of_a_save_counts_until_the_edits_that_led_there() {
        let mut document = Document::new("a\n".to_owned());
        document.save("new\na\n".to_owned());
        assert_eq!(document.text(), "new\na\n");
        let late = vec![edit(between((0, 0), (0, 0)), "new\n")];
        document.change(late.into(), Encoding::Utf16);
        assert_eq!(document.text(), "new\na\n");
    }

    proptest! {
        #[test]
        fn no_edit_panics(text: String, insert in ".{0,3}", places in any::<[u8; 4]>()) {
            for encoding in ALL {
                let mut document = Document::new(text.clone());
                let [a, b, c, d] = places.map(|place| u32::from(place % 8));
                let range = between((a, b), (c, d));
                document.cursor(range.start, encoding);
                document.change(vec![edit(range, &insert)].into(), encoding);
                prop_assert!(document.text().contains(&insert));
            }
        }
    }

    #[test]
    fn edits_make_the_one_text_of_the_other() {
        let texts = [
            "",
            "a",
            "a\n",
            "a\nb",
            "x\na\r\nb\n",
            "ä\n\u{1f600}b\nc",
            "b\n",
        ];
        for (former, newer) in texts
            .iter()
            .flat_map(|a| texts.iter().map(move |b| (*a, *b)))
        {
            let mut text = former.to_owned();
            let mut edits = text_edits(former, newer, Encoding::Utf16);
            edits.reverse();
            for edit in edits {
                let place = |end: &str| {
                    let at = &edit["range"][end];
                    let number = |name: &str| u32::try_from(at[name].as_u64().unwrap()).unwrap();
                    position::offset(&text, number("line"), number("character"), Encoding::Utf16)
                };
                let range = place("start")..place("end");
                text.replace_range(range, edit["newText"].as_str().unwrap());
            }
            assert_eq!(text, newer, "from {former:?}");
        }
    }
}
