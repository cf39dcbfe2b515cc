//! The changes that hooks of the real Claude Code show, decided in Neovim: a command hook without a terminal, and hooks that
//! `pillion run` has it ask over its connection.

use std::process::{Command, Stdio};

use pillion_testkit::{ClaudeNpm, HEADLESS_PROMPT, each_claude_in_neovim};

use super::*;
use crate::shared_encodings::{ENCODINGS, assert_bytes};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A notebook of one cell.
fn notebook(source: &str) -> String {
    let cells = json!([{
        "cell_type": "code", "execution_count": null, "id": "a1", "metadata": {}, "outputs": [], "source": [source],
    }]);
    json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string()
}

/// A Neovim in a home in which the hook is installed.
fn neovim(release: ClaudeRelease, version: NvimVersion, tmux: &Tmux, home: &Home) -> Nvim {
    set_up_claude(home, &home.workspace());
    let installed = Command::new(PILLION)
        .args(["hook", "install", "claude"])
        .env_clear()
        .envs(home.env().iter())
        .current_dir(home.workspace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(installed.status.success(), "{release:?}: {installed:?}");
    let setup = setup(version, home).arg(home.file(FILE, LINES));
    let nvim = setup.pillion(PILLION).in_tmux(tmux, SIZE);
    nvim.wait_until(
        "Pillion running",
        "require('pillion.client').state.port ~= nil",
    );
    nvim
}

/// Waits until the person is in the view of the file, and has seen it.
fn wait_view(nvim: &Nvim, name: &str) {
    let is_there = format!(
        "#require('pillion.diff').list() == 1 and vim.b.pillion_diff ~= nil and vim.fn.expand('%:t'):find('{name}', 1, true) ~= nil"
    );
    nvim.wait_until(&format!("the proposal for {name} in focus"), &is_there);
    look(nvim);
}

fn wait_no_view(nvim: &Nvim) {
    nvim.wait_until("no pending diff", "#require('pillion.diff').list() == 0");
}

/// The agent writes it when it was told.
fn wait_written(file: &std::path::Path, expected: &[u8]) {
    let started = std::time::Instant::now();
    while fs::read(file).unwrap() != expected && started.elapsed() < SOON {
        pillion_testkit::pause(started);
    }
    assert_bytes(file, expected);
}

/// Of two changes one is taken out, and the other edited, in each encoding; then one is rejected with a reason, one without,
/// and one is accepted as it is. All in one process, in a mode in which it asks nobody.
#[each_claude_in_neovim(all)]
fn what_its_command_hook_shows_is_written_as_it_stands_in_the_view(
    release: ClaudeRelease,
    version: NvimVersion,
) {
    let mode = match release {
        ClaudeRelease::Native => "auto",
        ClaudeRelease::Node => "acceptEdits",
    };
    let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
    let nvim = neovim(release, version, &tmux, &home);
    let encodings = ENCODINGS.into_iter();
    let encodings: Vec<_> = encodings
        .filter(|(kind, _)| !kind.starts_with("utf16"))
        .collect();
    let name = |kind: &str| format!("{kind}.txt");
    let file = |kind: &str| home.workspace().join(name(kind));
    let two = ("two\nthree\nfour", "TWO\nthree\nFOUR");
    for (kind, encode) in &encodings {
        home.file(&name(kind), encode(LINES));
        model.script([
            Turn::read_file(file(kind)),
            Turn::replace(file(kind), two.0, two.1),
        ]);
    }
    let new = home.workspace().join("new.txt");
    model.script([
        Turn::replace(file("lf"), "one", "eins"),
        Turn::replace(file("crlf"), "one", "eins"),
        Turn::write_file(&new, "new\n"),
        Turn::say("all is done"),
    ]);
    let env = release.env(home.env(), &model).with("IS_SANDBOX", "1");
    let claude = ClaudeNpm::from_env().bin(release).join("claude");
    let claude = Command::new(claude)
        .args(["-p", HEADLESS_PROMPT, "--permission-mode", mode])
        .env_clear()
        .envs(env.iter())
        .current_dir(home.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let edited = LINES.replace("four", "FOUR edited");
    for (kind, encode) in &encodings {
        wait_view(&nvim, &name(kind));
        nvim.input("gg:PillionNextHunk<CR>:PillionDropHunk<CR>");
        nvim.wait_until("the old line", "vim.fn.getline(2) == 'two'");
        nvim.input("4GA edited<Esc>");
        nvim.wait_until("the edited line", "vim.fn.getline(4) == 'FOUR edited'");
        nvim.input(":w<CR>");
        wait_no_view(&nvim);
        wait_written(&file(kind), &encode(&edited));
    }
    wait_view(&nvim, "lf.txt");
    nvim.input(":PillionReject in English, please<CR>");
    wait_no_view(&nvim);
    wait_view(&nvim, "crlf.txt");
    nvim.input(":q<CR>");
    wait_no_view(&nvim);
    wait_view(&nvim, "new.txt");
    nvim.input(":w<CR>");
    wait_no_view(&nvim);
    let printed = claude.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&printed.stdout);
    assert!(printed.contains("all is done"), "{printed}");
    let request = model.last_main().unwrap();
    assert_sent(&request, "and says: in English, please");
    let [(_, lf), (_, crlf), ..] = encodings[..] else {
        unreachable!("there are several");
    };
    assert_bytes(&file("lf"), &lf(&edited));
    assert_bytes(&file("crlf"), &crlf(&edited));
    assert_bytes(&new, b"new\n");
    nvim.assert_no_errors();
}

/// The newer release alone knows these hooks: a notebook's cell, and changes that it would make without asking.
#[test]
#[ignore = "needs the real agents, Claude Code and Neovim: cargo xtask test"]
fn what_the_hooks_of_one_that_is_run_ask_is_decided_in_neovim() {
    let (release, version) = (ClaudeRelease::Native, NvimVersion::V0_12);
    let scene = Scene::start(release, version, BEFORE, |_, tmux, home, model| {
        let mode = ["--permission-mode", "auto"];
        let command = [&[PILLION, "run", "--require", "claude"][..], &mode].concat();
        let env = release.env(home.env(), model);
        let size = Size::new(110, 45);
        let pane = tmux.spawn("agent", size, &env, &home.workspace(), &command);
        Claude::attach(release, pane)
    });
    let book = scene.home.file("n.ipynb", notebook("x = 1"));
    let source = || {
        let text = fs::read_to_string(&book).unwrap();
        let notebook: Value = serde_json::from_str(&text).unwrap();
        match &notebook["cells"][0]["source"] {
            Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
            text => text.as_str().unwrap().to_owned(),
        }
    };
    let propose = |source: &str, said: &str| {
        let input = json!({"notebook_path": book, "cell_id": "a1", "new_source": source});
        let name = "NotebookEdit";
        let edit = Turn::CallTool { name, input };
        let turns = [Turn::read_file(&book), edit, Turn::say(said)];
        scene.model.script(turns);
        scene.claude.prompt("change it");
        scene.wait_view();
    };
    propose("x = 2", "the first is done");
    scene.nvim.input("ggA + 1<Esc>:w<CR>");
    scene.claude.wait_for("the first is done");
    scene.wait_no_view();
    assert_eq!(source(), "x = 2 + 1");
    scene.claude.wait_ready();
    propose("x = 3", "the second is done");
    scene.nvim.input(":PillionReject one is enough<CR>");
    scene.claude.wait_for("the second is done");
    scene.wait_no_view();
    let request = scene.model.last_main().unwrap();
    assert_sent(&request, "and says: one is enough");
    assert_eq!(source(), "x = 2 + 1");
    scene.claude.wait_ready();
    propose("x = 4", "never said");
    scene.claude.pane().send_keys(["Escape"]);
    scene.wait_no_view();
    scene.claude.wait_ready();
    assert_eq!(source(), "x = 2 + 1");
    scene.model.clear();

    // What it would write without asking, but for its hooks.
    let propose = |word: &str, said: &str| {
        let change = Turn::replace(scene.path(), "two", word);
        scene.propose([Turn::read_file(scene.path()), change], said);
        scene.wait_view();
    };
    propose("rejected", "the third is done");
    scene.nvim.input(":PillionReject not this word<CR>");
    scene.claude.wait_for("the third is done");
    scene.wait_no_view();
    let request = scene.model.last_main().unwrap();
    assert_sent(&request, "and says: not this word");
    assert_eq!(scene.text(), BEFORE);
    scene.claude.wait_ready();
    propose("zwei", "the fourth is done");
    scene.nvim.input("2GA!<Esc>:w<CR>");
    scene.claude.wait_for("the fourth is done");
    scene.wait_no_view();
    assert_eq!(scene.text(), BEFORE.replace("two", "zwei!"));
    scene.nvim.assert_no_errors();
}
