//! How often all files are looked at, and that whatever happens in between is found nevertheless.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(any(target_os = "linux", target_os = "android"))]

mod shared;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Instant;

use pillion_changes::recorder::Call;
use pillion_changes::{Author, Recorder};

use shared::{WorkTree, recorder, shell};

const SESSION: u64 = 1;

/// A recorder of a folder with some files, after so many looks that the system tells of all.
fn settled(tree: &WorkTree) -> Recorder {
    for name in ["a", "b", "in/c", "in/deep/d"] {
        let path = tree.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    fs::hard_link(tree.root.join("b"), tree.root.with_file_name("elsewhere")).unwrap();
    let mut recorder = recorder(&tree.store, &tree.root);
    recorder.begin(SESSION, "claude", "").unwrap();
    call(&mut recorder, || {});
    recorder
}

/// A shell command that does this. Returns how often all files were looked at for it.
fn call(recorder: &mut Recorder, act: impl FnOnce()) -> u64 {
    let looks = recorder.looks();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    act();
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.looks() - looks
}

#[test]
fn a_folder_in_which_nothing_happens_is_not_looked_through_again() {
    let tree = WorkTree::new();
    let mut recorder = settled(&tree);
    assert_eq!(call(&mut recorder, || {}), 0);
    // To read is nothing.
    let read = || drop(fs::read(tree.root.join("in/c")).unwrap());
    assert_eq!(call(&mut recorder, read), 0);
    recorder.end(SESSION).unwrap();
    recorder.begin(SESSION, "claude", "").unwrap();
    assert_eq!(call(&mut recorder, || {}), 0);
}

#[test]
fn whatever_happens_in_a_settled_folder_is_found_at_once() {
    type Act = fn(&Path);
    let acts: [(Act, &[&str]); 11] = [
        (|it| fs::write(it.join("a"), "longer").unwrap(), &["a"]),
        (
            |it| fs::write(it.join("in/deep/d"), "x").unwrap(),
            &["in/deep/d"],
        ),
        (|it| fs::write(it.join("new"), "x").unwrap(), &["new"]),
        (|it| fs::remove_file(it.join("in/c")).unwrap(), &["in/c"]),
        (
            |it| fs::set_permissions(it.join("a"), Permissions::from_mode(0o700)).unwrap(),
            &["a"],
        ),
        (
            |it| fs::rename(it.join("a"), it.join("in/a")).unwrap(),
            &["a", "in/a"],
        ),
        (
            |it| {
                fs::create_dir_all(it.join("x/y")).unwrap();
                fs::write(it.join("x/y/z"), "x").unwrap();
            },
            &["x/y/z"],
        ),
        (
            |it| {
                fs::rename(it.join("in/deep"), it.with_file_name("out")).unwrap();
                fs::create_dir(it.join("in/deep")).unwrap();
                fs::write(it.join("in/deep/e"), "x").unwrap();
            },
            &["in/deep/d", "in/deep/e"],
        ),
        (|it| symlink("b", it.join("link")).unwrap(), &["link"]),
        // By another name, elsewhere.
        (
            |it| fs::write(it.with_file_name("elsewhere"), "longer").unwrap(),
            &["b"],
        ),
        // Another folder in its place.
        (
            |it| {
                fs::rename(it, it.with_file_name("moved")).unwrap();
                fs::create_dir(it).unwrap();
                fs::copy(it.with_file_name("moved").join("a"), it.join("a")).unwrap();
            },
            &["b", "in/c", "in/deep/d"],
        ),
    ];
    for (at, (act, expected)) in acts.into_iter().enumerate() {
        let tree = WorkTree::new();
        let mut recorder = settled(&tree);
        assert!(call(&mut recorder, || act(&tree.root)) > 0, "{at}");
        // What is found later is found in the folders that came.
        call(&mut recorder, || {
            fs::write(tree.root.join("a"), "again").unwrap()
        });
        let turn = tree.store.turn(1).unwrap();
        let mut found: Vec<_> = { turn.real_changes() }
            .map(|it| it.path.strip_prefix(&tree.root).unwrap().to_str().unwrap())
            .filter(|it| *it != "a" || expected.contains(&"a"))
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{at}");
    }
}

/// The folders are watched from before the look with which the turn begins.
#[test]
fn the_first_call_of_a_prepared_folder_is_a_look_only_if_something_happened() {
    let tree = WorkTree::new();
    fs::create_dir(tree.root.join("d")).unwrap();
    fs::write(tree.root.join("d/a"), "a").unwrap();
    for happens in [false, true] {
        let mut recorder = recorder(&tree.store, &tree.root);
        recorder.prepare();
        recorder.begin(SESSION, "claude", "").unwrap();
        if happens {
            fs::write(tree.root.join("d/b"), "b").unwrap();
        }
        assert_eq!(call(&mut recorder, || {}), u64::from(happens));
        assert_eq!(
            call(&mut recorder, || fs::write(tree.root.join("d/a"), "b")
                .unwrap()),
            1
        );
        recorder.end(SESSION).unwrap();
        let turn = tree.store.numbers().unwrap().pop().unwrap();
        let turn = tree.store.turn(turn).unwrap();
        assert_eq!(turn.real_changes().count(), 1 + usize::from(happens));
        fs::write(tree.root.join("d/a"), "a").unwrap();
    }
}

#[test]
fn one_look_answers_all_who_asked_before_it_began() {
    let tree = WorkTree::new();
    let mut recorder = settled(&tree);
    let all: Vec<String> = (0..10).map(|it| it.to_string()).collect();
    let looks = recorder.looks();
    fs::write(tree.root.join("person"), "x").unwrap();
    let asked = Instant::now();
    for id in &all {
        recorder.asked_at(Some(asked));
        recorder.before(SESSION, "claude", shell(id)).unwrap();
        // Somebody writes all the time.
        fs::write(tree.root.join("person"), id).unwrap();
    }
    assert_eq!(recorder.looks(), looks + 1);
    fs::write(tree.root.join("agent"), "x").unwrap();
    let asked = Instant::now();
    for id in &all {
        recorder.asked_at(Some(asked));
        recorder.after(SESSION, id, |_| Vec::new()).unwrap();
        fs::write(tree.root.join("person"), id).unwrap();
    }
    assert_eq!(recorder.looks(), looks + 2);
    let turn = tree.store.turn(1).unwrap();
    let agent = tree.root.join("agent");
    assert!(turn.real_changes().any(|it| it.path == agent));
}

/// Nothing happens in the folder itself: another one is there, by the name of a folder around it.
#[test]
fn another_folder_in_the_place_of_one_around_it_is_looked_through() {
    let tree = WorkTree::new();
    let top = tree.root.join("top");
    let file = top.join("project/a");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "one").unwrap();
    let mut recorder = recorder(&tree.store, &top.join("project"));
    recorder.begin(SESSION, "claude", "").unwrap();
    call(&mut recorder, || {});
    assert_eq!(call(&mut recorder, || {}), 0);
    call(&mut recorder, || {
        fs::rename(&top, tree.root.join("other")).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "another").unwrap();
    });
    let turn = tree.store.turn(1).unwrap();
    assert!(turn.real_changes().any(|it| it.path == file));
}

/// A file in `in`, and a way to write it of which the system tells nothing in the folder.
fn linked_elsewhere(tree: &WorkTree) -> impl Fn(&str) + use<> {
    let (file, other) = (tree.root.join("in/c"), tree.root.with_file_name("other"));
    fs::hard_link(file, &other).unwrap();
    move |text| fs::write(&other, text).unwrap()
}

/// The texts that a turn has left, each with its author.
fn texts_after(tree: &WorkTree, turn: u64) -> Vec<(String, Author)> {
    let turn = tree.store.turn(turn).unwrap();
    let texts = turn.real_changes().map(|it| {
        let text = tree.store.get(it.after.text().unwrap()).unwrap();
        (String::from_utf8(text).unwrap(), it.by.clone())
    });
    texts.collect()
}

fn unclear(text: &str) -> (String, Author) {
    (text.to_owned(), Author::Unclear)
}

#[test]
fn what_the_system_does_not_tell_of_is_found_at_the_end_of_the_turn() {
    type End = fn(&mut Recorder);
    let ends: [(&str, End); 4] = [
        ("stop", |it| it.end(SESSION).unwrap()),
        ("left", |it| it.left(SESSION).unwrap()),
        ("prompt", |it| {
            it.begin(SESSION, "claude", "").unwrap();
        }),
        ("subagent", |it| {
            let call = Call {
                subagent: Some("s".to_owned()),
                ..shell("2")
            };
            it.before(SESSION, "claude", call).unwrap();
            it.end(SESSION).unwrap();
            it.subagent_ended(SESSION, "s").unwrap();
        }),
    ];
    for (what, end) in ends {
        let tree = WorkTree::new();
        let mut recorder = settled(&tree);
        let write = linked_elsewhere(&tree);
        assert_eq!(call(&mut recorder, || write("evil")), 0, "{what}");
        end(&mut recorder);
        assert_eq!(texts_after(&tree, 1), [unclear("evil")], "{what}");
    }
}

/// What was written between two turns is the person's, and what is written in the next one is not told with it.
#[test]
fn what_the_system_did_not_tell_of_between_turns_is_none_of_the_next_one() {
    let tree = WorkTree::new();
    let mut recorder = settled(&tree);
    recorder.end(SESSION).unwrap();
    let write = linked_elsewhere(&tree);
    write("mine");
    let turn = recorder.begin(SESSION, "claude", "").unwrap();
    call(&mut recorder, || write("evil"));
    recorder.end(SESSION).unwrap();
    let by_call = Author::Tool("Bash".to_owned());
    assert_eq!(texts_after(&tree, turn), [("evil".to_owned(), by_call)]);
    let kept = tree.store.turn(turn).unwrap();
    let before = kept.real_changes().next().unwrap().before.clone();
    assert_eq!(tree.store.get(before.text().unwrap()).unwrap(), b"mine");
}

/// An agent without hooks, whose turns begin with its prompts or with the first change.
#[test]
fn what_the_system_does_not_tell_of_is_found_at_the_end_of_a_turn_without_hooks() {
    for begins in [true, false] {
        let tree = WorkTree::new();
        let mut recorder = settled(&tree);
        recorder.left(SESSION).unwrap();
        recorder.attend(SESSION, "opencode").unwrap();
        fs::write(tree.root.join("new"), "new").unwrap();
        recorder.glance().unwrap();
        recorder.glance().unwrap();
        let write = linked_elsewhere(&tree);
        let turn = tree.store.numbers().unwrap().pop().unwrap();
        let looks = recorder.looks();
        write("evil");
        recorder.glance().unwrap();
        assert_eq!(recorder.looks(), looks, "{begins}");
        match begins {
            true => recorder.attended_begins(SESSION).unwrap(),
            false => recorder.attended_is_quiet(SESSION).unwrap(),
        };
        let expected = ["new", "evil"].map(unclear);
        assert_eq!(texts_after(&tree, turn), expected, "{begins}");
    }
}
