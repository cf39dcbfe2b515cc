//! The permission modes of Claude Code that show diffs: planning, and any with a rule that asks.

use pillion_testkit::{ClaudeRelease, ClaudeStart, Env, Home};

use super::{Scene, ide, read};

const FILE: &str = "new.txt";
const TEXT: &str = "one\ntwo";

/// The rule that brings diffs back.
const ASK: &str = r#"{"permissions":{"ask":["Edit","Write"]}}"#;

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_a_diff_in_plan_mode() {
    shows_a_diff(&ClaudeStart {
        mode: "plan",
        ..ide()
    });
}

/// "auto" is the mode that 2.1.330 starts in.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_a_diff_in_auto_mode_with_an_ask_rule() {
    shows_a_diff(&ClaudeStart {
        mode: "auto",
        arguments: &["--ide", "--settings", ASK],
        ..ClaudeStart::default()
    });
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_a_diff_in_accept_edits_mode_with_an_ask_rule() {
    shows_a_diff(&ClaudeStart {
        mode: "acceptEdits",
        arguments: &["--ide", "--settings", ASK],
        ..ClaudeStart::default()
    });
}

fn shows_a_diff(how: &ClaudeStart<'_>) {
    let scene = Scene::with(ClaudeRelease::Native, Home::new(), &Env::default(), how);
    let path = scene.propose_new(FILE, TEXT);
    scene.review.accept(FILE);
    scene.claude.wait_for("new.txt is done");
    assert_eq!(read(&path), TEXT);
    scene.review.wait_idle();
}
