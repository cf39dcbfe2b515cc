//! The context that the editor shows (C4): the wire types, the companion's rules and the agent's.

mod rules;

use serde::{Deserialize, Serialize};

pub use rules::{MAX_FILES, MAX_SELECTION, TRUNCATION_MARK, in_agents_order};

/// The notification's method (C4.1).
pub const CONTEXT_UPDATE: &str = "ide/contextUpdate";

/// The params of `ide/contextUpdate` (C4.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdeContext {
    /// The known state of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_state: Option<WorkspaceState>,
}

/// The state of the workspace (C4.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceState {
    /// The open files, the most recently focused first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<Vec<File>>,
    /// True if the user trusts the workspace: only when the editor really knows, because it
    /// overrides the agent's own question (C4.9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_trusted: Option<bool>,
}

/// An open file (C4.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Its absolute path.
    pub path: String,
    /// The time when it was last focused: Unix time in milliseconds.
    pub timestamp: u64,
    /// True on the focused file only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    /// The position of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// The selected text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_text: Option<String>,
    /// The range of that text. Only Claude Code and opencode get it.
    #[serde(skip)]
    pub selection: Option<Range>,
}

/// A place in a file: both numbers start at 0, characters are UTF-16 units, as in the Language Server
/// Protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 0.
    pub line: u32,
    /// The UTF-16 unit in the line, from 0.
    pub character: u32,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first position.
    pub start: Position,
    /// The end: the first place behind it.
    pub end: Position,
}

impl Range {
    /// The same range up to the end of its last line, where it ends at the start of the next one, unless nothing is left
    /// then: some agents take that for one line more.
    #[must_use]
    pub fn within_lines(self, text: &str) -> Self {
        let Self { start, end } = self;
        if end.character > 0 || end.line <= start.line || !text.ends_with('\n') {
            return self;
        }
        let last = text.lines().next_back().unwrap_or_default();
        let length = u32::try_from(last.encode_utf16().count()).unwrap_or(u32::MAX);
        let line = end.line - 1;
        let before = if line == start.line {
            start.character
        } else {
            0
        };
        let character = before.saturating_add(length);
        let end = Position { line, character };
        if end == start {
            return self;
        }
        Self { start, end }
    }

    /// The range of a text that begins there.
    pub fn of_text(start: Position, text: &str) -> Self {
        let last = text.rsplit('\n').next().unwrap_or_default();
        let [units, breaks] = [
            last.encode_utf16().count(),
            text.bytes().filter(|byte| *byte == b'\n').count(),
        ]
        .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let before = if breaks == 0 { start.character } else { 0 };
        let end = Position {
            line: start.line.saturating_add(breaks),
            character: before.saturating_add(units),
        };
        Self { start, end }
    }
}

/// A position: both numbers start at 1 (C4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub character: u32,
}

impl File {
    /// A file that is open, but not the focused one.
    pub fn open(path: impl Into<String>, timestamp: u64) -> Self {
        Self {
            path: path.into(),
            timestamp,
            is_active: None,
            cursor: None,
            selected_text: None,
            selection: None,
        }
    }

    /// The focused file.
    pub fn focused(path: impl Into<String>, timestamp: u64) -> Self {
        Self {
            is_active: Some(true),
            ..Self::open(path, timestamp)
        }
    }

    /// Returns true if this is the focused file.
    pub fn is_focused(&self) -> bool {
        self.is_active == Some(true)
    }

    /// The selected text and its range. If nobody says that, it begins at the cursor: a text is
    /// never in an empty range.
    pub fn selected(&self) -> Option<(&str, Range)> {
        let text = self
            .selected_text
            .as_deref()
            .filter(|text| !text.is_empty());
        let text = text?;
        let selection = self.selection.filter(|range| range.start != range.end);
        Some((
            text,
            selection.unwrap_or_else(|| Range::of_text(self.caret().start, text)),
        ))
    }

    /// The empty range where the cursor is.
    pub fn caret(&self) -> Range {
        let position = self.cursor.map(|cursor| Position {
            line: cursor.line.saturating_sub(1),
            character: cursor.character.saturating_sub(1),
        });
        let start = position.unwrap_or_default();
        Range { start, end: start }
    }

    /// Returns true if the person is where they were: a file that was only written again is not used.
    pub fn is_same_place(&self, before: Option<&File>) -> bool {
        before.is_some_and(|before| {
            let timestamp = before.timestamp;
            *before
                == File {
                    timestamp,
                    ..self.clone()
                }
        })
    }

    /// Makes it a file that is only open.
    pub fn lose_focus(&mut self) {
        self.is_active = None;
        self.cursor = None;
        self.selected_text = None;
        self.selection = None;
    }
}

impl IdeContext {
    /// The open files, or none.
    pub fn files(&self) -> &[File] {
        self.workspace_state
            .as_ref()
            .and_then(|state| state.open_files.as_deref())
            .unwrap_or_default()
    }

    /// The focused file.
    pub fn active_file(&self) -> Option<&File> {
        self.files().iter().find(|file| file.is_focused())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_has_the_wire_shape_of_the_contract() {
        let context = IdeContext {
            workspace_state: Some(WorkspaceState {
                open_files: Some(vec![
                    File {
                        cursor: Some(Cursor {
                            line: 1,
                            character: 2,
                        }),
                        selected_text: Some("x".into()),
                        ..File::focused("/a", 5)
                    },
                    File::open("/b", 4),
                ]),
                is_trusted: None,
            }),
        };
        assert_eq!(
            serde_json::to_value(&context).unwrap(),
            serde_json::json!({"workspaceState": {"openFiles": [
                {"path": "/a", "timestamp": 5, "isActive": true,
                 "cursor": {"line": 1, "character": 2}, "selectedText": "x"},
                {"path": "/b", "timestamp": 4}
            ]}})
        );
    }

    #[test]
    fn a_selected_text_is_never_in_an_empty_range() {
        let place = |line, character| Position { line, character };
        let selected = |text: &str, selection| {
            let file = File {
                cursor: Some(Cursor {
                    line: 2,
                    character: 3,
                }),
                selected_text: Some(text.into()),
                selection,
                ..File::focused("/a", 1)
            };
            file.selected().map(|(_, range)| (range.start, range.end))
        };
        let empty = Range::default();
        for (text, end) in [
            ("x😀", place(1, 5)),
            ("one\n", place(2, 0)),
            ("a\r\nb\ncd", place(3, 2)),
        ] {
            for selection in [None, Some(empty)] {
                assert_eq!(
                    selected(text, selection),
                    Some((place(1, 2), end)),
                    "{text:?}"
                );
            }
        }
        let known = Range::of_text(place(7, 0), "x");
        assert_eq!(selected("x", Some(known)), Some((known.start, known.end)));
        assert_eq!(selected("", None), None);
    }
}
