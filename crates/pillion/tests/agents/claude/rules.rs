//! The effects of rules and hooks in Claude Code's settings on its diffs, as docs/doctor.md says.

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

/// The outcomes of a new file and of an edit in a folder of the workspace; its own name is empty.
type InFolder = (&'static str, Outcome, Outcome);

/// The other tests here ask the same of each kind of rule and hook, in both releases.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_goes_by_its_rules() {
    expect(
        "default",
        json!({"permissions": {"allow": ["Edit(src/**)"], "deny": ["Edit(no/**)"]}}),
        &[
            ("", Shown, Shown),
            ("src", Made, Made),
            ("no", Refused, Refused),
        ],
    );
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_shows_no_diff_of_what_a_rule_allows() {
    let allow = |rule: &str| json!({"permissions": {"allow": [rule]}});
    expect_in(
        &BOTH,
        "default",
        allow("Edit(*)"),
        &[("", Shown, Made), ("src", Shown, Made)],
    );
    expect(
        "default",
        allow("Edit(./**)"),
        &[("", Made, Made), ("src", Made, Made)],
    );
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_refuses_what_a_rule_denies() {
    expect_in(
        &BOTH,
        "default",
        json!({"permissions": {"deny": ["Edit"]}}),
        &[("", Shown, Refused), ("src", Shown, Refused)],
    );
}

/// Each rule counts in its folder, and one about `Write` nowhere.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_goes_by_the_rules_of_folders() {
    expect(
        "default",
        json!({"permissions": {
            "allow": ["Edit(src/**)", "Write(lib/**)"],
            "deny": ["Edit(no/**)", "Write(never/**)"],
        }}),
        &[
            ("", Shown, Shown),
            ("src", Made, Made),
            ("lib", Shown, Shown),
            ("no", Refused, Refused),
            ("never", Shown, Shown),
        ],
    );
    expect(
        "acceptEdits",
        json!({"permissions": {"ask": ["Edit(src/**)", "Write(lib/**)"]}}),
        &[("", Made, Made), ("src", Shown, Shown), ("lib", Made, Made)],
    );
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_shows_diffs_of_what_a_rule_asks_about() {
    expect_in(
        &BOTH,
        "acceptEdits",
        json!({"permissions": {"ask": ["Write"]}}),
        &[("", Shown, Made), ("src", Shown, Made)],
    );
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
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
    let all = |outcome| [("", outcome, outcome)];
    expect_in(&BOTH, "default", hook("allow"), &all(Made));
    expect("acceptEdits", hook("ask"), &all(Shown));
    expect("default", hook("deny"), &all(Refused));
    let mut asked = hook("allow");
    asked["permissions"] = json!({"ask": ["Edit"]});
    expect("default", asked, &[("", Made, Shown)]);
}

/// With these settings.
#[track_caller]
fn expect(mode: &str, settings: Value, expected: &[InFolder]) {
    expect_in(&[ClaudeRelease::Native], mode, settings, expected);
}

#[track_caller]
fn expect_in(releases: &[ClaudeRelease], mode: &str, settings: Value, expected: &[InFolder]) {
    for release in releases.iter().copied() {
        let home = Home::new();
        set_up_claude(&home, &home.workspace());
        let path = home.home().join(".claude/settings.json");
        fs::write(path, settings.to_string()).expect("the home is ours");
        for (folder, ..) in expected {
            let folder = home.workspace().join(folder);
            fs::create_dir_all(folder).expect("the workspace is ours");
        }
        let how = ClaudeStart { mode, ..ide() };
        let scene = Scene::with(release, home, &Env::default(), &how);
        let seen: Vec<_> = expected
            .iter()
            .map(|(folder, ..)| {
                let made = outcome(&scene, folder, "made.txt", false);
                let edited = outcome(&scene, folder, "edited.txt", true);
                (*folder, made, edited)
            })
            .collect();
        assert_eq!(seen, expected, "{settings} {release:?}");
    }
}

/// Lets the model write this file, or change the one that is there.
fn outcome(scene: &Scene, folder: &str, name: &str, is_there: bool) -> Outcome {
    let name = match folder {
        "" => name,
        folder => &format!("{folder}/{name}"),
    };
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
