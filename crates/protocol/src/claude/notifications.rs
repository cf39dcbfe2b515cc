//! The editor's notifications: the selection, and what the person mentions.

use serde_json::{Value, json};

use crate::context::{File, Range};
use crate::dialect::Dialect;

/// The method of a [`selection_changed`].
pub const SELECTION_CHANGED: &str = "selection_changed";
/// The method of an [`at_mentioned`].
pub const AT_MENTIONED: &str = "at_mentioned";

/// The params of a [`SELECTION_CHANGED`]: the focused file with what is selected in it, or that there is
/// none. (`selection: null` would leave the agent with the one before.)
///
/// opencode shows line numbers as they come, which Claude Code counts from 1 by itself.
pub fn selection_changed(file: Option<&File>, agent: Dialect) -> Value {
    let selected = file.and_then(File::selected);
    let (text, range) = selected.unwrap_or(("", file.map(File::caret).unwrap_or_default()));
    let range = match agent {
        Dialect::OpenCode => from_one(range.within_lines(text)),
        _ => range,
    };
    let mut params = json!({
        "text": text,
        "selection": {"start": range.start, "end": range.end, "isEmpty": text.is_empty()},
    });
    if let Some(file) = file {
        params["filePath"] = file.path.as_str().into();
    }
    params
}

/// The params of an [`AT_MENTIONED`]: a file, or its lines from the first to the last, from 0.
///
/// Claude Code inserts a path with a blank as it comes and then does not read the file, unless it is
/// quoted, its lines within the quotes; and nothing of a folder, which ends in a slash.
pub fn at_mentioned(path: &str, lines: Option<(u32, u32)>, agent: Dialect) -> Value {
    let needs_quotes = path.contains(char::is_whitespace) || path.ends_with('/');
    if agent == Dialect::ClaudeCode && needs_quotes {
        let lines = lines.map(|(first, last)| match first.saturating_add(1) {
            line if first == last => format!("#L{line}"),
            line => format!("#L{line}-{}", last.saturating_add(1)),
        });
        return json!({"filePath": format!("\"{path}{}\"", lines.unwrap_or_default())});
    }
    let mut params = json!({"filePath": path});
    if let Some((first, last)) = lines {
        let first_line = first_line(agent);
        params["lineStart"] = first.saturating_add(first_line).into();
        params["lineEnd"] = last.saturating_add(first_line).into();
    }
    params
}

/// The number by which an agent takes a file's first line.
fn first_line(agent: Dialect) -> u32 {
    u32::from(agent == Dialect::OpenCode)
}

/// The range with lines that count from 1.
fn from_one(mut range: Range) -> Range {
    for position in [&mut range.start, &mut range.end] {
        position.line = position.line.saturating_add(1);
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Cursor, Position};

    fn selected() -> File {
        let at = |line, character| Position { line, character };
        File {
            selected_text: Some("two\nth".into()),
            selection: Some(Range {
                start: at(1, 0),
                end: at(2, 2),
            }),
            ..File::focused("/a b", 5)
        }
    }

    #[test]
    fn a_selection_has_the_shape_that_the_agent_reads() {
        let params = selection_changed(Some(&selected()), Dialect::ClaudeCode);
        assert_eq!(
            params,
            json!({
                "text": "two\nth", "filePath": "/a b",
                "selection": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 2}, "isEmpty": false},
            })
        );
    }

    #[test]
    fn a_file_without_a_selection_is_open_and_none_is_none() {
        let cursor = Some(Cursor {
            line: 3,
            character: 2,
        });
        let file = File {
            cursor,
            ..File::focused("/a", 5)
        };
        let params = selection_changed(Some(&file), Dialect::ClaudeCode);
        let at = json!({"line": 2, "character": 1});
        assert_eq!(
            params,
            json!({"text": "", "filePath": "/a", "selection": {"start": at, "end": at, "isEmpty": true}})
        );
        let params = selection_changed(None, Dialect::ClaudeCode);
        assert!(params.get("filePath").is_none() && params["selection"]["isEmpty"] == true);
    }

    #[test]
    fn a_path_with_a_blank_is_quoted_with_its_lines() {
        let mentioned = |lines| at_mentioned("/a b", lines, Dialect::ClaudeCode);
        assert_eq!(mentioned(None), json!({"filePath": "\"/a b\""}));
        let folder = at_mentioned("/src/", None, Dialect::ClaudeCode);
        assert_eq!(folder, json!({"filePath": "\"/src/\""}));
        assert_eq!(mentioned(Some((0, 0))), json!({"filePath": "\"/a b#L1\""}));
        assert_eq!(
            mentioned(Some((1, 2))),
            json!({"filePath": "\"/a b#L2-3\""})
        );
        let opencode = at_mentioned("/a b", None, Dialect::OpenCode);
        assert_eq!(opencode, json!({"filePath": "/a b"}));
    }

    #[test]
    fn opencode_gets_no_line_more_than_is_selected() {
        let at = |line, character| Position { line, character };
        let range = |start, end| Range { start, end };
        for (selected, text, expected) in [
            (
                range(at(1, 0), at(2, 0)),
                "two\n",
                range(at(2, 0), at(2, 3)),
            ),
            (
                range(at(0, 2), at(1, 0)),
                "e\r\n",
                range(at(1, 2), at(1, 3)),
            ),
            (
                range(at(0, 1), at(2, 0)),
                "ne\n𝄞\n",
                range(at(1, 1), at(2, 2)),
            ),
            (range(at(1, 0), at(2, 0)), "\n", range(at(2, 0), at(3, 0))),
            (range(at(1, 0), at(1, 3)), "two", range(at(2, 0), at(2, 3))),
        ] {
            let file = File {
                selected_text: Some(text.into()),
                selection: Some(selected),
                ..File::focused("/a", 5)
            };
            let params = selection_changed(Some(&file), Dialect::OpenCode);
            let found = &params["selection"];
            assert_eq!(found["start"], json!(expected.start), "{text:?}");
            assert_eq!(found["end"], json!(expected.end), "{text:?}");
        }
    }

    #[test]
    fn opencode_counts_lines_from_one() {
        let params = selection_changed(Some(&selected()), Dialect::OpenCode);
        assert_eq!(params["selection"]["start"]["line"], 2);
        let mentioned = |agent| at_mentioned("/a", Some((1, 2)), agent);
        assert_eq!(
            mentioned(Dialect::ClaudeCode),
            json!({"filePath": "/a", "lineStart": 1, "lineEnd": 2})
        );
        assert_eq!(
            mentioned(Dialect::OpenCode),
            json!({"filePath": "/a", "lineStart": 2, "lineEnd": 3})
        );
        assert_eq!(
            at_mentioned("/a", None, Dialect::OpenCode),
            json!({"filePath": "/a"})
        );
    }
}
