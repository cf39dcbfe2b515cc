//! An agent writes as soon as it gets the outcome. Until Kakoune awaits that, it gets none: Kakoune would ask about
//! the file.

use std::time::Duration;

use pillion_agent::Update;
use pillion_testkit::HungDisk;

use crate::world::World;

const QUIET: Duration = Duration::from_millis(300);

each_kakoune! {
    fn the_agent_gets_the_outcome_once_kakoune_was_asked_to_await_its_file(version) {
        let world = World::open(version, &[("a.txt", "one\n")]);
        let mut gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        gemini.propose(&path, "two\n");
        world.look();
        // Where the session is found.
        let Some(hung) = HungDisk::mount(&world.home.runtime().join("kakoune")) else {
            return;
        };
        world.kakoune.pane().send_keys([":", "w", "Enter"]);
        hung.wait_for_request();
        assert!(gemini.receives_no_outcome(QUIET), "Kakoune awaits nothing yet");
        drop(hung);
        assert_eq!(gemini.outcome(), Update::accepted(path.display().to_string(), "two\n"));
    }
}

each_kakoune! {
    fn a_session_that_cannot_be_reached_does_not_keep_the_outcome(version) {
        let world = World::open(version, &[("a.txt", "one\n")]);
        let mut gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        gemini.propose(&path, "two\n");
        world.look();
        let Some(hung) = HungDisk::mount(&world.home.runtime().join("kakoune")) else {
            return;
        };
        world.kakoune.pane().send_keys([":", "w", "Enter"]);
        assert_eq!(gemini.outcome(), Update::accepted(path.display().to_string(), "two\n"));
        drop(hung);
    }
}
