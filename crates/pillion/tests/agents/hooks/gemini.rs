//! Gemini CLI with a hook in the person's settings, in the mode in which it asks nobody.

use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::AgentKind;

use super::Scene;

fn scene() -> Scene {
    super::scene(AgentKind::Gemini, Dialect::GeminiCli)
}

fn print(scene: &Scene, _: usize) -> Child {
    super::print(scene, AgentKind::Gemini, "yolo")
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_makes_the_changes_that_its_hook_allows() {
    super::makes_accepted_changes(&scene(), print);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_the_files_that_its_hook_allows() {
    super::writes_accepted_files(&scene(), print);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_over_a_newer_text_what_was_accepted() {
    super::writes_over_a_newer_text(&scene(), super::edit, print);
    super::writes_over_a_newer_text(&scene(), super::whole, print);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_hears_why_its_changes_are_rejected() {
    super::hears_why_changes_are_rejected(&scene(), print);
}
