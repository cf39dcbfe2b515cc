//! What is said of a turn beside its changes of files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use pillion_changes::{Kept, Recorder, looking};

use shared::{WorkTree, recorder, shell};

const SESSION: u64 = 1;

/// An agent that is there, with hooks or without.
fn begun(tree: &WorkTree, has_hooks: bool) -> Recorder {
    fs::create_dir_all(tree.root.join("sub/inner")).unwrap();
    fs::write(tree.root.join("sub/a"), "a\n").unwrap();
    let mut recorder = recorder(&tree.store, &tree.root);
    match has_hooks {
        true => drop(recorder.begin(SESSION, "claude", "").unwrap()),
        false => drop(recorder.attend(SESSION, "opencode").unwrap()),
    }
    recorder
}

/// A shell command does this.
fn call(recorder: &mut Recorder, has_hooks: bool, act: impl FnOnce()) {
    if has_hooks {
        recorder.before(SESSION, "claude", shell("1")).unwrap();
        act();
        recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    } else {
        act();
        recorder.glance(|_| Vec::new()).unwrap();
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn remarks(tree: &WorkTree) -> Vec<String> {
    Kept::read(&tree.store, 1).map_or_else(|_| Vec::new(), |it| it.remarks())
}

#[test]
fn the_permissions_of_a_folder_are_said_with_what_undoes_it() {
    for has_hooks in [true, false] {
        let tree = WorkTree::new();
        let sub = tree.root.join("sub");
        let mut recorder = begun(&tree, has_hooks);
        set_mode(&sub, 0o755);
        call(&mut recorder, has_hooks, || set_mode(&sub, 0o755));
        let before = remarks(&tree).len();
        for (mode, said) in [(0o700, "700"), (0, "0")] {
            call(&mut recorder, has_hooks, || set_mode(&sub, mode));
            let remarks = remarks(&tree);
            assert_eq!(remarks.len(), before + 1, "{has_hooks} {remarks:?}");
            let expected = format!("the permissions of sub are {said}");
            assert!(remarks[0].starts_with(&expected), "{remarks:?}");
            assert!(
                remarks[0].ends_with("`chmod 755 sub` undoes it"),
                "{remarks:?}"
            );
        }
        call(&mut recorder, has_hooks, || set_mode(&sub, 0o755));
        assert_eq!(remarks(&tree), [""; 0], "{has_hooks}");
        // It is in the list alone, and stays there.
        call(&mut recorder, has_hooks, || set_mode(&sub, 0o711));
        recorder.left(SESSION).unwrap();
        assert_eq!(remarks(&tree).len(), 1, "{has_hooks}");
        set_mode(&sub, 0o755);
    }
}

/// No diff shows them.
#[test]
fn permissions_that_became_others_are_named_with_the_file() {
    for (act, place, is_text) in [
        ("text", "sub/a", true),
        ("mode", "sub/a, mode 644→4755", false),
        ("both", "sub/a, mode 644→4755", true),
        ("new", "new (new), mode 4755", true),
    ] {
        let tree = WorkTree::new();
        let mut recorder = begun(&tree, true);
        let path = tree.root.join(if act == "new" { "new" } else { "sub/a" });
        call(&mut recorder, true, || {
            if is_text {
                fs::write(&path, "b\n").unwrap();
            }
            if act != "text" {
                set_mode(&path, 0o4755);
            }
        });
        let kept = Kept::read(&tree.store, 1).unwrap();
        let change = kept.turn.real_changes().next().unwrap();
        assert_eq!(kept.place(change), place, "{act}");
        let looked = looking::look(&tree.store, &kept, kept.name(change), &[], 9).unwrap();
        let said = looked.left_out.join("; ");
        assert_eq!(
            said.contains("permissions, too: mode"),
            act != "text",
            "{act} {said}"
        );
    }
}

/// The names of the folders are as before, and what they lead to is.
#[test]
fn a_change_in_a_workspace_whose_folder_became_a_link_is_listed() {
    for has_hooks in [true, false] {
        let tree = WorkTree::new();
        let mut recorder = begun(&tree, has_hooks);
        let moved = tree.root.with_file_name("moved");
        call(&mut recorder, has_hooks, || {
            fs::rename(&tree.root, &moved).unwrap();
            symlink(&moved, &tree.root).unwrap();
        });
        call(&mut recorder, has_hooks, || {
            fs::write(moved.join("sub/a"), "EVIL\n").unwrap()
        });
        for folder in [&tree.root, &moved] {
            let turns =
                Kept::of_folders(&tree.store, std::slice::from_ref(folder), |_| ()).unwrap();
            let unseen: usize = turns.iter().map(Kept::unseen).sum();
            assert_eq!(unseen, 1, "{has_hooks} {folder:?}");
        }
    }
}
