//! A proposal that is open in a second `pillion lsp`: the one that an editor starts because a proposal lies
//! outside of its project, or that of another window.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use pillion_discovery::{Environment, state};
use pillion_testkit::{IdleProcess, SOON};
use serde_json::{Value, json};

use crate::agent::{accepted, rejected};
use crate::client::Editor;
use crate::plain::world::{Proposal, World, position, uri, wait_gone};
use crate::sandbox::Sandbox;

mod strangers;

/// An editor that has a proposal of another `pillion lsp` open.
struct Second {
    editor: Editor,
    uri: String,
}

impl Second {
    /// A server that the editor of the world itself started, for the folder of the proposal, as eglot does.
    fn of_same_editor(world: &World, proposal: &Proposal) -> Self {
        let root = uri(proposal.path.parent().unwrap());
        Self::start(&world.sandbox, std::process::id(), json!([root]), proposal)
    }

    /// Another window with nothing but the proposal.
    fn of_another(world: &World, other: &IdleProcess, proposal: &Proposal) -> Self {
        let mut second = Self::unopened(world, other, proposal);
        second.did_open(&fs::read_to_string(&proposal.path).unwrap());
        second
    }

    /// Another window, which is about to open the proposal.
    fn unopened(world: &World, other: &IdleProcess, proposal: &Proposal) -> Self {
        let root = uri(&world.sandbox.home.workspace());
        Self::connect(&world.sandbox, other.id(), json!([root]), &proposal.uri)
    }

    fn start(sandbox: &Sandbox, pid: u32, roots: Value, proposal: &Proposal) -> Self {
        let mut second = Self::connect(sandbox, pid, roots, &proposal.uri);
        let text = fs::read_to_string(&proposal.path).unwrap();
        second.did_open(&text);
        second
    }

    fn connect(sandbox: &Sandbox, pid: u32, roots: Value, uri: &str) -> Self {
        let mut editor = Editor::start::<&str>(sandbox, []);
        let folders = roots.as_array().unwrap().iter();
        let folders: Vec<Value> = folders
            .map(|uri| json!({"uri": uri, "name": "x"}))
            .collect();
        editor.initialize(json!({
            "processId": pid,
            "capabilities": {},
            "workspaceFolders": folders,
        }));
        editor.notify("initialized", json!({}));
        let uri = uri.to_owned();
        Self { editor, uri }
    }

    fn did_open(&mut self, text: &str) {
        let document = json!({"uri": self.uri, "languageId": "x", "version": 0, "text": text});
        let params = json!({"textDocument": document});
        self.editor.notify("textDocument/didOpen", params);
    }

    fn did_change(&mut self, version: u32, text: &str) {
        let document = json!({"uri": self.uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.editor.notify("textDocument/didChange", params);
    }

    fn did_close(&mut self) {
        let params = json!({"textDocument": {"uri": self.uri}});
        self.editor.notify("textDocument/didClose", params);
    }

    fn actions(&mut self) -> Vec<Value> {
        let params = json!({
            "textDocument": {"uri": self.uri},
            "range": {"start": position((0, 0)), "end": position((0, 0))},
            "context": {"diagnostics": []},
        });
        let answer = self.editor.request("textDocument/codeAction", params);
        answer["result"].as_array().unwrap().clone()
    }

    /// Chooses a code action; the whole answer.
    fn choose(&mut self, title: &str) -> Value {
        let actions = self.actions();
        let mut actions = actions.iter();
        let action = actions.find(|action| action["title"].as_str().unwrap().starts_with(title));
        let action = action.unwrap();
        let params = json!({"command": action["command"], "arguments": action["arguments"]});
        self.editor.request("workspace/executeCommand", params)
    }

    fn execute(&mut self, command: &str, arguments: Value) -> Value {
        let params = json!({"command": command, "arguments": arguments});
        self.editor.request("workspace/executeCommand", params)
    }

    /// The next diagnostics of the proposal.
    fn diagnostics(&mut self) -> Vec<Value> {
        let params = self.editor.params("textDocument/publishDiagnostics");
        assert_eq!(params["uri"], self.uri);
        params["diagnostics"].as_array().unwrap().clone()
    }

    /// The next message for the person.
    fn message(&mut self) -> String {
        let params = self.editor.params("window/showMessage");
        params["message"].as_str().unwrap().to_owned()
    }
}

/// The editors that agents are served for.
fn served(sandbox: &Sandbox) -> Vec<u32> {
    let environment = Environment::from_pairs([
        ("TMPDIR", sandbox.home.tmp()),
        ("XDG_RUNTIME_DIR", sandbox.home.runtime()),
    ]);
    let running = state::list(&environment).into_iter();
    running.flat_map(|companion| companion.editors()).collect()
}

/// Every file where agents look for companions of this editor.
fn published(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.home.tmp().join("gemini/ide");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

fn socket(world: &World) -> PathBuf {
    let pid = world.editor.child.id().to_string();
    world.proposals().join(pid).join("relay")
}

/// The editor says that it shows the proposal; it opens it with another server.
fn shown_elsewhere(world: &mut World, target: &str, text: &str) -> Proposal {
    let proposal = world.propose(target, text);
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    proposal
}

#[test]
fn a_second_server_of_the_editor_decides_a_proposal_and_publishes_nothing() {
    let mut world = World::new();
    let before = published(&world.sandbox);
    let target = world.target("a.rs", "a\nb\n");
    let proposal = shown_elsewhere(&mut world, &target, "a\nB\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert_eq!(second.diagnostics()[0]["message"], "b");
    let hover = json!({"textDocument": {"uri": second.uri}, "position": position((0, 0))});
    let hover = second.editor.request("textDocument/hover", hover);
    assert_eq!((&hover["result"], hover.get("error")), (&Value::Null, None));
    second.did_change(1, "a\nmine\n");
    let answer = second.choose("Accept a.rs as shown (Gemini CLI)");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "a\nmine\n"));
    wait_gone(&proposal.path);
    while !second.diagnostics().is_empty() {}
    assert!(second.actions().is_empty());
    assert_eq!(served(&world.sandbox), [std::process::id()]);
    assert_eq!(published(&world.sandbox), before);
    second.editor.request("shutdown", Value::Null);
    second.editor.notify("exit", Value::Null);
    assert_eq!(second.editor.ended().0, Some(0));
}

/// Kate names the home directory, eglot the folder of the proposal, Helix the project.
#[test]
fn whatever_root_an_editor_names_for_a_proposal_nothing_is_published() {
    let mut world = World::new();
    let before = published(&world.sandbox);
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let home = &world.sandbox.home;
    let roots = [
        vec![uri(&home.home())],
        vec!["file:///".to_owned()],
        vec![uri(proposal.path.parent().unwrap())],
        vec![uri(proposal.path.ancestors().nth(2).unwrap())],
        vec![uri(&home.workspace())],
        vec![],
    ];
    let seconds = roots.map(|roots| {
        let mut second = Second::start(&world.sandbox, std::process::id(), json!(roots), &proposal);
        assert_eq!(second.actions().len(), 2, "{roots:?}");
        second
    });
    // Longer than an editor has to open its first file.
    thread::sleep(Duration::from_secs(1));
    assert_eq!(served(&world.sandbox), [std::process::id()]);
    assert_eq!(published(&world.sandbox), before);
    drop(seconds);
}

#[test]
fn a_server_that_was_started_for_a_proposal_serves_a_project_once_a_file_of_it_is_opened() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    assert_eq!(second.actions().len(), 2);
    let file = world.sandbox.home.file("mine.rs", "x\n");
    let document = json!({"uri": uri(&file), "languageId": "x", "version": 0, "text": "x\n"});
    second
        .editor
        .notify("textDocument/didOpen", json!({"textDocument": document}));
    let start = Instant::now();
    while served(&world.sandbox).len() < 2 {
        assert!(start.elapsed() < SOON);
        thread::sleep(Duration::from_millis(10));
    }
    assert!(served(&world.sandbox).contains(&other.id()));
    let answer = second.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
}

#[test]
fn an_editor_that_opens_nothing_is_served_while_another_has_a_proposal() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let other = IdleProcess::start();
    let second = Second::unopened(&world, &other, &proposal);
    let start = Instant::now();
    while served(&world.sandbox).len() < 2 {
        assert!(start.elapsed() < SOON);
        thread::sleep(Duration::from_millis(10));
    }
    drop(second);
}

#[test]
fn closing_it_rejects_in_the_editor_that_shows_it_and_not_in_another_window() {
    let mut world = World::new();
    let (target, other_target) = (world.target("a.rs", "a\n"), world.target("b.rs", "a\n"));
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert_eq!(second.actions().len(), 2);
    second.did_close();
    assert_eq!(world.agent.outcome(), rejected(&target));

    let proposal = shown_elsewhere(&mut world, &other_target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    assert_eq!(second.actions().len(), 2);
    second.did_close();
    assert!(world.agent.receives_no_outcome(Duration::from_secs(2)));
    let text = fs::read_to_string(&proposal.path).unwrap();
    world.did_open(&proposal.uri, &text);
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&other_target, "b\n"));
}

#[test]
fn a_window_that_is_killed_decides_nothing() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "edited\n");
    assert_eq!(second.actions().len(), 2);
    second.editor.child.kill().unwrap();
    assert!(world.agent.receives_no_outcome(Duration::from_secs(2)));
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
}

#[test]
fn two_windows_each_accept_what_they_show() {
    let mut world = World::new();
    let other = IdleProcess::start();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let mut second = Second::of_another(&world, &other, &proposal);
    let mut third = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "second\n");
    third.did_change(1, "third\n");
    assert_eq!((second.actions().len(), third.actions().len()), (2, 2));
    let ran = world.sandbox.run(["accept", "1.1"]);
    assert!(ran.stderr.contains("two editors"), "{}", ran.stderr);
    let answer = third.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "third\n"));
    let answer = second.execute("pillion.accept", json!([1, 1, world.editor.child.id()]));
    assert!(answer["error"]["message"].is_string(), "{answer}");

    let target = world.target("b.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let mut second = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "saved\n");
    fs::write(&proposal.path, "saved\n").unwrap();
    assert_eq!(second.actions().len(), 2);
    let answer = world.execute("pillion.accept", json!([2, 1]));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("differs here from its file"), "{why}");
    let answer = second.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "saved\n"));
}

#[test]
fn what_was_typed_before_the_window_was_connected_is_accepted_once_it_is_saved() {
    let mut world = World::new();
    let other = IdleProcess::start();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let mut window = Second::unopened(&world, &other, &proposal);
    window.did_open("mine\n");
    let answer = window.choose("Accept");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("save it or reload the file"), "{why}");
    fs::write(&proposal.path, "mine\n").unwrap();
    let answer = window.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "mine\n"));
}

/// As if it were undone: it is what the window opened, and not what the agent proposed.
#[test]
fn what_was_typed_before_the_window_was_connected_is_accepted_when_it_comes_back() {
    let mut world = World::new();
    let other = IdleProcess::start();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let mut window = Second::unopened(&world, &other, &proposal);
    window.did_open("mine\n");
    window.did_change(1, "more\n");
    window.did_change(2, "mine\n");
    let answer = window.choose("Accept");
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert_eq!(world.agent.outcome(), accepted(&target, "mine\n"));
}

#[test]
fn of_what_is_typed_fast_the_highest_version_counts() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    for version in 1..1000 {
        second.did_change(version, &format!("{version}\n"));
    }
    second.did_change(500, "old\n");
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "999\n"));
}

#[test]
fn a_command_without_arguments_is_about_the_proposal_that_was_looked_at() {
    let mut world = World::new();
    let (one, two) = (world.target("a.rs", "a\n"), world.target("b.rs", "a\n"));
    let first = shown_elsewhere(&mut world, &one, "1\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &first);
    assert_eq!(second.actions().len(), 2);
    let proposal = shown_elsewhere(&mut world, &two, "2\n");
    second.uri = proposal.uri.clone();
    second.did_open("2\n");
    let answer = second.execute("pillion.accept", json!([]));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("just arrived"), "{why}");
    assert_eq!(second.actions().len(), 2);
    second.execute("pillion.accept", json!([]));
    assert_eq!(world.agent.outcome(), accepted(&two, "2\n"));
}

#[test]
fn a_proposal_that_the_agent_closes_has_no_actions_left() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert!(!second.diagnostics().is_empty());
    let arguments = second.actions()[0]["arguments"].clone();
    world.agent.close(&target).unwrap();
    while !second.diagnostics().is_empty() {}
    assert!(second.actions().is_empty());
    second.did_change(1, "late\n");
    let answer = second.execute("pillion.accept", arguments);
    assert!(answer["error"]["message"].is_string(), "{answer}");
}

#[test]
fn a_newer_proposal_is_not_decided_by_the_actions_of_the_older() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let older = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &older);
    let arguments = second.actions()[0]["arguments"].clone();
    let newer = shown_elsewhere(&mut world, &target, "c\n");
    second.uri = newer.uri.clone();
    second.did_open("c\n");
    assert_eq!(second.actions().len(), 2);
    let answer = second.execute("pillion.accept", arguments);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("newer change"), "{why}");
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "c\n"));
}
