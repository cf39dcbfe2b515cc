//! Claude Code with a command hook in the person's settings, which it starts by itself: in both releases, without a
//! terminal and in one.

use std::fs;
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{ClaudeNpm, ClaudeRelease, Home, Turn, set_up_claude};
use serde_json::json;

use super::{Decision, Scene, ended, path, settings};
use crate::companion;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

const MODES: [&str; 2] = ["acceptEdits", "bypassPermissions"];

const BEFORE: &str = "one\ntwo\nthree\n";

fn set_up(home: &Home, options: &str) {
    set_up_claude(home, &home.workspace());
    let own = json!({"skipDangerousModePermissionPrompt": true});
    let settings = settings(Dialect::ClaudeCode, options, own);
    let file = home.home().join(".claude/settings.json");
    fs::write(file, settings.to_string()).expect("the home is ours");
}

fn scene() -> Scene {
    Scene::new(|home| set_up(home, ""))
}

/// Starts one that prints its answer and ends.
fn print(scene: &Scene, release: ClaudeRelease, mode: &str) -> Child {
    // Root may not use one of the modes otherwise.
    let env = release.env(scene.home.env(), &scene.model);
    let env = env.with("IS_SANDBOX", "1");
    let claude = ClaudeNpm::from_env().bin(release).join("claude");
    let claude = claude.display().to_string();
    scene.start(
        &env,
        &[&claude, "-p", "change it", "--permission-mode", mode],
    )
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_makes_the_change_that_its_hook_allows() {
    makes_the_change_that_its_hook_allows(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_without_a_terminal_makes_the_change_that_its_hook_allows() {
    makes_the_change_that_its_hook_allows(ClaudeRelease::Node);
}

/// An edit of a file in each encoding: accepted as it is, and after an edit.
fn makes_the_change_that_its_hook_allows(release: ClaudeRelease) {
    let scene = scene();
    for (mode, (kind, encode)) in MODES.into_iter().cycle().zip(ENCODINGS) {
        if kind.starts_with("utf16") {
            continue;
        }
        let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
        let edit = Turn::replace(&file, "two", "zwei");
        scene.script([Turn::read_file(&file), edit]);
        let claude = print(&scene, release, mode);
        scene.decide(&file, &Decision::Accept);
        let printed = ended(claude);
        assert!(printed.has_succeeded, "{kind}: {}", printed.output);
        assert_bytes(&file, &encode(&BEFORE.replace("two", "zwei")));

        let edit = Turn::replace(&file, "zwei", "deux");
        scene.script([Turn::read_file(&file), edit]);
        let claude = print(&scene, release, mode);
        let accepted = BEFORE.replace("two", "dos").replace("three", "tres");
        scene.decide(&file, &Decision::Edit(&encode(&accepted)));
        scene.wait_told("-deux");
        scene.wait_told("+dos");
        let printed = ended(claude);
        assert!(printed.has_succeeded, "{kind}: {}", printed.output);
        assert_bytes(&file, &encode(&accepted));
    }
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_writes_the_file_that_its_hook_allows() {
    writes_the_file_that_its_hook_allows(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_without_a_terminal_writes_the_file_that_its_hook_allows() {
    writes_the_file_that_its_hook_allows(ClaudeRelease::Node);
}

/// A new file and one that is overwritten, accepted as it is and after an edit.
fn writes_the_file_that_its_hook_allows(release: ClaudeRelease) {
    let scene = scene();
    for (mode, (name, text)) in MODES.into_iter().cycle().zip([
        ("lf.txt", "one\ntwo\n"),
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("no-final-newline.txt", "one\ntwo"),
    ]) {
        let file = path(&scene.home, name);
        scene.script([Turn::write_file(&file, text)]);
        let claude = print(&scene, release, mode);
        scene.decide(&file, &Decision::Accept);
        let printed = ended(claude);
        assert!(printed.has_succeeded, "{name}: {}", printed.output);
        assert_bytes(&file, text.as_bytes());

        let write = Turn::write_file(&file, text.replace("one", "eins"));
        scene.script([Turn::read_file(&file), write]);
        let claude = print(&scene, release, mode);
        let accepted = text.replace("one", "uno");
        scene.decide(&file, &Decision::Edit(accepted.as_bytes()));
        scene.wait_told("+uno");
        let printed = ended(claude);
        assert!(printed.has_succeeded, "{name}: {}", printed.output);
        assert_bytes(&file, accepted.as_bytes());
    }
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_hears_why_a_change_is_rejected() {
    hears_why_a_change_is_rejected(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_without_a_terminal_hears_why_a_change_is_rejected() {
    hears_why_a_change_is_rejected(ClaudeRelease::Node);
}

/// Of an edit, and of a new file; then the turn goes on.
fn hears_why_a_change_is_rejected(release: ClaudeRelease) {
    let scene = scene();
    for mode in MODES {
        let file = scene.home.file("old.txt", BEFORE);
        let new = path(&scene.home, "new.txt");
        scene.script([
            Turn::read_file(&file),
            Turn::replace(&file, "two", "zwei"),
            Turn::write_file(&new, "new\n"),
        ]);
        let claude = print(&scene, release, mode);
        scene.decide(&file, &Decision::Reject("in English, please"));
        scene.wait_told("and says: in English, please");
        scene.decide(&new, &Decision::Reject("there is one already"));
        scene.wait_told("and says: there is one already");
        let printed = ended(claude);
        assert!(printed.has_succeeded, "{}", printed.output);
        assert!(
            printed.output.contains("the turn is done"),
            "{}",
            printed.output
        );
        assert_bytes(&file, BEFORE.as_bytes());
        assert!(!new.exists());
    }
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_is_refused_what_cannot_be_shown() {
    is_refused_what_cannot_be_shown(ClaudeRelease::Native);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_on_node_without_a_terminal_is_refused_what_cannot_be_shown() {
    is_refused_what_cannot_be_shown(ClaudeRelease::Node);
}

/// A file in UTF-16, and a notebook.
fn is_refused_what_cannot_be_shown(release: ClaudeRelease) {
    let scene = scene();
    let (_, encode) = ENCODINGS[5];
    let file = scene.home.file("utf16.txt", encode(BEFORE));
    let notebook = r#"{"cells":[{"cell_type":"code","id":"a","source":["1"],"metadata":{},"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    let notebook_file = scene.home.file("book.ipynb", notebook);
    let edit = json!({
        "notebook_path": notebook_file, "cell_id": "a", "new_source": "2", "cell_type": "code", "edit_mode": "replace",
    });
    scene.script([
        Turn::read_file(&file),
        Turn::replace(&file, "two", "zwei"),
        Turn::read_file(&notebook_file),
        Turn::CallTool {
            name: "NotebookEdit",
            input: edit,
        },
    ]);
    let printed = ended(print(&scene, release, "bypassPermissions"));
    assert!(printed.has_succeeded, "{}", printed.output);
    scene.wait_told("is not in UTF-8");
    scene.wait_told("does not show changes of notebooks");
    assert_bytes(&file, &encode(BEFORE));
    assert_bytes(&notebook_file, notebook.as_bytes());
    companion::wait_none_pending(&scene.home);
}
