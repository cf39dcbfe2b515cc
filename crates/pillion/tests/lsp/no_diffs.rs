//! Editors that give agents their context and show no diffs.

use pillion_protocol::Dialect;
use pillion_testkit::{Home, TestAgent, TestClaude};
use serde_json::{Value, json};

use crate::agent;
use crate::client::{Editor, plugin_params, uri};
use crate::sandbox::Sandbox;

/// The answer to an agent that proposes all the same.
const NOWHERE: &str = "no editor shows changes here";

/// The error of an agent that has not found the tools.
const NOT_OFFERED: &str = "cannot show diffs";

/// An editor whose plugin says when it shows diffs, and how that is answered.
fn plugin(sandbox: &Sandbox, args: &[&str], diffs: Value) -> (Editor, Value) {
    let mut editor = Editor::start(sandbox, args);
    let mut params = plugin_params();
    params["capabilities"]["experimental"]["pillion"] = json!({"diffs": diffs});
    let answer = editor.request("initialize", params);
    editor.notify("initialized", json!({}));
    (editor, answer)
}

fn file(home: &Home) -> String {
    let path = home.file("a.txt", "one\n");
    path.to_str().unwrap().to_owned()
}

fn was_asked(editor: &mut Editor) -> bool {
    editor.passed().iter().any(|it| it == "pillion/openDiff")
}

#[test]
fn where_no_editor_shows_diffs_the_agent_is_told_so_at_once() {
    for (args, diffs) in [
        (&[][..], json!("never")),
        (&["--no-diffs"][..], json!(null)),
        (&["--no-diffs"][..], json!("lastUsed")),
    ] {
        let sandbox = Sandbox::new();
        let path = sandbox.home.file("a.txt", "one\n");
        let (mut editor, _) = plugin(&sandbox, args, diffs);
        let agent = agent::connect(&mut editor);
        let told = agent
            .proposing(path.to_str().unwrap(), "two\n")
            .end()
            .unwrap_err();
        assert!(told.contains(NOT_OFFERED), "{told}");
        // It calls what it was not offered.
        let claude = TestClaude::find(&sandbox.home);
        let told = claude.proposing(&path, "two\n", "tab").end().unwrap_err();
        assert!(told.contains(NOWHERE), "{told}");
        assert!(!was_asked(&mut editor));
    }
}

#[test]
fn a_client_without_a_plugin_is_configured_by_its_command() {
    let sandbox = Sandbox::new();
    let path = file(&sandbox.home);
    let mut editor = Editor::start(&sandbox, ["--no-diffs"]);
    let root = uri(&sandbox.home.workspace());
    editor.initialize(json!({"processId": null, "rootUri": root}));
    editor.notify("initialized", json!({}));
    let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
    let told = agent.proposing(&path, "two\n").end().unwrap_err();
    assert!(told.contains(NOT_OFFERED), "{told}");
}

#[test]
fn another_editor_shows_what_this_one_does_not() {
    let sandbox = Sandbox::new();
    let path = file(&sandbox.home);
    let (mut shows, _) = plugin(&sandbox, &[], json!("lastUsed"));
    // It came last, and so was used last.
    let (mut never, _) = plugin(&sandbox, &[], json!("never"));
    let agent = agent::connect(&mut never);
    let call = agent.proposing(&path, "two\n");
    assert_eq!(shows.open_diff()["path"], path);
    call.end().unwrap();
    shows.request("shutdown", json!(null));
    let told = agent.proposing(&path, "three\n").end().unwrap_err();
    assert!(told.contains(NOWHERE), "{told}");
    assert!(!was_asked(&mut never));
}

#[test]
fn a_wrong_value_is_refused_by_its_name() {
    let sandbox = Sandbox::new();
    let (_, answer) = plugin(&sandbox, &[], json!("always"));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    let field = "capabilities.experimental.pillion.diffs";
    assert!(message.contains(field), "{message}");
}
