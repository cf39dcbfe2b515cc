//! What is written just before or after a call is not that call's: files tell when.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(target_os = "linux")]

mod shared;

use std::fs;
use std::path::Path;
use std::time::Instant;

use pillion_changes::Author;
use pillion_changes::recorder::Call;

use shared::{WorkTree, recorder, shell};

/// What a person does to a file.
type Doing = fn(&Path);

/// Just after a call was told to have ended, before anything is looked at; and just before one runs, when all was looked at.
#[test]
fn what_a_person_writes_just_beside_a_call_is_not_that_calls() {
    let doings: [(&str, Doing); 4] = [
        ("a.txt", |it| fs::write(it, "the person's\n").unwrap()),
        ("new.txt", |it| fs::write(it, "the person's\n").unwrap()),
        ("gone.txt", |it| fs::remove_file(it).unwrap()),
        ("moved/in.txt", |it| {
            let folder = it.parent().unwrap();
            fs::rename(folder.with_file_name("folder"), folder).unwrap();
        }),
    ];
    for (name, doing) in doings {
        for is_before in [true, false] {
            for path in [None, Some(name)] {
                let WorkTree {
                    root,
                    store,
                    folder: _folder,
                } = WorkTree::new();
                fs::create_dir(root.join("folder")).unwrap();
                fs::create_dir(root.join("own")).unwrap();
                for (name, text) in [
                    ("a.txt", "a\n"),
                    ("gone.txt", "g\n"),
                    ("folder/in.txt", "i\n"),
                ] {
                    fs::write(root.join(name), text).unwrap();
                }
                let mut recorder = recorder(&store, &root);
                let call = |id| Call {
                    path: path.map(|it| root.join(it)),
                    ..shell(id)
                };
                recorder.begin(1, "claude", "").unwrap();
                recorder.begin(2, "codex", "").unwrap();
                if is_before {
                    let asked = Instant::now();
                    recorder.before(1, "claude", shell("1")).unwrap();
                    recorder.after(1, "1", |_| Vec::new()).unwrap();
                    doing(&root.join(name));
                    recorder.asked_at(Some(asked));
                    recorder.before(2, "codex", call("2")).unwrap();
                    recorder.asked_at(None);
                    fs::write(root.join("own/a.txt"), "the agent's\n").unwrap();
                } else {
                    recorder.before(2, "codex", call("2")).unwrap();
                    fs::write(root.join("own/a.txt"), "the agent's\n").unwrap();
                    recorder.spans().ended(2, "2");
                    doing(&root.join(name));
                }
                recorder.after(2, "2", |_| Vec::new()).unwrap();
                recorder.end(2).unwrap();
                let by = |name: &str| {
                    let turns = [1, 2].map(|it| store.turn(it));
                    let mut changes = turns.into_iter().flatten().flat_map(|it| it.changes);
                    changes
                        .find(|it| it.path == root.join(name))
                        .map(|it| it.by)
                };
                let case = format!("{name} {is_before} {path:?}");
                assert_eq!(by(name), Some(Author::Unclear), "{case}");
                let own = Author::Tool("Bash".to_owned());
                if path.is_none() {
                    assert_eq!(by("own/a.txt"), Some(own), "{case}");
                }
            }
        }
    }
}

/// The files of a folder keep their times when it is moved, and so does a file that takes another one's place.
#[test]
fn what_a_call_moves_is_its_change_however_old_that_is() {
    let WorkTree {
        root,
        store,
        folder: _folder,
    } = WorkTree::new();
    for name in ["d", "e"] {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("in.txt"), name).unwrap();
    }
    fs::write(root.join("a.txt"), "a").unwrap();
    fs::write(root.join("b.txt"), "b").unwrap();
    let mut recorder = recorder(&store, &root);
    recorder.begin(1, "claude", "").unwrap();
    recorder.before(1, "claude", shell("1")).unwrap();
    fs::rename(root.join("d"), root.join("f")).unwrap();
    fs::rename(root.join("e"), root.join("d")).unwrap();
    fs::rename(root.join("b.txt"), root.join("a.txt")).unwrap();
    recorder.spans().ended(1, "1");
    recorder.after(1, "1", |_| Vec::new()).unwrap();
    recorder.end(1).unwrap();
    let changes = store.turn(1).unwrap().changes;
    assert_eq!(changes.len(), 5, "{changes:?}");
    let own = Author::Tool("Bash".to_owned());
    assert!(changes.iter().all(|it| it.by == own), "{changes:?}");
}
