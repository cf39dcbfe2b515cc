//! `H`: what was decided before, opened again in the real review.

use pillion_testkit::SOON;
use pillion_testkit::client::Update;

use super::Review;

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_was_decided_is_listed_and_opened_and_cannot_be_decided_again() {
    let review = Review::usual();
    let file = review.sandbox.home.file("a.txt", "1\n2\n");
    let path = file.to_str().unwrap().to_owned();
    let mut agent = review.connect();
    review.pane.send_keys(["H"]);
    review
        .pane
        .wait_for("You have not decided anything here yet.", SOON);
    review.pane.send_keys(["q"]);
    agent.propose(&path, "one\n2\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("a");
    agent.outcome();
    agent.propose(&path, "1\n\u{1b}[31mtwo\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("R");
    review.pane.type_text("not this");
    review.pane.wait_for("not this▏", SOON);
    review.decide("Enter");
    agent.outcome();
    let other = review.path("b.txt");
    agent.propose(&other, "pending\n");
    review.pane.wait_for("b.txt", SOON);
    let has_both = |_: &str| {
        let log = review.sandbox.run(["log"]).expect(0).stdout;
        log.lines().count() == 2
    };
    review.pane.wait_until("both decisions", SOON, has_both);
    review.pane.send_keys(["H"]);
    let list = review.pane.wait_for("What you decided", SOON);
    let rows: Vec<&str> = list.lines().filter(|line| line.contains("a.txt")).collect();
    assert!(
        rows[0].contains("rejected") && rows[0].contains("not this"),
        "{list}"
    );
    assert!(rows[1].contains("accepted") && rows.len() == 2, "{list}");
    review.pane.send_keys(["Enter"]);
    let opened = review.pane.wait_for("# d2 rejected, Gemini CLI", SOON);
    assert!(
        opened.contains("# not this") && opened.contains("-2"),
        "{opened}"
    );
    review.pane.send_keys(["a"]);
    review.pane.send_keys(["Escape"]);
    review.pane.wait_for("What you decided", SOON);
    review.pane.send_keys(["j"]);
    review.pane.send_keys(["Enter"]);
    let opened = review.pane.wait_for("# d1 accepted", SOON);
    assert!(opened.contains("+one"), "{opened}");
    review.pane.send_keys(["q"]);
    review.pane.wait_for("What you decided", SOON);
    review.pane.send_keys(["q"]);
    review.pane.wait_gone("What you decided", SOON);
    review.decide("a");
    let expected = Update::accepted(other, "pending\n".to_owned());
    assert_eq!(agent.outcome(), expected, "nothing was decided in between");
}
