//! The gate's findings about a file at the moment of the key are said, and the view stays.

use std::fs;

use pillion_agent::Update;
use pillion_testkit::SOON;

use super::{REVIEWED, Review};

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_file_that_is_written_right_before_the_key_is_not_overwritten_unasked() {
    let review = Review::usual();
    let mut agent = review.connect();
    for (round, by_hand) in ["by hand\n", "", "old\nand more\n"].into_iter().enumerate() {
        let file = review.sandbox.home.file(&format!("{round}.txt"), "old\n");
        let path = file.to_str().unwrap().to_owned();
        agent.propose(&path, "new\n");
        review.pane.wait_for(&format!("proposes {round}.txt"), SOON);
        std::thread::sleep(REVIEWED * 2);
        fs::write(&file, by_hand).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        review.pane.send_keys(["a"]);
        review.pane.wait_for("the file has changed on disk", SOON);
        assert_eq!(fs::read_to_string(&file).unwrap(), by_hand);
        // Whoever insists is obeyed.
        review.decide("a");
        let content = "new\n".to_owned();
        assert_eq!(agent.outcome(), Update::accepted(path, content));
        review.pane.wait_for("Nothing to review", SOON);
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_older_text_of_another_agent_is_asked_about_after_one_that_is_not_written_yet() {
    let review = Review::usual();
    let file = review.sandbox.home.file("a.txt", "1\n2\n3\n");
    let path = file.to_str().unwrap().to_owned();
    let (mut one, mut two) = (review.connect(), review.connect());
    one.propose(&path, "one\n2\n3\n");
    review.pane.wait_for("proposes a.txt", SOON);
    two.propose(&path, "1\n2\nthree\n");
    review.pane.wait_for("Gemini CLI 2 proposes", SOON);
    review.decide("a");
    let update = Update::accepted(path.clone(), "one\n2\n3\n".to_owned());
    assert_eq!(one.outcome(), update);
    review.decide("a");
    review.pane.wait_for("was accepted and is not", SOON);
    review.decide("a");
    let update = Update::accepted(path, "1\n2\nthree\n".to_owned());
    assert_eq!(two.outcome(), update);
}
