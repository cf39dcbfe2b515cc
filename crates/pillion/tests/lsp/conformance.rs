//! Both client profiles keep the contract, and an editor that changes its folders meanwhile shows
//! that files are rewritten whole.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use pillion_testkit::conformance::{claude_commands, close_line, commands, fill, run, suite};
use serde_json::{Value, json};

use crate::agent;
use crate::client::{Editor, uri};
use crate::sandbox::Sandbox;

/// An editor that shows what it is asked to show, and edits nothing.
struct Shower {
    editor: Editor,
    /// The proposals that plugins are asked to show, by the number of the diff.
    views: HashMap<u64, Value>,
    has_shown: bool,
    /// The places of the proposals that were opened.
    documents: Vec<String>,
}

impl Shower {
    fn new(editor: Editor) -> Self {
        Self {
            editor,
            views: HashMap::new(),
            has_shown: false,
            documents: Vec::new(),
        }
    }

    fn handle(&mut self, message: &Value) {
        let params = &message["params"];
        let id = params["id"].as_u64().unwrap_or_default();
        match message["method"].as_str() {
            Some("pillion/openDiff") => {
                self.views.insert(id, params["proposed"].clone());
                self.editor.answer(message, json!({}));
                self.has_shown = true;
            }
            Some("pillion/closeDiff") => {
                let text = self.views.remove(&id);
                self.editor.answer(message, json!({"content": text}));
            }
            Some("pillion/diffText") => {
                let text = self.views.get(&id);
                self.editor.answer(message, json!({"content": text}));
            }
            Some("window/showDocument") => {
                let uri = params["uri"].as_str().unwrap();
                let path = uri.strip_prefix("file://").unwrap();
                let path = percent_decode_str(path).decode_utf8().unwrap();
                self.editor.answer(message, json!({"success": true}));
                // The diff may have been closed meanwhile. Some editors synchronise no large files; this
                // one neither, because two debug builds would take longer for one on a busy machine
                // than the companion waits for its editor.
                let text = fs::read_to_string(&*path).ok();
                if let Some(text) = text.filter(|text| text.len() < 1 << 20) {
                    let document =
                        json!({"uri": uri, "languageId": "x", "version": 0, "text": text});
                    let params = json!({"textDocument": document});
                    self.editor.notify("textDocument/didOpen", params);
                    self.documents.push(uri.to_owned());
                }
                self.has_shown = true;
            }
            _ => {}
        }
    }

    /// Serves while the suite runs; another folder is opened meanwhile.
    fn pass(mut self, sandbox: &Sandbox) {
        let other = sandbox.home.other_workspace("other");
        let stop = format!("kill {}", self.editor.child.id());
        let mut command = suite(&sandbox.home, commands(&stop));
        let running = thread::spawn(move || run(&mut command));
        let mut has_changed = false;
        while !running.is_finished() {
            if let Some(message) = self.editor.poll(Duration::from_millis(20)) {
                self.handle(&message);
            }
            if self.has_shown && !has_changed {
                has_changed = true;
                let added = json!([{"uri": uri(&other), "name": "other"}]);
                let event = json!({"event": {"added": added, "removed": []}});
                self.editor
                    .notify("workspace/didChangeWorkspaceFolders", event);
            }
        }
        let outcome = running.join().unwrap();
        // Nothing but time shows that a silent stream lives.
        outcome.expect_all_but(&["C1.1-stream-alive"]);
    }

    /// Serves while it runs with Claude Code's rules; views are closed when it asks for that.
    fn pass_claudes(mut self, sandbox: &Sandbox) {
        let asked = sandbox.home.root().join("close");
        let stop = format!("kill {}", self.editor.child.id());
        let mut command = suite(
            &sandbox.home,
            claude_commands(&stop, Some(&close_line(&asked))),
        );
        let running = thread::spawn(move || run(&mut command));
        while !running.is_finished() {
            if let Some(message) = self.editor.poll(Duration::from_millis(20)) {
                self.handle(&message);
            }
            if asked.exists() {
                self.close_all();
                fs::remove_file(&asked).unwrap();
            }
        }
        running.join().unwrap().expect_all_but(&[]);
    }

    /// Closes what it shows, without a decision.
    fn close_all(&mut self) {
        for uri in self.documents.drain(..) {
            let params = json!({"textDocument": {"uri": uri}});
            self.editor.notify("textDocument/didClose", params);
        }
    }
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn an_editor_without_a_plugin_keeps_claude_codes_rules() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    Shower::new(without_plugin(&sandbox)).pass_claudes(&sandbox);
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn a_plugin_passes() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let file = sandbox.home.file("a.txt", "text\n".repeat(9));
    let mut editor = Editor::plugin(&sandbox);
    agent::files(&mut editor);
    let active = json!({"uri": uri(&file), "lastFocused": 1_700_000_000_000_u64, "active": true,
        "lineText": "text", "position": {"line": 0, "character": 0}});
    editor.notify("pillion/didChangeContext", json!({"openFiles": [active]}));
    Shower::new(editor).pass(&sandbox);
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn an_editor_without_a_plugin_passes() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    Shower::new(without_plugin(&sandbox)).pass(&sandbox);
}

fn without_plugin(sandbox: &Sandbox) -> Editor {
    let mut editor = Editor::start::<&str>(sandbox, []);
    editor.initialize(json!({"processId": std::process::id(), "capabilities": {}}));
    editor.notify("initialized", json!({}));
    editor.request("pillion/none", Value::Null);
    editor
}
