//! The small companion's contexts.

use serde_json::json;

use super::companion::Shared;
use crate::editor::{Cursor, Editor};

impl Editor for Shared {
    fn context_flaw(&self) -> &str {
        self.flaw.strip_prefix("P7-").unwrap_or_default()
    }

    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn show_all(&self) {
        for session in self.sessions() {
            self.show(&session);
        }
    }
}

impl Shared {
    /// Sends the selection to a session.
    pub fn show(&self, session: &str) {
        let params = self.selection();
        let message = json!({"jsonrpc": "2.0", "method": "selection_changed", "params": params});
        self.push(session, &message);
    }

    fn sessions(&self) -> Vec<String> {
        self.state().sessions.keys().cloned().collect()
    }

    /// Mentions these lines, which are counted from 1.
    pub fn mention(&self, file: &str, (first, last): (u32, u32)) {
        let base = u32::from(!self.breaks("P7-mention-lines"));
        let place = |line: u32| json!({"line": line - base, "character": 0});
        let mut params = json!({
            "filePath": file, "fileUrl": format!("file://{file}"), "selectedText": null,
            "selection": {"start": place(first), "end": place(last)},
        });
        match self.flaw {
            "P7-mention" => params["selection"]["start"]["line"] = "2".into(),
            "P7-mention/path" => params["filePath"] = "file-0.txt".into(),
            _ => {}
        }
        let mut message =
            json!({"jsonrpc": "2.0", "method": "add_file_reference", "params": params});
        match self.flaw {
            "P7-mention/request" => message["id"] = 1.into(),
            "P7-mention/nothing" => return,
            _ => {}
        }
        for session in self.sessions() {
            for _ in 0..=usize::from(self.breaks("P7-mention/twice")) {
                self.push(&session, &message);
            }
        }
    }
}
