//! What the editor shows (C4): the wire types, the companion's rules and the agent's.

mod rules;

use serde::{Deserialize, Serialize};

pub use rules::{MAX_FILES, MAX_SELECTION, TRUNCATION_MARK, in_agents_order};

/// The notification's method (C4.1).
pub const CONTEXT_UPDATE: &str = "ide/contextUpdate";

/// The params of `ide/contextUpdate` (C4.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdeContext {
    /// What is known of the workspace.
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
    /// Whether the user trusts the workspace: only when the editor really knows, because it
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
    /// When it was last focused: Unix time in milliseconds.
    pub timestamp: u64,
    /// True on the focused file only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    /// Where the cursor is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// The selected text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_text: Option<String>,
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
        }
    }

    /// The focused file.
    pub fn focused(path: impl Into<String>, timestamp: u64) -> Self {
        Self {
            is_active: Some(true),
            ..Self::open(path, timestamp)
        }
    }

    /// Whether this is the focused file.
    pub fn is_focused(&self) -> bool {
        self.is_active == Some(true)
    }

    fn lose_focus(&mut self) {
        self.is_active = None;
        self.cursor = None;
        self.selected_text = None;
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
}
