//! The person's words for the agent, typed and pasted in a real terminal.

use pillion_testkit::SOON;
use pillion_testkit::client::Update;

use super::Review;
use super::drafts::{log, states};

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn brackets_and_pastes_get_into_a_reason() {
    let review = Review::usual();
    let mut agent = review.connect();
    agent.propose(review.path("a.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("R");
    review.pane.wait_for("reason for rejecting", SOON);
    review.pane.type_text("use v[0], not v[i]; ");
    review.pane.wait_for("a.txt: use v[0], not v[i]; ▏", SOON);
    review.pane.paste("see [docs](x)\nr, é");
    review.pane.wait_for("not v[i]; see [docs](x)␊r, é▏", SOON);
    review.decide("Enter");
    assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
    let is_logged = |_: &str| states(&review) == ["rejected"];
    review.pane.wait_until("the decision", SOON, is_logged);
    let id = log(&review)[0]["id"].as_str().unwrap().to_owned();
    let shown = review.sandbox.run(["show", &id]).expect(0).stdout;
    let reason = "# use v[0], not v[i]; see [docs](x)\n# r, é\n";
    assert!(shown.contains(reason), "{shown}");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_paste_gets_into_a_note_and_decides_nothing_elsewhere() {
    let review = Review::usual();
    let agent = review.connect();
    agent.propose(review.path("a.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("n");
    review.pane.paste("aar\n");
    review.pane.wait_for("pasted text decides nothing", SOON);
    review.decide("C");
    review.pane.wait_for("note on line 1 of a.txt: ▏", SOON);
    review.pane.paste("error[E0308]:\tmismatched\n");
    review
        .pane
        .wait_for("a.txt: error[E0308]:  mismatched␊▏", SOON);
    review.decide("Enter");
    review.pane.wait_for("1 note", SOON);
    assert_eq!(review.sandbox.run(["diffs", "1"]).expect(0).stdout, "new\n");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_paste_with_the_mark_of_its_end_in_it_decides_nothing() {
    let review = Review::usual();
    let mut agent = review.connect();
    agent.propose(review.path("a.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("n");
    // Otherwise it follows that key like a part of a paste, and decides nothing anyway.
    std::thread::sleep(super::REVIEWED);
    review.pane.paste("x\u{1b}[201~a");
    review.pane.wait_for("pasted text decides nothing", SOON);
    review.pane.wait_read();
    review.decide("R");
    review.pane.paste("no\u{1b}[201~a\rr");
    review
        .pane
        .wait_for("reason for rejecting a.txt: noa␊r▏", SOON);
    review.decide("Enter");
    assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
}
