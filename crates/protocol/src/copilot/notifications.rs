//! The editor's notifications: the selection, and what the person mentions.

use serde_json::{Value, json};

use crate::context::File;

/// The method of a [`selection_changed`].
pub const SELECTION_CHANGED: &str = "selection_changed";
/// The method of an [`add_file_reference`].
pub const ADD_FILE_REFERENCE: &str = "add_file_reference";

/// The params of a [`SELECTION_CHANGED`]: the focused file with what is selected in it, or that there is none. The
/// agent adds the selected text to each prompt for as long as it is the newest. It passes over params that lack a field.
pub fn selection_changed(file: Option<&File>) -> Value {
    let selected = file.and_then(File::selected);
    let (text, range) = selected.unwrap_or(("", file.map(File::caret).unwrap_or_default()));
    // It counts lines by the range, and elsewhere by the text: what follows the last newline would be one more.
    let range = range.within_lines(text);
    let text = match text.strip_suffix('\n') {
        Some(cut) if !cut.is_empty() => cut,
        _ => text,
    };
    let path = file.map_or("", |file| file.path.as_str());
    json!({
        "text": text,
        "filePath": path,
        "fileUrl": url(path),
        "selection": {"start": range.start, "end": range.end, "isEmpty": text.is_empty()},
    })
}

/// The params of an [`ADD_FILE_REFERENCE`]: a file, or its lines from the first to the last, from 0. The agent types
/// them into its prompt.
pub fn add_file_reference(path: &str, lines: Option<(u32, u32)>) -> Value {
    let selection = lines.map(|(first, last)| {
        json!({"start": {"line": first, "character": 0}, "end": {"line": last, "character": 1}})
    });
    json!({"filePath": path, "fileUrl": url(path), "selection": selection, "selectedText": null})
}

/// A path as a URL: every byte that could mean something else there is escaped.
fn url(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escaped = path.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file://{}", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Position, Range};

    #[test]
    fn a_selection_has_the_shape_that_the_agent_reads() {
        let at = |line, character| Position { line, character };
        let file = File {
            selected_text: Some("two\nth".into()),
            selection: Some(Range {
                start: at(1, 0),
                end: at(2, 2),
            }),
            ..File::focused("/a b", 5)
        };
        assert_eq!(
            selection_changed(Some(&file)),
            json!({
                "text": "two\nth", "filePath": "/a b", "fileUrl": "file:///a%20b",
                "selection": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 2}, "isEmpty": false},
            })
        );
    }

    #[test]
    fn a_selection_of_whole_lines_ends_with_the_last_of_them() {
        for (selected, text) in [("two\n", "two"), ("a\n\n", "a\n"), ("\n", "\n"), ("a", "a")] {
            let file = File {
                selected_text: Some(selected.into()),
                ..File::focused("/a", 5)
            };
            assert_eq!(selection_changed(Some(&file))["text"], text, "{selected:?}");
        }
    }

    #[test]
    fn a_file_without_a_selection_is_open_and_none_is_none() {
        let params = selection_changed(Some(&File::focused("/é", 5)));
        assert_eq!(params["selection"]["isEmpty"], true);
        assert_eq!(params["fileUrl"], "file:///%C3%A9");
        let params = selection_changed(None);
        assert_eq!(
            (&params["text"], &params["filePath"]),
            (&json!(""), &json!(""))
        );
    }

    #[test]
    fn a_mention_names_a_file_or_its_lines() {
        assert_eq!(add_file_reference("/a", None)["selection"], Value::Null);
        let lines = add_file_reference("/a", Some((1, 2)));
        assert_eq!(lines["selection"]["start"]["line"], 1);
        assert_eq!(lines["selection"]["end"]["line"], 2);
    }
}
