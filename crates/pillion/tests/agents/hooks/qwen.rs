//! Qwen Code with a hook in the person's settings, in the modes in which it asks nobody.

use std::fs;
use std::path::Path;
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{Agent, AgentKind, Home, Model, Npm, Size, Tmux, Turn};

use super::{BEFORE, Decision, Scene, ended};
use crate::companion;
use crate::review::{Review, title};
use crate::shared_encodings::{ENCODINGS, assert_bytes};

const MODES: [&str; 2] = ["yolo", "auto-edit"];

pub(super) fn scene() -> Scene {
    super::scene(AgentKind::Qwen, Dialect::QwenCode)
}

pub(super) fn print(scene: &Scene, number: usize) -> Child {
    super::print(scene, AgentKind::Qwen, MODES[number % MODES.len()])
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_hears_why_its_changes_are_rejected() {
    let scene = scene();
    super::hears_why_changes_are_rejected(&scene, print);
    // Nobody decides in time.
    let settings = scene.home.home().join(".qwen/settings.json");
    let own = fs::read_to_string(&settings).expect("it has settings");
    let limited = own.replace("hook qwen", "hook qwen --limit 2");
    fs::write(settings, limited).expect("they are ours");
    let file = scene.home.file("late.txt", BEFORE);
    scene.script([Turn::read_file(&file), super::edit(&file)]);
    let agent = print(&scene, 0);
    scene.wait_told("nobody decided in time");
    ended(agent).expect_done("too late");
    assert_bytes(&file, BEFORE.as_bytes());
    companion::wait_none_pending(&scene.home);
}

/// It may make the accepted change by itself, of the text that is there now.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_makes_the_change_itself_that_was_accepted_over_a_newer_text() {
    let scene = scene();
    for (number, (newer, accepted)) in super::NEWER.into_iter().enumerate() {
        let turns = |file: &Path| {
            let read = newer.map(|_| Turn::read_file(file));
            let again = Turn::write_file(file, accepted);
            let turns = [Turn::read_file(file), super::edit(file)].into_iter();
            turns.chain(read).chain([again]).collect()
        };
        let (file, accepted) = super::accept_over(&scene, number, turns, print);
        scene.wait_told("has changed since you proposed this");
        assert_bytes(&file, accepted.as_bytes());
    }
}

/// An accepted change is written. An edited one is denied, until the model makes exactly that change: nobody is asked about
/// it again.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_makes_the_changes_that_were_accepted_and_no_others() {
    let scene = scene();
    for (number, (kind, encode)) in ENCODINGS.into_iter().enumerate() {
        if kind.starts_with("utf16") {
            continue;
        }
        let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
        let edit = Turn::replace(&file, "two", "zwei");
        scene.script([Turn::read_file(&file), edit]);
        let agent = print(&scene, number);
        scene.decide(&file, &Decision::Accept);
        ended(agent).expect_done(kind);
        let accepted = BEFORE.replace("two", "zwei");
        assert_bytes(&file, &encode(&accepted));

        let edit = Turn::replace(&file, "zwei", "deux");
        let wanted = Turn::replace(&file, "zwei", "dos");
        let other = Turn::replace(&file, "dos", "deux");
        scene.script([Turn::read_file(&file), edit, wanted, other]);
        let agent = print(&scene, number);
        let edited = accepted.replace("zwei", "dos");
        scene.decide(&file, &Decision::Edit(&encode(&edited)));
        scene.wait_told("+dos");
        // The wanted change passes, and the next one is shown.
        let next = companion::wait_pending(&scene.home, &file);
        assert_bytes(&file, &encode(&edited));
        let shown = companion::proposed(&scene.home, &next.name);
        assert_eq!(shown.as_bytes(), encode(&accepted.replace("zwei", "deux")));
        scene.decide(&file, &Decision::Reject("as it was"));
        ended(agent).expect_done(kind);
        assert_bytes(&file, &encode(&edited));
    }
}

/// It may write an edited cell itself.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_changes_the_cells_that_its_hook_allows() {
    const TOOL: &str = "notebook_edit";
    let scene = scene();
    super::changes_cells(&scene, TOOL, print);
    let file = scene.home.file("book.ipynb", super::notebook("1"));
    let [two, three] = ["2", "3"].map(|source| super::cell(TOOL, &file, source));
    scene.script([Turn::read_file(&file), two, three]);
    let agent = print(&scene, 0);
    scene.decide(&file, &Decision::Edit(b"3"));
    scene.wait_told("+3");
    ended(agent).expect_done("edited");
    assert_eq!(super::source(&file), "3");
}

/// In a terminal, in the modes in which it asks nobody.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_that_is_stopped_takes_its_change_away() {
    let kind = AgentKind::Qwen;
    let home = Home::new();
    super::install(&home, kind, Dialect::QwenCode);
    let (tmux, model) = (Tmux::start(), Model::start());
    let review = Review::start(&tmux, &home);
    for mode in MODES {
        let command = Npm::from_env().bin().join(kind.name());
        let command = [&*command.display().to_string(), "--approval-mode", mode];
        let env = kind.env(home.env(), &model);
        let pane = tmux.spawn(mode, Size::new(100, 40), &env, &home.workspace(), &command);
        let agent = Agent::attach(kind, pane);
        let file = home.file("stopped.txt", BEFORE);
        model.clear();
        model.script([Turn::read_file(&file), super::edit(&file)]);
        agent.prompt("change it");
        review
            .pane()
            .wait_for(&title(kind, "stopped.txt"), companion::SOON);
        super::stop_while_its_hook_waits(&home, &file, || agent.pane().send_keys(["Escape"]));
        review.wait_idle();
        agent.quit();
    }
}
