//! Kimi Code with Pillion's hooks, which ends by itself.

use std::process::Child;

use pillion_testkit::{Headless, Turn};
use serde_json::Value;

use super::{BEFORE, Decision, Scene, ended};
use crate::companion;
use crate::shared_encodings::assert_bytes;

fn scene() -> Scene {
    super::headless_scene(Headless::Kimi, "kimi")
}

fn print(scene: &Scene, _: usize) -> Child {
    super::print_headless(scene, Headless::Kimi)
}

/// An accepted change is written. An edited one is denied, until the model makes exactly that change; and so is one with notes. Its
/// turn is kept.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn kimi_makes_the_changes_that_were_accepted_and_its_turn_is_kept() {
    let scene = scene();
    let file = scene.home.file("a.txt", BEFORE);
    let shell = scene.home.workspace().join("shell.txt");
    let command = format!("echo by hand > {}", shell.display());
    scene.script([
        super::edit(&file),
        Turn::replace(&file, "three", "drei"),
        Turn::replace(&file, "three", "tres"),
        Turn::replace(&file, "one", "eins"),
        Turn::replace(&file, "one", "eins"),
        Turn::CallTool {
            name: "Bash",
            input: serde_json::json!({ "command": command }),
        },
    ]);
    let agent = print(&scene, 0);
    scene.decide(&file, &Decision::Accept);
    let next = companion::wait_pending(&scene.home, &file);
    assert_bytes(&file, b"one\nzwei\nthree\n");
    scene.decide_about(&next.name, &Decision::Edit(b"one\nzwei\ntres\n"));
    scene.wait_told("-drei");
    let next = companion::wait_pending(&scene.home, &file);
    assert_bytes(&file, b"one\nzwei\ntres\n");
    let accept = ["accept", &next.name, "--because", "and the tests?"];
    companion::run(&scene.home, accept);
    scene.wait_told("and says: and the tests?");
    ended(agent).expect_done("all of them");
    assert_bytes(&file, b"eins\nzwei\ntres\n");
    let listed = companion::run(&scene.home, ["changes", "--json"]);
    let listed: Value = serde_json::from_slice(&listed).expect("it is JSON");
    let files = listed.as_array().expect("it is a list");
    assert_eq!(files.len(), 1, "{listed:#}");
    assert!(listed.to_string().contains("shell.txt"), "{listed:#}");
    assert_eq!(files[0]["agent"], "kimi");
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn kimi_hears_why_its_changes_are_rejected() {
    super::hears_why_changes_are_rejected(&scene(), 1, print);
}

/// The hooks of both calls run before the first of them is made.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn kimi_makes_both_changes_of_a_file_in_one_answer() {
    let scene = scene();
    super::makes_both_changes_of_a_file(&scene, || print(&scene, 0));
}
