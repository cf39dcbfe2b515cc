//! An editor without a plugin, and an agent that is connected to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;
use pillion_protocol::IdeContext;
use pillion_testkit::{Call, SOON, TestAgent};
use serde_json::{Value, json};

use crate::client::Editor;
use crate::sandbox::Sandbox;

pub struct World {
    pub sandbox: Sandbox,
    pub editor: Editor,
    pub agent: TestAgent,
}

/// A proposal that the editor was asked to show.
pub struct Proposal {
    pub request: Value,
    pub uri: String,
    pub path: PathBuf,
    /// The file in the workspace.
    pub target: String,
    pub call: Call<()>,
}

impl World {
    pub fn new() -> Self {
        Self::with(&[], json!({}))
    }

    /// With these arguments, and these parameters beside the usual ones.
    pub fn with(args: &[&str], params: Value) -> Self {
        Self::in_sandbox(Sandbox::new(), args, params)
    }

    /// With these files in the workspace before the agent is connected. What is written there later is listed as a change of
    /// which it is unclear who made it, because the agent has no hooks.
    pub fn with_files(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        for (name, text) in files {
            sandbox.home.file(name, text);
        }
        Self::in_sandbox(sandbox, &[], json!({}))
    }

    pub fn in_sandbox(sandbox: Sandbox, args: &[&str], mut params: Value) -> Self {
        let mut editor = Editor::start(&sandbox, args);
        params["processId"] = json!(std::process::id());
        if params.get("capabilities").is_none() {
            params["capabilities"] = json!({});
        }
        editor.initialize(params);
        editor.notify("initialized", json!({}));
        let agent = TestAgent::connect(&discovery_file(&sandbox));
        Self {
            sandbox,
            editor,
            agent,
        }
    }

    /// A client that counts so.
    pub fn counting(encoding: &str) -> Self {
        let general = json!({"positionEncodings": [encoding]});
        Self::with(&[], json!({"capabilities": {"general": general}}))
    }

    /// A file in the workspace that the editor opened; its URI.
    pub fn open(&mut self, name: &str, text: &str) -> String {
        let path = self.sandbox.home.file(name, text);
        let uri = uri(&path);
        self.did_open(&uri, text);
        uri
    }

    pub fn did_open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "x", "version": 0, "text": text});
        self.editor
            .notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// The whole text is another one now.
    pub fn did_change(&mut self, uri: &str, text: &str) {
        self.did_edit(uri, json!([{"text": text}]));
    }

    pub fn did_edit(&mut self, uri: &str, changes: Value) {
        let document = json!({"uri": uri, "version": 1});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.editor.notify("textDocument/didChange", params);
    }

    pub fn did_save(&mut self, uri: &str, text: &str) {
        let params = json!({"textDocument": {"uri": uri}, "text": text});
        self.editor.notify("textDocument/didSave", params);
    }

    pub fn did_close(&mut self, uri: &str) {
        let params = json!({"textDocument": {"uri": uri}});
        self.editor.notify("textDocument/didClose", params);
    }

    /// The cursor is here.
    pub fn at(&mut self, method: &str, uri: &str, place: (u32, u32)) {
        let position = position(place);
        let params = json!({"textDocument": {"uri": uri}, "position": position});
        let answer = self.editor.request(method, params);
        assert_eq!(answer["result"], Value::Null);
        assert!(answer.get("error").is_none(), "{answer}");
    }

    /// The code actions for a range.
    pub fn code_actions(&mut self, uri: &str, start: (u32, u32), end: (u32, u32)) -> Value {
        let params = json!({
            "textDocument": {"uri": uri},
            "range": {"start": position(start), "end": position(end)},
            "context": {"diagnostics": []},
        });
        self.editor.request("textDocument/codeAction", params)["result"].take()
    }

    /// The whole answer to a command.
    pub fn execute(&mut self, command: &str, arguments: Value) -> Value {
        let mut params = json!({"command": command});
        if !arguments.is_null() {
            params["arguments"] = arguments;
        }
        self.editor.execute(&params)
    }

    /// Chooses a code action of a proposal, as a person does.
    pub fn choose(&mut self, proposal: &Proposal, title: &str) {
        self.choose_at(&proposal.uri, title);
    }

    /// The same of the proposal with this URI.
    pub fn choose_at(&mut self, uri: &str, title: &str) {
        let actions = self.code_actions(uri, (0, 0), (0, 0));
        let actions = actions.as_array().unwrap();
        let action = actions.iter().find(|action| {
            let found = action["title"].as_str().unwrap();
            found.starts_with(title)
        });
        let action = action.unwrap();
        let command = action["command"].as_str().unwrap();
        let answer = self.execute(command, action["arguments"].clone());
        assert!(answer.get("error").is_none(), "{answer}");
    }

    /// The agent proposes; the editor was asked to show it, and did not answer yet.
    pub fn propose(&mut self, target: &str, proposed: &str) -> Proposal {
        let call = self.agent.proposing(target, proposed);
        let request = self.editor.next("window/showDocument");
        let uri = request["params"]["uri"].as_str().unwrap().to_owned();
        Proposal {
            path: path(&uri),
            target: target.to_owned(),
            uri,
            request,
            call,
        }
    }

    /// The agent proposes, and the editor shows it: opened as the text of the file.
    pub fn shown(&mut self, target: &str, proposed: &str) -> Proposal {
        let proposal = self.propose(target, proposed);
        self.editor
            .answer(&proposal.request, json!({"success": true}));
        let text = fs::read_to_string(&proposal.path).unwrap();
        self.did_open(&proposal.uri, &text);
        proposal
    }

    /// The same as a plain file, because the editor starts nothing for it yet, with the message about that.
    pub fn shown_plainly(&mut self, target: &str, proposed: &str) -> (Proposal, String) {
        let proposal = self.propose(target, proposed);
        self.editor
            .answer(&proposal.request, json!({"success": true}));
        let message = self.message();
        (proposal, message)
    }

    /// The next message that the editor is to show.
    pub fn message(&mut self) -> String {
        let message = self.editor.params("window/showMessage");
        message["message"].as_str().unwrap().to_owned()
    }

    /// A file of the workspace with this text, as the agent names it.
    pub fn target(&self, name: &str, text: &str) -> String {
        let path = self.sandbox.home.file(name, text);
        path.to_str().unwrap().to_owned()
    }

    /// The next diagnostics of a document that are as wanted.
    pub fn diagnostics(&mut self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let method = "textDocument/publishDiagnostics";
        let message = self.editor.wait(|message| {
            let found = message["params"]["diagnostics"].as_array();
            message["method"] == method
                && message["params"]["uri"] == uri
                && found.is_some_and(|found| wanted(found))
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// The next context in which this file is active.
    pub fn active(&mut self, name: &str) -> IdeContext {
        self.agent.context(|context| {
            let active = context.active_file();
            active.is_some_and(|file| file.path.ends_with(name))
        })
    }

    /// The folder in which proposals lie.
    pub fn proposals(&self) -> PathBuf {
        self.sandbox.home.runtime().join("pillion/proposals")
    }
}

/// Waits until a proposal is no file any more: another thread removes it.
pub fn wait_gone(path: &Path) {
    let start = Instant::now();
    while path.exists() || path.parent().unwrap().exists() {
        assert!(start.elapsed() < SOON, "{} is still there", path.display());
        thread::sleep(Duration::from_millis(5));
    }
}

pub fn position((line, character): (u32, u32)) -> Value {
    json!({"line": line, "character": character})
}

pub fn uri(path: &Path) -> String {
    format!("file://{}", path.to_str().unwrap())
}

pub fn path(uri: &str) -> PathBuf {
    let path = uri.strip_prefix("file://").unwrap();
    let path = percent_decode_str(path).decode_utf8().unwrap();
    PathBuf::from(path.into_owned())
}

/// Gemini CLI's file of the one companion that runs here.
pub fn discovery_file(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.home.tmp().join("gemini/ide");
    let start = format!("gemini-ide-server-{}-", std::process::id());
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut ours = files.filter(|file| file.file_name().to_string_lossy().starts_with(&start));
    ours.next().unwrap().path()
}
