//! What the reviewer saves in their editor is a draft at once, while the editor still runs: whatever ends it or the review, it is
//! offered again.

use std::fs;
use std::time::Instant;

use pillion_testkit::client::Update;
use pillion_testkit::{Env, SOON, TestAgent, pause};
use rustix::process::Signal;

use super::Review;
use super::drafts::{states, texts};

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n";
const PROPOSED: &str = "one\n2\n3\n4\n5\n6\n7\n";
const MINE: &str = "one\n2\n3\nmine\n5\n6\n7\n";

/// An editor that does this with the file `$0`, and goes on.
fn editor(script: &str) -> Env {
    let script = format!("{script}; while true; do sleep 0.1; done");
    Env::default().with("EDITOR", format!("sh -c '{script}'"))
}

/// A review whose person is in their editor.
fn editing(editor: &Env) -> (Review, TestAgent, String) {
    let review = Review::usual_with(editor);
    let file = review.sandbox.home.file("a.txt", BEFORE);
    let path = file.to_str().unwrap().to_owned();
    let agent = review.connect();
    agent.propose(&path, PROPOSED);
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    (review, agent, path)
}

/// The files with texts of the person's.
fn kept(review: &Review) -> Vec<Vec<u8>> {
    let tmp = fs::read_dir(review.sandbox.home.tmp()).unwrap();
    let folders = tmp.map(|entry| entry.unwrap().path());
    let kept = folders.filter(|path| path.to_str().unwrap().contains("pillion-kept-"));
    // One may go meanwhile.
    kept.filter_map(|folder| fs::read(folder.join("a.txt")).ok())
        .collect()
}

fn wait_for_draft(review: &Review) {
    let is_kept = |_: &str| texts(review) == [MINE];
    review.pane.wait_until("the draft", SOON, is_kept);
}

/// No review runs any more.
fn wait_for_end(review: &Review) {
    let started = Instant::now();
    while review
        .sandbox
        .run(["list", "--json"])
        .stdout
        .contains("pid")
    {
        assert!(started.elapsed() < SOON, "the review goes on");
        pause(started);
    }
}

/// The same is proposed again, and accepted as it was saved.
fn comes_back(review: Review, path: &str) {
    let review = review.again(&Env::default());
    let mut agent = review.connect();
    agent.propose(path, PROPOSED);
    review.pane.wait_for("Z brings it back", SOON);
    review.decide("Z");
    review.pane.wait_for("redone", SOON);
    review.decide("a");
    let expected = Update::accepted(path.to_owned(), MINE.to_owned());
    assert_eq!(agent.outcome(), expected);
}

/// Each with another way to save: by renaming, in place, and in steps.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_saved_outlives_the_end_of_the_review_while_the_editor_runs() {
    let in_place = r#"printf "one\n2\n3\nmine\n5\n6\n7\n" > "$0""#;
    let in_steps =
        r#": > "$0"; printf "one\n2\n3\n" >> "$0"; sleep 0.3; printf "mine\n5\n6\n7\n" >> "$0""#;
    for (save, signal) in [
        ("sed -i s/^4/mine/ \"$0\"", Some(Signal::HUP)),
        (in_place, Some(Signal::KILL)),
        (in_steps, Some(Signal::TERM)),
        ("sed -i s/^4/mine/ \"$0\"", None),
    ] {
        let (review, agent, path) = editing(&editor(save));
        wait_for_draft(&review);
        match signal {
            Some(signal) => review.signal(signal),
            None => review.pane.close(),
        }
        drop(agent);
        wait_for_end(&review);
        assert_eq!(texts(&review), [MINE], "{signal:?}");
        assert_eq!(kept(&review), [MINE.as_bytes()], "{signal:?}");
        comes_back(review, &path);
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_saved_because_the_terminal_goes_away_is_a_draft_too() {
    let save = r#"trap "sed -i s/^4/mine/ \"$0\"; exit 1" HUP TERM; touch ready"#;
    for signal in [Some(Signal::HUP), Some(Signal::TERM), None] {
        let (review, agent, path) = editing(&editor(save));
        let ready = review.sandbox.home.workspace().join("ready");
        let is_ready = |_: &str| ready.exists();
        review.pane.wait_until("the editor", SOON, is_ready);
        match signal {
            Some(signal) => review.signal(signal),
            None => review.pane.close(),
        }
        drop(agent);
        wait_for_end(&review);
        assert_eq!(texts(&review), [MINE], "{signal:?}");
        assert_eq!(kept(&review), [MINE.as_bytes()], "{signal:?}");
        comes_back(review, &path);
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_saved_in_an_editor_that_fails_is_a_draft_and_in_a_file() {
    let failing = "sh -c 'sed -i s/^4/mine/ \"$0\"; exit 3'";
    let (review, agent, path) = editing(&Env::default().with("EDITOR", failing));
    review.pane.wait_for("your text is kept in", SOON);
    wait_for_draft(&review);
    review.pane.send_keys(["q"]);
    review.pane.wait_for("1 diff is pending", SOON);
    review.pane.send_keys(["y"]);
    review.expect_end();
    drop(agent);
    assert_eq!(texts(&review), [MINE]);
    assert_eq!(kept(&review), [MINE.as_bytes()]);
    comes_back(review, &path);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_saved_in_latin1_stays_in_its_file() {
    let save = r#"printf "caf\351\n" > "$0"; touch saved"#;
    for signal in [Some(Signal::HUP), Some(Signal::TERM), None] {
        let (review, _agent, _) = editing(&editor(save));
        let saved = review.sandbox.home.workspace().join("saved");
        let is_saved = |_: &str| saved.exists();
        review.pane.wait_until("it is saved", SOON, is_saved);
        match signal {
            Some(signal) => review.signal(signal),
            None => review.pane.close(),
        }
        wait_for_end(&review);
        assert_eq!(kept(&review), [b"caf\xe9\n"], "{signal:?}");
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_saved_after_a_newer_proposal_came_is_a_draft_too() {
    let save = r#"until test -e go; do sleep 0.05; done; sed -i s/^4/mine/ "$0""#;
    let (review, agent, path) = editing(&editor(save));
    review.pane.wait_gone("proposes", SOON);
    let newer = PROPOSED.replace('7', "seven");
    agent.propose(&path, &newer);
    review.sandbox.home.file("go", "");
    wait_for_draft(&review);
    review.signal(Signal::KILL);
    drop(agent);
    wait_for_end(&review);
    assert_eq!(texts(&review), [MINE]);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_the_person_took_back_before_they_left_the_editor_is_no_draft() {
    let save = r#"cp "$0" as-it-was; sed -i s/^4/mine/ "$0"
        until test -e go; do sleep 0.05; done
        cp as-it-was "$0""#;
    let (review, mut agent, path) =
        editing(&Env::default().with("EDITOR", format!("sh -c '{save}'")));
    wait_for_draft(&review);
    review.sandbox.home.file("go", "");
    review.pane.wait_for("the proposal is unchanged", SOON);
    let is_none = |_: &str| states(&review).is_empty() && kept(&review).is_empty();
    review.pane.wait_until("no draft", SOON, is_none);
    review.decide("a");
    assert_eq!(agent.outcome(), Update::accepted(path, PROPOSED.to_owned()));
    let is_settled = |_: &str| states(&review) == ["accepted"];
    review.pane.wait_until("one entry", SOON, is_settled);
}

/// A note that is being written in an editor has nothing but that save.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn words_that_were_saved_outlive_the_end_of_the_review_while_the_editor_runs() {
    let save = r#"printf "why four?\nsay so\n" > "$0""#;
    for signal in [Some(Signal::HUP), Some(Signal::KILL), None] {
        let review = Review::usual_with(&editor(save));
        let file = review.sandbox.home.file("a.txt", BEFORE);
        let path = file.to_str().unwrap().to_owned();
        let agent = review.connect();
        agent.propose(&path, PROPOSED);
        review.pane.wait_for("proposes", SOON);
        review.decide("C");
        review.pane.wait_for("note on", SOON);
        review.decide("C-e");
        let state = review.sandbox.home.home().join(".local/state");
        let kept = state.join("pillion/changes/notes-on-proposals");
        let is_kept = |_: &str| {
            let files = fs::read_dir(&kept).into_iter().flatten().flatten();
            let mut texts = files.filter_map(|it| fs::read_to_string(it.path()).ok());
            texts.any(|text| text.contains("say so"))
        };
        review.pane.wait_until("the note kept", SOON, is_kept);
        match signal {
            Some(signal) => review.signal(signal),
            None => review.pane.close(),
        }
        if signal == Some(Signal::KILL) {
            drop(agent);
            wait_for_end(&review);
            let review = review.again(&Env::default());
            let agent = review.connect();
            agent.propose(&path, PROPOSED);
            review.pane.wait_for("1 note", SOON);
        } else {
            // Who closes the window rejects, with these words.
            let started = Instant::now();
            while !review.sandbox.run(["notes"]).stdout.contains("say so") {
                assert!(started.elapsed() < SOON, "no note waits");
                pause(started);
            }
            drop(agent);
        }
    }
}
