//! The permission modes of Claude Code that show diffs by themselves: planning, and any with a rule that
//! asks.

use pillion_testkit::{ClaudeRelease, ClaudeStart, Env, Home};

use super::{Scene, ide, read};

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

/// "auto" is the mode that 2.1.332 starts in.
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
