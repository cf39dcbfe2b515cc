//! A proposal that is open in a second `pillion lsp`: the one that an editor starts because a proposal lies
//! outside of its project, or that of another window.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::{IdleProcess, SOON, TestAgent};
use serde_json::{Value, json};

use crate::agent::{accepted, rejected};
use crate::client::Editor;
use crate::plain::world::{Proposal, World, position, uri, wait_gone};
use crate::sandbox::Sandbox;

mod endings;
mod texts;

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
        self.editor.execute(&params)
    }

    fn execute(&mut self, command: &str, arguments: Value) -> Value {
        let params = json!({"command": command, "arguments": arguments});
        self.editor.execute(&params)
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

/// Every file where agents look for companions.
fn published(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.home.tmp().join("gemini/ide");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

/// Waits until agents find a companion by this process. The file in which they do.
fn wait_served(sandbox: &Sandbox, pid: u32) -> PathBuf {
    let start = Instant::now();
    let name = format!("gemini-ide-server-{pid}-");
    let is_its = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(&name)
    };
    loop {
        let mut files = published(sandbox).into_iter();
        if let Some(file) = files.find(is_its) {
            return file;
        }
        assert!(start.elapsed() < SOON, "{:?}", published(sandbox));
        thread::sleep(Duration::from_millis(10));
    }
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
    assert_eq!(published(&world.sandbox), before);
    second.editor.request("shutdown", Value::Null);
    second.editor.notify("exit", Value::Null);
    assert_eq!(second.editor.ended().0, Some(0));
}

/// Nor is a program started that opens it once more.
#[test]
fn what_a_second_server_has_open_needs_no_hint_how_to_decide_without_code_actions() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.propose(&target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    proposal.call.end().unwrap();
    world
        .editor
        .answer(&proposal.request, json!({"success": true}));
    assert_eq!(second.actions().len(), 2);
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
    // That none comes later, `Proposals` is asked with a clock that only counts.
    let said = "window/showMessage".to_owned();
    assert!(!world.editor.passed().contains(&said));
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
    wait_served(&world.sandbox, other.id());
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
    wait_served(&world.sandbox, other.id());
    drop(second);
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

/// One of the editor's own, and one of another.
#[test]
fn a_command_without_arguments_is_about_what_had_the_focus_last_whosever_it_is() {
    let mut world = World::new();
    let (theirs, folder) = (
        world.target("a.rs", "a\n"),
        world.sandbox.home.other_workspace("two"),
    );
    let proposal = world.shown(&theirs, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::connect(
        &world.sandbox,
        other.id(),
        json!([uri(&folder)]),
        &proposal.uri,
    );
    let file = folder.join("c.rs");
    fs::write(&file, "c\n").unwrap();
    let theirs_uri = std::mem::replace(&mut second.uri, uri(&file));
    second.did_open("c\n");
    let found = wait_served(&world.sandbox, other.id());
    let mut agent = TestAgent::connect(&found);
    let call = agent.proposing(file.to_str().unwrap(), "ours\n");
    let request = second.editor.next("window/showDocument");
    second.editor.answer(&request, json!({"success": true}));
    call.end().unwrap();
    let ours_uri = request["params"]["uri"].as_str().unwrap().to_owned();
    second.uri = ours_uri.clone();
    second.did_open("ours\n");
    second.uri = theirs_uri.clone();
    second.did_open("b\n");
    let answer = second.execute("pillion.accept", json!([]));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("just arrived"), "{why}");
    // The person looks at one, then at the other.
    for looked_at in [&theirs_uri, &ours_uri, &theirs_uri] {
        second.uri = looked_at.clone();
        assert_eq!(second.actions().len(), 2);
    }
    second.execute("pillion.accept", json!([]));
    assert_eq!(world.agent.outcome(), accepted(&theirs, "b\n"));
    second.execute("pillion.reject", json!([]));
    assert_eq!(agent.outcome(), rejected(file.to_str().unwrap()));
}

#[test]
fn hostile_names_reach_the_agent_as_they_are() {
    let mut world = World::new();
    for name in ["a b.rs", "100%.rs", "é%20\n;$(x).rs", "[id]#?.rs"] {
        let target = world.target(name, "a\n");
        let proposal = shown_elsewhere(&mut world, &target, "b\n");
        let mut second = Second::of_same_editor(&world, &proposal);
        let answer = second.choose("Accept");
        assert_eq!(answer["result"], Value::Null, "{answer}");
        assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
    }
}
