//! The changes that agents have written already, in an editor without a plugin: diagnostics, and code actions that keep a change
//! or take it back.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::plain::world::{World, uri};
use crate::sandbox::Sandbox;

const BEFORE: &str = "a\nb\nc\nd\ne\nf\n";
const AFTER: &str = "a\nB\nc\nd\ne\nF\nG\n";

/// An agent has written two hunks of `a.txt`.
fn world() -> (World, PathBuf, String) {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", BEFORE);
    sandbox
        .home
        .agents_turn("change", |_| fs::write(&path, AFTER).unwrap());
    let world = World::in_sandbox(sandbox, &[], json!({}));
    let uri = uri(&path);
    (world, path, uri)
}

fn places(diagnostics: &[Value]) -> Vec<(i64, i64, &str)> {
    let place = |it: &Value, end: &str| it["range"][end]["line"].as_i64().unwrap();
    let diagnostics = diagnostics.iter();
    diagnostics
        .map(|it| {
            assert_eq!(
                (&it["severity"], &it["source"], &it["code"]),
                (&json!(3), &json!("pillion"), &json!("1.1"))
            );
            let message = it["message"].as_str().unwrap();
            (place(it, "start"), place(it, "end"), message)
        })
        .collect()
}

fn choose(world: &mut World, uri: &str, line: u32, title: &str) -> i32 {
    let params = offered(world, uri, line, title);
    world.editor.ask("workspace/executeCommand", params)
}

/// The command behind a code action, about the change as it is listed now.
fn offered(world: &mut World, uri: &str, line: u32, title: &str) -> Value {
    let actions = world.code_actions(uri, (line, 0), (line, 0));
    let actions = actions.as_array().unwrap();
    let action = actions
        .iter()
        .find(|it| it["title"].as_str().unwrap().starts_with(title));
    let action = action.unwrap_or_else(|| panic!("{title} in {actions:?}"));
    json!({"command": action["command"], "arguments": action["arguments"]})
}

/// Applies the edit that the editor is asked for. Returns what becomes of the text.
pub(super) fn apply(world: &mut World, uri: &str, text: &str) -> String {
    let asked = world.editor.next("workspace/applyEdit");
    let edits = asked["params"]["edit"]["changes"][uri].as_array().unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let offset = |place: &Value| {
        let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
        let column = usize::try_from(place["character"].as_u64().unwrap()).unwrap();
        lines[..line].concat().len() + column
    };
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        let range = &edit["range"];
        let (start, end) = (offset(&range["start"]), offset(&range["end"]));
        text.replace_range(start..end, edit["newText"].as_str().unwrap());
    }
    world.editor.answer(&asked, json!({"applied": true}));
    text
}

fn said(world: &mut World, words: &str) {
    world.editor.wait(|message| {
        let said = message["params"]["message"].as_str();
        message["method"] == "window/showMessage" && said.is_some_and(|it| it.contains(words))
    });
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn what_nobody_has_looked_at_is_marked_until_it_is_kept() {
    let (mut world, path, uri) = world();
    let found = world.diagnostics(&uri, |it| !it.is_empty());
    assert_eq!(
        places(&found),
        [
            (
                1,
                2,
                "Claude Code has put 1 line in place of 1 here, and nobody has looked at it."
            ),
            (
                5,
                7,
                "Claude Code has put 2 lines in place of 1 here, and nobody has looked at it."
            ),
        ]
    );
    world.did_open(&uri, AFTER);
    let titles = |world: &mut World, line| -> Vec<String> {
        let actions = world.code_actions(&uri, (line, 0), (line, 0));
        let actions = actions.as_array().unwrap().iter();
        actions
            .map(|it| it["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        titles(&mut world, 1),
        [
            "Keep what the agent wrote (1.1)",
            "Take this hunk back (1.1)",
            "Take the file back (1.1)"
        ]
    );
    assert_eq!(titles(&mut world, 3).len(), 2, "no hunk is there");
    choose(&mut world, &uri, 1, "Keep");
    said(&mut world, "1.1 a.txt: kept");
    world.diagnostics(&uri, <[Value]>::is_empty);
    assert_eq!(titles(&mut world, 1), [""; 0]);
    assert_eq!(read(&path), AFTER);
}

#[test]
fn what_nobody_has_open_is_taken_back_on_disk() {
    let (mut world, path, uri) = world();
    world.diagnostics(&uri, |it| it.len() == 2);
    choose(&mut world, &uri, 5, "Take this hunk back");
    world.diagnostics(&uri, |it| it.len() == 1);
    assert_eq!(read(&path), "a\nB\nc\nd\ne\nf\n");
    choose(&mut world, &uri, 0, "Take the file back");
    said(&mut world, "1.1 a.txt: taken back");
    world.diagnostics(&uri, <[Value]>::is_empty);
    assert_eq!(read(&path), BEFORE);
    let answer = world.execute("pillion.undo", json!(["1.1"]));
    assert!(answer.get("error").is_none(), "{answer}");
    assert_eq!(read(&path), "a\nB\nc\nd\ne\nf\n");
}

#[test]
fn what_is_open_is_changed_by_the_editor_with_the_persons_lines() {
    let (mut world, path, uri) = world();
    world.diagnostics(&uri, |it| it.len() == 2);
    let mine = format!("mine\n{AFTER}");
    world.did_open(&uri, AFTER);
    world.did_change(&uri, &mine);
    choose(&mut world, &uri, 2, "Take this hunk back");
    let text = apply(&mut world, &uri, &mine);
    assert_eq!(text, "mine\na\nb\nc\nd\ne\nF\nG\n");
    said(&mut world, "save it");
    world.did_change(&uri, &text);
    choose(&mut world, &uri, 0, "Take the file back");
    let text = apply(&mut world, &uri, &text);
    assert_eq!(text, format!("mine\n{BEFORE}"));
    assert_eq!(read(&path), AFTER, "the editor saves it");
    world.diagnostics(&uri, <[Value]>::is_empty);
}

/// Helix does not read a file again by itself.
#[test]
fn what_an_editor_still_shows_as_it_was_is_taken_back_on_disk() {
    let (mut world, path, uri) = world();
    world.diagnostics(&uri, |it| it.len() == 2);
    world.did_open(&uri, BEFORE);
    choose(&mut world, &uri, 1, "Take this hunk back");
    said(&mut world, "have the editor read the file again first");
    assert_eq!(read(&path), AFTER);
    choose(&mut world, &uri, 1, "Keep");
    said(&mut world, "the buffer differs from its file");
    assert_eq!(world.sandbox.home.states_of(1), ["unseen"]);
    choose(&mut world, &uri, 1, "Take the file back");
    said(&mut world, "1.1 a.txt: taken back");
    world.diagnostics(&uri, <[Value]>::is_empty);
    assert_eq!(read(&path), BEFORE);
}

#[test]
fn an_editor_that_refuses_the_edit_has_taken_nothing_back() {
    for is_edited_meanwhile in [false, true] {
        let (mut world, path, uri) = world();
        world.diagnostics(&uri, |it| it.len() == 2);
        world.did_open(&uri, AFTER);
        choose(&mut world, &uri, 0, "Take the file back");
        let asked = world.editor.next("workspace/applyEdit");
        match is_edited_meanwhile {
            false => world.editor.answer(&asked, json!({"applied": false})),
            true => world.editor.refuse(&asked, "it is read-only"),
        }
        said(&mut world, "nothing was taken back");
        // It waits as before.
        world.did_save(&uri, AFTER);
        world.diagnostics(&uri, |it| it.len() == 2);
        assert_eq!(read(&path), AFTER);
    }
}

#[test]
fn lines_that_changed_since_stay_and_that_is_said() {
    let (mut world, path, uri) = world();
    world.diagnostics(&uri, |it| it.len() == 2);
    let mine = AFTER.replace('B', "mine");
    world.did_open(&uri, AFTER);
    world.did_change(&uri, &mine);
    choose(&mut world, &uri, 0, "Take the file back");
    said(&mut world, "has changed since, in 1 of the same places");
    // Saved elsewhere: what was listed is not there any more.
    world.did_close(&uri);
    let params = offered(&mut world, &uri, 0, "Take the file back");
    fs::write(&path, &mine).unwrap();
    world.editor.ask("workspace/executeCommand", params);
    said(&mut world, "has changed since it was listed");
    assert_eq!(read(&path), mine);
}

#[test]
fn the_agent_is_told_the_words_of_a_command() {
    let (mut world, path, uri) = world();
    world.diagnostics(&uri, |it| it.len() == 2);
    let said = |words: &str| [("1.1".to_owned(), words.to_owned())];
    let actions = world.code_actions(&uri, (1, 0), (1, 0));
    let mut hunk = actions[1]["arguments"].clone();
    hunk.as_array_mut().unwrap().push(json!("this hunk"));
    for (arguments, words) in [
        (hunk, "this hunk"),
        (
            json!(["1.1", null, null, null, "all of it"]),
            "all of it, this hunk",
        ),
    ] {
        let answer = world.execute("pillion.takeBack", arguments);
        assert!(answer.get("error").is_none(), "{answer}");
        assert_eq!(world.sandbox.home.said_of(1), said(words));
    }
    assert_eq!(read(&path), BEFORE);
    for _ in 0..2 {
        world.execute("pillion.undo", json!(["1.1"]));
    }
    let answer = world.execute("pillion.keep", json!(["1.1", null, "good"]));
    assert!(answer.get("error").is_none(), "{answer}");
    assert_eq!(world.sandbox.home.said_of(1), said("good"));
    for (command, arguments) in [
        ("pillion.keep", json!(["1.1", null, 5])),
        ("pillion.takeBack", json!(["1.1", null, null, null, ["x"]])),
        (
            "pillion.takeBack",
            json!(["1.1", null, 1, 1, {"text": "x"}]),
        ),
    ] {
        let answer = world.execute(command, arguments);
        let error = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(error.contains("the note is not a text"), "{answer}");
    }
}
