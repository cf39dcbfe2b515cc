//! The small companion's contexts.

use serde_json::{Value, json};

use super::companion::Shared;
use crate::editor::{Cursor, Editor};

impl Editor for Shared {
    fn context_flaw(&self) -> &str {
        self.flaw.strip_prefix("K7-").unwrap_or_default()
    }

    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn show_all(&self) {
        for client in self.initialized() {
            self.show(client);
        }
    }
}

impl Shared {
    /// Sends a client its messages when it is initialized.
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
