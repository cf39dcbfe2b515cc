//! One agent proposes, a person judges: in the review, or in the agent's own window (C5).

use std::fs;
use std::path::Path;

use pillion_testkit::{AgentKind, Env, Home, Turn};

use crate::review::{Scene, display_name, editor};

const FILE: &str = "new.txt";
const TEXT: &str = "one\ntwo\nthree";

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_what_is_accepted() {
    writes_what_is_accepted(AgentKind::Gemini);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_writes_what_is_accepted() {
    writes_what_is_accepted(AgentKind::Qwen);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_what_was_edited() {
    writes_what_was_edited(AgentKind::Gemini);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_writes_what_was_edited() {
    writes_what_was_edited(AgentKind::Qwen);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_nothing_that_is_rejected() {
    writes_nothing_that_is_rejected(AgentKind::Gemini);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_writes_nothing_that_is_rejected() {
    writes_nothing_that_is_rejected(AgentKind::Qwen);
}

/// Gemini then writes the text that `closeDiff` gave it (C5.5).
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_writes_the_edited_text_when_allowed_in_its_own_window() {
    let home = Home::new();
    let env = editor(&home, "two", "zwei");
    let scene = Scene::with(AgentKind::Gemini, home, &env);
    allowed_in_its_own_window(&scene, "one\nzwei\nthree");
}

/// Qwen Code 0.24.4 asks for the text in the view, too, and then writes its own.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_closes_the_view_when_allowed_in_its_own_window() {
    let home = Home::new();
    let env = editor(&home, "two", "zwei");
    let scene = Scene::with(AgentKind::Qwen, home, &env);
    allowed_in_its_own_window(&scene, TEXT);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_closes_the_view_when_cancelled() {
    closes_the_view_when_cancelled(AgentKind::Gemini);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn qwen_closes_the_view_when_cancelled() {
    closes_the_view_when_cancelled(AgentKind::Qwen);
}

fn writes_what_is_accepted(kind: AgentKind) {
    let scene = Scene::new(kind);
    let path = propose(&scene);
    scene.review.accept(FILE);
    scene.agent.wait_accepted(FILE);
    scene.agent.wait_for("that is done");
    assert_eq!(read(&path), TEXT);
    scene.review.wait_idle();
}

/// One hunk is taken out, and the rest is edited.
fn writes_what_was_edited(kind: AgentKind) {
    let home = Home::new();
    let env = editor(&home, "seventeen", "siebzehn");
    let before: String = (1..=30).map(|n| format!("line {n}\r\n")).collect();
    let path = home.file(FILE, &before);
    let first = before.replace("line 4\r", "line four\r");
    let proposed = first.replace("line 17\r", "line seventeen\r");
    let expected = before.replace("line 17\r", "line siebzehn\r");

    let scene = Scene::with(kind, home, &env);
    scene.model.script([
        // Qwen overwrites no file that it has not read.
        Turn::read_file(&path),
        Turn::write_file(&path, &proposed),
        Turn::say("that is done"),
    ]);
    scene.agent.prompt("change it");
    scene.wait_view(FILE);
    scene.review.take_hunk_out();
    scene.review.edit();
    scene.review.accept(FILE);
    scene.agent.wait_accepted(FILE);
    scene.agent.wait_for("that is done");
    assert_eq!(read(&path), expected);
    scene.review.wait_idle();
}

fn writes_nothing_that_is_rejected(kind: AgentKind) {
    let scene = Scene::new(kind);
    let path = propose(&scene);
    scene.review.reject(FILE);
    scene.agent.wait_rejected(FILE);
    assert!(!path.exists());
    scene.review.wait_idle();
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn gemini_reads_with_the_second_prompt_why_it_was_rejected() {
    reads_why_it_was_rejected(AgentKind::Gemini);
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
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
}

fn allowed_in_its_own_window(scene: &Scene, expected: &str) {
    let path = propose(scene);
    scene.review.edit();
    scene.agent.allow();
    scene.agent.wait_accepted(FILE);
    wait_closed(scene);
    assert_eq!(read(&path), expected);
}

fn closes_the_view_when_cancelled(kind: AgentKind) {
    let scene = Scene::new(kind);
    let path = propose(&scene);
    scene.agent.cancel();
    wait_closed(&scene);
    scene.agent.wait_rejected(FILE);
    assert!(!path.exists());
}

/// Lets the agent propose [`TEXT`] for [`FILE`], which is not there yet.
fn propose(scene: &Scene) -> std::path::PathBuf {
    let path = scene.home.workspace().join(FILE);
    let turns = [Turn::write_file(&path, TEXT), Turn::say("that is done")];
    scene.model.script(turns);
    scene.agent.prompt("write it");
    scene.wait_view(FILE);
    path
}

/// Waits until the review says that the agent closed the view, and shows it no more.
fn wait_closed(scene: &Scene) {
    let said = format!("{} closed its diff of {FILE}", display_name(scene.kind()));
    scene.review.pane().wait_for(&said, crate::companion::SOON);
    scene.review.wait_idle();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the agent has written it")
}
