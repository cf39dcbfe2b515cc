//! A script's proposal for a file that changes meanwhile: it writes over the text that the reviewer
//! merged with, and over no other. And one of an agent's hook, which replaces the text of which the reviewer was warned, too.

use std::fs;

use pillion_testkit::{Pane, SOON, Size};

use super::{QUESTION, Review};
use crate::hook::{Hook, edit};

/// `pillion diff --write` in a terminal of its own, that says its exit code.
fn asking(review: &Review, text: &str) -> Pane {
    let program = env!("CARGO_BIN_EXE_pillion");
    let script =
        format!("printf '{text}' | {program} diff a.txt --write; echo \"code $?\"; sleep 100");
    let home = &review.sandbox.home;
    let command = ["sh", "-c", &script];
    let size = Size::new(110, 30);
    review
        ._tmux
        .spawn("asking", size, &home.env(), &home.workspace(), &command)
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_script_writes_over_the_text_that_was_taken_up() {
    let review = Review::usual();
    let file = review.sandbox.home.file("a.txt", "one\n2\n3\n4\ntwo\n");
    let asking = asking(&review, "one\\n2\\n3\\n4\\nTWO\\n");
    review.pane.wait_for("proposes a.txt", SOON);
    fs::write(&file, "zero\none\n2\n3\n4\ntwo\n").unwrap();
    review.pane.wait_for("changed on disk", SOON);
    review.decide("o");
    review.pane.wait_for("merged with the file", SOON);
    review.decide("a");
    asking.wait_for("code 0", SOON);
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(written, "zero\none\n2\n3\n4\nTWO\n");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_script_writes_over_no_text_that_came_after_the_one_that_was_taken_up() {
    let review = Review::usual();
    let file = review.sandbox.home.file("a.txt", "one\n");
    let asking = asking(&review, "ONE\\n");
    review.pane.wait_for("proposes a.txt", SOON);
    fs::write(&file, "zero\none\n").unwrap();
    review.pane.wait_for("changed on disk", SOON);
    review.decide("o");
    review.pane.wait_for("merged with the file", SOON);
    fs::write(&file, "unseen\none\n").unwrap();
    review.pane.wait_for("changed on disk", SOON);
    review.decide("a");
    review.pane.wait_for(QUESTION, SOON);
    review.decide("y");
    let screen = asking.wait_for("code 1", SOON);
    assert!(screen.contains("changed in the meantime"), "{screen}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "unseen\none\n");
}

/// Changed elsewhere and merged, changed in the same line and accepted all the same, deleted and made new.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_hook_writes_over_the_text_that_was_merged_or_of_which_the_person_was_warned() {
    let review = Review::usual();
    let sandbox = &review.sandbox;
    let before = "one\n2\n3\n4\ntwo\n";
    for (name, newer, keys, accepted) in [
        (
            "elsewhere.txt",
            Some("zero\none\n2\n3\n4\ntwo\n"),
            vec![("o", "merged with the file")],
            "zero\none\n2\n3\n4\nTWO\n",
        ),
        (
            "same.txt",
            Some("one\n2\n3\n4\ndeux\n"),
            vec![("a", QUESTION)],
            "one\n2\n3\n4\nTWO\n",
        ),
        (
            "gone.txt",
            None,
            vec![
                ("o", "y makes this a new file"),
                ("y", "this is a new file now"),
            ],
            "one\n2\n3\n4\nTWO\n",
        ),
    ] {
        let file = sandbox.home.file(name, before);
        let call = edit(sandbox, &file, "two", "TWO");
        let hook = Hook::call(sandbox, &["claude"], &call);
        review.pane.wait_for(&format!("proposes {name}"), SOON);
        match newer {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        for (key, said) in keys {
            review.decide(key);
            review.pane.wait_for(said, SOON);
        }
        let is_asked = review.pane.screen().contains(QUESTION);
        review.decide(if is_asked { "y" } else { "a" });
        let answer = hook.answer();
        let input = &answer.output["hookSpecificOutput"]["updatedInput"];
        assert_eq!(input["old_string"], newer.unwrap_or_default(), "{answer:?}");
        assert_eq!(input["new_string"], accepted);
    }
}
