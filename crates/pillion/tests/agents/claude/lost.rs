//! One side dies without a word: Claude Code with a diff open, or the companion.

use pillion_testkit::{ClaudeRelease, Env};

use super::changes::pillion;
use super::{Scene, read, wait_connected};
use crate::companion::SOON;
use crate::review::Review;

const FILE: &str = "new.txt";
const TEXT: &str = "one\ntwo";

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn the_view_of_a_killed_claude_goes_away() {
    the_view_of_a_killed_agent_goes_away(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn the_view_of_a_killed_claude_on_node_goes_away() {
    the_view_of_a_killed_agent_goes_away(ClaudeRelease::Node);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_goes_on_when_its_companion_was_killed() {
    goes_on_when_its_companion_was_killed(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_goes_on_when_its_companion_was_killed() {
    goes_on_when_its_companion_was_killed(ClaudeRelease::Node);
}

fn the_view_of_a_killed_agent_goes_away(release: ClaudeRelease) {
    let scene = Scene::new(release);
    let path = scene.propose_new(FILE, TEXT);
    let Scene {
        claude,
        review,
        model: _model,
        tmux: _tmux,
        home: _home,
    } = scene;
    claude.kill();
    review
        .pane()
        .wait_for(&format!("no longer waits for {FILE} here"), SOON);
    review.pane().wait_for("Waiting for an agent.", SOON);
    assert!(!path.exists());
}

/// The question in Claude Code's own window stays, and works. A companion that is started again from the
/// same place is found by itself.
fn goes_on_when_its_companion_was_killed(release: ClaudeRelease) {
    let mut scene = Scene::new(release);
    let path = scene.propose_new(FILE, TEXT);
    scene.review.pane().kill();
    scene.review = Review::start_with(&scene.tmux, &scene.home, "next", &Env::default());
    wait_connected(&scene.review);
    assert!(scene.claude.asks(), "the question stays");
    let said = "may still ask in its own window about";
    scene.review.pane().wait_for(said, SOON);
    let shown = pillion(&scene, &["show", "d1"]);
    assert!(shown.contains("+two"), "{shown}");
    scene.claude.allow();
    scene.claude.wait_for("new.txt is done");
    assert_eq!(read(&path), TEXT);

    let path = scene.propose_new("next.txt", TEXT);
    scene.review.pane().wait_gone(said, SOON);
    scene.review.accept("next.txt");
    scene.claude.wait_for("next.txt is done");
    assert_eq!(read(&path), TEXT);
}
