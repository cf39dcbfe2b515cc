//! The capabilities that a plain client is offered, and those that it is not.

use std::fs;

use serde_json::{Value, json};

use crate::client::Editor;
use crate::plain::world::World;
use crate::sandbox::Sandbox;

#[test]
fn a_plain_client_is_offered_what_gives_the_context_and_answers_a_review() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    let result = editor.initialize(json!({"processId": null, "capabilities": {}}));
    assert_eq!(
        result["capabilities"],
        json!({
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": true}},
            "documentHighlightProvider": true,
            "hoverProvider": true,
            "signatureHelpProvider": {},
            "codeActionProvider": true,
            "executeCommandProvider": {
                "commands": ["pillion.accept", "pillion.reject",
                    "pillion.bringBack", "pillion.review", "pillion.sendNotes",
                             "pillion.keep", "pillion.takeBack", "pillion.undo"],
            },
            "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
        })
    );
}

/// Of a client that sends edits in any order, the newest text counts.
#[test]
fn helix_is_asked_for_whole_texts() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    let helix = json!({"processId": null, "capabilities": {}, "clientInfo": {"name": "helix"}});
    let result = editor.initialize(helix);
    assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 1);
}

#[test]
fn nothing_is_sent_to_a_client_that_only_edits() {
    let mut world = World::new();
    let uri = world.open("a.rs", "one\n");
    world.did_change(&uri, "two\n");
    world.did_save(&uri, "two\n");
    world.at("textDocument/hover", &uri, (0, 0));
    assert_eq!(world.code_actions(&uri, (0, 0), (0, 0)), json!([]));
    world.did_close(&uri);
    assert_eq!(world.editor.passed(), Vec::<String>::new());
}

#[test]
fn what_is_not_understood_is_refused_or_ignored_with_the_field() {
    let mut world = World::new();
    let answer = world.editor.request("textDocument/completion", json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    let answer = world
        .editor
        .request("textDocument/hover", json!({"position": 1}));
    assert_eq!(answer["error"]["code"], -32602);
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(
        text.contains("textDocument") || text.contains("position"),
        "{text}"
    );
    let answer = world.execute("pillion.nothing", Value::Null);
    assert_eq!(answer["error"]["code"], -32602);
    let params = json!({"textDocument": {"uri": "file:///a"}, "contentChanges": 5});
    world.editor.notify("textDocument/didChange", params);
    let log = world.editor.params("window/logMessage");
    let text = log["message"].as_str().unwrap();
    assert!(
        text.contains("didChange") && text.contains("contentChanges"),
        "{text}"
    );
    world.editor.notify("textDocument/willSave", json!(null));
    world.editor.notify("$/setTrace", json!({"value": "off"}));
    assert_eq!(world.editor.passed(), Vec::<String>::new());
}

#[test]
fn the_log_holds_no_text_of_files_and_proposals() {
    let sandbox = Sandbox::new();
    let log = sandbox.home.root().join("log");
    let args = ["--log", log.to_str().unwrap()];
    let mut world = World::in_sandbox(sandbox, &args, json!({}));
    let uri = world.open("a.rs", "hush\n");
    world.code_actions(&uri, (0, 0), (0, 4));
    let target = world.target("b.rs", "hush\n");
    let proposal = world.shown(&target, "hush!\n");
    world.did_change(&proposal.uri, "hush, hush\n");
    world.did_save(&proposal.uri, "hush, hush\n");
    let malformed = json!({"textDocument": {"uri": uri}, "contentChanges": "hush"});
    world.editor.notify("textDocument/didChange", malformed);
    world.choose(&proposal, "Accept");
    world.agent.outcome();
    world.editor.hang_up();
    world.editor.ended();
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("textDocument/didChange"), "{text}");
    assert!(!text.contains("hush"), "{text}");
}
