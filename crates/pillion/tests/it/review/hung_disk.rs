//! A disk that does not answer keeps neither a key nor another file waiting.

use std::fs;

use pillion_testkit::{Env, HungDisk, SOON};

use super::Review;

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_mount_that_hangs_stops_no_key_and_hides_no_other_change() {
    let review = Review::usual();
    let folder = review.sandbox.home.workspace().join("far");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "old\n").unwrap();
    let near = review.sandbox.home.file("near.txt", "old\n");
    let agent = review.connect();
    agent.propose(folder.join("a.txt"), "new\n");
    review.pane.wait_for("proposes far/a.txt", SOON);
    agent.propose(&near, "new\n");
    review.pane.wait_for("1/2", SOON);
    let Some(hung) = HungDisk::mount(&folder) else {
        return;
    };
    review.decide("o");
    review.pane.wait_for("reading the file on disk", SOON);
    review.pane.send_keys(["Tab"]);
    review.pane.wait_for("proposes near.txt", SOON);
    fs::write(&near, "other\n").unwrap();
    review.pane.wait_for("changed on disk", SOON);
    review.pane.send_keys(["Tab"]);
    review.pane.wait_for("proposes far/a.txt", SOON);
    drop(hung);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_copy_that_cannot_be_written_holds_up_no_agent_and_no_key() {
    let review = Review::usual();
    let (one, two) = (review.connect(), review.connect());
    one.propose("/tmp/one.txt", "new\n");
    review.pane.wait_for("proposes", SOON);
    let Some(hung) = HungDisk::mount(&review.sandbox.home.tmp()) else {
        return;
    };
    review.decide("e");
    hung.wait_for_somebody();
    // Once more, so that the agent proposes while the disk is waited for.
    review.pane.send_keys(["e"]);
    two.propose("/tmp/two.txt", "new\n");
    review.pane.send_keys(["Tab"]);
    review.pane.wait_for("proposes /tmp/two.txt", SOON);
    review.decide("e");
    review.pane.wait_for("cannot write a copy to edit", SOON);
    drop(hung);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_edited_text_that_cannot_be_kept_holds_up_no_agent_and_no_key() {
    let editor = "sh -c 'printf mine > \"$0\"'";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let (one, two) = (review.connect(), review.connect());
    one.propose("/tmp/one.txt", "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide("e");
    review.pane.wait_for("the proposal is now your text", SOON);
    let Some(hung) = HungDisk::mount(&review.sandbox.home.tmp()) else {
        return;
    };
    one.disconnect();
    two.propose("/tmp/two.txt", "new\n");
    review.pane.wait_for("your edited text is lost", SOON);
    review.pane.send_keys(["?"]);
    review.pane.wait_for("next pending diff", SOON);
    drop(hung);
}
