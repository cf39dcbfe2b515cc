//! The harness itself: both releases of Claude Code start, take a prompt, show the stand-in model's answer
//! and do what they are told.

use std::fs;

use pillion_testkit::{Claude, ClaudeRelease, Home, Model, ModelRequest, SOON, Tmux, Turn};

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_answers_proposes_and_obeys() {
    answers_proposes_and_obeys(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_answers_proposes_and_obeys() {
    answers_proposes_and_obeys(ClaudeRelease::Node);
}

/// Without a companion it asks in its own window alone.
fn answers_proposes_and_obeys(release: ClaudeRelease) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let claude = Claude::start(release, &tmux, &home, &model, &home.workspace());
    claude.wait_for(release.version());
    model.script([Turn::say("the pinned answer"), Turn::say("and another")]);
    claude.prompt("say something");
    claude.wait_for("the pinned answer");
    claude.prompt("say more");
    claude.wait_for("and another");
    model.wait_for("with the prompt", SOON, |request| {
        is_prompt(request, "say something")
    });
    assert_eq!(model.turns_left(), 0);

    let there = home.file("there.txt", "old\n");
    let new = home.workspace().join("new.txt");
    model.script([
        Turn::read_file(&there),
        Turn::at_once([
            Turn::replace(&there, "old", "other"),
            Turn::write_file(&new, "new\n"),
        ]),
        Turn::say("both are done"),
    ]);
    claude.prompt("change both");
    for file in ["there.txt", "new.txt"] {
        claude.pane().wait_until(file, SOON, |screen| {
            let question = screen.lines().find(|row| row.contains("Do you want to "));
            question.is_some_and(|row| row.contains(file))
        });
        claude.allow();
    }
    claude.wait_for("both are done");
    assert_eq!(fs::read_to_string(&there).expect("it is there"), "other\n");
    assert_eq!(fs::read_to_string(&new).expect("it was written"), "new\n");

    for (name, refuse) in [
        ("denied.txt", Claude::deny as fn(&Claude)),
        ("cancelled.txt", Claude::cancel),
    ] {
        let path = home.workspace().join(name);
        model.script([Turn::write_file(&path, "new\n")]);
        claude.prompt("write another");
        refuse(&claude);
        claude.wait_ready();
        assert!(!path.exists(), "{name} was refused");
    }
    claude.quit();
}

fn is_prompt(request: &ModelRequest, text: &str) -> bool {
    request.is_main && request.mentions(text)
}
