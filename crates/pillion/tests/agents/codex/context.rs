//! Codex CLI asks what the editor shows, once the person has typed `/ide`.

use pillion_testkit::{
    Codex, CodexModel, CodexRelease, CodexStart, Home, Model, ModelRequest, Tmux, Turn, each_codex,
};

use crate::companion::{SOON, run};
use crate::review::Review;

#[each_codex]
fn codex_reads_what_is_selected(release: CodexRelease) {
    let home = Home::new();
    let socket = Codex::folder(&home).join("ipc/ipc.sock");
    let command = ["codex".to_owned(), BYPASS.to_owned()];
    reads_what_is_selected(release, &home, &command, &socket);
}

/// Nothing that the hub knows of leads to its directory, so it asks in the temporary one.
#[each_codex(all)]
fn codex_with_a_directory_that_nobody_knows_reads_what_is_selected(release: CodexRelease) {
    let home = Home::new();
    let uid = rustix::process::geteuid().as_raw();
    let name = format!("codex-ipc/ipc-{uid}.sock");
    let socket = home.tmp().join(name);
    let start = format!("exec codex {BYPASS}");
    reads_what_is_selected(release, &home, &with_directory(&home, &start), &socket);
}

/// The program that starts it tells the hub where it will ask, also where the temporary directory is another.
#[test]
#[ignore = "in --all: needs the real agents and Codex CLI: cargo xtask test --all"]
fn codex_that_pillion_has_started_reads_what_is_selected() {
    let home = Home::new();
    let socket = home.root().join("another/ipc/ipc.sock");
    let pillion = env!("CARGO_BIN_EXE_pillion");
    let tmp = home.root().join("tmp-of-codex");
    std::fs::create_dir(&tmp).expect("the folder is ours");
    let tmp = tmp.display();
    let start = format!("exec env TMPDIR='{tmp}' {pillion} run codex {BYPASS}");
    let command = with_directory(&home, &start);
    reads_what_is_selected(CodexRelease::V0_171, &home, &command, &socket);
}

const BYPASS: &str = "--dangerously-bypass-hook-trust";

/// Starts it by this line of a shell, with its settings in another directory, once a review is there.
fn with_directory(home: &Home, start: &str) -> [String; 3] {
    let folder = home.root().join("another");
    let folder = folder.display();
    let line = format!("cp -r ~/.codex '{folder}' && export CODEX_HOME='{folder}' && {start}");
    ["sh".to_owned(), "-c".to_owned(), line]
}

fn reads_what_is_selected(
    release: CodexRelease,
    home: &Home,
    command: &[String],
    socket: &std::path::Path,
) {
    let (tmux, model) = (Tmux::start(), Model::start());
    let start = CodexStart {
        release,
        model: CodexModel::Direct,
        sandbox: "read-only",
        hooks: Vec::new(),
    };
    let file = home.file("looked-at.txt", "one\ntwo\nthree\n");
    let _review = Review::start(&tmux, home);
    let codex = Codex::start_by(&tmux, home, &model, &start, command);
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
    run(home, ["focus", &format!("{}:2-2", file.display())]);
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
