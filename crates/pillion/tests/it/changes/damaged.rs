//! A store that somebody has damaged, or in which another version of Pillion has written: what cannot be read is said, and
//! everything else works.

use std::fs;
use std::path::{Path, PathBuf};

use super::World;

fn turn_file(world: &World, turn: u64) -> PathBuf {
    let folder = world.store.path().join("turns").join(turn.to_string());
    folder.join("turn.json")
}

/// Three turns, of which each changes a file of its own.
fn three_turns() -> World {
    let world = World::new();
    for name in ["1.txt", "2.txt", "3.txt"] {
        fs::write(world.root.join(name), format!("old {name}\n")).unwrap();
    }
    for turn in 1..=3 {
        let name = format!("{turn}.txt");
        let write = |folder: &Path| fs::write(folder.join(&name), "new\n").unwrap();
        assert_eq!(world.turn(write), turn);
    }
    world
}

#[test]
fn a_turn_that_cannot_be_read_is_named_and_the_others_are_there() {
    let truncated = |text: &str| text[..text.len() / 2].to_owned();
    let newer = |text: &str| text.replacen("\"version\":3", "\"version\":4", 1);
    let older = |text: &str| text.replacen("\"version\":3", "\"version\":2", 1);
    let strange = |text: &str| text.replacen("\"roots\"", "\"folders\"", 1);
    for (damage, said) in [
        (
            &truncated as &dyn Fn(&str) -> String,
            "what was kept of turn 2 cannot be read: ",
        ),
        (&newer, "turn 2 was recorded by another version of Pillion"),
        (&older, "turn 2 was recorded by another version of Pillion"),
        (
            &strange,
            "what was kept of turn 2 cannot be read: missing field `roots`",
        ),
    ] {
        let world = three_turns();
        let file = turn_file(&world, 2);
        let text = fs::read_to_string(&file).unwrap();
        let damaged = damage(&text);
        assert_ne!(damaged, text);
        fs::write(&file, damaged).unwrap();
        for command in ["changes", "turns"] {
            let ran = world.sandbox.run([command]).expect(0);
            assert!(ran.stderr.contains(said), "{}", ran.report());
            assert!(
                ran.stderr.contains("hint: `pillion forget 2` removes it."),
                "{}",
                ran.report()
            );
            let lists = |turn: &str| ran.stdout.contains(&format!("turn {turn} of Claude Code"));
            assert!(lists("1") && !lists("2") && lists("3"), "{}", ran.report());
        }
        for command in ["revert", "keep", "show", "undo"] {
            world.sandbox.run([command, "2"]).expect_error(
                1,
                said,
                "`pillion forget 2` removes it",
            );
        }
        world.sandbox.run(["revert", "3"]).expect(0);
        assert_eq!(fs::read(world.root.join("3.txt")).unwrap(), b"old 3.txt\n");
        // A turn that is recorded now is none the worse for it.
        let write = |folder: &Path| fs::write(folder.join("4.txt"), "new\n").unwrap();
        assert_eq!(world.turn(write), 4);
        assert!(file.exists(), "nobody has decided about it");
        world.sandbox.run(["forget", "2"]).expect(0);
        assert!(!file.parent().unwrap().exists());
        let ran = world.sandbox.run(["changes"]).expect(0);
        assert_eq!(ran.stderr, "", "{}", ran.report());
    }
}

#[test]
fn a_text_that_is_gone_or_another_one_is_never_written() {
    for damage in ["gone", "another", "longer"] {
        let world = three_turns();
        let before = world.store.turn(1).unwrap().changes[0].before.clone();
        let name = before.text().unwrap().as_str().to_owned();
        let file = world
            .store
            .path()
            .join("texts")
            .join(&name[..2])
            .join(&name);
        let text = fs::read(&file).unwrap();
        match damage {
            "gone" => fs::remove_file(&file).unwrap(),
            "another" => fs::write(&file, text.to_ascii_uppercase()).unwrap(),
            _ => fs::write(&file, [&text[..], b"more"].concat()).unwrap(),
        }
        for command in ["revert", "look"] {
            let ran = world.sandbox.run([command, "1"]).expect(1);
            let said = "is not in the store any more";
            assert!(ran.stderr.contains(said), "{damage}: {}", ran.report());
        }
        assert_eq!(
            fs::read(world.root.join("1.txt")).unwrap(),
            b"new\n",
            "{damage}"
        );
        let ran = world.sandbox.run(["changes"]).expect(0);
        assert!(
            ran.stdout.contains("1.txt"),
            "it is listed: {}",
            ran.report()
        );
        let ran = world.sandbox.run(["show", "1"]).expect(0);
        assert!(ran.stdout.contains("not kept"), "{}", ran.report());
        world.sandbox.run(["keep", "1"]).expect(0);
        world.sandbox.run(["revert", "2"]).expect(0);
        assert_eq!(fs::read(world.root.join("2.txt")).unwrap(), b"old 2.txt\n");
    }
}
