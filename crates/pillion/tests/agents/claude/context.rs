//! What a person works on reaches Claude Code, and goes into the next prompt.

use pillion_testkit::{ClaudeRelease, Turn};

use super::Scene;
use crate::companion::{SOON, run};

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_tells_its_model_what_is_selected() {
    tells_its_model_what_is_selected(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_tells_its_model_what_is_selected() {
    tells_its_model_what_is_selected(ClaudeRelease::Node);
}

/// Every prompt carries it once, also when nothing has changed since the last.
fn tells_its_model_what_is_selected(release: ClaudeRelease) {
    const SELECTED: &str = "The user selected the lines ";
    let scene = Scene::new(release);
    let file = scene.home.file("looked-at.txt", "one\ntwo\nthree\n");
    let path = file.display().to_string();
    run(&scene.home, ["focus", &path]);
    scene.review.pane().wait_for("shares looked-at.txt", SOON);
    ask(&scene, "the first question");
    let opened = format!("The user opened the file {path} in the IDE");
    let told = times_told(&scene, &opened);
    assert_eq!(told, 1, "{opened}");

    let place = format!("{path}:2");
    run(&scene.home, ["focus", &place, "--selection", "two"]);
    scene.review.pane().wait_for("looked-at.txt:2", SOON);
    for (times, question) in [(1, "the second question"), (2, "the third question")] {
        ask(&scene, question);
        assert_eq!(times_told(&scene, SELECTED), times, "with {question}");
    }
}

/// Asks, and waits for the answer.
fn ask(scene: &Scene, question: &str) {
    let answer = format!("an answer to {question}");
    scene.model.script([Turn::say(&answer)]);
    scene.claude.prompt(question);
    scene.claude.wait_for(&answer);
    scene.wait_asked(question);
}

/// How often the text stands in the last request of the conversation.
fn times_told(scene: &Scene, text: &str) -> usize {
    let request = scene.model.last_main().expect("the model was asked");
    request.body["messages"].to_string().matches(text).count()
}
