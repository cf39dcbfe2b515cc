//! The context that Claude Code gets from an editor, and what the editor gets of its proposals.

use pillion_protocol::{Position, Range};
use pillion_testkit::client::claude::Answer;
use pillion_testkit::{TestClaude, lock_files};
use serde_json::{Value, json};

use crate::client::{Editor, uri};
use crate::plain;
use crate::sandbox::Sandbox;

fn range(from: (u32, u32), to: (u32, u32)) -> Range {
    let place = |(line, character)| Position { line, character };
    Range {
        start: place(from),
        end: place(to),
    }
}

fn place(line: u32, character: u32) -> Value {
    json!({"line": line, "character": character})
}

/// A plugin that counts in UTF-8, and Claude Code, as the plugin knows.
fn at_work(sandbox: &Sandbox) -> (Editor, TestClaude) {
    let mut editor = Editor::plugin(sandbox);
    let claude = connect(sandbox);
    editor.status(|status| status["mentions"] == json!(["claude"]));
    (editor, claude)
}

fn connect(sandbox: &Sandbox) -> TestClaude {
    TestClaude::connect(&lock_files(&sandbox.home)[0])
}

#[test]
fn a_selection_has_the_range_of_the_plugin_in_utf16_units() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a b.rs", "");
    let (mut editor, mut claude) = at_work(&sandbox);
    let mut open = json!({
        "uri": uri(&file).replace(' ', "%20"), "lastFocused": 1, "active": true,
        "position": place(3, 2), "lineText": "\u{e9}x", "selectedText": "\u{1f600}\nx",
        "selection": {
            "start": place(2, 2), "startLineText": "\u{e9}",
            "end": place(3, 3), "endLineText": "\u{e9}x",
        },
    });
    editor.notify("pillion/didChangeContext", json!({"openFiles": [open]}));
    let wanted = range((2, 1), (3, 2));
    let path = file.to_str();
    claude.selection(|it| {
        it.path.as_deref() == path && it.text == "\u{1f600}\nx" && it.range == wanted
    });
    // As an older plugin sends it, and as one without a selection does.
    open["selection"] = Value::Null;
    editor.notify("pillion/didChangeContext", json!({"openFiles": [open]}));
    let (caret, from_caret) = (range((3, 1), (3, 1)), range((3, 1), (4, 1)));
    claude.selection(|it| it.text == "\u{1f600}\nx" && it.range == from_caret);
    open["selectedText"] = Value::Null;
    editor.notify("pillion/didChangeContext", json!({"openFiles": [open]}));
    claude.selection(|it| it.text.is_empty() && it.range == caret);
}

#[test]
fn a_mention_is_answered_with_the_agent_that_got_it() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "");
    let mut editor = Editor::plugin(&sandbox);
    let mention = |editor: &mut Editor, params: Value| editor.request("pillion/mention", params);
    let whole = json!({"uri": uri(&file)});
    let nobody = mention(&mut editor, whole.clone());
    assert_eq!(nobody["result"], json!({"agent": null}));
    let mut claude = connect(&sandbox);
    editor.status(|status| status["mentions"] == json!(["claude"]));
    let claude_code = json!({"agent": {"name": "claude", "displayName": "Claude Code"}});
    assert_eq!(mention(&mut editor, whole)["result"], claude_code);
    let lines = json!({"uri": uri(&file), "lines": {"first": 1, "last": 2}});
    assert_eq!(mention(&mut editor, lines)["result"], claude_code);
    let path = file.to_str().unwrap();
    for lines in [None, Some((1, 2))] {
        let mentioned = claude.mention();
        assert_eq!((mentioned.path.as_str(), mentioned.lines()), (path, lines));
    }
    for (params, field) in [
        (json!({}), "missing field `uri`"),
        (json!({"uri": "untitled:1"}), "uri: not a file"),
        (
            json!({"uri": uri(&file), "lines": {"first": 2, "last": 1}}),
            "lines: the last comes",
        ),
        (
            json!({"uri": uri(&file), "lines": {"first": -1, "last": 1}}),
            "lines.first",
        ),
    ] {
        let error = &mention(&mut editor, params)["error"];
        assert_eq!(error["code"], -32602);
        assert!(
            error["message"].as_str().unwrap().contains(field),
            "{error}"
        );
    }
}

#[test]
fn diagnostics_are_asked_of_the_plugin_and_none_if_it_does_not_know_them() {
    let sandbox = Sandbox::new();
    let (mut editor, claude) = at_work(&sandbox);
    let asked = "file:///a b.rs";
    let call = claude.asking_diagnostics(Some(asked));
    let request = editor.next("pillion/diagnostics");
    assert_eq!(request["params"], json!({"uri": asked}));
    let place = json!({
        "start": place(0, 2), "startLineText": "\u{e9}x",
        "end": place(0, 3), "endLineText": "\u{e9}x",
    });
    let one = json!({"range": place, "severity": 3, "message": "m"});
    editor.answer(
        &request,
        json!({"files": [{"uri": asked, "diagnostics": [one]}]}),
    );
    let files = call.end().unwrap();
    assert_eq!(files[0].uri, asked);
    assert_eq!(files[0].diagnostics[0].range, range((0, 1), (0, 2)));

    let call = claude.asking_diagnostics(None);
    let request = editor.next("pillion/diagnostics");
    assert_eq!(request["params"], json!({"uri": null}));
    // A plugin that is busy: the agent does not wait for it.
    assert_eq!(call.end().unwrap(), []);
    editor.answer(&request, json!({"files": []}));

    let call = claude.asking_diagnostics(None);
    let request = editor.next("pillion/diagnostics");
    let unknown = json!({"code": -32601, "message": "unknown method"});
    editor.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": unknown}));
    assert_eq!(call.end().unwrap(), []);
    assert_eq!(claude.diagnostics(None), []);
    let passed = editor.passed();
    assert!(
        !passed.contains(&"pillion/diagnostics".to_owned()),
        "{passed:?}"
    );
}

#[test]
fn a_proposal_notes_what_the_agent_will_do_with_the_answer() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.rs", "one\r\ntwo\nthree\n");
    let (mut editor, claude) = at_work(&sandbox);
    let call = claude.proposing(&file, "one\n2\nthree\n", "tab 1");
    let diff = editor.open_diff();
    assert_eq!(diff["agent"]["name"], "claude");
    let notes = diff["notes"].as_array().unwrap();
    // The second: it names no release that keeps the last newline of a `Write`.
    assert!(
        notes.len() == 2 && notes[0].as_str().unwrap().contains("CRLF"),
        "{notes:?}"
    );
    editor.settle(&diff, "accept", Some("mine\n"));
    assert_eq!(call.end(), Ok(Answer::Saved("mine\n".to_owned())));
}

#[test]
fn a_plain_client_sends_the_selection_and_gets_notes() {
    let mut world = plain::world::World::counting("utf-8");
    let mut claude = connect(&world.sandbox);
    let document = world.open("a.rs", "x\n\u{1f600}\u{e9}z\n");
    world.code_actions(&document, (1, 4), (1, 6));
    let wanted = range((1, 2), (1, 3));
    claude.selection(|it| it.text == "\u{e9}" && it.range == wanted);
    assert_eq!(claude.diagnostics(None), []);
}

/// Its hooks say nothing, and it is about to write what it has not proposed.
#[test]
fn how_the_agent_asks_is_said() {
    let sandbox = Sandbox::new();
    let (mut editor, claude) = at_work(&sandbox);
    claude.close_all();
    let status = editor.status(|status| status["notes"] != json!([]));
    let note = status["params"]["notes"][0]
        .as_str()
        .unwrap_or_else(|| panic!("{status}"));
    assert!(note.contains("`pillion run claude`"), "{note}");
    let _call = claude.asking_diagnostics(Some("file:///a b.rs"));
    let said = editor.params("window/showMessage");
    let said = said["message"].as_str().unwrap();
    assert!(said.contains("such as \"/a b.rs\""), "{said}");
    editor.status(|status| status["warnings"] == json!([said.trim_start_matches("Pillion: ")]));
}

#[test]
fn a_plain_client_hears_of_what_was_not_shown() {
    let mut world = plain::world::World::counting("utf-8");
    let claude = connect(&world.sandbox);
    claude.diagnostics(Some("file:///a.rs"));
    let said = world.editor.params("window/showMessage").to_string();
    assert!(said.contains("without showing them here first"), "{said}");
}

#[test]
fn a_choice_is_answered_with_what_agents_do() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::plugin(&sandbox);
    let choose = |editor: &mut Editor, params: Value| editor.request("pillion/review", params);
    let nobody = choose(&mut editor, json!({"choice": "always"}));
    assert_eq!(nobody["result"]["done"], false);
    let said = nobody["result"]["message"].as_str().unwrap();
    assert!(
        said.starts_with("no agent that is here does this"),
        "{said}"
    );
    let _claude = connect(&sandbox);
    editor.status(|status| status["mentions"] == json!(["claude"]));
    for (choice, label, said) in [
        ("asked", "review: asked", "as its permission mode has it"),
        ("always", "review: always", "shows every change here first"),
    ] {
        let chosen = choose(&mut editor, json!({ "choice": choice }));
        assert_eq!(chosen["result"]["done"], true, "{chosen}");
        let message = chosen["result"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        editor.status(|status| {
            status["review"]
                == json!({"label": label, "choices": ["always", "asked", "after", "commands", "no-commands", "changes"], "unasked": null})
        });
        assert_eq!(choose(&mut editor, json!({})), {
            let mut same = chosen.clone();
            same["id"] = (same["id"].as_i64().unwrap() + 1).into();
            same
        });
    }
    let unknown = choose(&mut editor, json!({"choice": "never"}));
    assert_eq!(unknown["result"]["done"], false);
    let said = unknown["result"]["message"].as_str().unwrap();
    assert!(said.starts_with("\"never\" is none of always, "), "{said}");
    let error = &choose(&mut editor, json!({"choice": 1}))["error"];
    assert_eq!(error["code"], -32602);
    assert!(
        error["message"].as_str().unwrap().contains("choice"),
        "{error}"
    );
}

#[test]
fn what_becomes_of_notes_that_are_sent_is_answered() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::plugin(&sandbox);
    let send =
        |editor: &mut Editor| editor.request("pillion/sendNotes", json!({}))["result"].clone();
    let nobody = json!({"done": false, "message": "no agent is connected"});
    assert_eq!(send(&mut editor), nobody);
    let _claude = connect(&sandbox);
    editor.status(|status| status["mentions"] == json!(["claude"]));
    let nothing = json!({"done": false, "message": "no notes are waiting for an agent"});
    assert_eq!(send(&mut editor), nothing);
}
