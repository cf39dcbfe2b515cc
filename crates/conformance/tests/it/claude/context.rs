//! What the small companion says that its editor shows.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::companion::Shared;

const DEBOUNCE: Duration = Duration::from_millis(50);

impl Shared {
    /// What a client gets when it is initialized.
    pub fn greet(&self, client: u64) {
        let is_first = self.state().clients.keys().next() == Some(&client);
        if !self.breaks("K7-start") && (is_first || !self.breaks("K8-selection")) {
            self.show(client);
        }
    }

    /// Sends the selection to a client.
    pub fn show(&self, client: u64) {
        let params = self.selection();
        self.send(
            client,
            &json!({"jsonrpc": "2.0", "method": "selection_changed", "params": params}),
        );
    }

    fn selection(&self) -> Value {
        let (path, line) = self.state().focused.clone().unwrap_or_default();
        let line = line - u32::from(!self.breaks("K7-moved"));
        let place = json!({"line": line, "character": 0});
        let mut params = json!({
            "text": "", "filePath": path, "fileUrl": format!("file://{path}"),
            "selection": {"start": place, "end": place, "isEmpty": true},
        });
        match self.flaw {
            "K7-shape" => params["selection"] = Value::Null,
            "K7-shape/text" => params["text"] = Value::Null,
            "K7-shape/line" => params["selection"]["start"]["line"] = line.to_string().into(),
            "K7-shape/backwards" => params["selection"]["start"]["character"] = 7.into(),
            "K7-shape/empty" => params["selection"]["isEmpty"] = "true".into(),
            "K7-path" => params["filePath"] = "file-0.txt".into(),
            "K7-path/uri" => params["filePath"] = params["fileUrl"].clone(),
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
        if self.breaks("K7-change") {
            return;
        }
        if self.breaks("K7-debounce") {
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

    fn show_all(&self) {
        for client in self.initialized() {
            self.show(client);
        }
    }

    fn initialized(&self) -> Vec<u64> {
        let state = self.state();
        let clients = state
            .clients
            .iter()
            .filter(|(_, client)| client.is_initialized);
        clients.map(|(id, _)| *id).collect()
    }

    /// Mentions these lines, which are counted from 1.
    pub fn mention(&self, file: &str, (first, last): (u32, u32)) {
        let base = u32::from(!self.breaks("K7-mention-lines"));
        let mut params = json!({
            "filePath": file, "lineStart": first - base, "lineEnd": last - base,
        });
        match self.flaw {
            "K7-mention" => params["lineStart"] = Value::Null,
            "K7-mention/path" => params["filePath"] = "file-0.txt".into(),
            _ => {}
        }
        let mut message = json!({"jsonrpc": "2.0", "method": "at_mentioned", "params": params});
        match self.flaw {
            "K7-mention/request" => message["id"] = 1.into(),
            "K7-mention/nothing" => return,
            _ => {}
        }
        for client in self.initialized() {
            for _ in 0..=usize::from(self.breaks("K7-mention/twice")) {
                self.send(client, &message);
            }
        }
    }
}
