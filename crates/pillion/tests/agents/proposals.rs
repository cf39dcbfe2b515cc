//! One agent proposes, a person judges: in the review, or in the agent's own window (C5).

use std::fs;
use std::path::{Path, PathBuf};

use pillion_testkit::{AgentKind, Env, Home, Turn};

use crate::companion::{run, wait_until};
use crate::review::{Scene, display_name, editor};

const FILE: &str = "new.txt";
const TEXT: &str = "one\nseventeen\nthree";

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_what_is_decided_in_the_review_or_in_its_own_window() {
    writes_what_is_decided(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_writes_what_is_decided_in_the_review_or_in_its_own_window() {
    writes_what_is_decided(AgentKind::Qwen);
}

/// All in one run of the agent: it takes longer to start than to do any of this.
fn writes_what_is_decided(kind: AgentKind) {
    let home = Home::new();
    let env = editor(&home, "seventeen", "siebzehn");
    let scene = Scene::with(kind, home, &env);
    scene.agent.ide_status("Connected to Pillion");
    writes_what_is_accepted(&scene);
    writes_what_was_edited(&scene);
    writes_what_is_allowed_in_its_own_window(&scene);
    writes_nothing_that_is_rejected(&scene);
    closes_the_view_when_cancelled(&scene);
}

fn writes_what_is_accepted(scene: &Scene) {
    let file = "accepted.txt";
    let path = propose(scene, file);
    scene.review.accept(file);
    scene.agent.wait_accepted(file);
    scene.agent.wait_for(&done(file));
    assert_eq!(read(&path), TEXT);
    scene.review.wait_idle();
}

/// One hunk is taken out, and the rest is edited.
fn writes_what_was_edited(scene: &Scene) {
    let file = "edited.txt";
    let before: String = (1..=30).map(|n| format!("line {n}\r\n")).collect();
    let path = scene.home.file(file, &before);
    let first = before.replace("line 4\r", "line four\r");
    let proposed = first.replace("line 17\r", "line seventeen\r");
    let expected = before.replace("line 17\r", "line siebzehn\r");
    scene.model.script([
        // Qwen overwrites no file that it has not read.
        Turn::read_file(&path),
        Turn::write_file(&path, &proposed),
        Turn::say(done(file)),
    ]);
    scene.agent.prompt("change it");
    scene.wait_view(file);
    scene.review.take_hunk_out();
    scene.review.edit();
    scene.review.accept(file);
    scene.agent.wait_accepted(file);
    scene.agent.wait_for(&done(file));
    assert_eq!(read(&path), expected);
    scene.review.wait_idle();
}

/// Gemini then writes the text that `closeDiff` gave it (C5.5). Qwen Code 0.24.4 asks for the text in the view, too, and then
/// writes its own.
fn writes_what_is_allowed_in_its_own_window(scene: &Scene) {
    let file = "allowed.txt";
    let path = propose(scene, file);
    scene.review.edit();
    scene.agent.allow();
    scene.agent.wait_accepted(file);
    wait_closed(scene, file);
    scene.agent.wait_for(&done(file));
    let edited = TEXT.replace("seventeen", "siebzehn");
    let expected = match scene.kind() {
        AgentKind::Gemini => edited.as_str(),
        AgentKind::Qwen => TEXT,
    };
    assert_eq!(read(&path), expected);
}

fn writes_nothing_that_is_rejected(scene: &Scene) {
    let file = "rejected.txt";
    let path = propose(scene, file);
    scene.review.reject(file);
    scene.agent.wait_rejected(file);
    assert!(!path.exists());
    scene.review.wait_idle();
}

fn closes_the_view_when_cancelled(scene: &Scene) {
    let file = "cancelled.txt";
    let path = propose(scene, file);
    scene.agent.cancel();
    wait_closed(scene, file);
    scene.agent.wait_rejected(file);
    assert!(!path.exists());
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_reads_with_the_second_prompt_why_it_was_rejected() {
    reads_why_it_was_rejected(AgentKind::Gemini);
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn qwen_reads_with_the_next_prompt_why_it_was_rejected() {
    reads_why_it_was_rejected(AgentKind::Qwen);
}

fn reads_why_it_was_rejected(kind: AgentKind) {
    let home = Home::new();
    let path = home.file(FILE, "before\n");
    let scene = Scene::with(kind, home, &Env::default());
    scene
        .model
        .script([Turn::read_file(&path), Turn::write_file(&path, TEXT)]);
    scene.agent.prompt("change it");
    scene.wait_view(FILE);
    let screen = scene.review.reject_because(FILE, "Use the table, not if.");
    assert!(
        screen.contains("gets your note with your next prompt"),
        "{screen}"
    );
    assert_eq!(
        screen.contains("but one"),
        kind == AgentKind::Gemini,
        "{screen}"
    );
    scene.agent.wait_rejected(FILE);
    for prompt in ["go on", "and now"] {
        scene.model.clear();
        // Without blanks.
        let newest = scene.agent.ask(&scene.model, prompt);
        let is_late = kind == AgentKind::Gemini;
        let is_told = is_late == (prompt == "and now");
        assert_eq!(
            newest.contains("andsays:Usethetable,notif."),
            is_told,
            "{newest}"
        );
    }
    assert_eq!(read(&path), "before\n");
    if kind == AgentKind::Qwen {
        // Its record says so, and the next session does not hear it again.
        wait_until("the note is read", || {
            let notes = run(&scene.home, ["notes"]);
            (!String::from_utf8_lossy(&notes).contains("the table")).then_some(())
        });
    }
}

/// The model's words at the end of a turn, which are on the screen of no other one.
fn done(file: &str) -> String {
    format!("{file} is done")
}

/// Lets the agent propose [`TEXT`] for this file, which is not there yet.
fn propose(scene: &Scene, file: &str) -> PathBuf {
    let path = scene.home.workspace().join(file);
    // After a refusal, the last turn was not taken.
    scene.model.clear();
    let turns = [Turn::write_file(&path, TEXT), Turn::say(done(file))];
    scene.model.script(turns);
    scene.agent.prompt("write it");
    scene.wait_view(file);
    path
}

/// Waits until the review says that the agent closed the view, and shows it no more.
fn wait_closed(scene: &Scene, file: &str) {
    let said = format!("{} closed its diff of {file}", display_name(scene.kind()));
    scene.review.pane().wait_for(&said, crate::companion::SOON);
    scene.review.wait_idle();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the agent has written it")
}
