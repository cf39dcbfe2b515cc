//! The differences that were seen in eglot and lsp-mode, as they are on the wire.

use std::thread;

use pillion_protocol::IdeContext;
use pillion_view::LOOK;
use serde_json::json;

use crate::agent::accepted;
use crate::plain::world::World;

#[test]
fn eglot_gets_no_take_focus_because_it_takes_it_then() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "Eglot"}}));
    let target = world.target("a.rs", "a\n");
    let proposal = world.propose(&target, "b\n");
    assert!(proposal.request["params"].get("takeFocus").is_none());
}

#[test]
fn eglot_which_opens_a_proposal_late_is_hinted_when() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "Eglot"}}));
    let target = world.target("a.rs", "a\n");
    let (_, text) = world.shown_plainly(&target, "b\n");
    assert!(text.contains("Go to a.rs for its code actions"), "{text}");
    assert!(text.contains("`pillion accept 1.1`"), "{text}");
    assert!(text.contains("`pillion reject 1.1`"), "{text}");
}

/// It sends the region when it requests actions, and then at once requests about the cursor.
#[test]
fn a_selection_outlives_what_lsp_mode_asks_about_its_end() {
    let mut world = World::with(&[], json!({"clientInfo": {"name": "emacs"}}));
    let uri = world.open("a.rs", "one\ntwo\nthree\n");
    let file = |context: &IdeContext| context.active_file().cloned();
    for line in [2, 1] {
        world.code_actions(&uri, (1, 0), (2, 0));
        world.at("textDocument/documentHighlight", &uri, (line, 0));
        world.at("textDocument/hover", &uri, (line, 0));
        let context = world.agent.context(|context| {
            let cursor = file(context).and_then(|file| file.cursor);
            cursor.is_some_and(|cursor| cursor.line == line + 1)
        });
        let selected = file(&context).unwrap().selected_text;
        assert_eq!(selected.as_deref(), Some("two\n"), "{line}");
    }
    world.at("textDocument/hover", &uri, (1, 1));
    world
        .agent
        .context(|context| file(context).is_some_and(|file| file.selected_text.is_none()));
}

/// It drops what it reads together with an answer that it waits for.
#[test]
fn nothing_follows_the_answer_to_lsp_mode_s_command() {
    let declared = json!({"window": {"showDocument": {"support": true}}});
    let params = json!({"clientInfo": {"name": "emacs"}, "capabilities": declared});
    let mut world = World::with(&[], params);
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    world.diagnostics(&proposal.uri, |found| !found.is_empty());
    world.did_change(&proposal.uri, "mine\n");
    world.diagnostics(&proposal.uri, |found| !found.is_empty());
    let params = json!({"command": "pillion.accept", "arguments": [1, 1]});
    thread::sleep(LOOK);
    world.editor.send(
        json!({"jsonrpc": "2.0", "id": 999, "method": "workspace/executeCommand", "params": params}),
    );
    let mut before = Vec::new();
    loop {
        let message = world.editor.wait(|_| true);
        if message["id"] == 999 {
            break;
        }
        before.push(message);
    }
    let is_clear = |message: &serde_json::Value| {
        let params = &message["params"];
        params["uri"] == proposal.uri && params["diagnostics"] == json!([])
    };
    assert!(before.iter().any(is_clear), "{before:#?}");
    assert_eq!(world.agent.outcome(), accepted(&target, "mine\n"));
}
