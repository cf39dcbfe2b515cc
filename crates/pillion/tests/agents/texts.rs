//! Texts come back to the agent byte for byte (C5.5, C5.6), whichever way the reviewer settles a
//! diff. To the byte, because the agent writes what comes back. Through Gemini CLI's own client.

use std::path::Path;

use pillion_testkit::{DiffHandle, Home, IdeClient, Outcome};

use crate::companion::{self, SOON, Serve, accept, wait_none_pending, wait_pending};
use crate::shared_texts::{assert_same, texts};

/// The proposal where another text is accepted.
const OTHER: &str = "another text\n";

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn texts_come_back_as_accepted() {
    each(
        |text| text,
        |home, client, path, diff, name, _| {
            accept(home, name, None);
            let outcome = client.outcome(diff, SOON);
            assert!(!path.exists(), "the companion writes no file (C5.9)");
            outcome
        },
    );
}

/// The agent asks for the text when the person allows the change in the agent's own window.
#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn texts_come_back_by_close_diff() {
    each(
        |text| text,
        |_, client, path, diff, _, _| {
            client.resolve(path, true, SOON);
            client.outcome(diff, SOON)
        },
    );
}

#[test]
#[ignore = "in --all: needs the real agents: cargo xtask test --all"]
fn texts_of_a_file_are_accepted_instead() {
    each(
        |_| OTHER,
        |home, client, _, diff, name, text| {
            let file = home.root().join("edited");
            std::fs::write(&file, text).expect("the folder is ours");
            accept(home, name, Some(&file));
            client.outcome(diff, SOON)
        },
    );
}

/// An agent that leaves closes its diff without asking for silence; it gets the text all the same.
#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn a_diff_closed_aloud_gives_its_text_too() {
    let home = Home::new();
    let _serve = Serve::start(&home);
    let mut client = IdeClient::start(&home, &home.workspace());
    let path = home.workspace().join("new.txt");
    client.open_diff(&path, "one\r\n");
    wait_pending(&home, &path);
    let text = client.close_diff(&path, false, SOON);
    assert_eq!(text.as_deref(), Some("one\r\n"));
    wait_none_pending(&home);
}

/// Proposes `proposed(text)` for each text, lets `settle` settle the diff, and compares what comes
/// back with the text.
fn each(
    proposed: impl Fn(&str) -> &str,
    settle: impl Fn(&Home, &mut IdeClient, &Path, DiffHandle, &str, &str) -> Outcome,
) {
    let home = Home::new();
    let _serve = Serve::start(&home);
    let mut client = IdeClient::start(&home, &home.workspace());
    for (at, (name, text)) in texts(20_000_000).iter().enumerate() {
        let path = home.workspace().join(format!("{at}.txt"));
        let diff = client.open_diff(&path, proposed(text));
        let pending = wait_pending(&home, &path);
        let shown = companion::proposed(&home, &pending.name);
        assert_same(&shown, proposed(text), name, "proposed");
        let outcome = settle(&home, &mut client, &path, diff, &pending.name, text);
        let Outcome::Accepted(Some(back)) = outcome else {
            panic!("{name}: expected a text, got {}", brief(&outcome));
        };
        assert_same(&back, text, name, "accepted");
        wait_none_pending(&home);
    }
}

fn brief(outcome: &Outcome) -> String {
    format!("{outcome:?}").chars().take(200).collect()
}
