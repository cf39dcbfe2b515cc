//! `pillion hook`, started by the real agents: their settings have the entries that `pillion_hooks` names, and nothing
//! else leads them to a companion.

mod changes;
pub mod claude;
mod codex;
mod copilot;
mod gemini;
mod kimi;
mod opencode;
mod qwen;
mod undecided;
mod vibe;

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pillion_protocol::Dialect;
use pillion_testkit::{
    AgentKind, Env, HEADLESS_PROMPT, Headless, Home, Model, ModelRequest, Npm, Turn, all_of,
};
use serde_json::{Value, json};

use crate::companion::{self, PILLION, SOON, Serve};
use crate::review;
use crate::shared_encodings::{ENCODINGS, Encoding, assert_bytes};

const BEFORE: &str = "one\ntwo\nthree\n";

/// An agent's settings with the entries of its hook, which has these options, beside what is there.
pub fn settings(agent: Dialect, options: &str, mut own: Value) -> Value {
    let hooks = pillion_hooks::of(agent);
    let command = format!("'{PILLION}' hook {} {options}", agent.name());
    for entry in hooks.entries(command.trim()) {
        let list = &mut own["hooks"][entry.event];
        if list.is_null() {
            *list = json!([]);
        }
        list.as_array_mut().expect("it is a list").push(entry.item);
    }
    own
}

/// An agent that works without a terminal, with a headless companion in its folder.
struct Scene {
    model: Model,
    /// None once it has ended.
    serve: Option<Serve>,
    // Last: the others have files in it.
    home: Home,
}

/// The output of an agent, once it has ended.
struct Printed {
    output: String,
    has_succeeded: bool,
}

impl Scene {
    fn new(set_up: impl FnOnce(&Home)) -> Self {
        let home = Home::new();
        set_up(&home);
        Self {
            model: Model::start(),
            serve: Some(Serve::start(&home)),
            home,
        }
    }

    /// Lets the model do this, and say "done" at the end.
    fn script(&self, turns: impl IntoIterator<Item = Turn>) {
        self.model.clear();
        self.model.script(turns);
        self.model.script([Turn::say("the turn is done")]);
    }

    /// Starts a command in the workspace that is to end by itself.
    fn start(&self, env: &Env, command: &[&str]) -> Child {
        Command::new(command[0])
            .args(&command[1..])
            .current_dir(self.home.workspace())
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the agent starts")
    }

    /// Waits for the proposal for this file, and decides: with the text, if there is one.
    fn decide(&self, path: &Path, decision: &Decision<'_>) {
        let pending = companion::wait_pending(&self.home, path);
        self.decide_about(&pending.name, decision);
    }

    /// Waits for all of these files, and decides about each.
    fn decide_all(&self, decisions: &[(&Path, Decision<'_>)]) {
        let pending = companion::wait_until("all files", || {
            let pending = companion::pending(&self.home);
            (pending.len() == decisions.len()).then_some(pending)
        });
        for (path, decision) in decisions {
            let mut pending = pending.iter();
            let found = pending.find(|it| Path::new(&it.path) == *path);
            let found = found.unwrap_or_else(|| panic!("{} is not shown", path.display()));
            self.decide_about(&found.name, decision);
        }
    }

    /// Decides about a proposal that is shown.
    fn decide_about(&self, name: &str, decision: &Decision<'_>) {
        match decision {
            Decision::Accept => companion::accept(&self.home, name, None),
            Decision::Edit(text) => {
                let file = self.home.home().join("accepted");
                fs::write(&file, text).expect("the home is ours");
                companion::accept(&self.home, name, Some(&file));
            }
            Decision::Reject(why) => {
                companion::run(&self.home, ["reject", name, "--because", why]);
            }
        }
    }

    /// Waits until the model has been told this.
    fn wait_told(&self, text: &str) -> ModelRequest {
        let what = format!("with {text:?}");
        let is_told = |request: &ModelRequest| request.is_main && request.mentions(text);
        self.model.wait_for(&what, SOON, is_told)
    }

    /// Waits until the model has been told both in one conversation.
    fn wait_told_both(&self, first: &str, second: &str) {
        let what = format!("with {first:?} and {second:?}");
        let is_told = |request: &ModelRequest| {
            request.is_main && request.mentions(first) && request.mentions(second)
        };
        self.model.wait_for(&what, SOON, is_told);
    }

    /// Waits until the model has been told this so many times in one conversation.
    fn wait_told_times(&self, text: &str, times: usize) {
        let what = format!("with {text:?} {times} times");
        let is_told = |request: &ModelRequest| {
            let told = request.body.to_string();
            request.is_main && told.matches(text).count() >= times
        };
        self.model.wait_for(&what, SOON, is_told);
    }
}

/// The decision of a person.
enum Decision<'a> {
    Accept,
    /// Accept with this text.
    Edit(&'a [u8]),
    /// Reject, for this reason.
    Reject(&'a str),
}

/// The person stops an agent in its own window (Esc) while its hook shows a change of this file: the view goes, a decision that
/// comes later decides nothing and says so, nothing is written, and no hook runs on.
pub fn stop_while_its_hook_waits(home: &Home, file: &Path, stop: impl FnOnce()) {
    let hooks = || {
        let is_hook = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains("pillion\0hook\0")
        };
        all_of(home).into_iter().filter(is_hook).count()
    };
    let before = fs::read(file).expect("it is there");
    let pending = companion::wait_pending(home, file);
    assert_eq!(hooks(), 1, "its hook waits");
    stop();
    companion::wait_none_pending(home);
    for decision in ["accept", "reject"] {
        let late = companion::command(home, [decision, &pending.name]).output();
        let late = late.expect("the command under test runs");
        let said = String::from_utf8_lossy(&late.stderr);
        assert!(!late.status.success(), "{decision}: {said}");
        assert!(said.contains("is pending"), "{decision}: {said}");
    }
    companion::wait_until("no hook", || (hooks() == 0).then_some(()));
    assert_bytes(file, &before);
}

/// Waits until an agent has ended.
fn ended(mut agent: Child) -> Printed {
    let mut output = String::new();
    for pipe in [
        agent.stdout.take().map(|it| Box::new(it) as Box<dyn Read>),
        agent.stderr.take().map(|it| Box::new(it) as Box<dyn Read>),
    ] {
        let mut pipe = pipe.expect("it is piped");
        pipe.read_to_string(&mut output).expect("it prints text");
    }
    let status = agent.wait().expect("it ends");
    Printed {
        output,
        has_succeeded: status.success(),
    }
}

/// Puts the hook of one of Gemini CLI and Qwen Code into the person's settings, beside what it needs.
fn install(home: &Home, kind: AgentKind, agent: Dialect) {
    let file = home.home().join(format!(".{0}/settings.json", kind.name()));
    let own = fs::read(&file).expect("it has settings");
    let own = serde_json::from_slice(&own).expect("they are ours");
    fs::write(&file, settings(agent, "", own).to_string()).expect("they are ours");
}

/// One of Gemini CLI and Qwen Code with its hook.
fn scene(kind: AgentKind, agent: Dialect) -> Scene {
    Scene::new(|home| install(home, kind, agent))
}

/// Starts one that prints its answer and ends.
fn print(scene: &Scene, kind: AgentKind, mode: &str) -> Child {
    let env = kind.env(scene.home.env(), &scene.model);
    let command = Npm::from_env().bin().join(kind.name());
    let command = command.display().to_string();
    scene.start(
        &env,
        &[&command, "--approval-mode", mode, "-p", HEADLESS_PROMPT],
    )
}

/// One of the agents that the tests run without a terminal alone, with Pillion's hooks.
fn headless_scene(agent: Headless, name: &str) -> Scene {
    let scene = Scene::new(|home| drop(companion::run(home, ["hook", "install", name])));
    agent.set_up(&scene.home, &scene.model);
    scene
}

/// Starts it.
fn print_headless(scene: &Scene, agent: Headless) -> Child {
    let command = agent.print();
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    scene.start(&agent.env(scene.home.env()), &command)
}

/// The encodings of texts that hooks show, of which each start of an agent, in another mode, gets its part: a start takes longer than
/// all that an agent does then.
fn encodings_of(number: usize, starts: usize) -> impl Iterator<Item = Encoding> {
    let shown = ENCODINGS.into_iter();
    let shown = shown.filter(|(kind, _)| !kind.starts_with("utf16"));
    shown.skip(number).step_by(starts)
}

/// An agent makes each change that is allowed, as it was accepted: an edit of a file in each encoding, a new file, and one that is
/// overwritten; each accepted as it is, and after an edit. `start` starts one that ends by itself, in one of so many modes.
fn makes_accepted_changes(scene: &Scene, modes: usize, start: impl Fn(&Scene, usize) -> Child) {
    makes_part_of_accepted_changes(scene, 0..modes, modes, start);
}

/// The changes of some of the modes.
fn makes_part_of_accepted_changes(
    scene: &Scene,
    numbers: Range<usize>,
    modes: usize,
    start: impl Fn(&Scene, usize) -> Child,
) {
    let texts = [
        ("new-lf", "one\ntwo\n"),
        ("new-crlf", "one\r\ntwo\r\n"),
        ("new-no-final-newline", "one\ntwo"),
    ];
    for number in numbers {
        let edited = encodings_of(number, modes).map(|(kind, encode)| {
            let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
            (kind, encode, file)
        });
        let edited: Vec<_> = edited.collect();
        let written = texts.into_iter().skip(number).step_by(modes);
        let written = written.map(|(name, text)| {
            let file = scene.home.workspace().join(format!("{name}.txt"));
            (name, text, file)
        });
        let written: Vec<_> = written.collect();
        let edits = edited.iter().flat_map(|(kind, _, file)| {
            [
                Turn::read_file(file),
                Turn::replace(file, "two", "zwei"),
                Turn::read_file(file),
                Turn::replace(file, "zwei", format!("deux {kind}")),
            ]
        });
        let writes = written.iter().flat_map(|(_, text, file)| {
            [
                Turn::write_file(file, *text),
                Turn::read_file(file),
                Turn::write_file(file, text.replace("one", "eins")),
            ]
        });
        scene.script(edits.chain(writes));
        let agent = start(scene, number);
        for (kind, encode, file) in &edited {
            scene.decide(file, &Decision::Accept);
            // The agent proposes the next change once it has made this one.
            let next = companion::wait_pending(&scene.home, file);
            assert_bytes(file, &encode(&BEFORE.replace("two", "zwei")));
            let accepted = BEFORE.replace("two", "dos").replace("three", "tres");
            scene.decide_about(&next.name, &Decision::Edit(&encode(&accepted)));
            scene.wait_told(&format!("-deux {kind}"));
            assert_bytes(file, &encode(&accepted));
        }
        for (name, text, file) in &written {
            scene.decide(file, &Decision::Accept);
            let next = companion::wait_pending(&scene.home, file);
            assert_bytes(file, text.as_bytes());
            let accepted = text.replace("one", &format!("uno {name}"));
            scene.decide_about(&next.name, &Decision::Edit(accepted.as_bytes()));
            scene.wait_told(&format!("+uno {name}"));
            assert_bytes(file, accepted.as_bytes());
        }
        ended(agent).expect_done("accepted");
    }
}

/// Of an agent whose hooks for all calls of an answer run before the first of them: both changes of a file are shown, accepted and written,
/// and nothing of them is left unseen.
fn makes_both_changes_of_a_file(scene: &Scene, start: impl FnOnce() -> Child) {
    let file = scene.home.file("both.txt", BEFORE);
    scene.script([Turn::at_once([
        Turn::replace(&file, "one", "eins"),
        Turn::replace(&file, "three", "drei"),
    ])]);
    let agent = start();
    scene.decide(&file, &Decision::Accept);
    scene.decide(&file, &Decision::Accept);
    ended(agent).expect_done("both");
    assert_both_are_written(&scene.home, &file);
}

/// The same of an agent in a terminal that is connected and asks itself, with its hooks and without them.
fn that_asks_itself_makes_both_changes_of_a_file(kind: AgentKind, agent: Dialect) {
    for is_hooked in [true, false] {
        let home = Home::new();
        if is_hooked {
            install(&home, kind, agent);
        }
        // Before there is an agent that may have made it.
        let file = home.file("both.txt", BEFORE);
        let scene = review::Scene::with(kind, home, &Env::default());
        let edits = [("one", "eins"), ("three", "drei")];
        let edits = edits.map(|(old, new)| Turn::replace(&file, old, new));
        let turns = [Turn::read_file(&file), Turn::at_once(edits)];
        scene.model.script(turns);
        scene.model.script([Turn::say("both are done")]);
        scene.agent.prompt("change it");
        for _ in 0..2 {
            let pending = companion::wait_pending(&scene.home, &file);
            companion::accept(&scene.home, &pending.name, None);
        }
        // Once more, it would wait for a decision.
        scene.agent.wait_for("both are done");
        assert_both_are_written(&scene.home, &file);
    }
}

fn assert_both_are_written(home: &Home, file: &Path) {
    assert_bytes(file, b"eins\ntwo\ndrei\n");
    companion::wait_until("both to be written", || {
        let log = companion::run(home, ["log", "--json"]);
        let log: Vec<Value> = serde_json::from_slice(&log).expect("it is JSON");
        assert_eq!(log.len(), 2, "{log:#?}");
        let is_written = log.iter().all(|it| it["outcome"] == "written");
        is_written.then_some(())
    });
    // What the last call has made is looked at once it has ended.
    companion::wait_until("nothing to be left unseen", || {
        let unseen = companion::run(home, ["changes", "--json"]);
        (String::from_utf8_lossy(&unseen).trim() == "[]").then_some(())
    });
}

/// The model hears why an edit is rejected, and a new file; and the turn goes on.
fn hears_why_changes_are_rejected(
    scene: &Scene,
    modes: usize,
    start: impl Fn(&Scene, usize) -> Child,
) {
    for number in 0..modes {
        let file = scene.home.file("old.txt", BEFORE);
        let new = scene.home.workspace().join("new.txt");
        scene.script([
            Turn::read_file(&file),
            Turn::replace(&file, "two", "zwei"),
            Turn::write_file(&new, "new\n"),
        ]);
        let agent = start(scene, number);
        scene.decide(&file, &Decision::Reject("in English, please"));
        scene.wait_told("and says: in English, please");
        scene.decide(&new, &Decision::Reject("there is one already"));
        scene.wait_told("and says: there is one already");
        ended(agent).expect_done("rejected");
        assert_bytes(&file, BEFORE.as_bytes());
        assert!(!new.exists());
    }
}

/// The text that a file with [`BEFORE`] has when it changes while a change of it is shown, none if it is deleted, and what the
/// person accepts then: changed elsewhere and merged, changed in the same line, and deleted.
const NEWER: [(Option<&str>, &str); 3] = [
    (Some("zero\none\ntwo\nthree\n"), "zero\none\nzwei\nthree\n"),
    (Some("one\ndeux\nthree\n"), "one\nzwei\nthree\n"),
    (None, "one\nzwei\nthree\n"),
];

/// Lets a model change a file for each of [`NEWER`], which these turns are about, has each file changed while that is shown, and accepts the
/// change all the same. Returns the files and what was accepted, once the agent has ended.
fn accept_over(
    scene: &Scene,
    turns: impl Fn(&Path, usize) -> Vec<Turn>,
    start: impl FnOnce(&Scene) -> Child,
) -> [(PathBuf, &'static str); NEWER.len()] {
    let mut number = 0;
    let files = NEWER.map(|(_, accepted)| {
        number += 1;
        (scene.home.file(&format!("{number}.txt"), BEFORE), accepted)
    });
    let each = files.iter().enumerate();
    scene.script(each.flat_map(|(number, (file, _))| turns(file, number)));
    let agent = start(scene);
    for ((newer, accepted), (file, _)) in NEWER.iter().zip(&files) {
        let pending = companion::wait_pending(&scene.home, file);
        match newer {
            Some(text) => fs::write(file, text).expect("the workspace is ours"),
            None => fs::remove_file(file).expect("the workspace is ours"),
        }
        let content = scene.home.home().join("accepted");
        fs::write(&content, accepted).expect("the home is ours");
        let content = content.to_str().expect("its path is Unicode");
        let options = ["--despite-change", "--content-file", content];
        let accept = [&["accept", pending.name.as_str()], &options[..]].concat();
        companion::run(&scene.home, accept);
    }
    ended(agent).expect_done("newer");
    files
}

fn edit(file: &Path) -> Turn {
    Turn::replace(file, "two", "zwei")
}

fn whole(file: &Path) -> Turn {
    Turn::write_file(file, "one\nzwei\nthree\n")
}

/// The accepted text over a file that has changed meanwhile is what the file has then, and the model hears of it.
fn writes_over_a_newer_text(
    scene: &Scene,
    turn: impl Fn(&Path) -> Turn,
    start: impl FnOnce(&Scene) -> Child,
) {
    let turns = |file: &Path, _| vec![Turn::read_file(file), turn(file)];
    let files = accept_over(scene, turns, start);
    scene.wait_told_times("has changed since you proposed this", files.len());
    for (file, accepted) in files {
        assert_bytes(&file, accepted.as_bytes());
    }
}

/// The same of an agent that does not write over it: the model hears why, and makes the change that was accepted. One that is
/// deleted is written.
fn writes_over_no_newer_text(
    scene: &Scene,
    turn: impl Fn(&Path) -> Turn,
    start: impl FnOnce(&Scene) -> Child,
    told: &str,
) {
    let turns = |file: &Path, _| vec![Turn::read_file(file), turn(file)];
    let files = accept_over(scene, turns, start);
    let changed = NEWER.iter().filter(|(newer, _)| newer.is_some());
    scene.wait_told_times(told, changed.count());
    for ((file, accepted), (newer, _)) in files.iter().zip(NEWER) {
        assert_bytes(file, newer.unwrap_or(accepted).as_bytes());
    }
}

/// A notebook with one cell.
fn notebook(source: &str) -> String {
    json!({
        "cells": [{
            "cell_type": "code", "id": "a", "source": [source], "metadata": {}, "outputs": [], "execution_count": null,
        }],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    })
    .to_string()
}

/// The source of the one cell of a notebook.
fn source(file: &Path) -> String {
    let text = fs::read(file).expect("the workspace is ours");
    let notebook: Value = serde_json::from_slice(&text).expect("it is a notebook");
    match &notebook["cells"][0]["source"] {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => panic!("{other}"),
    }
}

/// Has the one cell of a notebook replaced.
fn cell(tool: &'static str, file: &Path, source: &str) -> Turn {
    let input = json!({
        "notebook_path": file, "cell_id": "a", "new_source": source, "cell_type": "code", "edit_mode": "replace",
    });
    Turn::CallTool { name: tool, input }
}

/// The source of a cell is shown. An accepted one is written, and why it is rejected is told; and the edited one, after which the model
/// does this.
fn changes_cells(
    scene: &Scene,
    tool: &'static str,
    after_edit: impl Fn(&Path) -> Option<Turn>,
    start: impl FnOnce(&Scene) -> Child,
) {
    let decisions = [
        (Decision::Accept, "2", None),
        (
            Decision::Reject("in English, please"),
            "1",
            Some("in English, please"),
        ),
        (Decision::Edit(b"3"), "3", Some("+3")),
    ];
    let files = ["accepted", "rejected", "edited"]
        .map(|name| scene.home.file(&format!("{name}.ipynb"), notebook("1")));
    let turns = files
        .iter()
        .flat_map(|file| [Turn::read_file(file), cell(tool, file, "2")]);
    scene.script(turns.chain(after_edit(&files[2])));
    let agent = start(scene);
    for (file, (decision, _, told)) in files.iter().zip(&decisions) {
        let pending = companion::wait_pending(&scene.home, file);
        assert_eq!(companion::proposed(&scene.home, &pending.name), "2");
        scene.decide_about(&pending.name, decision);
        if let Some(told) = told {
            scene.wait_told(told);
        }
    }
    ended(agent).expect_done("decided");
    for (file, (_, expected, _)) in files.iter().zip(&decisions) {
        assert_eq!(source(file), *expected, "{}", file.display());
    }
}

impl Printed {
    #[track_caller]
    fn expect_done(&self, what: &str) {
        let output = &self.output;
        let is_done = self.has_succeeded && output.contains("the turn is done");
        assert!(is_done, "{what}: {output}");
    }
}
