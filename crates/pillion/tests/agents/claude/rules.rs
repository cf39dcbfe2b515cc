//! The effects of rules and hooks in Claude Code's settings on its diffs: what the doctor says of them.

use std::fs;
use std::time::Instant;

use pillion_testkit::{ClaudeRelease, ClaudeStart, Env, Home, Turn, pause, set_up_claude};
use serde_json::{Value, json};

use super::{Scene, ide};
use crate::companion::SOON;

/// The outcome of a proposed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It is shown.
    Shown,
    /// It is made, and nobody has seen it.
    Made,
    /// It is refused, and nobody has seen it.
    Refused,
}

use Outcome::{Made, Refused, Shown};

const BOTH: [ClaudeRelease; 2] = [ClaudeRelease::Native, ClaudeRelease::Node];

/// The outcomes of a new file in the folder and below `src`, and of edits there.
type Four = [Outcome; 4];

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_no_diff_of_what_a_rule_allows() {
    let allow = |rule: &str| json!({"permissions": {"allow": [rule]}});
    expect_in(
        &BOTH,
        "default",
        allow("Edit(*)"),
        [Shown, Shown, Made, Made],
    );
    expect("default", allow("Edit(./**)"), [Made, Made, Made, Made]);
    expect("default", allow("Edit(src/**)"), [Shown, Made, Shown, Made]);
    expect("default", allow("Write(src/**)"), [Shown; 4]);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_refuses_what_a_rule_denies() {
    let deny = |rule: &str| json!({"permissions": {"deny": [rule]}});
    expect_in(
        &BOTH,
        "default",
        deny("Edit"),
        [Shown, Shown, Refused, Refused],
    );
    expect(
        "default",
        deny("Edit(src/**)"),
        [Shown, Refused, Shown, Refused],
    );
    expect("default", deny("Write(src/**)"), [Shown; 4]);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_shows_diffs_of_what_a_rule_asks_about() {
    let ask = |rule: &str| json!({"permissions": {"ask": [rule]}});
    expect_in(
        &BOTH,
        "acceptEdits",
        ask("Write"),
        [Shown, Shown, Made, Made],
    );
    expect(
        "acceptEdits",
        ask("Edit(src/**)"),
        [Made, Shown, Made, Shown],
    );
    expect("acceptEdits", ask("Write(src/**)"), [Made; 4]);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_leaves_a_change_to_a_hook_before_a_person() {
    let hook = |decision: &str| {
        let answer = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision
        }});
        let command = format!("echo '{answer}'");
        json!({"hooks": {"PreToolUse": [{
            "matcher": "Edit|Write", "hooks": [{"type": "command", "command": command}]
        }]}})
    };
    expect_in(&BOTH, "default", hook("allow"), [Made; 4]);
    expect("acceptEdits", hook("ask"), [Shown; 4]);
    expect("default", hook("deny"), [Refused; 4]);
    let mut asked = hook("allow");
    asked["permissions"] = json!({"ask": ["Edit"]});
    expect("default", asked, [Made, Made, Shown, Shown]);
}

/// With these settings.
#[track_caller]
fn expect(mode: &str, settings: Value, expected: Four) {
    expect_in(&[ClaudeRelease::Native], mode, settings, expected);
}

#[track_caller]
fn expect_in(releases: &[ClaudeRelease], mode: &str, settings: Value, expected: Four) {
    for release in releases.iter().copied() {
        let home = Home::new();
        set_up_claude(&home, &home.workspace());
        let path = home.home().join(".claude/settings.json");
        fs::write(path, settings.to_string()).expect("the home is ours");
        fs::create_dir(home.workspace().join("src")).expect("the workspace is ours");
        let how = ClaudeStart { mode, ..ide() };
        let scene = Scene::with(release, home, &Env::default(), &how);
        let files = [
            ("a.txt", false),
            ("src/b.txt", false),
            ("c.txt", true),
            ("src/d.txt", true),
        ];
        let seen = files.map(|(name, is_there)| outcome(&scene, name, is_there));
        assert_eq!(seen, expected, "{settings} {release:?}");
    }
}

/// Lets the model write this file, or change the one that is there.
fn outcome(scene: &Scene, name: &str, is_there: bool) -> Outcome {
    let path = scene.home.workspace().join(name);
    let mut turns = vec![Turn::write_file(&path, "new\n")];
    if is_there {
        fs::write(&path, "old\n").expect("the workspace is ours");
        turns = vec![Turn::read_file(&path), Turn::replace(&path, "old", "new")];
    }
    let said = format!("{name} is over");
    scene.model.script(turns);
    scene.model.script([Turn::say(&said)]);
    scene.claude.prompt("change it");
    let started = Instant::now();
    while !scene.claude.pane().screen().contains(&said) {
        if scene
            .review
            .pane()
            .screen()
            .contains(&format!("proposes {name}"))
        {
            scene.review.accept(name);
            scene.claude.wait_for(&said);
            scene.review.wait_idle();
            return Shown;
        }
        assert!(started.elapsed() < SOON, "{}", scene.claude.pane().screen());
        pause(started);
    }
    match fs::read_to_string(&path) {
        Ok(text) if text == "new\n" => Made,
        _ => Refused,
    }
}
