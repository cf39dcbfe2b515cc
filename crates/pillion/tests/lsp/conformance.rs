//! The face of plugins keeps the contract, and an editor that changes its folders meanwhile shows
//! that files are rewritten whole.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent;
use crate::client::{Editor, uri};
use crate::sandbox::Sandbox;
use crate::shared_conformance::{commands, run};

/// A plugin that shows what it is asked to show, and edits nothing.
struct Plugin {
    editor: Editor,
    views: HashMap<u64, Value>,
}

impl Plugin {
    fn handle(&mut self, message: &Value) {
        let params = &message["params"];
        let id = params["id"].as_u64().unwrap_or_default();
        match message["method"].as_str() {
            Some("pillion/openDiff") => {
                self.views.insert(id, params["proposed"].clone());
                self.editor.answer(message, json!({}));
            }
            Some("pillion/closeDiff") => {
                let text = self.views.remove(&id);
                self.editor.answer(message, json!({"content": text}));
            }
            _ => {}
        }
    }
}

#[test]
fn a_plugin_passes() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.txt", "text\n");
    let other = sandbox.home.other_workspace("other");
    let mut editor = Editor::plugin(&sandbox);
    agent::files(&mut editor);
    let active = json!({"uri": uri(&file), "lastFocused": 1_700_000_000_000_u64, "active": true, "lineText": "text",
        "position": {"line": 0, "character": 0}});
    editor.notify("pillion/didChangeContext", json!({"openFiles": [active]}));
    let stop = format!("kill {}", editor.child.id());
    let mut command = sandbox.command(["conformance"]);
    command.args(commands(&stop));
    let running = thread::spawn(move || run(&mut command));
    let mut plugin = Plugin {
        editor,
        views: HashMap::new(),
    };
    let mut has_changed = false;
    while !running.is_finished() {
        let Some(message) = plugin.editor.poll(Duration::from_millis(20)) else {
            continue;
        };
        plugin.handle(&message);
        if message["method"] == "pillion/openDiff" && !has_changed {
            has_changed = true;
            let added = json!([{"uri": uri(&other), "name": "other"}]);
            let event = json!({"added": added, "removed": []});
            let params = json!({"event": event});
            plugin
                .editor
                .notify("workspace/didChangeWorkspaceFolders", params);
        }
    }
    let outcome = running.join().unwrap();
    // Nothing but time shows that a silent stream lives.
    outcome.expect_all_but(&["C1.1-stream-alive"]);
}
