//! Installing and removing folders, in a directory of the test's own.

use tempfile::TempDir;

use super::*;
use crate::install::Step;

fn world() -> (TempDir, PathBuf) {
    let world = tempfile::tempdir().unwrap();
    let target = world.path().join("pack/start/x");
    (world, target)
}

fn put(target: &Path, files: &[(&str, &str)], in_the_way: InTheWay) -> Put {
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    Put {
        target: target.to_owned(),
        files: files.collect(),
        in_the_way,
    }
}

fn ours(target: &Path) -> Ours {
    match State::of(target).unwrap() {
        State::Ours(ours) => ours,
        other => panic!("{other:?}"),
    }
}

/// Everything below a folder, folders with a slash behind.
fn tree(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
                found.push(format!("{name}/"));
            } else {
                found.push(name);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_folder_comes_and_goes_with_the_folders_that_were_made_for_it() {
    let (world, target) = world();
    put(&target, &[("a/b", "b"), ("c", "c")], InTheWay::Nothing)
        .carry_out()
        .unwrap();
    let there = [
        "pack/",
        "pack/start/",
        "pack/start/x/",
        "pack/start/x/.pillion-installed.json",
    ];
    let rest = ["pack/start/x/a/", "pack/start/x/a/b", "pack/start/x/c"];
    assert_eq!(tree(world.path()), [&there[..], &rest].concat());
    let ours = ours(&target);
    assert!(ours.of_the_user().is_empty());
    Take { target, ours }.carry_out().unwrap();
    assert!(tree(world.path()).is_empty(), "{:?}", tree(world.path()));
}

#[test]
fn a_folder_that_was_there_before_stays() {
    let (world, target) = world();
    fs::create_dir(world.path().join("pack")).unwrap();
    put(&target, &[("c", "c")], InTheWay::Nothing)
        .carry_out()
        .unwrap();
    // An update keeps in mind what the first installation made.
    let older = InTheWay::Older(ours(&target).marker);
    put(&target, &[("d", "d")], older).carry_out().unwrap();
    assert_eq!(fs::read_to_string(target.join("d")).unwrap(), "d");
    assert!(!target.join("c").exists());
    let take = Take {
        ours: ours(&target),
        target,
    };
    take.carry_out().unwrap();
    assert_eq!(tree(world.path()), ["pack/"]);
}

#[test]
fn what_the_user_changed_or_added_stays() {
    let (_world, target) = world();
    let files = [("a/b", "b"), ("c", "c"), ("doc/tags", "t")];
    put(&target, &files, InTheWay::Nothing).carry_out().unwrap();
    fs::write(target.join("c"), "mine").unwrap();
    fs::write(target.join("a/new"), "mine").unwrap();
    fs::write(target.join("doc/tags"), "by :helptags").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", target.join("link")).unwrap();
    let take = Take {
        ours: ours(&target),
        target: target.clone(),
    };
    let said = take.carry_out().unwrap();
    assert!(said.contains("c (changed), a/new (added)"), "{said}");
    let kept = tree(&target);
    let kept: Vec<_> = kept.iter().filter(|name| *name != "link").collect();
    assert_eq!(kept, ["a/", "a/new", "c"]);
    assert!(matches!(State::of(&target).unwrap(), State::Foreign(_)));
}

#[test]
fn a_marker_that_names_other_folders_removes_none_of_them() {
    let (world, target) = world();
    let other = world.path().join("other");
    fs::create_dir(&other).unwrap();
    put(&target, &[("c", "c")], InTheWay::Nothing)
        .carry_out()
        .unwrap();
    let marker = target.join(Marker::NAME);
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
    json["made"] = serde_json::json!([other, target, world.path().join("pack/../other")]);
    json["files"]["../../../other/x"] = serde_json::json!(fingerprint::hash(b"x"));
    fs::write(&marker, json.to_string()).unwrap();
    fs::write(other.join("x"), "x").unwrap();
    let take = Take {
        ours: ours(&target),
        target,
    };
    take.carry_out().unwrap();
    assert_eq!(
        tree(world.path()),
        ["other/", "other/x", "pack/", "pack/start/"]
    );
}

#[test]
fn what_is_no_marker_makes_a_folder_foreign() {
    let (_world, target) = world();
    fs::create_dir_all(&target).unwrap();
    for text in ["", "{", "[]", "{\"version\": 1}"] {
        fs::write(target.join(Marker::NAME), text).unwrap();
        assert!(
            matches!(State::of(&target).unwrap(), State::Foreign(_)),
            "{text}"
        );
    }
}

#[test]
fn a_copy_that_failed_is_repeated_and_taken_away() {
    for repeats in [true, false] {
        let (world, target) = world();
        // The name of a file is that of a folder, too: writing fails half-way.
        let files = [("a", "file"), ("a/b", "in a file"), ("c", "c")];
        let error = put(&target, &files, InTheWay::Nothing)
            .carry_out()
            .unwrap_err();
        assert!(
            format!("{error:#}").contains("cannot install the plugin"),
            "{error:#}"
        );
        if repeats {
            let older = InTheWay::Older(ours(&target).marker);
            put(&target, &[("a/b", "b")], older).carry_out().unwrap();
            assert_eq!(fs::read_to_string(target.join("a/b")).unwrap(), "b");
            assert!(!target.join("c").exists());
        }
        let ours = ours(&target);
        Take { target, ours }.carry_out().unwrap();
        assert!(tree(world.path()).is_empty(), "{:?}", tree(world.path()));
    }
}

#[test]
fn what_a_killed_copy_left_is_in_no_way() {
    let (world, target) = world();
    fs::create_dir_all(&target).unwrap();
    let left = format!(".pillion-{}-abcdefABCDEF0123", std::process::id());
    fs::write(target.join(left), "half").unwrap();
    assert!(matches!(State::of(&target).unwrap(), State::Absent));
    put(&target, &[("c", "c")], InTheWay::Nothing)
        .carry_out()
        .unwrap();
    let ours = ours(&target);
    assert!(!ours.has_changes());
    Take { target, ours }.carry_out().unwrap();
    assert_eq!(tree(world.path()), ["pack/", "pack/start/"]);
}

#[test]
fn what_a_killed_installation_left_goes_with_the_next() {
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let left = format!(".pillion-{}-abcdefABCDEF0123", dead.id());
    // Of a new folder, and of one that is there.
    for is_there in [false, true] {
        let (world, target) = world();
        fs::create_dir_all(&target).unwrap();
        let mut way = InTheWay::Nothing;
        if is_there {
            put(&target, &[("c", "c")], way).carry_out().unwrap();
            way = InTheWay::Older(ours(&target).marker);
        }
        fs::write(target.join(&left), "half").unwrap();
        put(&target, &[("c", "new")], way).carry_out().unwrap();
        assert!(!target.join(&left).exists());
        assert_eq!(fs::read_to_string(target.join("c")).unwrap(), "new");
        drop(world);
    }
}

#[test]
fn what_comes_up_in_the_meantime_is_neither_overwritten_nor_removed() {
    let (_world, target) = world();
    put(&target, &[("c", "c")], InTheWay::Nothing)
        .carry_out()
        .unwrap();
    let older = InTheWay::Older(ours(&target).marker);
    fs::write(target.join("c"), "mine").unwrap();
    put(&target, &[("c", "new")], older)
        .carry_out()
        .unwrap_err();
    assert_eq!(fs::read_to_string(target.join("c")).unwrap(), "mine");
}

#[test]
fn a_folder_for_a_file_that_was_never_written_goes_too() {
    let (world, target) = world();
    let files = [("a/b/c", "c"), ("d", "d")];
    put(&target, &files, InTheWay::Nothing).carry_out().unwrap();
    // As after a kill between the two.
    fs::remove_file(target.join("a/b/c")).unwrap();
    let ours = ours(&target);
    let take = Take {
        target: target.clone(),
        ours,
    };
    take.carry_out().unwrap();
    assert!(tree(world.path()).is_empty(), "{:?}", tree(world.path()));
}

/// Emacs compiles what it loads, or the person has it do so; a file of an older text would be loaded in place of the new one.
#[test]
fn what_emacs_has_compiled_is_not_the_users() {
    let (_world, target) = world();
    let install = |text| put(&target, &[("a.el", text)], InTheWay::Nothing).carry_out();
    install("old").unwrap();
    for name in ["a.elc", "b.elc"] {
        fs::write(target.join(name), "compiled").unwrap();
    }
    assert_eq!(ours(&target).of_the_user(), "b.elc (added)");
    fs::remove_file(target.join("b.elc")).unwrap();
    install("new").unwrap();
    assert_eq!(tree(&target), [Marker::NAME, "a.el"]);
    fs::write(target.join("a.elc"), "compiled").unwrap();
    ours(&target).remove(&target).unwrap();
    assert!(!target.exists());
}
