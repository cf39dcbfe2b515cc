//! Claude Code with a command hook in the person's settings, which it starts by itself: in both releases, without a
//! terminal. With one: `claude/hook.rs`.

use std::fs;
use std::process::Child;

use pillion_protocol::Dialect;
use pillion_testkit::{ClaudeNpm, ClaudeRelease, HEADLESS_PROMPT, Home, Turn, set_up_claude};
use serde_json::json;

use super::{BEFORE, Decision, Scene, ended, settings};
use crate::companion::{self, PILLION};
use crate::shared_encodings::{ENCODINGS, assert_bytes};

/// In which it asks nobody by itself.
const MODES: [&str; 2] = ["acceptEdits", "bypassPermissions"];

/// Puts the hook into a person's settings.
pub fn set_up(home: &Home) {
    set_up_claude(home, &home.workspace());
    let own = json!({"skipDangerousModePermissionPrompt": true});
    let settings = settings(Dialect::ClaudeCode, "", own);
    let file = home.home().join(".claude/settings.json");
    fs::write(file, settings.to_string()).expect("the home is ours");
}

/// The way to start one that prints its answer and ends, in one mode after the other.
pub(super) fn print(release: ClaudeRelease) -> impl Fn(&Scene, usize) -> Child {
    print_after(release, &[])
}

/// The same as the last arguments of this command.
fn print_after(
    release: ClaudeRelease,
    starter: &'static [&str],
) -> impl Fn(&Scene, usize) -> Child {
    move |scene, number| {
        // Root may not use one of the modes otherwise.
        let env = release.env(scene.home.env(), &scene.model);
        let env = env.with("IS_SANDBOX", "1");
        let claude = ClaudeNpm::from_env().bin(release).join("claude");
        let claude = claude.display().to_string();
        let mode = MODES[number % MODES.len()];
        let print = [&claude, "-p", HEADLESS_PROMPT, "--permission-mode", mode];
        scene.start(&env, &[starter, &print].concat())
    }
}

/// The same, in a file that Claude Code skips because of a comment.
fn set_up_in_vain(home: &Home) {
    set_up(home);
    let file = home.home().join(".claude/settings.json");
    let text = fs::read_to_string(&file).expect("it is there");
    fs::write(file, format!("// mine\n{text}")).expect("the home is ours");
}

/// With `pillion run`, it needs no hook in its settings, and none that it does not run is counted on.
fn is_run_to_print(release: ClaudeRelease) {
    let set_up = |home: &Home| set_up_claude(home, &home.workspace());
    let print = print_after(release, &[PILLION, "run"]);
    super::hears_why_changes_are_rejected(&Scene::new(set_up), MODES.len(), &print);
    super::makes_accepted_changes(&Scene::new(set_up), MODES.len(), &print);
    super::hears_why_changes_are_rejected(&Scene::new(set_up_in_vain), MODES.len(), &print);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_without_a_terminal_makes_the_changes_that_are_accepted() {
    is_run_to_print(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_that_is_run_without_a_terminal_makes_the_changes_that_are_accepted() {
    is_run_to_print(ClaudeRelease::Node);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_makes_the_changes_that_its_hook_allows() {
    let print = print(ClaudeRelease::Native);
    super::makes_accepted_changes(&Scene::new(set_up), MODES.len(), print);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_without_a_terminal_makes_the_changes_that_its_hook_allows() {
    let print = print(ClaudeRelease::Node);
    super::makes_accepted_changes(&Scene::new(set_up), MODES.len(), print);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_hears_why_its_changes_are_rejected() {
    let print = print(ClaudeRelease::Native);
    super::hears_why_changes_are_rejected(&Scene::new(set_up), MODES.len(), print);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_without_a_terminal_hears_why_its_changes_are_rejected() {
    let print = print(ClaudeRelease::Node);
    super::hears_why_changes_are_rejected(&Scene::new(set_up), MODES.len(), print);
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_without_a_terminal_is_refused_what_cannot_be_shown() {
    is_refused_what_cannot_be_shown(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_without_a_terminal_is_refused_what_cannot_be_shown() {
    is_refused_what_cannot_be_shown(ClaudeRelease::Node);
}

/// An edit that leads from the text that is there now is made. A whole file is not, because it has not read that.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_without_a_terminal_writes_over_a_newer_text_what_was_accepted() {
    let scene = Scene::new(set_up);
    let print = print(ClaudeRelease::Native);
    super::writes_over_a_newer_text(&scene, super::edit, |scene| print(scene, 0));
    let told = "Claude Code writes over no file that has changed";
    super::writes_over_no_newer_text(&scene, super::whole, |scene| print(scene, 1), told);
}

/// It refuses the edit, too.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_without_a_terminal_writes_over_no_newer_text() {
    let scene = Scene::new(set_up);
    let print = print(ClaudeRelease::Node);
    let told = "File content has changed since it was last read";
    super::writes_over_no_newer_text(&scene, super::edit, |scene| print(scene, 0), told);
}

/// Files in UTF-16, by an edit and as a whole: it asks about them itself, and here has nobody to ask.
fn is_refused_what_cannot_be_shown(release: ClaudeRelease) {
    let utf16 = ENCODINGS.into_iter();
    let utf16 = utf16.filter(|(kind, _)| kind.starts_with("utf16"));
    for (number, (kind, encode)) in utf16.enumerate() {
        let scene = Scene::new(set_up);
        let file = scene.home.file(&format!("{kind}.txt"), encode(BEFORE));
        let read = || Turn::read_file(&file);
        scene.script([read(), super::edit(&file), read(), super::whole(&file)]);
        ended(print(release)(&scene, number)).expect_done(kind);
        scene.wait_told_times("is not in UTF-8", 2);
        assert_bytes(&file, &encode(BEFORE));
        companion::wait_none_pending(&scene.home);
    }
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_without_a_terminal_writes_large_files_that_its_hook_allows() {
    writes_large_files(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_without_a_terminal_writes_large_files_that_its_hook_allows() {
    writes_large_files(ClaudeRelease::Node);
}

/// Of more than a megabyte: as proposed, after an edit, and not at all.
fn writes_large_files(release: ClaudeRelease) {
    let scene = Scene::new(set_up);
    let rest = "a line that is there once more\n".repeat(60_000);
    let before = format!("{BEFORE}{rest}");
    let edited = before.replace("two", "dos");
    let decisions = [
        (Decision::Accept, before.replace("two", "zwei")),
        (Decision::Edit(edited.as_bytes()), edited.clone()),
        (Decision::Reject("too large"), before.clone()),
    ];
    let files = ["accepted", "edited", "rejected"]
        .map(|name| scene.home.file(&format!("{name}.txt"), &before));
    scene.script(files.iter().flat_map(|file| {
        let head = Turn::CallTool {
            name: "Read",
            input: json!({"file_path": file, "limit": 10}),
        };
        [head, super::edit(file)]
    }));
    let claude = print(release)(&scene, 0);
    for (file, (decision, _)) in files.iter().zip(&decisions) {
        scene.decide(file, decision);
    }
    ended(claude).expect_done("large");
    for (file, (_, after)) in files.iter().zip(&decisions) {
        let is_right = fs::read_to_string(file).is_ok_and(|text| text == *after);
        assert!(is_right, "{}", file.display());
    }
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_without_a_terminal_changes_the_cells_that_its_hook_allows() {
    changes_cells(ClaudeRelease::Native);
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_on_node_without_a_terminal_changes_the_cells_that_its_hook_allows() {
    changes_cells(ClaudeRelease::Node);
}

fn changes_cells(release: ClaudeRelease) {
    let scene = Scene::new(set_up);
    let print = |scene: &Scene| print(release)(scene, 0);
    super::changes_cells(&scene, "NotebookEdit", |_| None, print);
}
