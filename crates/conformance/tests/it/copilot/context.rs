//! What the small companion says that its editor shows.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::companion::Shared;

const DEBOUNCE: Duration = Duration::from_millis(50);

impl Shared {
    /// Sends the selection to a session.
    pub fn show(&self, session: &str) {
        let params = self.selection();
        let message = json!({"jsonrpc": "2.0", "method": "selection_changed", "params": params});
        self.push(session, &message);
    }

    fn selection(&self) -> Value {
        let (path, line) = self.state().focused.clone().unwrap_or_default();
        let line = line - u32::from(!self.breaks("P7-moved"));
        let place = json!({"line": line, "character": 0});
        let mut params = json!({
            "text": "", "filePath": path, "fileUrl": format!("file://{path}"),
            "selection": {"start": place, "end": place, "isEmpty": true},
        });
        match self.flaw {
            "P7-shape" => params["selection"] = Value::Null,
            "P7-shape/url" => drop(params.as_object_mut().unwrap().remove("fileUrl")),
            "P7-shape/line" => params["selection"]["start"]["line"] = line.to_string().into(),
            "P7-shape/backwards" => params["selection"]["start"]["character"] = 7.into(),
            "P7-shape/empty" => params["selection"]["isEmpty"] = "true".into(),
            "P7-path" => params["filePath"] = "file-0.txt".into(),
            "P7-path/uri" => params["filePath"] = params["fileUrl"].clone(),
            _ => {}
        }
        params
    }

    /// Moves the cursor to this line, which is counted from 1.
    pub fn move_cursor(self: &Arc<Self>, file: &str, line: u32) {
        let nth = {
            let mut state = self.state();
            state.focused = Some((file.to_owned(), line));
            state.moves += 1;
            state.moves
        };
        if self.breaks("P7-change") {
            return;
        }
        if self.breaks("P7-debounce") {
            return self.show_all();
        }
        let shared = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(DEBOUNCE);
            if shared.state().moves == nth {
                shared.show_all();
            }
        });
    }

    fn sessions(&self) -> Vec<String> {
        self.state().sessions.keys().cloned().collect()
    }

    fn show_all(&self) {
        for session in self.sessions() {
            self.show(&session);
        }
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
