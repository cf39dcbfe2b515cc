//! A disk that does not answer keeps neither a key nor another file waiting.

use std::fs;
use std::thread;

use pillion_testkit::client::Update;
use pillion_testkit::{Env, HungDisk, SOON};

use super::{REVIEWED, Review, is_too_early};

/// The message when there is no editor, because of a disk.
const SILENT: &str = "a disk did not respond";

/// Presses `e` until a disk is waited for because of it.
fn edit(review: &Review, hung: &HungDisk) {
    for _ in 0..10 {
        thread::sleep(REVIEWED);
        review.pane.send_keys(["e"]);
        if hung.has_request(REVIEWED) && !is_too_early(&review.pane.screen()) {
            return;
        }
    }
    panic!("no disk is waited for\n{}", review.pane.screen());
}

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
    one.propose(review.path("one.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    let Some(hung) = HungDisk::mount(&review.sandbox.home.tmp()) else {
        return;
    };
    edit(&review, &hung);
    two.propose(review.path("two.txt"), "new\n");
    review.pane.wait_for(SILENT, SOON);
    review.pane.send_keys(["Tab"]);
    review.pane.wait_for("proposes two.txt", SOON);
    drop(hung);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_is_typed_while_a_copy_waits_for_its_disk_decides_nothing() {
    let editor = "sh -c 'printf mine > \"$0\"'";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let mut agent = review.connect();
    let path = review.path("new.txt");
    agent.propose(&path, "older\n");
    review.pane.wait_for("proposes", SOON);
    let Some(hung) = HungDisk::mount(&review.sandbox.home.tmp()) else {
        return;
    };
    edit(&review, &hung);
    review.pane.send_keys(["e"]);
    agent.propose(&path, "newer\n");
    review.pane.paste("aaaa");
    review.pane.type_text("eeaaaa");
    review.pane.wait_for(SILENT, SOON);
    drop(hung);
    review.decide_until("e", "the proposal is now your text");
    review.decide_until("a", "accepted new.txt");
    assert_eq!(agent.outcome(), Update::accepted(path, "mine"));
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_editor_behind_a_folder_of_path_that_hangs_does_not_get_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let review = Review::usual_with(&Env::default().with("EDITOR", "true").with("PATH", path));
    let agent = review.connect();
    agent.propose(review.path("new.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    let Some(hung) = HungDisk::mount(folder.path()) else {
        return;
    };
    edit(&review, &hung);
    review
        .pane
        .wait_for("cannot start true: a disk did not respond", SOON);
    drop(hung);
    review.decide_until("e", "the proposal is unchanged");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_edited_text_that_cannot_be_kept_holds_up_no_agent_and_no_key() {
    let editor = "sh -c 'printf mine > \"$0\"'";
    let review = Review::usual_with(&Env::default().with("EDITOR", editor));
    let (one, two) = (review.connect(), review.connect());
    one.propose(review.path("one.txt"), "new\n");
    review.pane.wait_for("proposes", SOON);
    review.decide_until("e", "the proposal is now your text");
    // What stands there now is in no file.
    review.decide_until("Space", "excluded");
    let Some(hung) = HungDisk::mount(&review.sandbox.home.tmp()) else {
        return;
    };
    one.disconnect();
    two.propose(review.path("two.txt"), "new\n");
    review.pane.wait_for("the last changes are lost", SOON);
    review.pane.send_keys(["?"]);
    review.pane.wait_for("accept the proposal as shown", SOON);
    drop(hung);
}
