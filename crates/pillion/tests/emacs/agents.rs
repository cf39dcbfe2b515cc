//! A real agent in Emacs's own terminal.

use std::fs;

use pillion_testkit::{Agent, AgentKind, EmacsVersion, Home, Model, SOON, Size, Tmux, Turn};

use crate::world::{PILLION, setup};

const BEFORE: &str = "one\ntwo\nthree\n";
const PROPOSED: &str = "one\nTWO\nthree\nfour\n";

fn check(kind: AgentKind, version: EmacsVersion) {
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let path = home.file("poem.txt", BEFORE);
    let arguments: Vec<String> = kind
        .arguments()
        .iter()
        .map(|it| format!("{it:?}"))
        .collect();
    let mut setup = setup(version, &home)
        .arg(&path)
        .size(Size::new(240, 50))
        .init(&format!(
            "(setq pillion-agents '((\"{0}\" \"{0}\" {1})))",
            kind.name(),
            arguments.join(" ")
        ));
    for (name, value) in kind.env(home.env(), &model).iter() {
        // Emacs's own are in the setup.
        setup = setup.env(name, value);
    }
    let emacs = setup.pillion(PILLION).in_tmux(&tmux);
    emacs.wait_until("Pillion running", "(pillion-client-get :port)");
    emacs.input_until(
        "<C-n><C-SPC><C-e><C-n>",
        "(and mark-active (= (- (point) (mark)) 7))",
    );
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
    // The person stays where they type, and sees the view beside it.
    emacs.wait_until(
        "a view beside it",
        "(and (eq major-mode 'term-mode) (get-buffer-window \"*Proposal: poem.txt*\"))",
    );
    emacs.input("<C-c><M-x>pillion-diffs<RET>");
    emacs.wait_until(
        "a proposal that was looked at",
        "(and (equal (buffer-name) \"*Proposal: poem.txt*\") (pillion-diff-ready-p))",
    );
    emacs.input("<M-gt><DEL><DEL><DEL><DEL><DEL>vier<RET><C-c><C-c>");
    emacs.wait_until(
        "the buffer reverted",
        "(equal (with-current-buffer \"poem.txt\" (buffer-string)) \"one\\nTWO\\nthree\\nvier\\n\")",
    );
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        PROPOSED.replace("four", "vier")
    );
    emacs.wait_until("no view", "(not (get-buffer \"*Proposal: poem.txt*\"))");
    emacs.assert_no_errors();
}

#[test]
#[ignore = "needs the real agents and Emacs: cargo xtask test"]
fn gemini_in_a_terminal_of_emacs_28() {
    check(AgentKind::Gemini, EmacsVersion::V28);
}

#[test]
#[ignore = "needs the real agents and Emacs: cargo xtask test"]
fn gemini_in_a_terminal_of_emacs_30() {
    check(AgentKind::Gemini, EmacsVersion::V30);
}
