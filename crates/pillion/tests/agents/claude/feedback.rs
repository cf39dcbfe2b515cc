//! The person's words about changes, as the model of Claude Code reads them when `pillion run` has started that.

use std::path::PathBuf;

use pillion_testkit::{ModelRequest, Turn};
use serde_json::Value;

use super::run::run_in;
use super::{Scene, read};
use crate::companion;

/// Notes of one decision may have so many bytes.
const MOST: usize = pillion_protocol::verdict::MAX_NOTES;

const LAST: &str = "and this is the last of it";

/// As much as one decision may say.
fn long_words(first: &str) -> String {
    let mut words = format!("{first}\n");
    while words.len() + LAST.len() + 20 < MOST {
        words.push_str("one more point\n");
    }
    words + LAST
}

/// Decides by a command, and says this.
fn decide(scene: &Scene, decision: &str, diff: &str, words: &str) {
    scene.review.wait_received();
    companion::run(&scene.home, [decision, diff, "--because", words]);
}

/// The file in which Claude Code keeps the context that begins with this.
fn persisted(request: &ModelRequest, first: &str) -> PathBuf {
    let is_it = |text: &&str| text.contains("<persisted-output>") && text.contains(first);
    let mut texts = Vec::new();
    collect(&request.body["messages"], &mut texts);
    let text = texts.into_iter().find(is_it);
    let text = text.unwrap_or_else(|| panic!("no context is kept in a file: {}", request.body));
    let path = text.split_once("saved to: ").map(|(_, rest)| rest);
    let path = path.and_then(|rest| rest.lines().next());
    path.expect("it names the file").into()
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
        _ => {}
    }
}

/// The model reads the file, without a question to the person, and finds the end of what was said.
fn reads_the_rest(scene: &Scene, first: &str) {
    let request = scene.wait_asked(first);
    assert!(!request.mentions(LAST), "it is short: {}", request.body);
    let path = persisted(&request, first);
    let said = format!("read what follows {first}");
    scene
        .model
        .script([Turn::read_file(path), Turn::say(said.clone())]);
    scene.claude.wait_ready();
    scene.claude.prompt("read it");
    scene.claude.wait_for(&said);
    let request = scene.model.last_main().expect("it asked its model");
    assert!(request.mentions(LAST), "{}", request.body);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_reads_all_of_long_words() {
    let scene = run_in("default");
    let new = scene.propose_new("new.txt", "one\n");
    decide(&scene, "reject", "1.1", &long_words("a long reason"));
    scene.claude.wait_for("new.txt is done");
    let request = scene.wait_asked("a long reason");
    assert!(request.mentions(LAST), "{}", request.body);
    assert!(!new.exists());
    scene.claude.wait_ready();
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_reads_all_of_a_long_note_in_every_mode() {
    for mode in ["default", "acceptEdits", "plan"] {
        let scene = run_in(mode);
        let new = scene.propose_new("new.txt", "one\n");
        decide(&scene, "accept", "1.1", &long_words("a long note"));
        scene.claude.wait_for("new.txt is done");
        assert_eq!(read(&new), "one\n");
        reads_the_rest(&scene, "a long note");
    }
}
