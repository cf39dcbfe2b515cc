//! The reviewer's text is in a file from the moment that the editor closes, whatever ends the review.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use pillion_testkit::client::Update;
use pillion_testkit::{Env, SOON, TestAgent};

use super::{QUESTION, Review};

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n";
const PROPOSED: &str = "one\n2\n3\n4\n5\n6\n7\n";
const MINE: &str = "one\n2\n3\nmine\n5\n6\n7\n";

/// A review in which somebody has edited a proposal.
fn edited() -> (Review, TestAgent, String) {
    let editor = "sed -i s/^4$/mine/";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let file = review.sandbox.home.file("a.txt", BEFORE);
    let path = file.to_str().unwrap().to_owned();
    let agent = review.connect();
    agent.propose(&path, PROPOSED);
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.pane.wait_for("the proposal is now your text", SOON);
    (review, agent, path)
}

/// The texts that are kept. A copy may go at this moment.
fn kept(review: &Review) -> Vec<String> {
    let tmp = fs::read_dir(review.sandbox.home.tmp()).unwrap();
    let folders = tmp.map(|entry| entry.unwrap().path());
    let kept = folders.filter(|path| path.to_str().unwrap().contains("pillion-kept-"));
    let text = |folder: PathBuf| fs::read_to_string(folder.join("a.txt")).ok();
    kept.filter_map(text).collect()
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_edit_survives_whatever_ends_the_review() {
    use rustix::process::Signal;
    for signal in [Signal::TERM, Signal::HUP, Signal::KILL] {
        let (review, _agent, _) = edited();
        assert_eq!(kept(&review), [MINE]);
        review.signal(signal);
        review.pane.wait_for("exit code", SOON);
        assert_eq!(kept(&review), [MINE], "{signal:?}");
        let screen = review.pane.screen();
        let is_said = screen.contains("your text is kept in");
        assert_eq!(is_said, signal != Signal::KILL, "{signal:?}: {screen}");
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn quitting_says_that_an_edit_is_kept_and_where() {
    let (review, _agent, _) = edited();
    review.pane.send_keys(["q"]);
    review.pane.wait_for("edited is kept in a file", SOON);
    review.pane.send_keys(["y"]);
    let screen = review.expect_end();
    assert!(
        screen.contains("your edits of a.txt: your text is kept in"),
        "{screen}"
    );
    assert_eq!(kept(&review), [MINE]);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_newer_proposal_takes_an_edit_along_and_nothing_is_left_over() {
    let (review, mut agent, path) = edited();
    agent.propose(&path, "one\n2\n3\n4\n5\n6\nseven\n");
    review.pane.wait_for("with your edits", SOON);
    review.decide("a");
    let content = "one\n2\n3\nmine\n5\n6\nseven\n".to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, content));
    let is_gone = |_: &str| kept(&review).is_empty();
    review.pane.wait_until("the copy goes", SOON, is_gone);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_edit_that_a_newer_proposal_overwrites_is_kept() {
    let (review, mut agent, path) = edited();
    let newer = "one\n2\n3\nfour\n5\n6\n7\n";
    agent.propose(&path, newer);
    review.pane.wait_for("your text is kept in", SOON);
    review.decide("a");
    review.pane.wait_for(QUESTION, SOON);
    review.decide("y");
    assert_eq!(agent.outcome(), Update::accepted(path, newer.to_owned()));
    review.pane.wait_for("Nothing to review", SOON);
    assert_eq!(kept(&review), [MINE]);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_edit_is_kept_when_the_command_that_proposed_gives_up() {
    let editor = "sed -i s/^4$/mine/";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    review.sandbox.home.file("a.txt", BEFORE);
    let mut proposing = review.sandbox.command(["diff", "a.txt"]);
    let proposing = proposing.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut proposing = proposing.stdout(Stdio::null()).spawn().unwrap();
    let mut text = proposing.stdin.take().unwrap();
    text.write_all(PROPOSED.as_bytes()).unwrap();
    drop(text);
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.pane.wait_for("the proposal is now your text", SOON);
    let pid = rustix::process::Pid::from_child(&proposing);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = proposing.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let (_, file) = said.split_once(" are kept in ").expect(&said);
    let file = file.lines().next().unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), MINE);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn the_file_itself_is_opened_at_the_cursor_and_merged_with_what_is_proposed() {
    let editor = "sed -i s/^4$/mine/";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let file = review.sandbox.home.file("a.txt", BEFORE);
    let mut agent = review.connect();
    agent.propose(file.to_str().unwrap(), PROPOSED);
    review.pane.wait_for("proposes", SOON);
    review.decide("E");
    review.pane.wait_for("changed on disk", SOON);
    let own = "1\n2\n3\nmine\n5\n6\n7\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), own);
    assert_eq!(kept(&review), [] as [String; 0], "no copy is made");
    review.decide("o");
    review.pane.wait_for("merged with the file on disk", SOON);
    review.decide("a");
    let merged = Update::accepted(file.to_str().unwrap().to_owned(), MINE.to_owned());
    assert_eq!(agent.outcome(), merged);
}

/// The review reads nothing while an editor has the terminal: `a` is a letter there.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_typed_in_an_editor_is_for_no_diff() {
    let home = tempfile::tempdir().unwrap();
    let (script, typed) = (home.path().join("editor"), home.path().join("typed"));
    let text = format!(
        "stty -icanon -echo; echo ready; dd bs=1 count=6 of='{}' 2>&-; stty icanon echo",
        typed.display()
    );
    fs::write(&script, text).unwrap();
    let editor = format!("sh {}", script.display());
    for (key, unchanged) in [
        ("e", "the proposal is unchanged"),
        ("E", "the file is unchanged"),
    ] {
        let review = Review::usual_with(&Env::default().with("EDITOR", &editor));
        let file = review.sandbox.home.file("a.txt", BEFORE);
        let agent = review.connect();
        agent.propose(file.to_str().unwrap(), PROPOSED);
        review.pane.wait_for("proposes", SOON);
        review.decide(key);
        review.pane.wait_for("ready", SOON);
        for _ in 0..6 {
            review.pane.send_keys(["a"]);
        }
        review.pane.wait_for(unchanged, SOON);
        assert_eq!(fs::read_to_string(&typed).unwrap(), "aaaaaa", "{key}");
        assert_eq!(
            review.sandbox.run(["log", "--json"]).stdout.trim(),
            "[]",
            "{key}"
        );
    }
}
