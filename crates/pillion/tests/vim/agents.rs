//! Real agents in Vim's own terminal.

use std::fs;

use pillion_testkit::{
    Agent, AgentKind, Claude, ClaudeRelease, Home, Model, Size, Tmux, Turn, VimVersion,
    set_up_claude,
};

use crate::review::looked_at;
use crate::world::{PILLION, setup};

const BEFORE: &str = "one\ntwo\nthree\n";
const PROPOSED: &str = "one\nTWO\nthree\nfour\n";

fn check(kind: AgentKind, version: VimVersion) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let path = home.file("poem.txt", BEFORE);
    let mut setup = setup(version, &home)
        .arg(&path)
        .size(Size::new(240, 50))
        .vimrc("let g:pillion_terminal_split_width_percentage = 0.4");
    for (name, value) in kind.env(home.env(), &model).iter() {
        // Vim's own are in the setup.
        setup = setup.env(name, value);
    }
    let vim = setup.pillion(PILLION).in_tmux(&tmux);
    vim.wait_until("Pillion running", "pillion#Status().port isnot '?'");
    vim.input_until("2Gvee", "mode() == 'v' && line('.') == 3");
    vim.command(&format!(
        "Pillion run {} {}",
        kind.name(),
        kind.arguments().join(" ")
    ));
    let agent = Agent::attach(kind, vim.pane());
    vim.wait_until("the agent connected", "len(pillion#Status().agents) == 1");

    let told = agent.ask(&model, "look at the selection");
    assert!(told.contains("twothree"), "no selection in {told}");

    agent.propose(&model, &path, PROPOSED);
    // The person stays where they type, and sees the view beside it.
    vim.wait_until("a view beside it", "mode() == 't' && winnr('$') == 3");
    vim.input("<C-w>:PillionDiffs<CR>");
    vim.wait_until(
        "a proposal that was looked at",
        &format!("bufname() =~ '^pillion://' && {}", looked_at()),
    );
    vim.input("Gccvier<Esc>:w<CR>");
    agent.wait_accepted("poem.txt");
    vim.wait_until(
        "the buffer reloaded",
        "getbufline('poem.txt', 1, '$') == ['one', 'TWO', 'three', 'vier']",
    );
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        PROPOSED.replace("four", "vier")
    );
    vim.wait_until("no view", "tabpagenr('$') == 1");
    vim.assert_no_errors();
}

#[test]
#[ignore = "in --all: needs the real agents and Vim: cargo xtask test --all"]
fn gemini_in_a_terminal_of_vim_9_1() {
    check(AgentKind::Gemini, VimVersion::V9_1);
}

#[test]
#[ignore = "in --all: needs the real agents and Vim: cargo xtask test --all"]
fn qwen_in_a_terminal_of_vim_9_2() {
    check(AgentKind::Qwen, VimVersion::V9_2);
}

fn check_claude(release: ClaudeRelease, version: VimVersion) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    set_up_claude(&home, &home.workspace());
    let path = home.file("poem.txt", BEFORE.replace('\n', "\r\n"));
    let mut setup = setup(version, &home)
        .arg(&path)
        .size(Size::new(240, 50))
        .vimrc("let g:pillion_terminal_split_width_percentage = 0.4");
    for (name, value) in release.env(home.env(), &model).iter() {
        // Vim's own are in the setup.
        setup = setup.env(name, value);
    }
    let vim = setup.pillion(PILLION).in_tmux(&tmux);
    vim.wait_until("Pillion running", "pillion#Status().port isnot '?'");
    vim.input_until("2Gvee", "mode() == 'v' && line('.') == 3");
    // It shows its changes in the mode that the newer one starts in.
    vim.command(match release {
        ClaudeRelease::Native => "Pillion run claude",
        ClaudeRelease::Node => "Pillion run claude --permission-mode default",
    });
    let claude = Claude::attach(release, vim.pane());
    claude.wait_for("⧉ 2 lines selected");

    model.script([
        Turn::read_file(&path),
        Turn::replace(&path, "two", "TWO"),
        Turn::say("that is done"),
    ]);
    claude.prompt("change it");
    // The message about the file may cover the row with its keys.
    claude.wait_for("Do you want to make this edit to poem.txt?");
    vim.wait_until("a view beside it", "mode() == 't' && winnr('$') == 3");
    vim.input("<C-w>:PillionDiffs<CR>");
    vim.wait_until(
        "a proposal that was looked at",
        &format!("bufname() =~ '^pillion://' && {}", looked_at()),
    );
    vim.input("Gccdrei<Esc>:w<CR>");
    claude.wait_for("that is done");
    assert_eq!(fs::read_to_string(path).unwrap(), "one\r\nTWO\r\ndrei\r\n");
    vim.wait_until(
        "the buffer reloaded",
        "getbufline('poem.txt', 1, '$') == ['one', 'TWO', 'drei']",
    );
    vim.wait_until("no view", "tabpagenr('$') == 1");
    vim.assert_no_errors();
}

#[test]
#[ignore = "needs the real agents, Claude Code and Vim: cargo xtask test"]
fn claude_in_a_terminal_of_vim_9_2() {
    check_claude(ClaudeRelease::Native, VimVersion::V9_2);
}

#[test]
#[ignore = "in --all: needs the real agents, Claude Code and Vim: cargo xtask test --all"]
fn claude_on_node_in_a_terminal_of_vim_9_1() {
    check_claude(ClaudeRelease::Node, VimVersion::V9_1);
}
