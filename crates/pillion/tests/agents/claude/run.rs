//! Claude Code as `pillion run` starts it: it asks before each change, in every permission mode.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Env, Home, Model, ModelRequest, Pane, Size, Tmux, Turn,
    kill_hub, set_up_claude,
};

use serde_json::{Value, json};

use super::changes::pillion;
use super::{NAME, Scene, ide, read, wait_connected};
use crate::companion::{self, PILLION, SOON};
use crate::review::Review;

/// After so long a key that was taken has an effect: once more would answer what is asked next.
const KEY_PAUSE: Duration = Duration::from_secs(2);

/// The review's words about a change that it did not show.
const UNSHOWN: &str = "without showing";

/// One that `pillion run` starts, with these options and these of its own, and with these settings.
pub(super) fn run(release: ClaudeRelease, options: &[&str], own: &[&str], settings: &str) -> Scene {
    let home = Home::new();
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start_with(&tmux, &home, "review", &Env::default());
    let words: Vec<_> = { options.iter().chain(&["claude"]).chain(own) }
        .copied()
        .collect();
    let claude = start(release, &home, &tmux, &model, &words, settings);
    wait_connected(&review);
    Scene {
        claude,
        review,
        model,
        tmux,
        home,
    }
}

/// Starts one with these words behind `pillion run`, and with these settings.
pub(super) fn start(
    release: ClaudeRelease,
    home: &Home,
    tmux: &Tmux,
    model: &Model,
    words: &[&str],
    settings: &str,
) -> Claude {
    let folder = home.workspace();
    set_up_claude(home, &folder);
    fs::write(home.home().join(".claude/settings.json"), settings).expect("the home is ours");
    // Root may not use one of the modes otherwise.
    let env = release.env(home.env(), model).with("IS_SANDBOX", "1");
    let command = [&[PILLION, "run"], words].concat();
    let pane = tmux.spawn("claude", Size::new(110, 45), &env, &folder, &command);
    Claude::attach(release, pane)
}

/// Whatever is the default of its release.
const NO_MODE: &str = "";

/// Settings of a person, beside which the hooks have to stand.
pub(super) const SETTINGS: &str = r#"{"skipDangerousModePermissionPrompt":true,"hooks":{"PreToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"true"}]}]}}"#;

pub(super) fn run_in(mode: &str) -> Scene {
    let own = [
        "--settings",
        "{\"verbose\":false}",
        "--permission-mode",
        mode,
    ];
    let own = if mode == NO_MODE { &own[..2] } else { &own };
    run(ClaudeRelease::Native, &[], own, SETTINGS)
}

/// An `Edit` and a `Write` that are accepted, and both again, rejected; and three in one answer, of which the second is rejected
/// with a reason; and one of which a hunk is taken out.
fn is_asked_in(mode: &str) -> Scene {
    let scene = run_in(mode);
    let path = scene.home.file("old.txt", "one\ntwo\n");
    let edit = Turn::replace(&path, "two", "zwei");
    scene.propose([Turn::read_file(&path), edit], "old.txt is done", "old.txt");
    scene.review.accept("old.txt");
    scene.claude.wait_for("old.txt is done");
    assert_eq!(read(&path), "one\nzwei\n");
    scene.review.wait_idle();
    let shown_mode = if mode == NO_MODE { "auto" } else { mode };
    let said = format!("Claude Code is in mode {shown_mode}: every change is shown");
    scene.review.pane().wait_for(&said, SOON);
    let path = scene.propose_new("new.txt", "one\n");
    scene.review.accept("new.txt");
    scene.claude.wait_for("new.txt is done");
    assert_eq!(read(&path), "one\n");
    let screen = scene.review.wait_idle();
    assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
    let path = scene.propose_new("rejected.txt", "one\n");
    scene.review.reject("rejected.txt");
    scene.claude.wait_answered();
    scene.claude.wait_ready();
    assert!(!path.exists());
    scene.model.clear();
    let path = scene.home.file("kept.txt", "one\ntwo\n");
    let edit = Turn::replace(&path, "two", "zwei");
    scene.propose(
        [Turn::read_file(&path), edit],
        "kept.txt is done",
        "kept.txt",
    );
    scene.review.reject("kept.txt");
    scene.claude.wait_answered();
    scene.claude.wait_ready();
    assert_eq!(read(&path), "one\ntwo\n");
    let screen = scene.review.wait_idle();
    assert!(!screen.contains(UNSHOWN), "nothing was written: {screen}");
    scene.model.clear();
    goes_on_with_the_others(&scene);
    scene.claude.wait_ready();
    scene.review.wait_idle();
    scene.model.clear();
    takes_a_hunk_out(&scene);
    scene
}

/// A hunk that was taken out is an edit: it is not written, and the model reads which one it was.
fn takes_a_hunk_out(scene: &Scene) {
    let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
    let path = scene.home.file("hunks.txt", &old);
    let new = old.replace("2\n3", "two\n3").replace("18\n", "eighteen\n");
    scene.propose(
        [Turn::read_file(&path), Turn::write_file(&path, &new)],
        "hunks.txt is done",
        "hunks.txt",
    );
    scene.review.take_hunk_out();
    scene.review.accept("hunks.txt");
    scene.claude.wait_for("hunks.txt is done");
    let request = scene.wait_asked("The user edited your change");
    assert!(request.mentions("-two"), "{}", request.body);
    assert_eq!(read(&path), old.replace("18\n", "eighteen\n"));
}

/// In one session, which the person takes from mode to mode. Each mode has a test of its own below, of every kind of decision.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_in_each_mode_of_a_session() {
    const MODES: [&str; 4] = ["acceptEdits", "bypassPermissions", "default", "plan"];
    let scene = run_in("bypassPermissions");
    let mut seen = BTreeSet::new();
    for number in 0..2 * MODES.len() {
        let file = format!("in-mode-{number}.txt");
        let path = scene.propose_new(&file, "one\n");
        assert!(!path.exists());
        scene.review.accept(&file);
        scene.claude.wait_for(&format!("{file} is done"));
        assert_eq!(read(&path), "one\n");
        let screen = scene.review.wait_idle();
        assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
        let (_, rest) = screen.split_once(" is in mode ").expect("it says which");
        let (mode, rest) = rest.split_once(':').expect("it says what it means");
        assert!(rest.starts_with(" every change is shown"), "{screen}");
        seen.insert(mode.to_owned());
        if MODES.iter().all(|mode| seen.contains(*mode)) {
            return;
        }
        scene.claude.wait_ready();
        scene.model.clear();
        scene.claude.pane().send_keys(["BTab"]);
    }
    panic!("it was only in {seen:?}");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_in_its_own_default_mode() {
    is_asked_in(NO_MODE);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_in_auto_mode() {
    let scene = is_asked_in("auto");
    asks_for_its_subagents(&scene, |claude| {
        stay_in_auto_mode(claude);
        allow_subagent(claude);
    });
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_in_accept_edits_mode() {
    let scene = is_asked_in("acceptEdits");
    asks_for_its_subagents(&scene, |_| ());
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_in_bypass_mode() {
    let scene = is_asked_in("bypassPermissions");
    asks_for_its_subagents(&scene, |_| ());
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_in_default_mode() {
    let scene = is_asked_in("default");
    asks_for_its_subagents(&scene, |_| ());
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_in_plan_mode() {
    let scene = is_asked_in("plan");
    asks_for_its_subagents(&scene, allow_subagent);
}

/// A `Write`, an `Edit`, and one of three in one answer: the model reads the reason within the turn, and not again.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_reads_why_and_goes_on() {
    let scene = run_in("auto");
    let reads = |file: &str, reason: &str, said: &str| {
        let screen = scene.review.reject_because(file, reason);
        let told = "your note was sent to Claude Code with the answer";
        assert!(screen.contains(told), "{screen}");
        scene.claude.wait_for(said);
        scene.wait_asked(&format!("and says: {reason}"));
        scene.claude.wait_ready();
    };
    let new = scene.propose_new("new.txt", "one\n");
    reads("new.txt", "Use the table, not if.", "new.txt is done");
    assert!(!new.exists());
    scene.model.clear();
    let old = scene.home.file("old.txt", "one\ntwo\n");
    let edit = Turn::replace(&old, "two", "zwei");
    scene.propose([Turn::read_file(&old), edit], "old.txt is done", "old.txt");
    reads("old.txt", "Nor a word of German.", "old.txt is done");
    assert_eq!(read(&old), "one\ntwo\n");
    scene.model.clear();
    let request = goes_on_with_the_others(&scene);
    let told = request.body.to_string().matches("and says: ").count();
    assert_eq!(told, 3, "each once");
    let screen = scene.review.wait_idle();
    assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
}

/// Of three files in one answer, the second is rejected with a reason; the model's request with it.
fn goes_on_with_the_others(scene: &Scene) -> ModelRequest {
    let files = ["first.txt", "second.txt", "third.txt"];
    let paths = files.map(|name| scene.home.workspace().join(name));
    let writes = paths.iter().map(|path| Turn::write_file(path, "one\n"));
    scene.propose([Turn::at_once(writes)], "all is done", files[0]);
    scene.review.accept(files[0]);
    scene.wait_view(files[1]);
    let screen = scene.review.reject_because(files[1], "One is enough.");
    assert!(
        screen.contains("your note was sent to Claude Code"),
        "{screen}"
    );
    scene.wait_view(files[2]);
    scene.review.accept(files[2]);
    scene.claude.wait_for("all is done");
    let request = scene.wait_asked("and says: One is enough.");
    let written = paths.each_ref().map(|path| path.exists());
    assert_eq!(written, [true, false, true]);
    request
}

/// Also where the permission mode decides what is asked.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_to_be_asked_reads_why_and_goes_on() {
    let own = ["--permission-mode", "default"];
    let asked = ["--review", "asked"];
    let scene = run(ClaudeRelease::Native, &asked, &own, SETTINGS);
    let path = scene.propose_new("new.txt", "one\n");
    scene.review.reject_because("new.txt", "Not here.");
    scene.claude.wait_for("new.txt is done");
    scene.wait_asked("and says: Not here.");
    assert!(!path.exists());
    scene.claude.wait_ready();
    scene.model.clear();
    // By a command, with a note on lines, too.
    let path = scene.propose_new("other.txt", "one\n");
    let note = ["--note", "other.txt:1", "A bad word."];
    let reject = ["reject", "2.1", "--because", "Nor here."];
    companion::run(&scene.home, reject.into_iter().chain(note));
    scene.claude.wait_for("other.txt is done");
    let request = scene.wait_asked("Nor here.");
    assert!(request.mentions("A bad word."), "{}", request.body);
    assert!(!path.exists());
}

/// The person answers in the agent's own window after all, or stops the turn: then the next change is asked about as ever.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_can_be_answered_in_its_own_window() {
    let scene = run_in("acceptEdits");
    let allowed = scene.propose_new("allowed.txt", "one\n");
    scene.claude.allow();
    scene.claude.wait_for("allowed.txt is done");
    assert_eq!(read(&allowed), "one\n");
    let place = "in Claude Code's own window";
    let said = format!("allowed.txt: accepted {place}, and written");
    scene.review.pane().wait_for(&said, SOON);
    let prints = |command: &str, texts: [&str; 2]| {
        companion::wait_until("what the person has answered", || {
            let printed = pillion(&scene, &[command]);
            let is_said = texts.iter().all(|it| printed.contains(it));
            // Of a call that was refused nothing runs any more.
            (is_said && !printed.contains("is running")).then_some(())
        });
    };
    let unseen = ["unseen", "allowed.txt"];
    prints(
        "log",
        ["accepted", &format!("allowed.txt, written, {place}")],
    );
    prints("changes", unseen);
    for refuse in [Claude::deny as fn(&Claude), Claude::cancel] {
        let path = scene.propose_new("refused.txt", "one\n");
        refuse(&scene.claude);
        scene.wait_closed("refused.txt");
        scene.claude.wait_ready();
        assert!(!path.exists());
        let said = format!("refused.txt: rejected {place}");
        scene.review.pane().wait_for(&said, SOON);
        prints("log", ["rejected", &format!("refused.txt, {place}")]);
        prints("changes", unseen);
        scene.model.clear();
        scene.propose_new("refused.txt", "one\n");
        let screen = scene.review.reject_because("refused.txt", "Still not.");
        assert!(
            screen.contains("your note was sent to Claude Code"),
            "{screen}"
        );
        scene.claude.wait_for("refused.txt is done");
        scene.wait_asked("and says: Still not.");
        assert!(!path.exists());
        scene.model.clear();
    }
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_reads_a_note_on_what_it_has_written() {
    let scene = run_in("acceptEdits");
    let path = scene.propose_new("new.txt", "one\n");
    scene.review.wait_received();
    let note = ["accept", "1.1", "--because", "Now the tests."];
    companion::run(&scene.home, note);
    scene.claude.wait_for("new.txt is done");
    let request = scene.wait_asked("and says: Now the tests.");
    assert_eq!(read(&path), "one\n");
    // Its model reads it within the turn, and nothing is left in the prompt.
    assert!(request.mentions("additional context"), "{}", request.body);
    scene.claude.wait_ready();
    scene.model.clear();
    scene.model.script([Turn::say("I heard you")]);
    scene.claude.prompt("go on");
    scene.claude.wait_for("I heard you");
    let request = scene.model.last_main().expect("it asked its model");
    let told = request.body.to_string().matches("and says: ").count();
    assert_eq!(told, 1);
}

/// It has known until then that something was changed, and not what.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_reads_what_was_edited() {
    let scene = run_in("bypassPermissions");
    let path = scene.propose_new("new.txt", "one\ntwo\n");
    let better = scene.home.file("better", "one\nzwei\n");
    let better = better.to_str().expect("it is UTF-8");
    companion::run(&scene.home, ["accept", "1.1", "--content-file", better]);
    scene.claude.wait_for("new.txt is done");
    let request = scene.wait_asked("The user edited your change");
    assert!(
        request.mentions("-two") && request.mentions("+zwei"),
        "{}",
        request.body
    );
    assert_eq!(read(&path), "one\nzwei\n");
}

/// Starting one needs this, where the agent's own check does not reach its server.
fn allow_subagent(claude: &Pane) {
    press_until_gone(claude, "Do you want to proceed?", |screen| {
        match screen.contains("❯ Yes") {
            true => "Enter",
            false => "Down",
        }
    });
}

/// Waits for a question, and presses what it takes until that is gone: it does not take every key at once.
fn press_until_gone(claude: &Pane, question: &str, key: impl Fn(&str) -> &'static str) {
    let mut screen = claude.wait_for(question, SOON);
    let started = Instant::now();
    while screen.contains(question) {
        assert!(started.elapsed() < SOON, "the question stays: {screen}");
        claude.send_keys([key(&screen)]);
        sleep(KEY_PAUSE);
        screen = claude.screen();
    }
}

/// The same, where it says first why it asks.
fn stay_in_auto_mode(claude: &Pane) {
    press_until_gone(claude, "Enter to stay in auto mode", |_| "Enter");
}

/// Subagents go on when the main conversation has ended its turn. If one is rejected with a reason, the subagent reads it at once.
/// `allow` is what it takes to start one.
fn asks_for_its_subagents(scene: &Scene, allow: impl FnOnce(&Pane)) {
    scene.claude.wait_ready();
    scene.model.clear();
    let path = scene.home.file("helped.txt", "one\ntwo\n");
    let [new, last] = ["made.txt", "last.txt"].map(|name| scene.home.workspace().join(name));
    scene
        .model
        .script([Turn::subagent(), Turn::say("it is started")]);
    scene.model.script_subagent([
        Turn::read_file(&path),
        Turn::replace(&path, "two", "zwei"),
        Turn::write_file(&new, "one\n"),
        Turn::replace(&path, "two", "drei"),
        Turn::write_file(&last, "one\n"),
        Turn::say("the subagent is done"),
    ]);
    scene.claude.prompt("change it");
    allow(scene.claude.pane());
    let pane = scene.review.pane();
    pane.wait_for("Claude Code proposes helped.txt", SOON);
    scene.review.reject_because("helped.txt", "In English.");
    let told = |what: &str| {
        let is_told = |request: &ModelRequest| request.is_subagents() && request.mentions(what);
        scene.model.wait_for(what, SOON, is_told)
    };
    told("and says: In English.");
    assert_eq!(read(&path), "one\ntwo\n");
    pane.wait_for("Claude Code proposes made.txt", SOON);
    scene.review.accept("made.txt");
    pane.wait_for("Claude Code proposes helped.txt", SOON);
    assert_eq!(read(&new), "one\n");
    let better = scene.home.file("better", "one\ndeux\n");
    let better = better.to_str().expect("it is UTF-8");
    scene.review.wait_received();
    // It is drawn a moment before the review says so.
    let first = || companion::pending(&scene.home).into_iter().next();
    let name = companion::wait_until("a pending diff", first).name;
    companion::run(&scene.home, ["accept", &name, "--content-file", better]);
    told("+deux");
    assert_eq!(read(&path), "one\ndeux\n");
    pane.wait_for("Claude Code proposes last.txt", SOON);
    scene.model.script([Turn::say("all helpers are done")]);
    scene.review.reject("last.txt");
    scene.claude.wait_for("all helpers are done");
    assert!(!last.exists());
    let screen = scene.review.wait_idle();
    assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_for_its_subagents_in_dont_ask_mode() {
    asks_for_its_subagents(&run_in("dontAsk"), |_| ());
}

/// When one ends, the main conversation goes on: a new turn, while the other waits for a decision.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_keeps_the_view_of_a_subagent() {
    let scene = run_in("acceptEdits");
    let path = scene.home.workspace().join("new.txt");
    let both = Turn::at_once([Turn::subagent(), Turn::subagent()]);
    scene.model.script([
        both,
        Turn::say("both are started"),
        Turn::say("one is done"),
        Turn::say("all is done"),
    ]);
    scene.model.script_subagent([
        Turn::write_file(&path, "one\n"),
        Turn::say("the first has ended"),
        Turn::say("the second has ended"),
    ]);
    scene.claude.prompt("change it");
    scene
        .review
        .pane()
        .wait_for("Claude Code proposes new.txt", SOON);
    scene.wait_asked("the first has ended");
    let screen = scene.review.pane().wait_for("proposes new.txt", SOON);
    assert!(!screen.contains("closed its diff"), "{screen}");
    scene.review.accept("new.txt");
    scene.claude.wait_for("all is done");
    assert_eq!(read(&path), "one\n");
    let screen = scene.review.wait_idle();
    assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
}

/// A notebook of two cells.
pub(super) fn notebook(source: &str) -> String {
    let cells = json!([
        {"cell_type": "code", "execution_count": null, "id": "a1", "metadata": {}, "outputs": [],
         "source": [source]},
        {"cell_type": "markdown", "id": "b2", "metadata": {}, "source": ["# two"]},
    ]);
    let notebook = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    format!("{notebook:#}\n")
}

/// The source of its first cell.
pub(super) fn first_cell(path: &Path) -> String {
    let notebook: Value = serde_json::from_str(&read(path)).expect("it is JSON");
    match &notebook["cells"][0]["source"] {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        source => source.as_str().expect("it is a text").to_owned(),
    }
}

/// The model proposes this source for the first cell, and the review shows it.
pub(super) fn propose_cell(scene: &Scene, path: &Path, source: &str) {
    let input = json!({"notebook_path": path, "cell_id": "a1", "new_source": source});
    let name = "NotebookEdit";
    let edit = Turn::CallTool { name, input };
    scene
        .model
        .script([Turn::read_file(path), edit, Turn::say("n.ipynb is done")]);
    scene.claude.prompt("change it");
    let pane = scene.review.pane();
    pane.wait_for("Claude Code proposes n.ipynb", SOON);
    pane.wait_for("cell 1 of 2 of the notebook", SOON);
}

/// Its hook waits for the person, as no diff of its own protocol comes.
fn asks_about_cells_in(mode: &str) {
    let scene = run_in(mode);
    let path = scene.home.file("n.ipynb", notebook("x = 1"));
    propose_cell(&scene, &path, "x = 2");
    assert_eq!(first_cell(&path), "x = 1");
    scene.review.accept("n.ipynb");
    scene.claude.wait_for("n.ipynb is done");
    assert_eq!(first_cell(&path), "x = 2");
    scene.claude.wait_ready();
    // Edited, and what was edited is read.
    propose_cell(&scene, &path, "x = 3");
    let better = scene.home.file("better", "x = 4");
    let better = better.to_str().expect("it is UTF-8");
    scene.review.wait_received();
    companion::run(&scene.home, ["accept", "2.1", "--content-file", better]);
    scene.wait_asked("+x = 4");
    scene.claude.wait_ready();
    assert_eq!(first_cell(&path), "x = 4");
    let unseen = pillion(&scene, &["changes", "--json"]);
    assert!(!unseen.contains("n.ipynb"), "both were accepted: {unseen}");
    // Rejected, and the turn goes on.
    propose_cell(&scene, &path, "x = 5");
    let screen = scene.review.reject_because("n.ipynb", "No more.");
    assert!(
        screen.contains("your note was sent to Claude Code with the answer"),
        "{screen}"
    );
    scene.wait_asked("and says: No more.");
    scene.claude.wait_ready();
    // Stopped.
    propose_cell(&scene, &path, "x = 6");
    scene.claude.pane().send_keys(["Escape"]);
    scene.wait_closed("n.ipynb");
    scene.claude.wait_ready();
    assert_eq!(first_cell(&path), "x = 4");
    let screen = scene.review.wait_idle();
    assert!(!screen.contains(UNSHOWN), "all was shown: {screen}");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_about_cells_in_default_mode() {
    asks_about_cells_in("default");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_about_cells_in_accept_edits_mode() {
    asks_about_cells_in("acceptEdits");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_about_cells_in_bypass_mode() {
    asks_about_cells_in("bypassPermissions");
}

/// There it asks once more, itself.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_about_cells_in_plan_mode() {
    let scene = run_in("plan");
    let path = scene.home.file("n.ipynb", notebook("x = 1"));
    propose_cell(&scene, &path, "x = 2");
    scene.review.accept("n.ipynb");
    scene.claude.allow();
    scene.claude.wait_for("n.ipynb is done");
    assert_eq!(first_cell(&path), "x = 2");
}

/// It asks about them if the person wants to see them, and only then.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_about_shell_commands() {
    let scene = run_in("bypassPermissions");
    let there = |name: &str| scene.home.workspace().join(name).exists();
    let bash = |command: &str| {
        let name = "Bash";
        let input = json!({"command": command, "description": "makes a file"});
        let said = format!("did {command}");
        let turns = [Turn::CallTool { name, input }, Turn::say(said)];
        scene.model.script(turns);
        scene.claude.prompt("run it");
    };
    let is_done = |command: &str| {
        scene.claude.wait_for(&format!("did {command}"));
        scene.claude.wait_ready();
    };
    bash("touch unseen");
    is_done("touch unseen");
    assert!(there("unseen"));
    companion::run(&scene.home, ["review-mode", "commands"]);
    let pane = scene.review.pane();
    pane.wait_for("review: always, commands", SOON);
    bash("touch one");
    pane.wait_for("Claude Code proposes shell-command.sh", SOON);
    assert!(!there("one"));
    scene.review.accept("shell-command.sh");
    is_done("touch one");
    assert!(there("one"));
    bash("touch two");
    pane.wait_for("Claude Code proposes shell-command.sh", SOON);
    scene.review.wait_received();
    let other = scene.home.file("other", "touch three");
    let other = other.to_str().expect("it is UTF-8");
    companion::run(&scene.home, ["accept", "2.1", "--content-file", other]);
    is_done("touch two");
    scene.wait_asked("+touch three");
    assert!(there("three") && !there("two"));
    bash("touch four");
    pane.wait_for("Claude Code proposes shell-command.sh", SOON);
    let screen = scene
        .review
        .reject_because("shell-command.sh", "No more files.");
    assert!(
        screen.contains("your note was sent to Claude Code with the answer"),
        "{screen}"
    );
    is_done("touch four");
    scene.wait_asked("and says: No more files.");
    assert!(!there("four"));
}

/// While it runs: by the review's key, and by a command.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_as_the_person_chooses() {
    let scene = run_in("acceptEdits");
    let pane = scene.review.pane();
    scene.propose_new("shown.txt", "one\n");
    scene.review.accept("shown.txt");
    scene.claude.wait_for("shown.txt is done");
    scene.review.wait_idle();
    scene.review.press("m", "y has agents ask");
    scene.review.confirm("review: asked");
    pane.wait_for("Claude Code changes files without asking.", SOON);
    let path = scene.home.workspace().join("unseen.txt");
    let turns = [
        Turn::write_file(&path, "x\n"),
        Turn::say("unseen.txt is done"),
    ];
    scene.model.script(turns);
    scene.claude.prompt("change it");
    scene.claude.wait_for("unseen.txt is done");
    assert_eq!(read(&path), "x\n");
    scene.claude.wait_ready();
    companion::run(&scene.home, ["review-mode", "always"]);
    pane.wait_for("review: always", SOON);
    let path = scene.propose_new("again.txt", "one\n");
    assert!(!path.exists());
    scene.review.accept("again.txt");
    scene.claude.wait_for("again.txt is done");
    scene.review.wait_idle();
}

/// It dials the port again, and is the same process. Another one begins as it was started.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_keeps_what_the_person_chose_when_the_hub_is_killed() {
    let scene = run_in("acceptEdits");
    let pane = scene.review.pane();
    scene.propose_new("shown.txt", "one\n");
    scene.review.accept("shown.txt");
    scene.claude.wait_for("shown.txt is done");
    scene.review.wait_idle();
    companion::run(&scene.home, ["review-mode", "asked"]);
    pane.wait_for("review: asked", SOON);
    kill_hub(&scene.home);
    pane.wait_gone(&format!("● {NAME}"), SOON);
    wait_connected(&scene.review);
    pane.wait_for("review: asked", SOON);
    let writes = |claude: &Claude, name: &str| {
        let said = format!("{name} is done");
        let path = scene.home.workspace().join(name);
        let turns = [Turn::write_file(&path, "x\n"), Turn::say(said.as_str())];
        scene.model.script(turns);
        claude.prompt("change it");
        (path, said)
    };
    let (path, said) = writes(&scene.claude, "unseen.txt");
    scene.claude.wait_for(&said);
    assert_eq!(read(&path), "x\n");
    scene.claude.wait_ready();
    let release = ClaudeRelease::Native;
    let env = release.env(scene.home.env(), &scene.model);
    let command = [PILLION, "run", "claude", "--permission-mode", "acceptEdits"];
    let folder = scene.home.workspace();
    let size = Size::new(110, 45);
    let other = scene.tmux.spawn("other", size, &env, &folder, &command);
    let other = Claude::attach(release, other);
    pane.wait_for(&format!("{NAME} ×2"), SOON);
    let (path, said) = writes(&other, "seen.txt");
    pane.wait_for("proposes seen.txt", SOON);
    assert!(!path.exists());
    scene.review.accept("seen.txt");
    other.wait_for(&said);
}

fn writes_unseen(scene: &Scene, how: &str) {
    let path = scene.home.workspace().join("silent.txt");
    scene
        .model
        .script([Turn::write_file(&path, "x\n"), Turn::say("it is done")]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("it is done");
    let pane = scene.review.pane();
    pane.wait_for("files without showing them here first", SOON);
    pane.wait_for(how, SOON);
    assert_eq!(read(&path), "x\n");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_to_be_asked_follows_its_mode() {
    let own = ["--permission-mode", "acceptEdits"];
    let asked = ["--review", "asked"];
    let scene = run(ClaudeRelease::Native, &asked, &own, SETTINGS);
    writes_unseen(&scene, "is in mode acceptEdits: it changes files");
}

/// Nobody answers for hooks that are not run.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_without_hooks_is_seen_to_write() {
    let own = ["--permission-mode", "acceptEdits"];
    let settings = r#"{"disableAllHooks":true}"#;
    let scene = run(ClaudeRelease::Native, &[], &own, settings);
    writes_unseen(&scene, "may change files without asking");
}

/// It would refuse them.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_that_is_run_gets_no_hooks() {
    let own = ["--permission-mode", "acceptEdits"];
    let scene = run(ClaudeRelease::Node, &[], &own, "{}");
    writes_unseen(&scene, "may change files without asking");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_claude_writes_without_asking_is_said() {
    let how = ClaudeStart {
        mode: "acceptEdits",
        ..ide()
    };
    let by_itself = Scene::with(ClaudeRelease::Native, Home::new(), &Env::default(), &how);
    writes_unseen(&by_itself, "may change files without asking");
}

/// A file that a shell command of the agent writes is not what the person works on; one that the person saves after the turn is.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_claudes_shell_writes_is_not_what_the_person_opened() {
    let scene = run_in("bypassPermissions");
    let name = "Bash";
    let input = json!({"command": "echo one | sed s/o/0/ > new.sh", "description": "writes"});
    let bash = Turn::CallTool { name, input };
    scene.model.script([bash, Turn::say("new.sh is made")]);
    scene.claude.prompt("make new.sh");
    scene.claude.wait_for("new.sh is made");
    scene.claude.wait_ready();
    assert!(scene.home.workspace().join("new.sh").exists());
    let told = |question: &str, answer: &str| {
        scene.model.script([Turn::say(answer)]);
        scene.claude.prompt(question);
        scene.claude.wait_for(answer);
        scene.wait_asked(question).body["messages"].to_string()
    };
    // Longer ago than what is saved waits to be shared.
    let told_first = told("what do you see", "nothing at all");
    assert!(!told_first.contains(" in the IDE"), "{told_first}");
    // Each time another file, as the end of the turn is told a moment later: one that is written all the time is a log.
    let saved = Cell::new(0);
    let pane = scene.review.pane();
    pane.wait_until("what the person saves", SOON, |screen| {
        saved.update(|number| number + 1);
        scene
            .home
            .file(&format!("mine{}.txt", saved.get()), "mine\n");
        screen.contains("shares mine")
    });
    let told_then = told("what do you see now", "a file");
    assert!(told_then.contains(".txt in the IDE"), "{told_then}");
    assert!(!told_then.contains("new.sh in the IDE"), "{told_then}");
}

/// `pillion run` and `pillion hook` together: each change is shown once, as the agent's own proposal.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_is_not_reviewed_by_a_hook_in_the_settings_as_well() {
    let settings = crate::hooks::settings(
        pillion_protocol::Dialect::ClaudeCode,
        "",
        json!({"skipDangerousModePermissionPrompt": true}),
    );
    let own = ["--permission-mode", "acceptEdits"];
    let scene = run(ClaudeRelease::Native, &[], &own, &settings.to_string());
    for name in ["one.txt", "two.txt"] {
        let path = scene.propose_new(name, "one\n");
        scene.review.accept(name);
        scene.claude.wait_for(&format!("{name} is done"));
        assert_eq!(read(&path), "one\n");
        scene.review.wait_idle();
    }
}
