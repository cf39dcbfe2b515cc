//! The gate's findings about a file at the moment of the key are said, and the view stays.

use std::fs;

use pillion_testkit::client::Update;
use pillion_testkit::{Env, SOON, Size};

use super::{QUESTION, REVIEWED, Review, WELCOME};
use crate::sandbox::Sandbox;
use crate::shared_doubts::doubted;

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_doubt_is_asked_about_once_and_then_the_person_is_obeyed() {
    let sandbox = Sandbox::new();
    let workspace = sandbox.home.workspace();
    for row in doubted() {
        row.write(&workspace);
    }
    let review = Review::start_in(sandbox, Size::new(110, 30), "", &Env::default());
    review.pane.wait_for(WELCOME, SOON);
    let mut agent = review.connect();
    for row in doubted() {
        let path = row.path(&workspace);
        agent.propose(&path, &row.proposed);
        let title = format!("proposes {}", row.file);
        let shows = |screen: &str| screen.contains(&title) || screen.contains(row.file);
        review.pane.wait_until(row.code, SOON, shows);
        if let Some(text) = row.meanwhile {
            fs::write(&path, text).unwrap();
        }
        review.decide("a");
        // The question may stand above the diff already, as what is special about it.
        let is_asked = |screen: &str| screen.contains(row.question) && screen.contains(QUESTION);
        review.pane.wait_until(row.question, SOON, is_asked);
        review.decide("y");
        let path = path.to_str().unwrap().to_owned();
        assert_eq!(agent.outcome(), Update::accepted(path, row.proposed));
        review.pane.wait_for("Nothing to review", SOON);
    }
}

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
        review.decide("y");
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
    review.decide("y");
    let update = Update::accepted(path, "1\n2\nthree\n".to_owned());
    assert_eq!(two.outcome(), update);
}
