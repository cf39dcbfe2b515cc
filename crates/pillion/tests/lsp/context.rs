//! The context that agents are sent about the files that are open (C4).

use std::time::Instant;

use pillion_protocol::{Cursor, File};
use pillion_testkit::{SOON, TestAgent};
use serde_json::{Value, json};

use crate::agent;
use crate::client::{Editor, plugin_params, uri};
use crate::sandbox::Sandbox;

fn change(editor: &mut Editor, files: Value) {
    editor.notify("pillion/didChangeContext", json!({"openFiles": files}));
}

#[test]
fn every_agent_gets_file_cursor_and_selection() {
    let sandbox = Sandbox::new();
    let (a, b) = (sandbox.home.file("a.rs", ""), sandbox.home.file("b.rs", ""));
    let mut editor = Editor::plugin(&sandbox);
    let files = agent::files(&mut editor);
    let qwen = files
        .iter()
        .find(|file| file.to_str().unwrap().ends_with(".lock"))
        .unwrap();
    let mut agents = [&files[0], qwen].map(|file| TestAgent::connect(file));
    change(
        &mut editor,
        json!([
            {"uri": uri(&b), "lastFocused": 9},
            {"uri": uri(&a), "lastFocused": 7, "active": true, "lineText": "é = 1",
             "position": {"line": 4, "character": 3}, "selectedText": "= 1"},
            {"uri": "term://1", "lastFocused": 99},
            {"uri": uri(&sandbox.home.workspace()), "lastFocused": 99},
            {"uri": "file:///no/such/file", "lastFocused": 99, "active": null},
        ]),
    );
    for agent in &mut agents {
        let context = agent.context(|context| context.files().len() == 2);
        let expected = File {
            timestamp: context.files()[0].timestamp,
            cursor: Some(Cursor {
                line: 5,
                character: 3,
            }),
            selected_text: Some("= 1".to_owned()),
            ..File::focused(a.to_str().unwrap(), 0)
        };
        assert_eq!(context.files()[0], expected);
        assert_eq!(context.files()[1], File::open(b.to_str().unwrap(), 9));
        assert_eq!(context.workspace_state.unwrap().is_trusted, None, "C4.9");
    }
    let files = json!([{"uri": uri(&b), "lastFocused": 10, "active": true, "selectedText": ""}]);
    editor.notify(
        "pillion/didChangeContext",
        json!({"openFiles": files, "isTrusted": true}),
    );
    for agent in &mut agents {
        let context = agent.context(|context| context.files().len() == 1);
        assert_eq!(context.files()[0].selected_text, None);
        assert_eq!(context.workspace_state.unwrap().is_trusted, Some(true));
    }
    change(&mut editor, json!([]));
    agents[0].context(|context| context.files().is_empty());
}

#[test]
fn columns_are_counted_as_negotiated_and_told_in_utf16() {
    let line = "aé😀z";
    for (encoding, character) in [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)] {
        let sandbox = Sandbox::new();
        let file = sandbox.home.file("a.rs", line);
        let mut params = plugin_params();
        params["capabilities"]["general"]["positionEncodings"] = json!(["utf-7", encoding]);
        let mut editor = Editor::start::<&str>(&sandbox, []);
        let result = editor.initialize(params);
        assert_eq!(result["capabilities"]["positionEncoding"], encoding);
        editor.notify("initialized", json!({}));
        let mut agent = agent::connect(&mut editor);
        let line_text = (encoding != "utf-16").then_some(line);
        change(
            &mut editor,
            json!([{"uri": uri(&file), "lastFocused": 1, "active": true, "lineText": line_text,
                    "position": {"line": 0, "character": character}}]),
        );
        let context = agent.context(|context| context.active_file().is_some());
        let cursor = context.active_file().unwrap().cursor.unwrap();
        assert_eq!((cursor.line, cursor.character), (1, 5), "{encoding}");
    }
}

#[test]
fn strange_names_reach_agents_as_they_are() {
    for (name, encoded) in [
        ("[id].tsx", "%5Bid%5D.tsx"),
        ("50%.txt", "50%25.txt"),
        ("a#b ?c|$(d).txt", "a%23b%20%3Fc%7C%24%28d%29.txt"),
        ("new\nline", "new%0Aline"),
    ] {
        // Of its own: this process, which is the agent, started all of its editors.
        let sandbox = Sandbox::new();
        let file = sandbox.home.file(name, "");
        let mut editor = Editor::plugin(&sandbox);
        let mut agent = agent::connect(&mut editor);
        let uri = format!("{}/{encoded}", uri(&sandbox.home.workspace()));
        change(
            &mut editor,
            json!([{"uri": uri, "lastFocused": 1, "active": true}]),
        );
        let is_it = |path: &str| path == file.to_str().unwrap();
        agent.context(|context| context.active_file().is_some_and(|it| is_it(&it.path)));
    }
}

#[test]
fn what_cannot_be_read_is_reported_and_changes_nothing() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let mut editor = Editor::plugin(&sandbox);
    for (files, field) in [
        (json!(null), "openFiles"),
        (
            json!([{"uri": uri(&file)}]),
            "openFiles[0]: missing field `lastFocused`",
        ),
        (
            json!([{"uri": uri(&file), "lastFocused": -1}]),
            "openFiles[0].lastFocused",
        ),
        (
            json!([{"uri": uri(&file), "lastFocused": 1, "position": {"line": 0, "character": -1}}]),
            "openFiles[0].position.character",
        ),
    ] {
        change(&mut editor, files);
        let told = editor.params("window/logMessage");
        let message = told["message"].as_str().unwrap();
        assert!(message.contains(field), "{message}");
    }
    change(&mut editor, json!([{"uri": uri(&file), "lastFocused": 1}]));
    let mut agent = agent::connect(&mut editor);
    agent.context(|context| context.files().len() == 1);
}

#[test]
fn ten_thousand_open_files_cost_little() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let mut editor = Editor::plugin(&sandbox);
    let mut agent = agent::connect(&mut editor);
    let real = uri(&file);
    let mut files: Vec<Value> = (0..10_000)
        .map(|at| json!({"uri": format!("{real}.{at}"), "lastFocused": at}))
        .collect();
    files.push(json!({"uri": real, "lastFocused": 10_001, "active": true}));
    let start = Instant::now();
    change(&mut editor, files.into());
    editor.passed();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    agent.context(|context| context.active_file().is_some());
}
