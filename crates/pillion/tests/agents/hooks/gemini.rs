//! Gemini CLI with a hook in the person's settings, in the mode in which it asks nobody.

use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{AgentKind, Env, Home, Turn};

use super::{BEFORE, Scene};
use crate::review;
use crate::shared_encodings::assert_bytes;

pub(super) fn scene() -> Scene {
    super::scene(AgentKind::Gemini, Dialect::GeminiCli)
}

pub(super) fn print(scene: &Scene, _: usize) -> Child {
    super::print(scene, AgentKind::Gemini, "yolo")
}

/// After thirty requests of one run, it asks the model whether it repeats itself.
const PARTS: usize = 2;

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_makes_the_changes_that_its_hook_allows() {
    super::makes_part_of_accepted_changes(&scene(), 0..1, PARTS, print);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_makes_more_changes_that_its_hook_allows() {
    super::makes_part_of_accepted_changes(&scene(), 1..PARTS, PARTS, print);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_writes_over_a_newer_text_what_was_accepted() {
    let print = |scene: &Scene| print(scene, 0);
    super::writes_over_a_newer_text(&scene(), super::edit, print);
    super::writes_over_a_newer_text(&scene(), super::whole, print);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_hears_why_its_changes_are_rejected() {
    super::hears_why_changes_are_rejected(&scene(), 1, print);
}

/// In its default mode it asks itself, after the hook: the review that it is connected to shows each change once.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_that_asks_itself_shows_each_change_once() {
    let home = Home::new();
    super::install(&home, AgentKind::Gemini, Dialect::GeminiCli);
    let scene = review::Scene::with(AgentKind::Gemini, home, &Env::default());
    let [a, b, c] = ["a.txt", "b.txt", "c.txt"].map(|name| scene.home.file(name, BEFORE));
    let turns = [
        (&a, Turn::replace(&a, "two", "zwei")),
        (&b, Turn::replace(&b, "one\ntwo", "one\nzwei")),
        (&c, Turn::write_file(&c, BEFORE.replace("two", "zwei"))),
    ];
    for (file, turn) in turns {
        let name = file.file_name().expect("it has a name").to_string_lossy();
        let done = format!("{name} is done");
        let said = Turn::say(&done);
        scene.model.script([Turn::read_file(file), turn, said]);
        scene.agent.prompt("change it");
        scene.review.wait_view(AgentKind::Gemini, &name);
        scene.review.accept(&name);
        // Once more, it would wait for a decision.
        scene.agent.wait_for(&done);
        assert_bytes(file, BEFORE.replace("two", "zwei").as_bytes());
        scene.review.wait_idle();
    }
    let file = scene.home.file("stopped.txt", BEFORE);
    let edit = Turn::replace(&file, "two", "zwei");
    scene.model.script([Turn::read_file(&file), edit]);
    scene.agent.prompt("change it");
    super::stop_while_its_hook_waits(&scene.home, &file, || {
        scene.agent.pane().send_keys(["Escape"]);
    });
    scene.review.wait_idle();
}

/// Of a file, too, in one answer.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn gemini_that_asks_itself_makes_both_changes_of_a_file_in_one_answer() {
    super::that_asks_itself_makes_both_changes_of_a_file(AgentKind::Gemini, Dialect::GeminiCli);
}
