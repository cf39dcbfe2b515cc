//! Files whose names are not for terminals or JSON, and what names no change at all.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use super::World;

#[test]
fn a_file_with_any_name_is_listed_shown_and_taken_back() {
    for (name, shown, quoted) in [
        (
            b"two\nlines.txt".as_slice(),
            "two␊lines.txt",
            "\"b/two\\nlines.txt\"",
        ),
        (b"\x1b[31mred.txt", "␛[31mred.txt", "\"b/\\033[31mred.txt\""),
        (
            b"not\xffutf-8.txt",
            "not\u{fffd}utf-8.txt",
            "\"b/not\\377utf-8.txt\"",
        ),
    ] {
        let world = World::new();
        let path = world.root.join(OsStr::from_bytes(name));
        world.turn(|_| fs::write(&path, "new\n").unwrap());
        let listed = world.sandbox.run(["changes"]).expect(0);
        assert!(listed.stdout.contains(shown), "{}", listed.report());
        let diff = world.sandbox.run(["show", "1.1"]).expect(0);
        let header = format!("+++ {quoted}\n@@");
        assert!(diff.stdout.contains(&header), "{}", diff.report());
        world.sandbox.run(["revert", "1"]).expect(0);
        assert!(!path.exists());
        for command in [["changes", "--all"].as_slice(), &["log"]] {
            let json = world
                .sandbox
                .run(command.iter().chain(&["--json"]))
                .expect(0);
            let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
            let listed = json[0]["path"].as_str().expect("a path");
            assert_eq!(listed, path.to_string_lossy());
        }
    }
}

/// Also where there is nothing else to see.
#[test]
fn what_was_not_watched_is_said_as_long_as_its_turn_is_the_last() {
    let world = World::new();
    world.turn(|folder| {
        fs::create_dir(folder.join("node_modules")).unwrap();
        fs::write(folder.join("node_modules/new.js"), "new\n").unwrap();
        fs::write(folder.join("a.txt"), "new\n").unwrap();
    });
    let listed = || world.sandbox.run(["changes"]).expect(0).stdout.clone();
    let unwatched = "  not watched: generated folders: node_modules\n";
    assert!(listed().ends_with(unwatched), "{}", listed());
    world.sandbox.run(["keep", "1"]).expect(0);
    let none = "there are no unseen changes here\n";
    assert_eq!(listed(), format!("{none}{unwatched}"));
    world.turn(|folder| {
        fs::remove_dir_all(folder.join("node_modules")).unwrap();
        fs::write(folder.join("b.txt"), "new\n").unwrap();
    });
    world.sandbox.run(["keep", "2"]).expect(0);
    assert_eq!(listed(), none);
}

/// What kind of change it is, whose, since when, and if it can be taken back.
#[test]
fn a_change_is_described_for_programs_and_one_of_permissions_counts_no_lines() {
    let world = World::new();
    let at = |name: &str| world.root.join(name);
    for name in ["changed", "deleted", "mode", ".env"] {
        fs::write(at(name), "1\n2\n").unwrap();
    }
    let mode = |name: &str, mode| fs::set_permissions(at(name), Permissions::from_mode(mode));
    world.turn(|_| {
        fs::write(at("changed"), "1\nzwei\ndrei\n").unwrap();
        fs::remove_file(at("deleted")).unwrap();
        mode("mode", 0o755).unwrap();
        fs::write(at(".env"), "3\n").unwrap();
        fs::write(at("new"), "1\n").unwrap();
        symlink("new", at("link")).unwrap();
    });
    let said = world.sandbox.run(["changes", "--json"]).expect(0);
    let listed: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let began = world.store.turn(1).unwrap().began;
    let mut rows = Vec::new();
    for change in &listed {
        let of_turn = ["turn", "agent", "at", "by", "state"].map(|it| change[it].clone());
        let expected = [
            json!(1),
            json!("claude"),
            json!(began),
            json!("Bash"),
            json!("unseen"),
        ];
        assert_eq!(of_turn, expected, "{change}");
        let path = change["path"].as_str().unwrap().rsplit('/').next();
        let fields = ["kind", "mode", "added", "removed", "isRevertible"];
        rows.push((path.unwrap(), fields.map(|it| change[it].clone())));
    }
    rows.sort_unstable_by_key(|it| it.0);
    let file = "644";
    let expected = [
        (".env", json!(["changed", [file, file], null, null, false])),
        ("changed", json!(["changed", [file, file], 2, 1, true])),
        ("deleted", json!(["deleted", [file, null], 0, 2, true])),
        ("link", json!(["link", [null, null], 1, 0, true])),
        ("mode", json!(["mode", [file, "755"], 0, 0, true])),
        ("new", json!(["new", [null, file], 1, 0, true])),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, it)| (name, json!(it)))
        .collect();
    assert_eq!(rows, expected);
    for args in [&["changes"][..], &["changes", "--locations"]] {
        let said = world.sandbox.run(args).expect(0).stdout.clone();
        let of_mode = said.lines().find(|it| it.contains("mode")).unwrap();
        assert!(!of_mode.contains("+0"), "{of_mode}");
    }
}

#[test]
fn what_names_no_change_is_told_what_does() {
    let world = World::new();
    for (command, name, expected) in [
        (
            "keep",
            "7.",
            "a turn, such as 7, or a change of one, such as 7.2",
        ),
        (
            "revert",
            "d12",
            "a turn, such as 7, or a change of one, such as 7.2",
        ),
        (
            "show",
            "99999999999999999999",
            "or an entry of the log, such as d12",
        ),
        ("forget", "d", "or an entry of the log, such as d12"),
        ("changes", "7.2", "the number of a turn, such as 7"),
    ] {
        let refused = world.sandbox.run([command, name]).expect(2);
        let said = format!("invalid value '{name}'");
        assert!(refused.stderr.contains(&said), "{}", refused.report());
        assert!(refused.stderr.contains(expected), "{}", refused.report());
    }
}

#[test]
fn a_folder_that_is_not_there_has_no_turns_and_is_named() {
    let world = World::new();
    let gone = world.root.join("gone");
    for command in ["changes", "turns", "log", "undo"] {
        let run = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$1\"";
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", run, env!("CARGO_BIN_EXE_pillion"), command])
            .current_dir(&world.root)
            .env_clear()
            .envs(world.sandbox.home.env().iter())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("the current folder no longer exists"),
            "{command}: {said}"
        );
        assert_eq!(output.status.code(), Some(1), "{command}");
    }
    let gone = gone.to_str().unwrap();
    let refused = world.sandbox.run(["look", "--workspace", gone]);
    refused.expect_error(1, "does not exist", "--workspace takes an existing folder");
}

#[test]
fn all_that_nobody_has_seen_here_is_kept_at_once() {
    let world = World::new();
    for name in ["a", "b"] {
        let path = world.root.join(name);
        world.turn(|_| fs::write(&path, "new\n").unwrap());
    }
    world.sandbox.run(["revert", "2"]).expect(0);
    let kept = world.sandbox.run(["keep", "--all"]).expect(0);
    assert!(kept.stdout.contains("1.1 a: kept"), "{}", kept.report());
    for command in [&["keep", "--all"][..], &["changes"]] {
        let none = world.sandbox.run(command).expect(0);
        assert_eq!(
            none.stdout, "there are no unseen changes here\n",
            "{command:?}"
        );
    }
    world.sandbox.run(["keep", "--all", "1"]).expect(2);
    world.sandbox.run(["keep"]).expect(2);
}

#[test]
fn several_turns_are_taken_back_and_brought_back_at_once() {
    for names in [["1", "2"], ["2", "1"]] {
        let world = World::new();
        let path = world.root.join("f");
        let text = || fs::read_to_string(&path).unwrap();
        fs::write(&path, "one\n").unwrap();
        for line in ["two\n", "three\n"] {
            world.turn(|_| fs::write(&path, text() + line).unwrap());
        }
        world
            .sandbox
            .run([&["revert"], &names[..]].concat())
            .expect(0);
        assert_eq!(text(), "one\n");
        world.sandbox.run(["undo"]).expect(0);
        assert_eq!(text(), "one\ntwo\nthree\n");
    }
}
