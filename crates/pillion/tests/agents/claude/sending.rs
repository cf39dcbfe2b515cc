//! Notes that a person sends to Claude Code that `pillion run` has started: it is woken if it is idle.

use std::fs;
use std::process::Command;
use std::time::Instant;

use pillion_testkit::{Home, Turn, all_of, kill_hub, pause};
use serde_json::Value;

use super::changes::pillion;
use super::run::run_in;
use super::{NAME, Scene, wait_connected};
use crate::companion::{self, SOON};

/// The words that are printed, and that the review says.
const NOW: &str = "your notes were sent to Claude Code";

/// The processes that wait beside the Claude Code of this home.
fn waiting(home: &Home) -> Vec<u32> {
    let is_one = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).ends_with("hook\0wait\0claude\0")
    };
    all_of(home).into_iter().filter(is_one).collect()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < SOON, "{what}");
        pause(started);
    }
}

/// The person accepts a change, and takes it back when the turn is over: what the model is to read of that waits.
fn leave_a_note(scene: &Scene, file: &str) -> String {
    let path = scene.propose_new(file, "one\n");
    scene.review.accept(file);
    scene.claude.wait_for(&format!("{file} is done"));
    scene.claude.wait_ready();
    let turn = companion::wait_until("a turn that has ended", || {
        let turns: Vec<Value> = serde_json::from_str(&pillion(scene, &["turns", "--json"])).ok()?;
        let last = turns.last().filter(|it| it["ended"].is_u64())?;
        Some(last["turn"].to_string())
    });
    pillion(scene, &["revert", &turn]);
    assert!(!path.exists());
    let note = format!("has taken back your change in {}", path.display());
    let request = scene.model.last_main().expect("it asked its model");
    assert!(!request.mentions(&note), "{}", request.body);
    note
}

/// The number of times that the newest request of the main conversation holds this.
fn told(scene: &Scene, text: &str) -> usize {
    let request = scene.model.last_main().expect("it asked its model");
    request.body["messages"].to_string().matches(text).count()
}

/// By a command and by the review's key.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_and_idle_is_woken_by_notes_that_are_sent() {
    let scene = run_in("default");
    for (file, by_key) in [("one.txt", false), ("two.txt", true)] {
        let note = &leave_a_note(&scene, file);
        let heard = format!("I have read it: {file}");
        scene.model.script([Turn::say(heard.as_str())]);
        if by_key {
            scene.review.press("@", NOW);
        } else {
            let printed = companion::run(&scene.home, ["send-notes", "claude"]);
            assert_eq!(String::from_utf8_lossy(&printed), format!("{NOW}\n"));
        }
        // It asks its model by itself.
        scene.claude.wait_for(&heard);
        assert_eq!(told(&scene, note), 1);
        scene.claude.wait_ready();
        // It does not come with the prompt as well.
        scene.model.script([Turn::say(format!("{file} is over"))]);
        scene.claude.prompt("go on");
        scene.claude.wait_for(&format!("{file} is over"));
        assert_eq!(told(&scene, note), 1);
        scene.claude.wait_ready();
    }
}

/// The person clears the conversation, or the hub is killed: what the model is to read comes with the next prompt, once.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_waits_for_claude_outlives_clear_and_the_hub() {
    let scene = run_in("default");
    let clears: fn(&Scene) = |scene| {
        scene.claude.prompt("/clear");
        scene.claude.wait_ready();
    };
    let kills: fn(&Scene) = |scene| {
        kill_hub(&scene.home);
        scene.review.pane().wait_gone(&format!("● {NAME}"), SOON);
    };
    for (file, happens) in [("one.txt", clears), ("two.txt", kills)] {
        let note = &leave_a_note(&scene, file);
        happens(&scene);
        wait_connected(&scene.review);
        let waits = pillion(&scene, &["notes"]);
        assert!(waits.contains(note.as_str()), "{file}: {waits}");
        for turn in ["the first", "the second"] {
            let over = format!("{turn} after {file}");
            say(&scene, &over);
            assert_eq!(told(&scene, note), 1, "{over}");
        }
    }
}

/// The number of the one that waits, once there is exactly one and it is none of these.
fn one_waits(scene: &Scene, former: &[u32]) -> u32 {
    wait_until(
        "one process waits",
        || matches!(waiting(&scene.home)[..], [pid] if !former.contains(&pid)),
    );
    waiting(&scene.home)[0]
}

fn say(scene: &Scene, said: &str) {
    scene.model.script([Turn::say(said)]);
    scene.claude.prompt("say it");
    scene.claude.wait_for(said);
    scene.claude.wait_ready();
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn beside_claude_that_is_run_one_process_waits_and_goes_with_it() {
    let scene = run_in("acceptEdits");
    assert!(waiting(&scene.home).is_empty(), "before the first prompt");
    let mut former = Vec::new();
    for turn in ["the first", "the second", "the third"] {
        say(&scene, turn);
        former.push(one_waits(&scene, &former));
    }
    // No shell stays with it.
    let parents = pillion_system::process::ancestors(former[2]);
    assert_eq!(parents[0], scene.claude.pane().pid());
    // The hub goes: so does the process, and nobody is woken.
    let requests = scene.model.requests().len();
    kill_hub(&scene.home);
    wait_until("none waits", || waiting(&scene.home).is_empty());
    scene.review.pane().wait_gone(&format!("● {NAME}"), SOON);
    wait_connected(&scene.review);
    assert_eq!(scene.model.requests().len(), requests);
    scene.claude.wait_ready();
    say(&scene, "the fourth");
    one_waits(&scene, &former);
    scene.claude.quit();
    wait_until("none waits", || waiting(&scene.home).is_empty());
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn beside_claude_that_was_killed_no_process_waits() {
    let scene = run_in("acceptEdits");
    say(&scene, "the first");
    one_waits(&scene, &[]);
    let pid = scene.claude.pane().pid();
    let killed = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    assert!(killed.expect("there is kill").success());
    wait_until("none waits", || waiting(&scene.home).is_empty());
    let gone = format!("● {NAME}");
    scene.review.pane().wait_gone(&gone, SOON);
}
