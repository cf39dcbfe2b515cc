//! Commands on other keys, chosen in `keys.toml`.

use std::fs;

use pillion_testkit::client::Update;
use pillion_testkit::{Env, SOON, Size};

use super::{Review, WELCOME};
use crate::sandbox::Sandbox;

/// A review of a person with these keys.
fn with_keys(text: &str, shown: &str) -> Review {
    let sandbox = Sandbox::new();
    let settings = sandbox.home.tmp().join("settings");
    fs::create_dir_all(settings.join("pillion")).unwrap();
    fs::write(settings.join("pillion/keys.toml"), text).unwrap();
    let env = Env::default().with("XDG_CONFIG_HOME", &settings);
    let review = Review::start_in(sandbox, Size::new(110, 30), "", &env);
    review.pane.wait_for(WELCOME, SOON);
    // Wherever its lines break.
    let solid = |text: &str| text.split_whitespace().collect::<String>();
    let shows = |screen: &str| solid(screen).contains(&solid(shown));
    review.pane.wait_until(shown, SOON, shows);
    review
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_person_accepts_with_a_key_of_their_own() {
    let review = with_keys("accept = \"X\"\nhelp = [\"F2\", \"?\"]\n", "F2 help");
    let mut agent = review.connect();
    let file = review.sandbox.home.file("a.txt", "old\n");
    agent.propose(&file, "new\n");
    review.pane.wait_for("X accept", SOON);
    review.decide("X");
    let path = file.to_str().unwrap().to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, "new\n"));
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_wrong_setting_is_named_with_its_line_and_the_review_has_the_usual_keys() {
    for (text, line) in [
        (
            "wrap = \"X\"\nacept = \"b\"\n",
            "keys.toml:2: there is no command \"acept\"; every command has its default key",
        ),
        ("accept = \"y\"\n", "keys.toml:1: y cannot be both"),
        ("accept = \n", "keys.toml:1: "),
    ] {
        let review = with_keys(text, line);
        review.pane.wait_for("q quit", SOON);
        review.pane.send_keys(["q"]);
        review.expect_end();
    }
}
