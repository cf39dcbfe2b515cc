//! A person's saves in an editor without a plugin while an agent works are not shown as the agent's.

use std::fs;

use crate::plain::world::World;
use crate::shared_agent_work::{
    OTHER, assert_recorded, command_begins, command_ends, is_recorded, turn_begins,
};

const TEXT: &str = "one\ntwo\nthree\n";
const AGENTS: &str = "eins\ntwo\nthree\n";
const MINE: &str = "one\ntwo\nmine\n";
const BOTH: &str = "eins\ntwo\nmine\n";

/// An editor with a file open, and an agent whose command runs; the URI of the file.
fn world() -> (World, String) {
    let mut world = World::with_files(&[("a.txt", TEXT), OTHER]);
    let uri = world.open("a.txt", TEXT);
    turn_begins(&world.sandbox.home);
    command_begins(&world.sandbox.home);
    take_in(&mut world, &uri);
    (world, uri)
}

/// Waits until all that the editor has told before is recorded: it tells everything in order.
fn take_in(world: &mut World, uri: &str) {
    for line in [1, 0] {
        world.at("textDocument/hover", uri, (line, 0));
        world.agent.context(|context| {
            let cursor = context.active_file().and_then(|file| file.cursor);
            cursor.is_some_and(|cursor| cursor.line == line + 1)
        });
    }
    is_recorded(&world.sandbox.home);
}

/// The person changes the file in the editor and saves it.
fn save(world: &mut World, uri: &str, text: &str) {
    world.did_change(uri, text);
    world.sandbox.home.file("a.txt", text);
    world.did_save(uri, text);
    take_in(world, uri);
}

#[test]
fn what_is_saved_before_the_agent_writes_is_the_persons() {
    let (mut world, uri) = world();
    save(&mut world, &uri, MINE);
    let path = world.sandbox.home.file("a.txt", BOTH);
    command_ends(&world.sandbox.home);
    assert_recorded(&world.sandbox.home, &path, "+eins", "+mine");
}

#[test]
fn what_is_saved_after_the_agent_wrote_is_the_persons() {
    let (mut world, uri) = world();
    let path = world.sandbox.home.file("a.txt", AGENTS);
    // The editor reads it again.
    world.did_change(&uri, AGENTS);
    take_in(&mut world, &uri);
    save(&mut world, &uri, BOTH);
    command_ends(&world.sandbox.home);
    assert_recorded(&world.sandbox.home, &path, "+eins", "+mine");
}

#[test]
fn what_is_saved_in_another_file_is_the_persons() {
    let (mut world, uri) = world();
    save(&mut world, &uri, MINE);
    let path = world.sandbox.home.workspace().join("new.txt");
    fs::write(&path, "eins\n").unwrap();
    command_ends(&world.sandbox.home);
    assert_recorded(&world.sandbox.home, &path, "+eins", "+mine");
}
