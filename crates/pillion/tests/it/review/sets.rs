//! Files that belong together, in a real terminal.

use pillion_testkit::TestProgram;

use super::*;

impl Review {
    /// A program proposes these files as a set, each with its name as its text.
    fn propose_set(&self, names: &[&str]) -> TestProgram {
        let texts: Vec<_> = names.iter().map(|name| format!("{name}\n")).collect();
        let texts = texts.iter().map(String::as_str);
        let files: Vec<_> = names.iter().copied().zip(texts).collect();
        TestProgram::propose(&self.sandbox.home, &files)
    }

    /// Waits until the title names this file with its place.
    #[track_caller]
    fn shows(&self, name: &str) -> String {
        let title = format!("proposes {name} ·");
        self.pane.wait_for(&title, SOON)
    }
}

fn accepted(at: usize, name: &str) -> (usize, Option<String>) {
    (at, Some(format!("{name}\n")))
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_set_is_decided_file_by_file() {
    let review = Review::usual();
    let mut first = review.propose_set(&["a", "b", "c"]);
    let mut second = review.propose_set(&["d", "e"]);
    let screen = review.shows("a (1 of 3)");
    assert!(
        screen.contains("[1 a (pillion 1)   2 b (pillion 1)   3 c (pillion 1)] [4 d (pillion 2)   5 e (pillion 2)]"),
        "{screen}"
    );
    review.decide("a");
    assert_eq!(first.accepted(), accepted(0, "a"));
    review.shows("b (2 of 3)");
    review.decide("r");
    assert_eq!(first.accepted(), (1, None));
    review.shows("c (3 of 3)");
    review.decide("a");
    assert_eq!(first.accepted(), accepted(2, "c"));
    review.shows("d (1 of 2)");
    review.decide("a");
    assert_eq!(second.accepted(), accepted(0, "d"));
    review.shows("e (2 of 2)");
    review.decide("a");
    assert_eq!(second.accepted(), accepted(1, "e"));
    review.pane.wait_for(WELCOME, SOON);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_set_goes_with_its_proposer_and_another_stays() {
    let review = Review::usual();
    let program = review.propose_set(&["a", "b", "c"]);
    let _other = review.propose_set(&["y", "z"]);
    let screen = review.shows("a (1 of 3)");
    assert!(screen.contains("4 y (pillion 2)"), "{screen}");
    drop(program);
    let screen = review.shows("y (1 of 2)");
    assert!(!screen.contains("2 b"), "{screen}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_undecided_of_a_set_stays_together_when_the_view_that_showed_it_leaves() {
    let review = Review::usual();
    let mut program = review.propose_set(&["a", "b", "c"]);
    review.shows("a (1 of 3)");
    review.decide("a");
    assert_eq!(program.accepted(), accepted(0, "a"));
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
    assert_eq!(program.accepted(), (1, None));
    std::thread::sleep(REVIEWED);
    second.send_keys(["a"]);
    assert_eq!(program.accepted(), accepted(2, "c"));
}

/// The gate takes no decisions as fast as a key repeats: they follow each other by themselves.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn files_that_were_seen_are_accepted_at_once_after_a_question() {
    let review = Review::start(Size::new(130, 30), "", &Env::default());
    review.pane.wait_for(WELCOME, SOON);
    let mut program = review.propose_set(&["a", "b", "c"]);
    review.shows("a (1 of 3)");
    // Their list is there in place of tabs.
    let screen = review.pane.wait_for("3 pending", SOON);
    assert!(!screen.contains("[1 a"), "{screen}");
    // Which of them were looked at for long enough is not known from outside: too few, or too early, and nothing is decided.
    loop {
        std::thread::sleep(REVIEWED);
        review.pane.send_keys(["A"]);
        let screen = review.pane.wait_for("on the screen as a whole", SOON);
        if screen.contains("3 diffs have been") {
            std::thread::sleep(REVIEWED);
            review.pane.send_keys(["y"]);
            let said = |screen: &str| screen.contains("accepted 3 diffs") || is_too_early(screen);
            let screen = review.pane.wait_until("an answer", SOON, said);
            if screen.contains("accepted 3 diffs") {
                break;
            }
        }
        review.pane.send_keys(["Tab"]);
        let is_gone = |screen: &str| !screen.contains("on the screen as a whole");
        review.pane.wait_until("the next diff", SOON, is_gone);
    }
    for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
        assert_eq!(program.accepted(), accepted(at, name));
    }
    review.pane.wait_for(WELCOME, SOON);
}
