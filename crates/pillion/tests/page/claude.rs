//! The real Claude Code proposes, and writes what was accepted in the page.

use std::fs;

use pillion_testkit::{Claude, ClaudeRelease, ClaudeStart, Model, Turn, set_up_claude};

use crate::world::{Web, key, shows};

#[test]
#[ignore = "needs the real agents, Claude Code, the browser: cargo xtask test"]
fn claude_writes_what_was_edited_and_accepted_in_the_page() {
    let web = Web::start();
    let home = web.home();
    let folder = home.workspace();
    set_up_claude(home, &folder);
    let path = home.file("a.txt", "one\r\ntwo\r\nthree\r\n");
    let model = Model::start();
    let how = ClaudeStart {
        arguments: &["--ide"],
        ..ClaudeStart::default()
    };
    let claude = Claude::start_with(
        ClaudeRelease::Native,
        &web.tmux,
        home,
        &model,
        &folder,
        &how,
    );
    web.tab.wait_text("#agents", "Claude Code");
    model.script([Turn::read_file(&path), Turn::replace(&path, "two", "2")]);
    model.script([Turn::say("it is done")]);
    claude.prompt("change it");
    shows(&web.tab, "a.txt");
    claude.wait_question();
    web.tab.click(".strip >> text=Edit");
    web.tab.fill(".writing textarea", "zwei\n");
    web.tab.press("Control+Enter");
    web.tab.wait_text(".code.ins", "zwei");
    web.decide(key("a"));
    claude.wait_for("it is done");
    assert_eq!(fs::read(&path).unwrap(), b"one\r\nzwei\r\nthree\r\n");
}
