//! A person in Helix, set up as `docs/editors.md` says, and Claude Code: the project's own client of its
//! protocol, and the real one.

mod claude;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_testkit::client::claude::Answer;
use pillion_testkit::{
    Editors, Env, Helix, HelixVersion, Home, SOON, TestClaude, Tmux, each_helix, lock_files,
};
use pillion_view::LOOK;

const PAGE: &str = include_str!("../../../../docs/editors.md");

const BEFORE: &str = "one\ntwo\nthree\n";

/// Stands between the windows of Helix.
const SPLIT: &str = "│";

#[each_helix(smoke)]
fn a_proposal_is_decided_by_a_code_action_and_by_a_key(version: HelixVersion) {
    let home = Home::new();
    let path = home.file("poem.rs", BEFORE);
    let tmux = Tmux::start();
    let helix = start(version, &tmux, &home, &path, settings());
    let mut claude = TestClaude::find(&home);
    let opened = path.to_str();
    claude.selection(|it| it.path.as_deref() == opened && it.text.is_empty());
    // Two whole lines.
    helix.keys("jx");
    helix.keys("x a");
    claude.selection(|it| it.path.as_deref() == opened && it.text.starts_with("two\nthree"));

    let call = claude.proposing(&path, "one\nTWO\nthree\n", "tab 1");
    helix.wait_for("TWO");
    helix.keys("ggj");
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
    while !call.is_answered_within(Duration::from_millis(500)) {
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
#[each_helix]
fn a_proposal_is_decided_in_another_window_that_was_started_for_it(version: HelixVersion) {
    let home = Home::new();
    let path = home.file("poem.rs", BEFORE);
    let tmux = Tmux::start();
    let helix = start(version, &tmux, &home, &path, settings());
    let claude = TestClaude::find(&home);
    let companions = lock_files(&home);
    assert_eq!(companions.len(), 1, "{companions:?}");

    let call = claude.proposing(&path, "one\nTWO\nthree\n", "tab 1");
    helix.wait_for("TWO");
    let window = start(version, &tmux, &home, &proposal(&home), settings());
    // What Pillion says of it: by then it knows what Helix shows.
    window.wait_for("A Write by this release");
    window.insert("o", "mine");
    accept(&window, "poem.rs");
    // The cursor is in the first line.
    let edited = "one\nmine\nTWO\nthree\n";
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
    // Longer than one that is closed may be opened again: only time can tell that this does not reject.
    sleep(Duration::from_secs(3));
    assert_eq!(call.check_pending(&home, &path), Ok(()));
    reject(&helix, "poem.rs");
    assert_eq!(call.end(), Ok(Answer::Rejected));
    assert_eq!(lock_files(&home), companions);

    close(&helix);
    let call = claude.proposing(&path, "one\nVIER\n", "tab 3");
    helix.wait_for("VIER");
    window.command(&format!("o {}", proposal(&home).display()));
    window.wait_for("VIER");
    // By then its server shows it, too.
    window.wait_action(&accept_title("poem.rs"));
    helix.command("qa!");
    window.wait_for("can no longer be decided");
    assert!(call.end().is_err() || fs::read_to_string(&path).unwrap() == BEFORE);
}

/// Of a language that has no server of its own.
#[each_helix]
fn a_proposal_is_decided_in_a_language_that_only_pillion_install_configured(version: HelixVersion) {
    let home = Home::new();
    let path = home.file("poem.diff", BEFORE);
    let tmux = Tmux::start();
    let program = Editors::from_env().helix(version);
    let mut env: Env = home.env();
    env.prepend_path(program.parent().unwrap());
    let mut install = Command::new(env!("CARGO_BIN_EXE_pillion"));
    let install = install.args(["install", "helix"]).env_clear();
    assert!(install.envs(env.iter()).status().unwrap().success());
    let languages = home.home().join(".config/helix/languages.toml");
    let languages = fs::read_to_string(languages).unwrap();

    let servers = |home: &Home, language: &str| {
        let mut helix = Command::new(&program);
        let helix = helix.args(["--health", language]).env_clear();
        let output = helix.envs(home.env().iter()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // Debuggers are listed in the same way.
        let listed = text
            .split("language servers")
            .nth(1)
            .expect("it lists them");
        let lines = listed
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with("  "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let bare = Home::new();
    for language in ["python", "gjs", "rust", "css", "diff"] {
        let (before, after) = (servers(&bare, language), servers(&home, language));
        assert_eq!(after.len(), before.len() + 1, "{language}: {after:?}");
        assert_eq!(after[..before.len()], before);
        assert!(after[before.len()].contains("pillion"), "{after:?}");
    }

    let [_, config] = settings();
    let helix = start(version, &tmux, &home, &path, [&languages, config]);
    let claude = TestClaude::find(&home);
    let call = claude.proposing(&path, "one\nTWO\nthree\n", "tab 1");
    helix.wait_for("TWO");
    accept(&helix, "poem.diff");
    assert_eq!(
        call.end(),
        Ok(Answer::Saved("one\nTWO\nthree\n".to_owned()))
    );
}

#[each_helix]
fn cannot_reload_by_itself_what_an_agent_wrote(version: HelixVersion) {
    let home = Home::new();
    let path = home.file("poem.rs", BEFORE);
    let tmux = Tmux::start();
    let helix = start(version, &tmux, &home, &path, settings());
    let claude = TestClaude::find(&home);
    let written = "one\nTWO\nthree\n";
    let call = claude.proposing(&path, written, "tab 1");
    helix.wait_for("TWO");
    accept(&helix, "poem.rs");
    assert_eq!(call.end(), Ok(Answer::Saved(written.to_owned())));
    fs::write(&path, written).unwrap();
    close(&helix);
    // It has taken keys since.
    helix.keys("ge");
    helix.wait_for("3:1");
    helix.wait_for("two");
    helix.command("rl");
    helix.wait_for("TWO");
}

/// The person's `languages.toml` and `config.toml`.
fn settings() -> [&'static str; 2] {
    let section = PAGE.split("\n## ").find(|it| it.starts_with("Helix\n"));
    let mut blocks = section.expect("the page has it").split("```toml\n").skip(1);
    let mut block = || {
        let block = blocks.next().and_then(|rest| rest.split("```").next());
        block.expect("the page has two")
    };
    [block(), block()]
}

/// Helix with this file open, and `pillion` on PATH.
fn start(
    version: HelixVersion,
    tmux: &Tmux,
    home: &Home,
    file: &Path,
    settings: [&str; 2],
) -> Helix {
    let mut env: Env = home.env();
    env.prepend_path(
        PathBuf::from(env!("CARGO_BIN_EXE_pillion"))
            .parent()
            .unwrap(),
    );
    Helix::start(version, tmux, home, &env, settings, file)
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

fn accept(helix: &Helix, file: &str) {
    look();
    helix.choose(&accept_title(file), 0);
}

fn accept_title(file: &str) -> String {
    format!("Accept {file} as shown (Claude Code)")
}

/// Nothing counts before that.
fn look() {
    sleep(LOOK);
}

fn reject(helix: &Helix, file: &str) {
    look();
    helix.choose(&format!("Reject the change to {file} (Claude Code)"), 1);
}

/// Closes the proposal that was answered, and its split with it.
fn close(helix: &Helix) {
    helix.command("bc!");
    helix.pane().wait_gone(SPLIT, SOON);
}
