//! A person in Helix, set up as `docs/editors.md` says, and Claude Code: the project's own client of its
//! protocol, and the real one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pillion_agent::claude::Answer;
use pillion_testkit::{
    Claude, ClaudeRelease, Env, Helix, Home, Model, ModelRequest, SOON, TestClaude, Tmux, Turn,
    lock_files,
};

const PAGE: &str = include_str!("../../../../docs/editors.md");

const BEFORE: &str = "one\ntwo\nthree\n";

/// Stands between the windows of Helix.
const SPLIT: &str = "│";

#[test]
#[ignore = "needs Helix: cargo xtask test"]
fn a_proposal_is_decided_by_a_code_action_and_by_a_key() {
    let home = Home::new();
    let path = home.file("poem.rs", BEFORE);
    let tmux = Tmux::start();
    let helix = start(&tmux, &home, &path);
    let mut claude = TestClaude::find(&home);
    let opened = path.to_str();
    claude.selection(|it| it.path.as_deref() == opened && it.text.is_empty());
    // Two whole lines.
    helix.keys("jx");
    helix.keys("x a");
    claude.selection(|it| it.path.as_deref() == opened && it.text.starts_with("two\nthree"));

    let call = claude.proposing(&path, "one\nTWO\nthree\n", "tab 1");
    helix.wait_for("TWO");
    helix.insert("o", "mine");
    accept(&helix, "poem.rs");
    let edited = "one\nTWO\nmine\nthree\n";
    assert_eq!(call.end(), Ok(Answer::Saved(edited.to_owned())));

    close(&helix);
    let call = claude.proposing(&path, "one\nDREI\n", "tab 2");
    helix.wait_for("DREI");
    reject(&helix, "poem.rs");
    assert_eq!(call.end(), Ok(Answer::Rejected));

    close(&helix);
    let call = claude.proposing(&path, "one\nVIER\n", "tab 3");
    helix.wait_for("VIER");
    // It does nothing for a second.
    let started = Instant::now();
    while call.is_pending(Duration::from_millis(500)) {
        assert!(started.elapsed() < SOON, "{}", helix.pane().screen());
        helix.keys(" A");
    }
    assert_eq!(call.end(), Ok(Answer::Saved("one\nVIER\n".to_owned())));

    close(&helix);
    let call = claude.proposing(&path, "one\nFUENF\n", "tab 4");
    helix.wait_for("FUENF");
    helix.command("bc");
    assert_eq!(call.end(), Ok(Answer::Rejected));
    assert_eq!(fs::read_to_string(&path).unwrap(), BEFORE);
}

/// It starts a server for the project, which is for the proposal alone.
#[test]
#[ignore = "needs Helix: cargo xtask test"]
fn a_proposal_is_decided_in_another_window_that_was_started_for_it() {
    let home = Home::new();
    let path = home.file("poem.rs", BEFORE);
    let tmux = Tmux::start();
    let helix = start(&tmux, &home, &path);
    let claude = TestClaude::find(&home);
    let companions = lock_files(&home);
    assert_eq!(companions.len(), 1, "{companions:?}");

    let call = claude.proposing(&path, "one\nTWO\nthree\n", "tab 1");
    helix.wait_for("TWO");
    let window = start(&tmux, &home, &proposal(&home));
    window.wait_for("TWO");
    window.insert("o", "mine");
    accept(&window, "poem.rs");
    let edited = "one\nTWO\nmine\nthree\n";
    assert_eq!(call.end(), Ok(Answer::Saved(edited.to_owned())));
    assert_eq!(lock_files(&home), companions);

    close(&helix);
    let call = claude.proposing(&path, "one\nDREI\n", "tab 2");
    helix.wait_for("DREI");
    window.command(&format!("o {}", proposal(&home).display()));
    window.wait_for("DREI");
    // What is closed there is still open here.
    window.command("bc!");
    window.pane().wait_gone("DREI", SOON);
    assert!(call.is_pending(Duration::from_secs(3)));
    reject(&helix, "poem.rs");
    assert_eq!(call.end(), Ok(Answer::Rejected));
    assert_eq!(lock_files(&home), companions);

    close(&helix);
    let call = claude.proposing(&path, "one\nVIER\n", "tab 3");
    helix.wait_for("VIER");
    window.command(&format!("o {}", proposal(&home).display()));
    window.wait_for("VIER");
    helix.command("qa!");
    window.wait_for("can no longer be decided");
    assert!(call.end().is_err() || fs::read_to_string(&path).unwrap() == BEFORE);
}

#[test]
#[ignore = "needs the real agents, Claude Code and Helix: cargo xtask test"]
fn the_real_claude_code_writes_what_is_accepted_in_helix() {
    let home = Home::new();
    let before = BEFORE.replace('\n', "\r\n");
    let path = home.file("poem.rs", &before);
    let (tmux, model) = (Tmux::start(), Model::start());
    let helix = start(&tmux, &home, &path);
    let folder = home.workspace();
    let claude = Claude::start(ClaudeRelease::Native, &tmux, &home, &model, &folder);
    claude.wait_for("⧉ In poem.rs");

    let new = folder.join("new.rs");
    propose(
        &claude,
        &model,
        [Turn::write_file(&new, "eins\nzwei")],
        "it is new",
    );
    helix.wait_for("zwei");
    accept(&helix, "new.rs");
    claude.wait_for("it is new");
    assert_eq!(fs::read_to_string(&new).unwrap(), "eins\nzwei");
    let told = |request: &ModelRequest| {
        let opened = format!("The user opened the file {} in the IDE", path.display());
        request.is_main && request.mentions(&opened)
    };
    model.wait_for("with the open file", SOON, told);
    close(&helix);

    let change = |line: &str| [Turn::read_file(&path), Turn::replace(&path, "two", line)];
    propose(&claude, &model, change("rejected"), "no");
    helix.wait_for("rejected");
    reject(&helix, "poem.rs");
    claude.wait_answered();
    claude.wait_ready();
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    model.clear();
    close(&helix);

    propose(&claude, &model, change("TWO"), "it is edited");
    helix.wait_for("TWO");
    helix.insert("o", "mine");
    accept(&helix, "poem.rs");
    claude.wait_for("it is edited");
    let edited = "one\r\nTWO\r\nmine\r\nthree\r\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
}

/// Helix with this file open, and `pillion` on PATH.
fn start(tmux: &Tmux, home: &Home, file: &Path) -> Helix {
    let section = PAGE.split("\n## ").find(|it| it.starts_with("Helix\n"));
    let mut blocks = section.expect("the page has it").split("```toml\n").skip(1);
    let mut block = || {
        let block = blocks.next().and_then(|rest| rest.split("```").next());
        block.expect("the page has two")
    };
    let settings = [block(), block()];
    let mut env: Env = home.env();
    env.prepend_path(
        PathBuf::from(env!("CARGO_BIN_EXE_pillion"))
            .parent()
            .unwrap(),
    );
    Helix::start(tmux, home, &env, settings, file)
}

/// The file of the one proposal that is pending.
fn proposal(home: &Home) -> PathBuf {
    let below = |folder: PathBuf| {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
    };
    let owners = below(home.runtime().join("pillion/proposals"));
    let mut folders = owners.flat_map(below);
    let folder = folders.next().expect("there is one");
    assert_eq!(folders.next(), None);
    folder.join("poem.proposed.rs")
}

/// Lets the model propose and then say something, and waits until Claude Code asks in its own window.
fn propose(claude: &Claude, model: &Model, turns: impl IntoIterator<Item = Turn>, said: &str) {
    model.script(turns);
    model.script([Turn::say(said)]);
    claude.prompt("change it");
    claude.wait_question();
}

fn accept(helix: &Helix, file: &str) {
    helix.choose(&format!("Accept {file} as shown (Claude Code)"), 0);
}

fn reject(helix: &Helix, file: &str) {
    helix.choose(&format!("Reject the change to {file} (Claude Code)"), 1);
}

/// Closes the proposal that was answered, and its split with it.
fn close(helix: &Helix) {
    helix.command("bc!");
    helix.pane().wait_gone(SPLIT, SOON);
}
