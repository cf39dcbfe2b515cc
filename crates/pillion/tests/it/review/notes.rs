//! The notes that a person has written on a proposal outlive the review, its diff and the agent's: they are there again with the next
//! proposal, or the agent is told them when the person leaves.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use pillion_testkit::{Env, SOON, TestAgent};
use rustix::process::Signal;

use super::drafts::states;
use super::{Review, decide_in};
use crate::hook::{self, Hook};

const NOTE: &str = "why not zwei?";

/// The note is on the last line.
const TEXT: &str = "1\n2\ntwo\n";

/// A review with a proposal and a note on it, which is kept.
fn start() -> (Review, TestAgent, String) {
    let review = Review::usual();
    let file = review.sandbox.home.file("a.txt", "1\n2\none\n");
    let path = file.to_str().unwrap().to_owned();
    let agent = review.connect();
    agent.propose(&path, TEXT);
    review.pane.wait_for("proposes", SOON);
    note(&review);
    (review, agent, path)
}

fn note(review: &Review) {
    review.decide("C");
    review.pane.wait_for("note on line 3 of a.txt", SOON);
    review.pane.type_text(NOTE);
    review.decide("Enter");
    review.pane.wait_for("1 note", SOON);
    wait_kept(review, true);
}

/// Waits until the disk has a note, or none.
fn wait_kept(review: &Review, is_wanted: bool) {
    let state = review.sandbox.home.home().join(".local/state");
    let kept = state.join("pillion/changes/notes-on-proposals");
    let is_kept = |_: &str| {
        let names = kept.read_dir().into_iter().flatten();
        (names.count() > 0) == is_wanted
    };
    review.pane.wait_until("the note kept", SOON, is_kept);
}

fn leave(review: &Review, signal: Option<Signal>) {
    match signal {
        Some(signal) => review.signal(signal),
        None => {
            review.decide("q");
            review.pane.wait_for("1 diff is pending", SOON);
            review.decide("y");
        }
    }
    review.pane.wait_for("exit code", SOON);
}

fn comes_back(review: &Review, agent: &TestAgent, path: &str) {
    agent.propose(path, TEXT);
    review.pane.wait_for("1 note", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_note_outlives_a_review_that_is_killed() {
    let (review, agent, path) = start();
    review.signal(Signal::KILL);
    // The words before it may be broken: they begin where the cursor was left.
    review.pane.wait_for("137", SOON);
    drop(agent);
    let review = review.again(&Env::default());
    let mut agent = review.connect();
    comes_back(&review, &agent, &path);
    // With a decision it is over.
    review.decide("r");
    agent.outcome();
    let said = format!("\n- line 3 (`two`): {NOTE}\n");
    let printed = || review.sandbox.run(["notes"]).expect(0).stdout;
    let is_told = |_: &str| printed().contains(said.trim_start());
    review.pane.wait_until("the rejection", SOON, is_told);
    let is_settled = |_: &str| states(&review) == ["rejected"];
    review.pane.wait_until("one entry", SOON, is_settled);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_note_outlives_a_diff_that_its_agent_closes() {
    let (review, agent, path) = start();
    agent.close(&path).unwrap();
    review.pane.wait_for("closed its diff", SOON);
    comes_back(&review, &agent, &path);
}

/// That rejects the diff, and the agent is to read why.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn who_leaves_a_diff_with_a_note_has_the_agent_told() {
    for signal in [None, Some(Signal::HUP), Some(Signal::TERM)] {
        let (review, _agent, path) = start();
        leave(&review, signal);
        let waits = review.sandbox.run(["notes"]).expect(0).stdout;
        let said = format!("The user rejected your change to {path} and says:");
        assert!(
            waits.contains(&said) && waits.contains(NOTE),
            "{signal:?}: {waits}"
        );
    }
}

/// What stands in another window than the one in which they decide is in the log, also if that window has gone before. Who leaves
/// both has the agent told all of it.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn notes_in_two_windows_on_one_diff_are_all_kept() {
    for how in ["decided", "left and decided", "left"] {
        let (review, mut agent, _) = start();
        let other = review.beside();
        other.wait_for("proposes", SOON);
        decide_in(&other, "F", "note on the file of");
        other.type_text("and mine");
        decide_in(&other, "Enter", "1 note");
        if how != "decided" {
            leave(&review, None);
        }
        if how == "left" {
            decide_in(&other, "q", "1 diff is pending");
            other.send_keys(["y"]);
            let told = || review.sandbox.run(["notes"]).expect(0).stdout;
            let has_both = |_: &str| told().contains(NOTE) && told().contains("and mine");
            review.pane.wait_until("both are told", SOON, has_both);
            continue;
        }
        decide_in(&other, "r", "rejected");
        agent.outcome();
        if how == "decided" {
            review.pane.wait_for("(the log has them)", SOON);
        }
        // Both were put down at the same moment.
        let is_settled = |_: &str| {
            let mut states = states(&review);
            states.sort();
            states == ["not decided", "rejected"]
        };
        review.pane.wait_until("two entries", SOON, is_settled);
        let log = review.sandbox.run(["log"]).expect(0).stdout;
        assert!(log.contains(NOTE) && log.contains("and mine"), "{log}");
        let told = review.sandbox.run(["notes"]).expect(0).stdout;
        assert!(!told.contains(NOTE) && told.contains("and mine"), "{told}");
        wait_kept(&review, false);
    }
}

/// It hears no rejection, and so no note: they are there again when it proposes the file again.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn who_leaves_a_hooks_proposal_has_the_notes_again() {
    for signal in [None, Some(Signal::HUP), Some(Signal::TERM)] {
        let review = Review::usual();
        let file = review.sandbox.home.file("a.txt", "1\n2\none\n");
        let call = hook::edit(&review.sandbox, &file, "one", "two");
        let hook = Hook::call(&review.sandbox, &["claude"], &call);
        review.pane.wait_for("proposes", SOON);
        note(&review);
        leave(&review, signal);
        hook.answer();
        let review = review.again(&Env::default());
        let hook = Hook::call(&review.sandbox, &["claude"], &call);
        review.pane.wait_for("1 note", SOON);
        review.decide("r");
        hook.answer().expect_denied(NOTE);
    }
}

/// They are about that change, and no later one of the file.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn notes_on_a_written_change_that_goes_elsewhere_are_in_the_log() {
    for elsewhere in [["revert", "1.1"], ["forget", "1"]] {
        let review = Review::usual_with(&Env::default());
        let home = &review.sandbox.home;
        home.file("a.txt", "1\n2\n3\n");
        let turn = |text: &str| {
            home.agents_turn("change it", |folder| {
                fs::write(folder.join("a.txt"), text).unwrap();
            })
        };
        turn("1\ntwo\n3\n");
        review.pane.send_keys(["v"]);
        review.pane.wait_for("Claude Code has written a.txt", SOON);
        review.decide("C");
        review.pane.wait_for("note on line", SOON);
        review.pane.type_text(NOTE);
        review.decide("Enter");
        review.pane.wait_for("1 note", SOON);
        review.sandbox.run(elsewhere).expect(0);
        let screen = review.pane.wait_for("taken back or forgotten", SOON);
        assert!(!screen.contains("closed its diff"), "{screen}");
        let log = || review.sandbox.run(["log"]).expect(0).stdout;
        let entry = format!("a.txt, in the view of 1.1: {NOTE}");
        review
            .pane
            .wait_until("the log", SOON, |_| log().contains(&entry));
        turn("1\ntwo\n3\n4\n");
        review.pane.send_keys(["S"]);
        review.pane.wait_for("2.1    unseen", SOON);
        review.pane.send_keys(["n"]);
        review.pane.wait_for("▌   2.1", SOON);
        let screen = review.decide_until("Enter", "Claude Code has written a.txt");
        assert!(!screen.contains("1 note"), "{screen}");
        review.decide_until("a", "Waiting for an agent");
        let kept = |_: &str| log().contains("2.1") && log().contains("kept");
        review.pane.wait_until("it is kept", SOON, kept);
        assert_eq!(log().matches(NOTE).count(), 1, "{}", log());
        let notes = review.sandbox.run(["notes"]).expect(0).stdout;
        assert!(!notes.contains(NOTE), "{notes}");
    }
}

/// As one on a proposal, also while it is typed; who quits is told.
/// It is no agent's, so nobody tells them later.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn notes_on_what_a_command_proposes_are_printed_by_it_however_the_review_ends() {
    for signal in [None, Some(Signal::HUP)] {
        let review = Review::usual();
        review.sandbox.home.file("a.txt", "1\n2\none\n");
        let mut diff = review.sandbox.command(["diff", "a.txt"]);
        diff.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut diff = diff.spawn().unwrap();
        let mut text = diff.stdin.take().unwrap();
        text.write_all(TEXT.as_bytes()).unwrap();
        drop(text);
        review.pane.wait_for("proposes", SOON);
        note(&review);
        leave(&review, signal);
        let output = diff.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(NOTE), "{signal:?} {said}");
        wait_kept(&review, false);
        let log = review.sandbox.run(["log"]).expect(0).stdout;
        assert!(log.contains("rejected"), "{signal:?} {log}");
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_note_of_the_list_outlives_the_review() {
    for signal in [None, Some(Signal::HUP), Some(Signal::KILL)] {
        let review = Review::usual();
        let home = &review.sandbox.home;
        home.file("a.txt", "1\n2\n3\n");
        home.agents_turn("change it", |folder| {
            fs::write(folder.join("a.txt"), "1\ntwo\n3\n").unwrap();
        });
        review.pane.send_keys(["S"]);
        review.pane.wait_for("1.1    unseen", SOON);
        review.pane.send_keys(["C"]);
        review.pane.wait_for("note on 1.1", SOON);
        review.pane.type_text(NOTE);
        match signal {
            Some(signal) => {
                wait_kept(&review, true);
                review.pane.wait_for(NOTE, SOON);
                review.signal(signal);
                review.pane.wait_until("its end", SOON, |screen| {
                    screen.contains("exit code") || screen.contains("137")
                });
            }
            None => {
                review.decide_until("Enter", "when you keep this");
                review.decide_until("S", "Waiting for an agent");
                review.decide_until("q", "Your note in the list is not sent yet");
                review.decide_until("y", "exit code");
            }
        }
        let review = review.again(&Env::default());
        review.pane.send_keys(["S"]);
        let back = format!("your note on 1.1: {NOTE}");
        review.pane.wait_for(&back, SOON);
        review.decide_until("a", "1.1 a.txt: kept");
        wait_kept(&review, false);
        let notes = review.sandbox.run(["notes"]).expect(0).stdout;
        assert!(notes.contains(NOTE), "{signal:?} {notes}");
    }
}

/// They are there when the change is looked at again.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn notes_in_a_view_after_the_write_outlive_the_review() {
    for signal in [None, Some(Signal::HUP), Some(Signal::KILL)] {
        let review = Review::usual();
        let home = &review.sandbox.home;
        home.file("a.txt", "1\n2\n3\n");
        home.agents_turn("change it", |folder| {
            fs::write(folder.join("a.txt"), "1\ntwo\n3\n").unwrap();
        });
        review.pane.send_keys(["v"]);
        review.pane.wait_for("Claude Code has written a.txt", SOON);
        review.decide("C");
        review.pane.wait_for("note on line", SOON);
        review.pane.type_text(NOTE);
        review.decide("Enter");
        review.pane.wait_for("1 note", SOON);
        wait_kept(&review, true);
        match signal {
            Some(Signal::KILL) => {
                review.signal(Signal::KILL);
                review.pane.wait_for("137", SOON);
            }
            signal => leave(&review, signal),
        }
        let review = review.again(&Env::default());
        review.pane.send_keys(["v"]);
        review.pane.wait_for("1 note", SOON);
    }
}
