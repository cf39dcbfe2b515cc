//! A real VS Code: code-server, with its page in a browser.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pillion_testkit::{SOON, VsCode, VsCodeSetup, pause};
use serde_json::Value;

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
        .setting("editor.quickSuggestions", "off")
        .start();
    vscode.tab().wait_text(".statusbar-item", "no agent");
    vscode
}

/// Accepts as a person who is told to look first, and does it again.
fn accept(vscode: &VsCode, mut diff: std::process::Child) -> Value {
    let started = Instant::now();
    while diff.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < SOON, "{:?}", vscode.status());
        vscode.tab().press("Control+s");
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_millis(1200) && diff.try_wait().unwrap().is_none()
        {
            pause(pressed);
        }
    }
    answer(diff)
}

#[test]
#[ignore = "needs VS Code, the browser: cargo xtask test"]
fn a_proposal_is_edited_accepted_and_rejected_and_saving_decides_nothing() {
    let sandbox = Sandbox::new();
    sandbox.home.file("a.txt", "one\n");
    let vscode = start(&sandbox);
    let tab = vscode.tab();
    let mut diff = propose(&sandbox, "a.txt", "one\ntwo   \n");
    tab.wait_text(RIGHT, "two");
    tab.click(&format!("{RIGHT} >> nth=0"));
    tab.press("Control+Home");
    tab.type_text("mine ");
    vscode.command("File: Save All");
    vscode.command("File: Save");
    tab.wait_text(".statusbar-item", "Saving decides nothing");
    assert!(diff.try_wait().unwrap().is_none());
    tab.click(&format!("{RIGHT} >> nth=0"));
    assert_eq!(accept(&vscode, diff)["content"], "mine one\ntwo   \n");
    tab.wait_gone(".monaco-diff-editor");

    diff = propose(&sandbox, "a.txt", "three\n");
    tab.wait_text(RIGHT, "three");
    tab.click(".tab.active .tab-actions a.action-label");
    assert_eq!(answer(diff)["outcome"], "rejected");
    assert_eq!(
        fs::read_to_string(sandbox.home.workspace().join("a.txt")).unwrap(),
        "one\n"
    );
}
