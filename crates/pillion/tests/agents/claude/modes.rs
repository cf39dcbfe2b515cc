//! The permission modes of Claude Code that show diffs: planning, any with a rule that asks, and all if
//! `pillion run` starts it.

use std::fs;

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Env, Home, Model, Size, Tmux, Turn, set_up_claude,
};

use super::{Scene, ide, read, wait_connected};
use crate::companion::{PILLION, SOON};
use crate::review::Review;

const FILE: &str = "new.txt";
const TEXT: &str = "one\ntwo";

/// The rule that brings diffs back.
const ASK: &str = r#"{"permissions":{"ask":["Edit","Write"]}}"#;

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_a_diff_in_plan_mode() {
    shows_a_diff_in_plan_mode(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_shows_a_diff_in_plan_mode() {
    shows_a_diff_in_plan_mode(ClaudeRelease::Node);
}

/// "auto" is the mode that 2.1.330 starts in.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_a_diff_in_auto_mode_with_an_ask_rule() {
    shows_a_diff_by_an_ask_rule(ClaudeRelease::Native, "auto");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_a_diff_in_accept_edits_mode_with_an_ask_rule() {
    shows_a_diff_by_an_ask_rule(ClaudeRelease::Native, "acceptEdits");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_shows_a_diff_in_accept_edits_mode_with_an_ask_rule() {
    shows_a_diff_by_an_ask_rule(ClaudeRelease::Node, "acceptEdits");
}

fn shows_a_diff_in_plan_mode(release: ClaudeRelease) {
    let how = ClaudeStart {
        mode: "plan",
        ..ide()
    };
    shows_a_diff(release, &how);
}

fn shows_a_diff_by_an_ask_rule(release: ClaudeRelease, mode: &str) {
    let how = ClaudeStart {
        mode,
        arguments: &["--ide", "--settings", ASK],
        ..ClaudeStart::default()
    };
    shows_a_diff(release, &how);
}

fn shows_a_diff(release: ClaudeRelease, how: &ClaudeStart<'_>) {
    let scene = Scene::with(release, Home::new(), &Env::default(), how);
    let path = scene.propose_new(FILE, TEXT);
    scene.review.accept(FILE);
    scene.claude.wait_for("new.txt is done");
    assert_eq!(read(&path), TEXT);
    scene.review.wait_idle();
}

/// One that `pillion run` starts, with these options and in this mode.
fn run(release: ClaudeRelease, options: &[&str], mode: &str) -> Scene {
    let home = Home::new();
    let (tmux, model) = (Tmux::start(), Model::start());
    let folder = home.workspace();
    set_up_claude(&home, &folder);
    let settings = home.home().join(".claude/settings.json");
    fs::write(&settings, r#"{"skipDangerousModePermissionPrompt":true}"#)
        .expect("the home is ours");
    let review = Review::start_with(&tmux, &home, "review", &Env::default());
    // Root may not use one of the modes otherwise.
    let env = release.env(home.env(), &model).with("IS_SANDBOX", "1");
    let own = [
        "claude",
        "--permission-mode",
        mode,
        "--settings",
        "{\"verbose\":false}",
    ];
    let command: Vec<&str> = [PILLION, "run"]
        .iter()
        .chain(options)
        .chain(&own)
        .copied()
        .collect();
    let pane = tmux.spawn("claude", Size::new(110, 45), &env, &folder, &command);
    let claude = Claude::attach(release, pane);
    wait_connected(&review);
    Scene {
        claude,
        review,
        model,
        tmux,
        home,
    }
}

/// An `Edit` with edits of the person, a `Write`, and a rejection.
fn is_asked_in(mode: &str) {
    let scene = run(ClaudeRelease::Native, &[], mode);
    let path = scene.home.file("old.txt", "one\ntwo\n");
    let edit = Turn::replace(&path, "two", "zwei");
    scene.propose([Turn::read_file(&path), edit], "old.txt is done", "old.txt");
    scene.review.accept("old.txt");
    scene.claude.wait_for("old.txt is done");
    assert_eq!(read(&path), "one\nzwei\n");
    scene.review.wait_idle();
    let said = format!("Claude Code is in mode {mode}: every change is shown");
    scene.review.pane().wait_for(&said, SOON);
    let path = scene.propose_new("new.txt", "one\n");
    scene.review.accept("new.txt");
    scene.claude.wait_for("new.txt is done");
    assert_eq!(read(&path), "one\n");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_in_auto_mode() {
    is_asked_in("auto");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_in_accept_edits_mode() {
    is_asked_in("acceptEdits");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_in_bypass_mode() {
    is_asked_in("bypassPermissions");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_in_default_mode() {
    is_asked_in("default");
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_writes_without_asking_is_said() {
    let writes = |scene: &Scene, how: &str| {
        let path = scene.home.workspace().join("silent.txt");
        scene.model.script([Turn::write_file(&path, "x\n")]);
        scene.model.script([Turn::say("it is done")]);
        scene.claude.prompt("change it");
        scene.claude.wait_for("it is done");
        let pane = scene.review.pane();
        pane.wait_for("without showing them here first", SOON);
        pane.wait_for(how, SOON);
        assert_eq!(read(&path), "x\n");
    };
    let asked = run(ClaudeRelease::Native, &["--review", "asked"], "acceptEdits");
    writes(&asked, "is in mode acceptEdits: it changes files");
    let how = ClaudeStart {
        mode: "acceptEdits",
        ..ide()
    };
    let by_itself = Scene::with(ClaudeRelease::Native, Home::new(), &Env::default(), &how);
    writes(&by_itself, "may change files without asking");
}
