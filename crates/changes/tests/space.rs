//! The room that the store takes: what is forgotten is gone at once, what is needed stays, and there is a limit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use pillion_changes::recorder::Call;
use pillion_changes::{Act, ChangeRef, Deciding, Hash, Kept, Recorder, Store, StoreError};
use pillion_discovery::Environment;

use shared::{WorkTree, recorder, shell};

const HOOKED: u64 = 1;
const ATTENDED: u64 = 2;

/// An agent with hooks, or one without.
fn both() -> [bool; 2] {
    [true, false]
}

/// A turn in which this happens.
fn turn(recorder: &mut Recorder, has_hooks: bool, work: impl FnOnce(&mut Recorder)) {
    if has_hooks {
        recorder.begin(HOOKED, "claude", "").unwrap();
        recorder.before(HOOKED, "claude", shell("1")).unwrap();
        work(recorder);
        recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
        recorder.end(HOOKED).unwrap();
    } else {
        recorder.attend(ATTENDED, "opencode").unwrap();
        work(recorder);
        recorder.glance().unwrap();
        recorder.attended_begins(ATTENDED).unwrap();
    }
}

fn decide(store: &Store, act: Act, turn: u64) {
    let kept = Kept::hold(store, turn).unwrap();
    let name = ChangeRef { turn, change: None };
    let mut deciding = Deciding::new(store, &kept);
    let done = deciding.all(act, &[name], |it| {
        it.result.unwrap();
    });
    done.unwrap();
}

/// The size of all texts.
fn size(store: &Store) -> u64 {
    store.usage().unwrap().total
}

fn has(store: &Store, text: &[u8]) -> bool {
    match store.get(&Hash::of(text)) {
        Err(StoreError::Missing(_)) => false,
        found => found.is_ok(),
    }
}

/// What is forgotten is deleted at once, also while somebody watches; what files have stays.
#[test]
fn what_is_forgotten_is_gone_at_once_and_what_is_needed_is_not() {
    for has_hooks in both() {
        let tree = WorkTree::new();
        let path = |name: &str| tree.root.join(name);
        for name in ["f", "same", "deleted"] {
            fs::write(path(name), "one\n").unwrap();
        }
        fs::write(path("deleted"), "secret\n").unwrap();
        let mut recorder = recorder(&tree.store, &tree.root);
        turn(&mut recorder, has_hooks, |_| {
            fs::write(path("f"), "two\n").unwrap();
            fs::remove_file(path("deleted")).unwrap();
        });
        turn(&mut recorder, has_hooks, |_| {
            fs::write(path("f"), "three\n").unwrap();
        });
        let texts = tree.store.forget_all(&[1], &[]).unwrap();
        tree.store.remove(&texts).unwrap();
        assert!(!has(&tree.store, b"secret\n"));
        assert!(has(&tree.store, b"two\n"), "turn 2 needs it");
        assert!(has(&tree.store, b"one\n"), "a file has it");
        turn(&mut recorder, has_hooks, |_| {
            fs::write(path("same"), "four\n").unwrap();
        });
        for turn in [3, 2] {
            decide(&tree.store, Act::TakeBack, turn);
        }
        let now = ["f", "same"].map(|it| fs::read_to_string(path(it)).unwrap());
        assert_eq!(now, ["two\n", "one\n"]);
    }
}

/// Forgotten while a call has changed files and nobody has looked since: a command has a store of its own.
#[test]
fn what_is_before_a_change_that_nobody_has_noted_yet_is_not_deleted_with_another_turn() {
    for is_all in [false, true] {
        let tree = WorkTree::new();
        let path = |name: &str| tree.root.join(name);
        let mut recorder = recorder(&tree.store, &tree.root);
        turn(&mut recorder, true, |_| {
            fs::write(path("f"), "one\n").unwrap();
            fs::write(path("g"), "two\n").unwrap();
        });
        recorder.begin(HOOKED, "claude", "").unwrap();
        recorder.before(HOOKED, "claude", shell("1")).unwrap();
        fs::remove_file(path("f")).unwrap();
        fs::write(path("g"), "other\n").unwrap();
        let state = tree.folder.path().join("state");
        let store = Store::of(&Environment::from_pairs([("XDG_STATE_HOME", state)])).unwrap();
        let texts = store.forget_all(&[1], &[]).unwrap();
        match is_all {
            true => store.remove_texts(SystemTime::now(), Duration::ZERO, |_| false),
            false => store.remove(&texts),
        }
        .unwrap();
        recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
        recorder.end(HOOKED).unwrap();
        decide(&tree.store, Act::TakeBack, 2);
        let texts = ["f", "g"].map(|it| fs::read_to_string(path(it)).ok());
        assert_eq!(
            texts,
            ["one\n", "two\n"].map(|it| Some(it.to_owned())),
            "{is_all}"
        );
    }
}

/// What stands in the file now is the text before its next change, and stays.
#[test]
fn what_is_in_the_file_is_not_deleted_with_its_turn() {
    for has_hooks in both() {
        let tree = WorkTree::new();
        let file = tree.root.join("f");
        fs::write(&file, "one\n").unwrap();
        let mut recorder = recorder(&tree.store, &tree.root);
        turn(&mut recorder, has_hooks, |_| {
            fs::write(&file, "two\n").unwrap()
        });
        let texts = tree.store.forget_all(&[1], &[]).unwrap();
        tree.store.remove(&texts).unwrap();
        assert!(!has(&tree.store, b"one\n") && has(&tree.store, b"two\n"));
        turn(&mut recorder, has_hooks, |_| {
            fs::write(&file, "three\n").unwrap()
        });
        decide(&tree.store, Act::TakeBack, 2);
        assert_eq!(fs::read(&file).unwrap(), b"two\n");
    }
}

/// Of a file that changes all the time, the text before stays, and not each of those between.
#[test]
fn a_file_that_changes_all_the_time_does_not_fill_the_store() {
    const LONG: usize = 4 << 20;
    for has_hooks in both() {
        let tree = WorkTree::new();
        let file = tree.root.join("data");
        fs::write(&file, vec![b'a'; LONG]).unwrap();
        let mut recorder = recorder(&tree.store, &tree.root);
        turn(&mut recorder, has_hooks, |recorder| {
            for at in 0..24 {
                fs::write(&file, vec![b'b' + at; LONG]).unwrap();
                match has_hooks {
                    true => {
                        recorder.after(HOOKED, "1", |_| Vec::new()).unwrap();
                        recorder.before(HOOKED, "claude", shell("1")).unwrap();
                    }
                    false => drop(recorder.glance().unwrap()),
                }
            }
        });
        let held = size(&tree.store) / LONG as u64;
        assert!((2..=12).contains(&held), "{held} texts");
        decide(&tree.store, Act::TakeBack, 1);
        assert_eq!(fs::read(&file).unwrap(), vec![b'a'; LONG]);
        decide(&tree.store, Act::Undo, 1);
        assert_eq!(fs::read(&file).unwrap(), vec![b'b' + 23; LONG]);
    }
}

/// When the store is full, the oldest turns go of which all is seen, and nothing else; then there is a message, until there is room.
#[test]
fn the_oldest_seen_turns_make_room_and_what_is_unseen_stays() {
    const LONG: usize = 100 << 10;
    for has_hooks in both() {
        let tree = WorkTree::new();
        let state = tree.folder.path().join("state");
        let pairs = [
            ("XDG_STATE_HOME", state.as_os_str()),
            ("PILLION_CHANGES_LIMIT", "1000K".as_ref()),
        ];
        let store = Store::of(&Environment::from_pairs(pairs)).unwrap();
        let file = tree.root.join("data");
        fs::write(&file, vec![b'a'; LONG]).unwrap();
        let mut recorder = recorder(&store, &tree.root);
        let write = |recorder: &mut Recorder, at: u8| {
            turn(recorder, has_hooks, |_| {
                fs::write(&file, vec![b'a' + at; LONG]).unwrap();
            });
        };
        for number in 1..=20 {
            write(&mut recorder, number);
            if number > 2 {
                decide(&store, Act::Keep, u64::from(number));
            }
            assert_eq!(recorder.problem(), None, "{number}");
        }
        let numbers = store.numbers().unwrap();
        assert_eq!(numbers[..2], [1, 2]);
        assert!(numbers[2] > 10, "{numbers:?}");
        assert!(size(&store) <= 1000 << 10);
        assert!(
            has(&store, &vec![b'a'; LONG]),
            "it is before what nobody has seen"
        );
        // Nothing of what follows is seen.
        let mut number = 21;
        let problem = loop {
            write(&mut recorder, number);
            number += 1;
            if let Some(problem) = recorder.problem() {
                break problem;
            }
        };
        for part in [
            "nobody has seen what there is",
            "`pillion changes --disk`",
            "`pillion keep`",
        ] {
            assert!(problem.contains(part), "{problem}");
        }
        assert!(size(&store) <= 1000 << 10);
        let kept = Kept::read(&store, u64::from(number) - 1).unwrap();
        assert_eq!(kept.unseen(), 1, "it is listed nevertheless");
        for turn in store.numbers().unwrap() {
            decide(&store, Act::Keep, turn);
        }
        let until = Instant::now() + Duration::from_secs(60);
        while !has(&store, &fs::read(&file).unwrap()) {
            assert!(Instant::now() < until);
            recorder.prepare();
        }
    }
}

/// Where the files are that agents change.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Watched,
    /// In one watched folder, and each time a file in another one is changed after it.
    BesideAnother,
    Elsewhere,
}

/// A turn that goes takes no text of a file with it, whichever change of the file is found just then. There is room for as many turns
/// as there are files: the oldest one has the only record of the text that is just being replaced.
#[test]
fn what_makes_room_leaves_the_text_before_of_each_change() {
    const FILES: usize = 8;
    const LONG: usize = 90 << 10;
    for (has_hooks, is_taken_back, place) in [
        (true, false, Place::Watched),
        (false, false, Place::Watched),
        (true, true, Place::Watched),
        (true, false, Place::BesideAnother),
        (true, false, Place::Elsewhere),
    ] {
        let tree = WorkTree::new();
        let state = tree.folder.path().join("state");
        let others = usize::from(place == Place::BesideAnother);
        // The texts of all files, those before of as many turns as there are files, and those of the next one: but for a half.
        let texts = (FILES + others) + FILES * (1 + others) + 1 + others;
        let limit = (LONG * texts - LONG / 2).to_string();
        let pairs = [
            ("XDG_STATE_HOME", state.as_os_str()),
            ("PILLION_CHANGES_LIMIT", limit.as_ref()),
        ];
        let store = Store::of(&Environment::from_pairs(pairs)).unwrap();
        let folder = match place {
            Place::Elsewhere => tree.folder.path(),
            _ => &tree.root,
        };
        let beside = tree.folder.path().join("beside");
        fs::create_dir(&beside).unwrap();
        let other = beside.join("other");
        let files: Vec<_> = (0..FILES).map(|it| folder.join(format!("f{it}"))).collect();
        let text = |file: usize, at: u8| vec![b'a' + at + 40 * (file as u8 % 2); LONG + file];
        for (number, file) in files.iter().enumerate() {
            fs::write(file, text(number, 0)).unwrap();
        }
        fs::write(&other, text(FILES, 0)).unwrap();
        let mut roots = vec![tree.root.clone()];
        roots.extend((others > 0).then_some(beside));
        let mut recorder = Recorder::new(store.clone(), &roots, Vec::new());
        let mut most = 0;
        for at in 1..40 {
            let number = usize::from(at) % files.len();
            let file = &files[number];
            let before = fs::read(file).unwrap();
            turn(&mut recorder, has_hooks, |recorder| {
                if place == Place::Elsewhere {
                    let call = Call {
                        path: Some(file.clone()),
                        id: "2".to_owned(),
                        ..shell("2")
                    };
                    recorder.before(HOOKED, "claude", call).unwrap();
                }
                fs::write(file, text(number, at)).unwrap();
                if others > 0 {
                    fs::write(&other, text(FILES, at)).unwrap();
                }
                if place == Place::Elsewhere {
                    recorder.after(HOOKED, "2", |_| Vec::new()).unwrap();
                }
            });
            let turn = u64::from(at);
            assert_eq!(recorder.problem(), None, "{turn}");
            let numbers = store.numbers().unwrap();
            assert!(has(&store, &before), "{turn} {numbers:?} {place:?}");
            most = most.max(numbers.len());
            if is_taken_back {
                decide(&store, Act::TakeBack, turn);
                assert_eq!(fs::read(file).unwrap(), before, "{turn}");
            } else {
                decide(&store, Act::Keep, turn);
            }
        }
        assert!(store.numbers().unwrap()[0] > 1, "none was in the way");
        assert_eq!(most, FILES, "more went than was in the way: {place:?}");
    }
}
