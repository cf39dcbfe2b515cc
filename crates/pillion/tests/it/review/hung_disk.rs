//! A disk that does not answer keeps neither a key nor another file waiting.

use std::fs;

use pillion_testkit::{HungDisk, SOON};

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
