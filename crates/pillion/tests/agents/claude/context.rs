//! The person's work reaches Claude Code, and goes into the next prompt.

use pillion_testkit::{Claude, ClaudeRelease, ClaudeStart, Home, Model, Tmux, Turn};

use super::Scene;
use crate::companion::{SOON, run};
use crate::review::Review;

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_sends_its_model_what_is_selected() {
    sends_its_model_what_is_selected(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_sends_its_model_what_is_selected() {
    sends_its_model_what_is_selected(ClaudeRelease::Node);
}

/// It was started after the review, and nobody knows when it works: what is written meanwhile is not what the person works on, and
/// the review says that it runs here. Once it has ended, what the person saves is.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_writes_while_it_is_not_connected_is_not_shared_as_the_persons() {
    let home = Home::new();
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    let folder = home.workspace();
    let how = ClaudeStart {
        mode: "acceptEdits",
        ..ClaudeStart::default()
    };
    let claude = Claude::start_with(ClaudeRelease::Native, &tmux, &home, &model, &folder, &how);
    let file = folder.join("its.txt");
    model.script([Turn::write_file(&file, "its\n"), Turn::say("it is done")]);
    claude.prompt("write it");
    claude.wait_for("it is done");
    let said = "runs in this folder";
    review.pane().wait_for(said, SOON);
    let context = run(&home, ["context", "--json"]);
    let context = String::from_utf8(context).expect("it is text");
    assert!(!context.contains("its.txt"), "{context}");
    claude.quit();
    review.pane().wait_gone(said, SOON);
    home.file("mine.txt", "mine\n");
    review.pane().wait_for("shares mine.txt", SOON);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_reads_the_lines_that_are_mentioned() {
    reads_the_lines_that_are_mentioned(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_reads_the_lines_that_are_mentioned() {
    reads_the_lines_that_are_mentioned(ClaudeRelease::Node);
}

/// Into what stands in its prompt already, also if the name has blanks.
fn reads_the_lines_that_are_mentioned(release: ClaudeRelease) {
    let scene = Scene::new(release);
    for (name, reference) in [
        ("plain.txt", "@plain.txt#L2-3"),
        ("with blanks.txt", "#L2-3\""),
    ] {
        let words = ["alpha", "beta", "gamma", "delta"].map(|word| format!("{word} of {name}"));
        let file = scene.home.file(name, words.join("\n"));
        let question = format!("look into {name} at");
        let answer = format!("I saw {name}");
        scene.model.script([Turn::say(&answer)]);
        scene.claude.type_text(&format!("{question} "));
        run(&scene.home, ["mention", &format!("{}:2-3", file.display())]);
        scene.claude.wait_for(reference);
        scene.claude.enter();
        scene.claude.wait_for(&answer);
        let request = scene.wait_asked(&question);
        let read = words.map(|word| request.mentions(&word));
        assert_eq!(read, [false, true, true, false], "{name}");
    }
}

/// Every prompt carries it once, also when nothing has changed since the last.
fn sends_its_model_what_is_selected(release: ClaudeRelease) {
    // The older release gives the numbers as they came, which start at 0.
    let lines = match release {
        ClaudeRelease::Native => "2 to 3",
        ClaudeRelease::Node => "1 to 2",
    };
    let scene = Scene::new(release);
    let file = scene.home.file("looked-at.txt", "one\ntwo\nthree\n");
    let path = file.display().to_string();
    run(&scene.home, ["focus", &path]);
    scene.review.pane().wait_for("shares looked-at.txt", SOON);
    scene.claude.wait_for("⧉ In looked-at.txt");
    ask(&scene, "the first question");
    let opened = format!("The user opened the file {path} in the IDE");
    let told = times_sent(&scene, &opened);
    assert_eq!(told, 1, "{opened}");

    run(&scene.home, ["focus", &format!("{path}:2-3")]);
    scene.review.pane().wait_for("looked-at.txt:3", SOON);
    scene.claude.wait_for("⧉ 2 lines selected");
    let selected = format!("The user selected the lines {lines} from {path}:\\ntwo\\nthree");
    for (times, question) in [(1, "the second question"), (2, "the third question")] {
        ask(&scene, question);
        assert_eq!(times_sent(&scene, &selected), times, "with {question}");
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

/// The number of times that the text stands in the last request of the conversation.
fn times_sent(scene: &Scene, text: &str) -> usize {
    let request = scene.model.last_main().expect("the model was asked");
    request.body["messages"].to_string().matches(text).count()
}
