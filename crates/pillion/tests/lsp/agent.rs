//! Agents of the editor under test.

use std::path::PathBuf;

use pillion_testkit::TestAgent;
use pillion_testkit::client::Update;
use serde_json::Value;

use crate::client::{self, Editor};
use crate::sandbox::Sandbox;

/// The discovery files of a plugin that is ready.
pub fn files(editor: &mut Editor) -> Vec<PathBuf> {
    client::files(&editor.params("pillion/environment"))
}

/// A Gemini CLI.
pub fn connect(editor: &mut Editor) -> TestAgent {
    TestAgent::connect(&files(editor)[0])
}

/// An editor with a plugin, a Gemini CLI that is connected to it, and the path of an empty file. The
/// folders of the sandbox go with it.
pub fn at_work() -> (Sandbox, Editor, TestAgent, String) {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let path = file.to_str().unwrap().to_owned();
    let mut editor = Editor::plugin(&sandbox);
    let agent = connect(&mut editor);
    (sandbox, editor, agent, path)
}

/// The agent proposes, and the editor shows it; what the editor was sent.
pub fn show(agent: &TestAgent, editor: &mut Editor, path: &str, content: &str) -> Value {
    let call = agent.proposing(path, content);
    let diff = editor.open_diff();
    call.end().unwrap();
    diff
}

pub fn accepted(path: &str, content: &str) -> Update {
    Update::accepted(path.to_owned(), content)
}

pub fn rejected(path: &str) -> Update {
    Update::DiffRejected {
        path: path.to_owned(),
    }
}
