//! The person's work reaches the agents, and goes into their next prompt (C4).

use std::fs;

use pillion_testkit::{AgentKind, Env, Home, ModelRequest, Turn};

use crate::companion::{SOON, run};
use crate::review::Scene;

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_shows_the_file_in_focus() {
    let scene = Scene::new(AgentKind::Gemini);
    let focused = scene.home.file("focused.txt", "one\ntwo\n");
    let argument = focused.display().to_string();
    run(&scene.home, ["focus", &argument]);
    scene.review.pane().wait_for("shares focused.txt", SOON);
    let screen = scene.agent.ide_status("- focused.txt (active)");
    assert!(screen.contains("🟢 Connected to Pillion"), "{screen}");

    // Without an editor, the file saved last is the one that is worked on.
    fs::write(scene.home.workspace().join("saved.txt"), "three\n").expect("the home is ours");
    scene.review.pane().wait_for("shares saved.txt", SOON);
    let screen = scene.agent.ide_status("- saved.txt (active)");
    let newest = screen.rsplit("Connected to").next().unwrap_or_default();
    assert!(newest.contains("- focused.txt\n"), "{screen}");
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_sends_its_model_what_changed() {
    tells_its_model_what_changed(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_sends_its_model_what_changed() {
    tells_its_model_what_changed(AgentKind::Qwen);
}

/// The first prompt carries the whole context, the next what changed since.
fn tells_its_model_what_changed(kind: AgentKind) {
    let home = Home::new();
    let files =
        ["first.txt", "second.txt"].map(|name| home.file(name, "0123456789\n".repeat(5000)));
    let scene = Scene::with(kind, home, &Env::default());
    for (file, line, selected) in [
        (&files[0], 4711, "the first words"),
        (&files[1], 815, "the second words"),
        (&files[1], 1234, "the third words"),
    ] {
        let path = file.display().to_string();
        let place = format!("{path}:{line}:7");
        run(&scene.home, ["focus", &place, "--selection", selected]);
        let header = format!(".txt:{line}");
        scene.review.pane().wait_for(&header, SOON);
        let (prompt, answer) = (format!("look at {line}"), format!("I saw {line}"));
        scene.model.script([Turn::say(&answer)]);
        scene.agent.prompt(&prompt);
        scene.agent.wait_for(&answer);
        let told = asked(&scene, &prompt).newest_message();
        let cursor = kind.reported_cursor(line, 7);
        for expected in [path, cursor, selected.to_owned()] {
            let is_told = told.contains(&expected.replace(' ', ""));
            assert!(is_told, "{kind:?} does not tell of {expected:?}: {told}");
        }
    }
}

/// The request that carried the prompt first.
fn asked(scene: &Scene, prompt: &str) -> ModelRequest {
    scene.model.wait_for("with the prompt", SOON, |request| {
        request.is_main && request.mentions(prompt)
    })
}
