//! Codex CLI asks what the editor shows, once the person has typed `/ide`.

use pillion_testkit::{
    Codex, CodexModel, CodexRelease, CodexStart, Home, Model, ModelRequest, Tmux, Turn,
};

use crate::companion::{SOON, run};
use crate::review::Review;

#[test]
#[ignore = "needs the real agents and Codex CLI: cargo xtask test"]
fn codex_reads_what_is_selected() {
    for release in CodexRelease::ALL {
        reads_what_is_selected(release);
    }
}

fn reads_what_is_selected(release: CodexRelease) {
    let (home, tmux, model) = (Home::new(), Tmux::start(), Model::start());
    let start = CodexStart {
        release,
        model: CodexModel::Direct,
        sandbox: "read-only",
        hooks: Vec::new(),
    };
    let file = home.file("looked-at.txt", "one\ntwo\nthree\n");
    let codex = Codex::start(&tmux, &home, &model, &start);
    let _review = Review::start(&tmux, &home);
    let ask = |prompt: &str| {
        model.clear();
        let answer = format!("I heard {prompt}");
        model.script([Turn::say(&answer)]);
        codex.prompt(prompt);
        codex.wait_for(&answer);
        let is_it = |request: &ModelRequest| request.is_main && request.mentions(prompt);
        model.wait_for(&format!("with {prompt:?}"), SOON, is_it)
    };
    assert!(!ask("without it").mentions("looked-at.txt"));
    run(&home, ["focus", &format!("{}:2-2", file.display())]);
    let socket = Codex::folder(&home).join("ipc/ipc.sock");
    crate::companion::wait_until("a socket", || socket.exists().then_some(()));
    codex.prompt("/ide");
    codex.wait_for("IDE context is on");
    let told = ask("with it");
    for part in [
        "## Active file: looked-at.txt",
        "## Active selection of the file:\ntwo",
        "- looked-at.txt: looked-at.txt",
    ] {
        assert!(told.mentions(part), "{part}: {:#}", told.body["input"]);
    }
}
