//! The changes that hooks of the real Claude Code show, decided in an editor without a plugin: a command hook without a
//! terminal, and hooks that `pillion run` has it ask over its connection.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use pillion_testkit::{
    Claude, ClaudeNpm, ClaudeRelease, HEADLESS_PROMPT, Model, ModelRequest, SOON, Size, Tmux, Turn,
    set_up_claude,
};
use pillion_view::LOOK;
use serde_json::{Value, json};

use crate::plain::world::{World, path};
use crate::sandbox::Sandbox;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

const LINES: &str = "one\ntwo\nthree\n";

/// The document that the editor shows, and the text in it.
struct Shown {
    uri: String,
    text: String,
}

/// The editor in a home where Claude Code can be started.
fn world() -> World {
    let sandbox = Sandbox::new();
    set_up_claude(&sandbox.home, &sandbox.home.workspace());
    World::in_sandbox(sandbox, &[], json!({}))
}

/// Waits until the editor is asked to show a proposal, which it does, and a person has looked at it.
fn shown(world: &mut World) -> Shown {
    let request = world.editor.next("window/showDocument");
    let uri = request["params"]["uri"].as_str().unwrap().to_owned();
    world.editor.answer(&request, json!({"success": true}));
    let text = fs::read_to_string(path(&uri)).unwrap();
    world.did_open(&uri, &text);
    thread::sleep(LOOK + Duration::from_millis(100));
    Shown { uri, text }
}

/// Chooses a code action of what is shown.
fn choose(world: &mut World, shown: &Shown, title: &str) {
    let actions = world.code_actions(&shown.uri, (0, 0), (0, 0));
    let mut actions = actions.as_array().unwrap().iter();
    let is_it = |action: &&Value| action["title"].as_str().unwrap().starts_with(title);
    let action = actions.find(is_it).unwrap().clone();
    let command = action["command"].as_str().unwrap();
    let answer = world.execute(command, action["arguments"].clone());
    assert!(answer.get("error").is_none(), "{answer}");
    world.did_close(&shown.uri);
}

fn wait_told(model: &Model, text: &str) {
    let is_told = |request: &ModelRequest| request.is_main && request.mentions(text);
    model.wait_for(&format!("with {text:?}"), SOON, is_told);
}

/// A decision with a reason, as only a command can give one here.
fn reject_because(world: &mut World, shown: &Shown, why: &str) {
    let listed = world.sandbox.run(["diffs", "--json"]).expect(0).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let diff = listed[0]["diff"].as_str().unwrap();
    world
        .sandbox
        .run(["reject", diff, "--because", why])
        .expect(0);
    world.did_close(&shown.uri);
}

/// In each encoding one change is edited and accepted; then one is rejected with a reason, one without, and one accepted.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_claudes_command_hook_shows_is_written_as_it_stands_in_the_document() {
    let release = ClaudeRelease::Native;
    let (mut world, model) = (world(), Model::start());
    world.sandbox.run(["hook", "install", "claude"]).expect(0);
    let encodings = ENCODINGS.into_iter();
    let encodings: Vec<_> = encodings
        .filter(|(kind, _)| !kind.starts_with("utf16"))
        .collect();
    let folder = world.sandbox.home.workspace();
    let file = |kind: &str| folder.join(format!("{kind}.txt"));
    for (kind, encode) in &encodings {
        world
            .sandbox
            .home
            .file(&format!("{kind}.txt"), encode(LINES));
        let edit = Turn::replace(file(kind), "two", "zwei");
        model.script([Turn::read_file(file(kind)), edit]);
    }
    let new = folder.join("new.txt");
    model.script([
        Turn::replace(file("lf"), "one", "eins"),
        Turn::replace(file("crlf"), "one", "eins"),
        Turn::write_file(&new, "new\n"),
        Turn::say("all is done"),
    ]);
    let home = &world.sandbox.home;
    let env = release.env(home.env(), &model);
    let claude = Command::new(ClaudeNpm::from_env().bin(release).join("claude"))
        .args(["-p", HEADLESS_PROMPT, "--permission-mode", "auto"])
        .env_clear()
        .envs(env.iter())
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let edited = LINES.replace("two", "deux");
    for (kind, encode) in &encodings {
        let shown = shown(&mut world);
        world.did_change(&shown.uri, &shown.text.replace("zwei", "deux"));
        choose(&mut world, &shown, "Accept");
        wait_told(&model, "+deux");
        assert_written(&file(kind), &encode(&edited));
    }
    let proposal = shown(&mut world);
    reject_because(&mut world, &proposal, "in English, please");
    let proposal = shown(&mut world);
    choose(&mut world, &proposal, "Reject");
    let proposal = shown(&mut world);
    choose(&mut world, &proposal, "Accept");
    let printed = claude.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&printed.stdout);
    assert!(printed.contains("all is done"), "{printed}");
    wait_told(&model, "and says: in English, please");
    for (kind, encode) in &encodings[..2] {
        assert_bytes(&file(kind), &encode(&edited));
    }
    assert_bytes(&new, b"new\n");
}

/// The agent writes it after it was told.
fn assert_written(file: &Path, expected: &[u8]) {
    let started = std::time::Instant::now();
    while fs::read(file).unwrap() != expected && started.elapsed() < SOON {
        thread::sleep(Duration::from_millis(10));
    }
    assert_bytes(file, expected);
}

/// A notebook's cell, and a change that it would make without asking.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_the_hooks_of_a_claude_that_is_run_ask_is_decided_without_a_plugin() {
    let (mut world, model, tmux) = (world(), Model::start(), Tmux::start());
    let release = ClaudeRelease::Native;
    let folder = world.sandbox.home.workspace();
    let env = release.env(world.sandbox.home.env(), &model);
    let pillion = env!("CARGO_BIN_EXE_pillion");
    let mode = ["--permission-mode", "auto"];
    let command = [&[pillion, "run", "--require", "claude"][..], &mode].concat();
    let pane = tmux.spawn("agent", Size::new(110, 45), &env, &folder, &command);
    let claude = Claude::attach(release, pane);

    let cells = json!([{
        "cell_type": "code", "execution_count": null, "id": "a1", "metadata": {}, "outputs": [], "source": ["x = 1"],
    }]);
    let notebook = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    let book = world.sandbox.home.file("n.ipynb", notebook.to_string());
    let has = |source: &str| fs::read_to_string(&book).unwrap().contains(source);
    let cell = |source: &str, said: &str| {
        let input = json!({"notebook_path": book, "cell_id": "a1", "new_source": source});
        let name = "NotebookEdit";
        let edit = Turn::CallTool { name, input };
        model.script([Turn::read_file(&book), edit, Turn::say(said)]);
        claude.wait_ready();
        claude.prompt("change it");
    };
    cell("x = 2", "the first is done");
    let proposal = shown(&mut world);
    world.did_change(&proposal.uri, &proposal.text.replace('2', "22"));
    choose(&mut world, &proposal, "Accept");
    claude.wait_for("the first is done");
    assert!(has("x = 22"));
    cell("x = 3", "the second is done");
    let proposal = shown(&mut world);
    reject_because(&mut world, &proposal, "one is enough");
    claude.wait_for("the second is done");
    wait_told(&model, "and says: one is enough");
    assert!(has("x = 22"));

    let file = world.sandbox.home.file("a.txt", LINES);
    let mut edit = |word: &str, said: &str| {
        let edit = Turn::replace(&file, "two", word);
        model.script([Turn::read_file(&file), edit, Turn::say(said)]);
        claude.wait_ready();
        claude.prompt("change it");
        shown(&mut world)
    };
    let proposal = edit("zwei", "the third is done");
    world.did_change(&proposal.uri, &proposal.text.replace("zwei", "deux"));
    choose(&mut world, &proposal, "Accept");
    claude.wait_for("the third is done");
    assert_bytes(&file, LINES.replace("two", "deux").as_bytes());
}
