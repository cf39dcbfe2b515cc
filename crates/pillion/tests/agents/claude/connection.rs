//! The ways in which Claude Code finds its companion.

use std::fs;

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Env, Home, Model, Size, Tmux, Turn, set_up_claude,
};

use super::{NAME, Scene, ide, wait_connected};
use crate::companion::{PILLION, SOON, run, wait_until};
use crate::review::Review;

/// `--ide` is enough, in a folder below the workspace, too.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_finds_its_companion_from_a_folder_below() {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let below = home.workspace().join("below/it");
    fs::create_dir_all(&below).expect("the workspace is ours");
    set_up_claude(&home, &below);
    let review = Review::start(&tmux, &home);
    let release = ClaudeRelease::Native;
    let _claude = Claude::start(release, &tmux, &home, &model, &below);
    wait_connected(&review);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_connects_when_asked() {
    connects_when_asked(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_connects_when_asked() {
    connects_when_asked(ClaudeRelease::Node);
}

/// `pillion run` names one companion of two, for `--ide` could not choose.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_is_run_with_the_companion_that_was_used_last() {
    is_run_with_the_companion_that_was_used_last(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_is_run_with_the_companion_that_was_used_last() {
    is_run_with_the_companion_that_was_used_last(ClaudeRelease::Node);
}

/// Two of them at one companion: each gets what is its own.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn two_claudes_at_one_companion_get_an_outcome_each() {
    let scene = Scene::new(ClaudeRelease::Native);
    let model = Model::start();
    let how = ClaudeStart {
        name: "second",
        ..ide()
    };
    let folder = scene.home.workspace();
    let second = Claude::start_with(
        ClaudeRelease::Native,
        &scene.tmux,
        &scene.home,
        &model,
        &folder,
        &how,
    );
    scene.review.pane().wait_for(&format!("● {NAME} ×2"), SOON);
    let first_path = folder.join("first.txt");
    let write = Turn::write_file(&first_path, "one");
    scene.model.script([write, Turn::say("first.txt is done")]);
    scene.claude.prompt("change it");
    scene.claude.wait_question();
    let shows = |file: &str| {
        let what = format!("a proposal for {file}");
        let is_shown = |screen: &str| {
            let title = format!("proposes {file}");
            screen
                .lines()
                .any(|row| row.contains(NAME) && row.contains(&title))
        };
        scene.review.pane().wait_until(&what, SOON, is_shown);
    };
    shows("first.txt");
    let second_path = folder.join("second.txt");
    model.script([
        Turn::write_file(&second_path, "two"),
        Turn::say("second.txt is done"),
    ]);
    second.prompt("change it");
    second.wait_question();
    scene.review.turn_to_second("proposes second.txt");
    scene.review.reject("second.txt");
    second.wait_answered();
    assert!(scene.claude.asks(), "the other's outcome is not its own");
    shows("first.txt");
    scene.review.accept("first.txt");
    scene.claude.wait_for("first.txt is done");
    assert!(first_path.exists() && !second_path.exists());
}

fn is_run_with_the_companion_that_was_used_last(release: ClaudeRelease) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    // Before the reviews: both would share a file that appears under their eyes.
    home.file("used.txt", "x");
    set_up_claude(&home, &home.workspace());
    let meant = Review::start_with(&tmux, &home, "review", &alone());
    let [port] = wait_ports(&home, 1)[..] else {
        unreachable!("one was waited for")
    };
    let other = Review::start_with(&tmux, &home, "other", &alone());
    wait_ports(&home, 2);
    run(&home, ["focus", "used.txt", "--port", &port.to_string()]);
    let command = [PILLION, "run", "--require", "claude"];
    let mode = ["--permission-mode", "default"];
    let command: Vec<&str> = command.into_iter().chain(mode).collect();
    let env = release.env(home.env(), &model);
    let size = Size::new(110, 45);
    let pane = tmux.spawn("agent", size, &env, &home.workspace(), &command);
    let _claude = Claude::attach(release, pane);
    wait_connected(&meant);
    let screen = other.pane().screen();
    assert!(!screen.contains(&format!("● {NAME}")), "{screen}");
}

fn connects_when_asked(release: ClaudeRelease) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    set_up_claude(&home, &home.workspace());
    let how = ClaudeStart::default();
    let folder = home.workspace();
    let claude = Claude::start_with(release, &tmux, &home, &model, &folder, &how);
    // One that comes later, in a terminal outside of every editor.
    let review = Review::start(&tmux, &home);
    claude.connect_by_command();
    wait_connected(&review);
}

/// The environment that gives a review a companion of its own, as another program's would be.
fn alone() -> Env {
    Env::default().with("PILLION_HUB", "off")
}

/// The ports of so many lock files, once they are there.
fn wait_ports(home: &Home, count: usize) -> Vec<u16> {
    let folder = home.home().join(".claude/ide");
    wait_until("the lock files", || {
        let files = fs::read_dir(&folder).ok()?.flatten();
        let ports: Vec<u16> = files
            .filter_map(|file| {
                let name = file.file_name().into_string().ok()?;
                name.strip_suffix(".lock")?.parse().ok()
            })
            .collect();
        (ports.len() == count).then_some(ports)
    })
}
