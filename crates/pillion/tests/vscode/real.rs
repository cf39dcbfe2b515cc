//! A real VS Code: code-server, with its page in a browser.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pillion_testkit::{
    Claude, ClaudeRelease, Model, SOON, Size, Tmux, Turn, VsCode, VsCodeSetup, pause, set_up_claude,
};

use crate::sandbox::Sandbox;
use crate::stand_in::{answer, propose};

const RIGHT: &str = ".monaco-diff-editor .editor.modified .view-line";

fn start(sandbox: &Sandbox) -> VsCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode");
    let vscode = VsCodeSetup::new(&sandbox.home)
        .extension(&root)
        .setting("pillion.path", env!("CARGO_BIN_EXE_pillion"))
        .setting("files.trimTrailingWhitespace", true)
        .setting("editor.formatOnSave", true)
        .start();
    vscode.tab().wait_text(".statusbar-item", "no agent");
    vscode
}

/// Types at the beginning of the proposal that is shown.
fn type_in(vscode: &VsCode, text: &str) {
    let tab = vscode.tab();
    tab.click(&format!("{RIGHT} >> nth=0"));
    tab.press("Control+Home");
    tab.type_text(text);
    tab.wait_text(RIGHT, text.trim());
}

/// Saves until VS Code has asked the extension: it does not while another save is under way.
fn save(vscode: &VsCode) {
    let started = Instant::now();
    let is_said = || {
        let status = vscode.status();
        status
            .iter()
            .any(|it| it.contains("Saving decides nothing"))
    };
    while !is_said() {
        assert!(started.elapsed() < SOON, "{:?}", vscode.status());
        vscode.tab().click(&format!("{RIGHT} >> nth=0"));
        vscode.command("File: Save");
        let saved = Instant::now();
        while saved.elapsed() < Duration::from_secs(5) && !is_said() {
            pause(saved);
        }
    }
}

/// Accepts as a person who is told to look first, and does it again.
fn accept(vscode: &VsCode) {
    let started = Instant::now();
    while vscode.tab().count(".monaco-diff-editor") > 0 {
        assert!(started.elapsed() < SOON, "{:?}", vscode.status());
        vscode.tab().press("Control+s");
        let pressed = Instant::now();
        // A key that is held down comes faster.
        while pressed.elapsed() < Duration::from_millis(1200)
            && vscode.tab().count(".monaco-diff-editor") > 0
        {
            pause(pressed);
        }
    }
}

#[test]
#[ignore = "needs VS Code, the browser: cargo xtask test"]
fn a_proposal_is_edited_accepted_and_rejected_and_saving_decides_nothing() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("a.txt", "one\n");
    let vscode = start(&sandbox);
    let tab = vscode.tab();
    let mut diff = propose(&sandbox, "a.txt", "one\ntwo\u{2028}   \n");
    tab.wait_text(RIGHT, "two");
    tab.wait_text(".statusbar-item", "1 to review");
    type_in(&vscode, "mine ");
    vscode.command("File: Save All Files");
    save(&vscode);
    assert!(diff.try_wait().unwrap().is_none());
    tab.click(&format!("{RIGHT} >> nth=0"));
    accept(&vscode);
    assert_eq!(answer(diff)["content"], "mine one\ntwo\u{2028}   \n");

    diff = propose(&sandbox, "a.txt", "three\n");
    tab.wait_text(RIGHT, "three");
    type_in(&vscode, "mine ");
    tab.wait_gone(".tab.active.dirty");
    tab.click(".tab.active .tab-actions a.action-label");
    assert_eq!(answer(diff)["outcome"], "rejected");
    tab.wait_text(".notification-toast", "What you had made of a.txt is kept");
    assert_eq!(fs::read_to_string(file).unwrap(), "one\n");
}

#[test]
#[ignore = "in --all: on a busy machine the window takes minutes; needs VS Code, the browser: cargo xtask test --all"]
fn a_proposal_comes_again_after_a_reload_of_the_window() {
    let sandbox = Sandbox::new();
    sandbox.home.file("a.txt", "one\n");
    let vscode = start(&sandbox);
    let tab = vscode.tab();
    let mut diff = propose(&sandbox, "a.txt", "two\n");
    tab.wait_text(RIGHT, "two");
    type_in(&vscode, "mine ");
    vscode.command("Developer: Reload Window");
    tab.wait_text(".notification-toast", "You had changed an earlier proposal");
    assert!(diff.try_wait().unwrap().is_none());
    tab.click(".notification-toast a.monaco-button");
    tab.wait_text(RIGHT, "mine two");
    tab.click(&format!("{RIGHT} >> nth=0"));
    accept(&vscode);
    assert_eq!(answer(diff)["content"], "mine two\n");
}

#[test]
#[ignore = "needs VS Code, the browser, Claude Code and tmux: cargo xtask test"]
fn claude_code_writes_what_the_person_made_of_its_proposal() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.file("poem.txt", "one\r\ntwo\r\n");
    let vscode = start(&sandbox);
    let (tmux, model) = (Tmux::start(), Model::start());
    let folder = sandbox.home.workspace();
    set_up_claude(&sandbox.home, &folder);
    let release = ClaudeRelease::Native;
    let env = release.env(sandbox.home.env(), &model);
    let command = [
        env!("CARGO_BIN_EXE_pillion"),
        "run",
        "--require",
        "claude",
        "--permission-mode",
        "default",
    ];
    let pane = tmux.spawn("agent", Size::new(110, 45), &env, &folder, &command);
    let claude = Claude::attach(release, pane);
    vscode.tab().wait_text(".statusbar-item", "Claude Code");
    claude.wait_ready();
    model.script([
        Turn::read_file(&file),
        Turn::replace(&file, "two", "TWO"),
        Turn::say("that is done"),
    ]);
    claude.prompt("change it");
    vscode.tab().wait_text(RIGHT, "TWO");
    type_in(&vscode, "mine ");
    accept(&vscode);
    claude.wait_for("that is done");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine one\r\nTWO\r\n");
}
