//! Real agents in Emacs's own terminal.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_testkit::{
    Agent, AgentKind, Claude, ClaudeRelease, Emacs, EmacsVersion, Env, Home, Model, SOON, Size,
    Tmux, Turn, set_up_claude,
};

use crate::world::{PILLION, setup};

const BEFORE: &str = "one\ntwo\nthree\n";
const PROPOSED: &str = "one\nTWO\nthree\nfour\n";

/// Emacs with this file open and its second and third line selected. Agents that it starts get `env`.
fn start(version: EmacsVersion, home: &Home, tmux: &Tmux, path: &Path, env: &Env) -> Emacs {
    let mut setup = setup(version, home).arg(path).size(Size::new(240, 50));
    for (name, value) in env.iter() {
        // Emacs's own are in the setup.
        setup = setup.env(name, value);
    }
    let emacs = setup
        .pillion(PILLION)
        .init("(setq pillion-agents '((\"gemini\" \"gemini\") (\"qwen\" \"qwen\" \"--approval-mode\" \"default\") (\"claude\" \"claude\")))")
        .in_tmux(tmux);
    emacs.wait_until("Pillion running", "(pillion-client-get :port)");
    emacs.input_until(
        "<C-n><C-SPC><C-e><C-n>",
        "(and mark-active (= (- (point) (mark)) 7))",
    );
    emacs
}

/// The person, who typed in the terminal, goes to the view beside it, types something else for what stands
/// last in the proposal, and accepts.
fn accept_with(emacs: &Emacs, keys: &str) {
    emacs.wait_until(
        "a view beside it",
        "(and (eq major-mode 'term-mode) (get-buffer-window \"*Proposal: poem.txt*\"))",
    );
    emacs.input("<C-c><M-x>pillion-diffs<RET>");
    emacs.wait_until(
        "the proposal",
        "(equal (buffer-name) \"*Proposal: poem.txt*\")",
    );
    emacs.wait_looked();
    emacs.input(&format!("<M-gt>{keys}<RET><C-c><C-c>"));
}

/// The person's buffer shows what the agent wrote, and no view is left.
fn is_shown(emacs: &Emacs, text: &str) {
    let is_reverted =
        format!("(equal (with-current-buffer \"poem.txt\" (buffer-string)) {text:?})");
    emacs.wait_until("the buffer reverted", &is_reverted);
    emacs.wait_until("no view", "(not (get-buffer \"*Proposal: poem.txt*\"))");
    emacs.assert_no_errors();
}

fn check(kind: AgentKind, version: EmacsVersion) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let path = home.file("poem.txt", BEFORE);
    let emacs = start(version, &home, &tmux, &path, &kind.env(home.env(), &model));
    emacs.input(&format!("<M-x>pillion-run<RET>{}<RET>", kind.name()));
    let agent = Agent::attach(kind, emacs.pane());
    emacs.wait_until(
        "the agent connected",
        "(= (length (pillion-client-get :agents)) 1)",
    );

    model.script([
        Turn::read_file(path.clone()),
        Turn::write_file(path.clone(), PROPOSED),
        Turn::say("that is done"),
    ]);
    // Once: `term` draws the agent's box too badly to wait for it a second time.
    agent.prompt("change it");
    let asked = model.wait_for("with the prompt", SOON, |request| {
        request.is_main && request.mentions("change it")
    });
    let told = asked.newest_message();
    assert!(told.contains("two") && told.contains("thr"), "{told}");
    accept_with(&emacs, "<DEL><DEL><DEL><DEL><DEL>vier");
    is_shown(&emacs, "one\nTWO\nthree\nvier\n");
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        PROPOSED.replace("four", "vier")
    );
}

#[test]
#[ignore = "in --all: needs the real agents and Emacs: cargo xtask test --all"]
fn gemini_in_a_terminal_of_emacs_30_1() {
    check(AgentKind::Gemini, EmacsVersion::V30_1);
}

#[test]
#[ignore = "in --all: needs the real agents and Emacs: cargo xtask test --all"]
fn gemini_in_a_terminal_of_emacs_30_2() {
    check(AgentKind::Gemini, EmacsVersion::V30_2);
}

#[test]
#[ignore = "in --all: needs the real agents and Emacs: cargo xtask test --all"]
fn qwen_in_a_terminal_of_emacs_30_2() {
    check(AgentKind::Qwen, EmacsVersion::V30_2);
}

/// Claude Code, started by `begin`.
fn check_claude(release: ClaudeRelease, version: EmacsVersion, begin: impl FnOnce(&Emacs)) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    set_up_claude(&home, &home.workspace());
    let path: PathBuf = home.file("poem.txt", BEFORE.replace('\n', "\r\n"));
    let env = release.env(home.env(), &model);
    let emacs = start(version, &home, &tmux, &path, &env);
    begin(&emacs);
    let claude = Claude::attach(release, emacs.pane());
    claude.wait_for("⧉ 2 lines selected");

    model.script([
        Turn::read_file(&path),
        Turn::replace(&path, "two", "TWO"),
        Turn::say("that is done"),
    ]);
    // A word: `term` draws blanks too badly to look for two.
    claude.prompt("change");
    accept_with(&emacs, "<DEL><DEL><DEL><DEL><DEL><DEL>drei");
    is_shown(&emacs, "one\nTWO\ndrei\n");
    assert_eq!(fs::read_to_string(path).unwrap(), "one\r\nTWO\r\ndrei\r\n");
}

#[test]
#[ignore = "needs the real agents, Claude Code and Emacs: cargo xtask test"]
fn claude_run_by_pillion_in_emacs_30_2() {
    check_claude(ClaudeRelease::Native, EmacsVersion::V30_2, |emacs| {
        emacs.input("<M-x>pillion-run<RET>claude<RET>");
    });
}

#[test]
#[ignore = "in --all: needs the real agents, Claude Code and Emacs: cargo xtask test --all"]
fn claude_on_node_in_a_shell_of_term_in_emacs_30_1() {
    check_claude(ClaudeRelease::Node, EmacsVersion::V30_1, |emacs| {
        emacs.input("<C-x>3<C-x>o<M-x>term<RET><RET>");
        emacs.wait_until(
            "a shell",
            "(and (eq major-mode 'term-mode) (string-match-p \"[$#] \" (buffer-string)))",
        );
        emacs.input("claude --permission-mode default<RET>");
    });
}
