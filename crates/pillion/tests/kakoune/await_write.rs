//! An agent writes as soon as it gets the outcome. Until Kakoune was told to await that, it gets none: Kakoune would
//! ask about the file.

use std::path::PathBuf;
use std::time::Duration;

use pillion_testkit::client::Update;
use pillion_testkit::{Heard, HungDisk, KakouneVersion, TestAgent, each_kakoune};

use crate::world::{PILLION, World};

/// Only time can tell that nothing comes: Kakoune, which would answer a question, is what cannot be reached.
const QUIET: Duration = Duration::from_millis(300);

/// A proposal that was looked at, in a session that cannot be reached any more: the place where sessions are found
/// hangs. Nothing where that cannot be.
fn unreachable(version: KakouneVersion) -> Option<(World, TestAgent, PathBuf, HungDisk)> {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let gemini = world.gemini();
    let path = world.home.workspace().join("a.txt");
    gemini.propose(&path, "two\n");
    world.look();
    let hung = HungDisk::mount(&world.home.runtime().join("kakoune"))?;
    Some((world, gemini, path, hung))
}

#[each_kakoune]
fn the_agent_gets_the_outcome_once_kakoune_was_asked_to_await_its_file(version: KakouneVersion) {
    let Some((world, mut gemini, path, hung)) = unreachable(version) else {
        return;
    };
    world.kakoune.pane().send_keys([":", "w", "Enter"]);
    hung.wait_for_request();
    let heard = gemini.hear(QUIET);
    assert_eq!(heard, Heard::Nothing, "Kakoune awaits nothing yet");
    drop(hung);
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "two\n")
    );
}

#[each_kakoune]
fn a_session_that_cannot_be_reached_does_not_keep_the_outcome(version: KakouneVersion) {
    let Some((world, mut gemini, path, hung)) = unreachable(version) else {
        return;
    };
    world.kakoune.pane().send_keys([":", "w", "Enter"]);
    assert_eq!(
        gemini.outcome(),
        Update::accepted(path.display().to_string(), "two\n")
    );
    drop(hung);
}

#[each_kakoune]
fn an_agent_that_closes_meanwhile_gets_the_text(version: KakouneVersion) {
    let Some((world, mut gemini, path, hung)) = unreachable(version) else {
        return;
    };
    world.kakoune.pane().send_keys([":", "w", "Enter"]);
    hung.wait_for_request();
    let closed = gemini.close(&path);
    assert_eq!(closed.unwrap(), "two\n");
    drop(hung);
    assert_eq!(
        gemini.check_heard_all(&world.home, PILLION),
        Ok(()),
        "the answer was the outcome"
    );
}

#[each_kakoune]
fn a_rejection_waits_for_nothing(version: KakouneVersion) {
    let Some((world, mut gemini, path, hung)) = unreachable(version) else {
        return;
    };
    world.kakoune.pane().send_keys([":", "q", "Enter"]);
    assert_eq!(
        gemini.outcome(),
        Update::DiffRejected {
            path: path.display().to_string()
        }
    );
    drop(hung);
}
