//! The harness itself: VS Code starts with an extension, obeys, and shows what it should.

use std::fs;

use pillion_testkit::{Home, VsCodeSetup};

const MANIFEST: &str = r#"{
    "name": "test", "publisher": "pillion-test", "version": "1.2.3", "main": "./main.js",
    "engines": { "vscode": "^1.90.0" }, "activationEvents": ["onStartupFinished"],
    "contributes": { "commands": [{ "command": "test.greet", "title": "Greet the Person" }] }
}"#;

const MAIN: &str = r"
const vscode = require('vscode');
exports.activate = () => {
    const item = vscode.window.createStatusBarItem();
    item.text = `${process.env.GREETING} from ${vscode.workspace.workspaceFolders[0].name}`;
    item.show();
    vscode.commands.registerCommand('test.greet', () => { item.text = 'greeted'; });
};
";

#[test]
#[ignore = "needs VS Code, the browser: cargo xtask test"]
fn vscode_shows_an_extension_and_does_what_it_is_told() {
    let home = Home::new();
    home.file("notes.txt", "first\n");
    let sources = home.other_workspace("extension");
    fs::write(sources.join("package.json"), MANIFEST).expect("the folder is ours");
    fs::write(sources.join("main.js"), MAIN).expect("the folder is ours");
    let vscode = VsCodeSetup::new(&home)
        .extension(&sources)
        .setting("files.autoSave", "off")
        .env("GREETING", "hello")
        .start();
    let tab = vscode.tab();
    tab.wait_text(".statusbar-item", "hello from project");
    vscode.command("Greet the Person");
    tab.wait_text(".statusbar-item", "greeted");

    vscode.open("notes.txt");
    tab.wait_text(".view-line", "first");
    tab.press("Control+End");
    tab.type_text("second");
    tab.wait_text(".view-line", "second");
    vscode.command("File: Save");
    tab.wait_gone(".tab.active.dirty");
    let text = fs::read_to_string(home.workspace().join("notes.txt")).expect("it is there");
    assert_eq!(text, "first\nsecond");

    vscode.command("Terminal: Create New Terminal");
    tab.wait_for(".terminal.xterm.focus");
    tab.type_text("echo $((40 + 2)) > answer.txt\n");
    let answer = home.workspace().join("answer.txt");
    let started = std::time::Instant::now();
    while fs::read_to_string(&answer).unwrap_or_default() != "42\n" {
        assert!(
            started.elapsed() < pillion_testkit::SOON,
            "{:?}",
            vscode.status()
        );
        pillion_testkit::pause(started);
    }
}
