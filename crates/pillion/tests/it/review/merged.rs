//! A script's proposal for a file that changes meanwhile: it writes over the text that the reviewer
//! merged with, and over no other.

use std::fs;

use pillion_testkit::{Pane, SOON, Size};

use super::Review;

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
    review.pane.wait_for("accept again", SOON);
    review.decide("a");
    let screen = asking.wait_for("code 1", SOON);
    assert!(screen.contains("changed in the meantime"), "{screen}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "unseen\none\n");
}
