//! Disks that do not answer hold up neither the editor nor any agent.

use std::fs;
use std::process::Command;

use pillion_testkit::{HungDisk, TestAgent, UnreadPipe, fill_pipe};
use serde_json::{Value, json};

use crate::agent::{self, rejected};
use crate::client::{Editor, files, plugin_params, uri};
use crate::plain::world::World;
use crate::sandbox::{self, Sandbox};

/// A plugin, an agent, and what the plugin was sent about the environment.
fn plugin(sandbox: &Sandbox) -> (Editor, TestAgent, Value) {
    let mut editor = Editor::plugin(sandbox);
    let environment = editor.params("pillion/environment");
    let agent = TestAgent::connect(&files(&environment)[0]);
    (editor, agent, environment)
}

fn change_context(editor: &mut Editor, paths: &[&std::path::Path]) {
    let files = paths.iter().enumerate().map(|(at, path)| {
        let last_focused = 100 - at;
        json!({"uri": uri(path), "lastFocused": last_focused, "active": at == 0})
    });
    let files: Vec<Value> = files.collect();
    editor.notify("pillion/didChangeContext", json!({"openFiles": files}));
}

#[test]
fn while_new_roots_cannot_be_published_editor_and_agents_are_served() {
    let sandbox = Sandbox::new();
    let root = sandbox.home.other_workspace("more");
    let near = sandbox.home.file("near.txt", "old\n");
    let (mut editor, mut agent, _) = plugin(&sandbox);
    let Some(hung) = HungDisk::mount(&sandbox.home.tmp()) else {
        return;
    };
    let added = json!([{"uri": uri(&root), "name": "more"}]);
    let event = json!({"added": added, "removed": []});
    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": event}),
    );
    editor.params("pillion/environment");
    hung.wait_for_request();
    let call = agent.proposing(near.to_str().unwrap(), "new\n");
    let diff = editor.open_diff();
    call.end().unwrap();
    change_context(&mut editor, &[&near]);
    agent.context(|context| context.active_file().is_some());
    editor.settle(&diff, "reject", None);
    assert_eq!(agent.outcome(), rejected(near.to_str().unwrap()));
    drop(hung);
}

#[test]
fn a_folder_that_does_not_answer_holds_up_no_other_message() {
    let sandbox = Sandbox::new();
    let far = sandbox.home.other_workspace("far");
    let near = sandbox.home.file("near.txt", "old\n");
    let (mut editor, mut agent, _) = plugin(&sandbox);
    let Some(hung) = HungDisk::mount(&far) else {
        return;
    };
    let added = json!([{"uri": uri(&far), "name": "far"}]);
    let event = json!({"added": added, "removed": []});
    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": event}),
    );
    hung.wait_for_request();
    change_context(&mut editor, &[&near]);
    agent.context(|context| context.active_file().is_some());
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended().0, Some(0));
    drop(hung);
}

#[test]
fn an_open_file_that_does_not_answer_is_left_out_and_the_others_are_shown() {
    let sandbox = Sandbox::new();
    let far = sandbox.home.workspace().join("far");
    fs::create_dir(&far).unwrap();
    let near = sandbox.home.file("near.txt", "old\n");
    let (mut editor, mut agent, _) = plugin(&sandbox);
    let Some(hung) = HungDisk::mount(&far) else {
        return;
    };
    change_context(&mut editor, &[&far.join("a.txt"), &near]);
    hung.wait_for_request();
    let call = agent.proposing(near.to_str().unwrap(), "new\n");
    editor.open_diff();
    call.end().unwrap();
    let context = agent.context(|context| !context.files().is_empty());
    let paths: Vec<_> = context.files().iter().map(|file| &file.path).collect();
    assert_eq!(paths, [near.to_str().unwrap()]);
    drop(hung);
}

#[test]
fn a_proposal_that_cannot_be_written_holds_up_neither_editor_nor_agents() {
    let mut world = World::new();
    let [a, b] = ["a.rs", "b.rs"].map(|name| world.target(name, "before\n"));
    let shown = world.shown(&a, "after\n");
    shown.call.end().unwrap();
    world.did_change(&shown.uri, "edited\n");
    // Answered once the edit was handled, so that what is proposed from now on comes after it.
    world.code_actions(&shown.uri, (0, 0), (0, 0));
    let Some(hung) = HungDisk::mount(&world.proposals()) else {
        return;
    };
    let waiting = world.agent.proposing(&b, "after\n");
    hung.wait_for_request();
    // Nobody can have seen it.
    let answer = world.execute("pillion.accept", json!([]));
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains("just arrived"), "{text}");
    world.open("near.rs", "text\n");
    world.active("near.rs");
    assert_eq!(world.agent.close(&a).unwrap(), "edited\n");
    assert!(waiting.end().is_err());
    drop(hung);
}

#[test]
fn an_acceptance_whose_file_cannot_be_read_decides_nothing() {
    let mut world = World::new();
    let target = world.target("a.rs", "before\n");
    let shown = world.shown(&target, "after\n");
    shown.call.end().unwrap();
    let Some(hung) = HungDisk::mount(&world.proposals()) else {
        return;
    };
    // The folder of a proposal stays open: another proposal keeps the thread that reads it.
    let other = world.target("b.rs", "before\n");
    let _waiting = world.agent.proposing(&other, "after\n");
    hung.wait_for_request();
    let arguments = json!([1, 1]);
    let answer = world.execute("pillion.accept", arguments.clone());
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains("did not respond"), "{text}");
    let answer = world.execute("pillion.reject", arguments);
    assert!(answer.get("error").is_none(), "{answer}");
    assert_eq!(world.agent.outcome(), rejected(&target));
    drop(hung);
}

#[test]
fn standard_error_that_is_not_read_does_not_delay_the_end() {
    let sandbox = Sandbox::new();
    let errors = UnreadPipe::create(sandbox.home.root().join("errors"));
    fill_pipe(errors.path());
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" lsp 2>\"$1\""])
        .arg(env!("CARGO_BIN_EXE_pillion"))
        .arg(errors.path())
        .env_clear()
        .envs(sandbox.home.env().iter())
        .current_dir(sandbox.home.workspace());
    let mut editor = Editor::spawn(&mut command);
    editor.initialize(plugin_params());
    editor.notify("initialized", json!({}));
    let agent = agent::connect(&mut editor);
    let diff = agent::show(&agent, &mut editor, "/tmp/new.txt", "new\n");
    drop(agent);
    editor.status(|status| status["agents"] == json!([]));
    editor.settle_doubted(&diff, "outsideWorkspace");
    editor.request("shutdown", Value::Null);
    editor.params("window/showMessage");
    editor.notify("exit", Value::Null);
    assert_eq!(sandbox::ended(&mut editor.child), Some(0));
}
