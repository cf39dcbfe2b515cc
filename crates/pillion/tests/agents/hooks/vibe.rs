//! Mistral Vibe with Pillion's hooks, which ends by itself.

use std::process::Child;

use pillion_testkit::{Headless, Turn};
use serde_json::Value;

use super::{BEFORE, Scene, ended};
use crate::companion;
use crate::shared_encodings::assert_bytes;

fn scene() -> Scene {
    super::headless_scene(Headless::Vibe, "vibe")
}

fn print(scene: &Scene, _: usize) -> Child {
    super::print_headless(scene, Headless::Vibe)
}

/// What is accepted is written, edited or not, in each encoding, and its turn is kept.
#[test]
#[ignore = "in --all: needs the real agents and Mistral Vibe: cargo xtask test --all"]
fn vibe_writes_what_was_accepted_and_its_turn_is_kept() {
    let scene = scene();
    super::makes_accepted_changes(&scene, 1, print);
    let shell = scene.home.workspace().join("shell.txt");
    let command = format!("echo by hand > {}", shell.display());
    scene.script([Turn::CallTool {
        name: "bash",
        input: serde_json::json!({ "command": command }),
    }]);
    ended(print(&scene, 0)).expect_done("shell");
    let listed = companion::run(&scene.home, ["changes", "--json"]);
    let listed: Value = serde_json::from_slice(&listed).expect("it is JSON");
    let files = listed.as_array().expect("it is a list");
    assert_eq!(files.len(), 1, "{listed:#}");
    assert!(listed.to_string().contains("shell.txt"), "{listed:#}");
    assert_eq!(files[0]["agent"], "vibe");
}

#[test]
#[ignore = "in --all: needs the real agents and Mistral Vibe: cargo xtask test --all"]
fn vibe_hears_why_its_changes_are_rejected() {
    super::hears_why_changes_are_rejected(&scene(), 1, print);
}

/// Its model reads notes with the result of the tool.
#[test]
#[ignore = "in --all: needs the real agents and Mistral Vibe: cargo xtask test --all"]
fn vibe_reads_the_notes_of_what_was_accepted_and_does_nothing_that_cannot_work() {
    let scene = scene();
    let file = scene.home.file("a.txt", BEFORE);
    scene.script([super::edit(&file), Turn::replace(&file, "  zwei", "drei")]);
    let agent = print(&scene, 0);
    let pending = companion::wait_pending(&scene.home, &file);
    let accept = ["accept", &pending.name, "--because", "and the tests?"];
    companion::run(&scene.home, accept);
    scene.wait_told("and says: and the tests?");
    scene.wait_told("the text to replace is not in the file");
    ended(agent).expect_done("notes");
    assert_bytes(&file, BEFORE.replace("two", "zwei").as_bytes());
}

/// As it is denied what is not decided, it is also where the hook cannot start: alone among the agents.
#[test]
#[ignore = "in --all: needs the real agents and Mistral Vibe: cargo xtask test --all"]
fn vibe_makes_no_change_where_its_hook_cannot_start() {
    let scene = scene();
    let hooks = scene.home.home().join(".vibe/hooks.toml");
    let text = std::fs::read_to_string(&hooks).expect("it is installed");
    let broken = text.replace(companion::PILLION, "/nowhere/pillion");
    assert_ne!(broken, text);
    std::fs::write(&hooks, broken).expect("the home is ours");
    let file = scene.home.file("a.txt", BEFORE);
    scene.script([super::edit(&file)]);
    ended(print(&scene, 0)).expect_done("broken");
    assert_bytes(&file, BEFORE.as_bytes());
}

/// The hooks of both calls run at once.
#[test]
#[ignore = "in --all: needs the real agents and Mistral Vibe: cargo xtask test --all"]
fn vibe_makes_both_changes_of_a_file_in_one_answer() {
    let scene = scene();
    super::makes_both_changes_of_a_file(&scene, || print(&scene, 0));
}
