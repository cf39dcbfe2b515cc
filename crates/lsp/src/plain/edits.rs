//! Edits that an editor is to make in a text of its own, so that its undo works.

use pillion_text::{Text, hunks};
use serde_json::{Value, json};

use crate::position::{self, Encoding};

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
    use super::*;

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
