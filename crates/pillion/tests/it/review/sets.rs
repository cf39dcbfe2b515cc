//! Files that belong together, in a real terminal.

use pillion_testkit::TestAgent;

use super::*;

impl Review {
    fn script(&self) -> TestAgent {
        TestAgent::script(&self.sandbox.home)
    }

    /// Waits until the title names this file with its place.
    #[track_caller]
    fn shows(&self, name: &str) -> String {
        let title = format!("proposes {name} ·");
        self.pane.wait_for(&title, SOON)
    }
}

fn accepted(review: &Review, name: &str) -> Update {
    Update::accepted(review.path(name), format!("{name}\n"))
}

/// Proposes files at these places of sets, as they come.
fn propose(review: &Review, script: &TestAgent, files: &[(&str, &str, &str)]) {
    for (set, place, name) in files {
        script.propose_in_set(set, place, review.path(name), &format!("{name}\n"));
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_set_is_decided_file_by_file() {
    let review = Review::usual();
    let mut script = review.script();
    let files = [
        ("x", "1 of 3", "a"),
        ("y", "1 of 2", "d"),
        ("x", "2 of 3", "b"),
        ("y", "2 of 2", "e"),
        ("x", "3 of 3", "c"),
    ];
    propose(&review, &script, &files);
    let screen = review.shows("a (1 of 3)");
    assert!(screen.contains("[1 a   3 b   5 c] [2 d   4 e]"), "{screen}");
    review.decide("a");
    assert_eq!(script.outcome(), accepted(&review, "a"));
    review.shows("b (2 of 3)");
    review.decide("r");
    let path = review.path("b");
    assert_eq!(script.outcome(), Update::DiffRejected { path });
    review.shows("c (3 of 3)");
    review.decide("a");
    assert_eq!(script.outcome(), accepted(&review, "c"));
    review.shows("d (1 of 2)");
    review.decide("a");
    review.shows("e (2 of 2)");
    review.decide("a");
    review.pane.wait_for("Nothing to review right now.", SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_file_of_a_set_is_withdrawn_or_revised_and_then_its_proposer_is_gone() {
    let review = Review::usual();
    let (script, other) = (review.script(), review.script());
    let files = [
        ("x", "1 of 3", "a"),
        ("x", "2 of 3", "b"),
        ("x", "3 of 3", "c"),
    ];
    propose(&review, &script, &files);
    propose(&review, &other, &[("x", "1 of 1", "z")]);
    review.shows("a (1 of 3)");
    script.close(review.path("a")).unwrap();
    review.shows("b (2 of 3)");
    script.propose(review.path("b"), "revised\n");
    review.pane.wait_for("revised", SOON);
    let screen = review.shows("b (2 of 3)");
    assert!(
        screen.contains("[2 b (script 1)   3 c (script 1)]"),
        "{screen}"
    );
    script.disconnect();
    let screen = review.shows("z (1 of 1)");
    assert!(!screen.contains("2 b"), "{screen}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_undecided_of_a_set_stays_together_when_the_view_that_showed_it_leaves() {
    let review = Review::usual();
    let mut script = review.script();
    let files = [
        ("x", "1 of 3", "a"),
        ("x", "2 of 3", "b"),
        ("x", "3 of 3", "c"),
    ];
    propose(&review, &script, &files);
    review.shows("a (1 of 3)");
    review.decide("a");
    assert_eq!(script.outcome(), accepted(&review, "a"));
    review.shows("b (2 of 3)");
    let command = [env!("CARGO_BIN_EXE_pillion"), "review"];
    let (env, workspace) = (review.sandbox.home.env(), review.sandbox.home.workspace());
    let size = Size::new(110, 30);
    let second = review
        ._tmux
        .spawn("second", size, &env, &workspace, &command);
    let screen = second.wait_for("proposes b (2 of 3) ·", SOON);
    assert!(screen.contains("[2 b   3 c]"), "{screen}");
    review.pane.send_keys(["q"]);
    review.pane.wait_for("2 diffs are pending", SOON);
    review.pane.send_keys(["y"]);
    review.expect_end();
    std::thread::sleep(REVIEWED);
    second.send_keys(["r"]);
    second.wait_for("proposes c (3 of 3) ·", SOON);
    let path = review.path("b");
    assert_eq!(script.outcome(), Update::DiffRejected { path });
    std::thread::sleep(REVIEWED);
    second.send_keys(["a"]);
    assert_eq!(script.outcome(), accepted(&review, "c"));
}
