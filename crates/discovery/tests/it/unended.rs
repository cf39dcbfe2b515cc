//! Whoever finds no companion knows whether one has ended by itself.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_discovery::unended::{self, Ended, Unended};
use serde_json::{Value, json};

use crate::world::{World, dead_pid};

const PORT: u16 = 40_404;

fn roots(roots: &[&str]) -> Vec<PathBuf> {
    roots.iter().map(PathBuf::from).collect()
}

fn note(world: &World, named: &[&str], port: u16) -> Unended {
    Unended::note(&world.environment(), &roots(named), port).unwrap()
}

fn is_any(world: &World, path: &str) -> bool {
    unended::roots_around(&world.environment(), Path::new(path)).is_some()
}

/// The only note, changed.
fn change(world: &World, change: impl FnOnce(&mut Value)) {
    let files = world.files();
    let file = world.path(files.first().unwrap());
    let mut note: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    change(&mut note);
    fs::write(file, note.to_string()).unwrap();
}

#[test]
fn a_companion_is_expected_in_its_folders_until_it_ends_by_itself() {
    let world = World::new();
    assert!(!is_any(&world, "/w"));
    let mut noted = note(&world, &["/w", "/x"], PORT);
    for (path, is_its) in [("/w", true), ("/x/a", true), ("/", false), ("/wx", false)] {
        assert_eq!(is_any(&world, path), is_its, "{path}");
    }
    let on = |port| unended::roots_on(&world.environment(), port);
    assert_eq!(on(PORT), Some(roots(&["/w", "/x"])));
    assert_eq!(on(PORT + 1), None);
    noted.set_roots(&roots(&["/y"])).unwrap();
    assert!(is_any(&world, "/y") && !is_any(&world, "/w"));
    noted.end(Ended::ByPerson);
    assert!(!is_any(&world, "/y") && world.files().is_empty());
}

/// Also one that comes with another order of the folders, or at another port: it is no other workspace.
#[test]
fn what_one_that_was_killed_has_noted_is_its_successors() {
    for (ends, is_left) in [
        (&["/x", "/w"][..], [false, false]),
        (&["/w", "/x", "/y"], [false, false]),
        (&["/"], [false, false]),
        (&["/w"], [false, true]),
        (&["/w/below", "/y"], [true, true]),
    ] {
        let world = World::new();
        drop(note(&world, &["/w", "/x"], PORT));
        change(&world, |note| note["pid"] = json!(dead_pid()));
        assert!(is_any(&world, "/w"), "it was killed");
        note(&world, ends, PORT + 1).end(Ended::ByPerson);
        let left = ["/w", "/x"].map(|it| is_any(&world, it));
        assert_eq!(left, is_left, "{ends:?}");
    }
}

/// An agent's own view lifts nothing, and leaves nothing.
#[test]
fn one_that_the_person_has_not_ended_changes_nothing() {
    let world = World::new();
    note(&world, &["/w"], PORT).end(Ended::ByStranger);
    assert!(!is_any(&world, "/w"));
    note(&world, &["/w"], PORT).end(Ended::NotByItself);
    for around in ["/w", "/"] {
        note(&world, &[around], PORT).end(Ended::ByStranger);
        assert!(is_any(&world, "/w"), "it was killed");
        change(&world, |note| note["pid"] = json!(dead_pid()));
    }
    note(&world, &["/"], PORT).end(Ended::ByPerson);
    assert!(!is_any(&world, "/w"));
}

#[test]
fn one_that_ends_leaves_what_a_companion_that_runs_has_noted() {
    let world = World::new();
    let former = note(&world, &["/w"], PORT);
    let _next = note(&world, &["/w"], PORT + 1);
    former.end(Ended::ByPerson);
    assert!(is_any(&world, "/w"));
}

#[test]
fn what_was_noted_in_another_container_or_before_this_start_of_the_machine_says_nothing() {
    for (name, other) in [("pid", json!(1)), ("net", json!(1)), ("boot", json!("x"))] {
        let world = World::new();
        let _noted = note(&world, &["/w"], PORT);
        change(&world, |note| note["namespaces"][name] = other);
        assert!(!is_any(&world, "/w"), "{name}");
    }
}

#[test]
fn what_is_no_note_is_passed_over() {
    let world = World::new();
    note(&world, &["/x"], PORT).end(Ended::ByPerson);
    for (name, content) in [("a.served", ""), ("b.served", "{}"), ("c.served", "[1]")] {
        fs::write(world.path("run/pillion").join(name), content).unwrap();
    }
    assert!(!is_any(&world, "/w"));
    let noted = note(&world, &["/w"], PORT);
    assert!(is_any(&world, "/w"));
    noted.end(Ended::ByPerson);
    assert!(!is_any(&world, "/w"));
}

/// The next companion of the workspace is waited for again, if it is killed in its turn.
#[test]
fn a_companion_that_was_awaited_in_vain_is_known_as_such_until_another_one_comes() {
    let world = World::new();
    let (own, others) = (roots(&["/w", "/x"]), roots(&["/w"]));
    let was = |roots: &[PathBuf]| unended::was_awaited(&world.environment(), roots);
    let noted = note(&world, &["/w", "/x"], PORT);
    unended::note_awaited(&world.environment(), &others);
    assert!(!was(&own) && !was(&others));
    unended::note_awaited(&world.environment(), &own);
    assert!(was(&own) && !was(&others));
    // Another process has it now.
    let files = world.files();
    let is_note = |it: &&String| it.ends_with(".served");
    let file = world.path(files.iter().find(is_note).unwrap());
    let mut text: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    text["pid"] = dead_pid().into();
    fs::write(&file, text.to_string()).unwrap();
    assert!(!was(&own));
    noted.end(Ended::ByPerson);
    assert!(!was(&own));
}
