//! A person takes changes back, and the command is killed before each system call that changes the file system: each file
//! is whole, as it was or as it is to be, and the command can be given again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use pillion_changes::{Deciding, Judged, Judgement, Kept, Store, history, looking};
use pillion_discovery::Environment;
use pillion_protocol::Note;
use pillion_testkit::killed_before;

use super::{Tree, World};

/// The work tree before a turn, what the agent makes of it, and what the person does then.
struct Scene {
    before: fn(&Path),
    work: fn(&Path),
    then: fn(&Path),
    /// True if the file has to be written in place: then it may be neither the one nor the other.
    is_in_place: bool,
}

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn link(folder: &Path, name: &str, target: &str) {
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    symlink(target, path).unwrap();
}

fn set_mode(folder: &Path, name: &str, mode: u32) {
    fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
}

impl Scene {
    /// The files without the agent: what the person does in other lines stays when the agent's are taken back.
    fn expected(&self) -> Tree {
        let world = World::new();
        (self.before)(&world.root);
        (self.then)(&world.root);
        world.tree()
    }

    fn play(&self) -> (World, Tree) {
        let world = World::new();
        (self.before)(&world.root);
        assert_eq!(world.turn(self.work), 1);
        (self.then)(&world.root);
        let after = world.tree();
        (world, after)
    }

    /// Kills `command` at every moment, and gives it again. `from` and `to` are the files before and after it.
    fn kill(&self, command: &str, prepare: &[&str], back: &str) {
        let mut moments = 0;
        let expected = self.expected();
        loop {
            let (world, after) = self.play();
            for command in prepare {
                world.sandbox.run([command, "1"]).expect(0);
            }
            let (from, to) = match prepare.is_empty() {
                true => (after, expected.clone()),
                false => (expected.clone(), after),
            };
            assert_eq!(world.tree(), from);
            let mut killed = world.sandbox.command([command, "1"]);
            quiet(&mut killed);
            let was_killed = killed_before(&mut killed, moments + 1);
            let shown = format!("{command}, killed before its change {}", moments + 1);
            let tree = world.tree();
            if !self.is_in_place {
                is_one_or_the_other(&tree, &from, &to, &shown);
            }
            if was_killed {
                age_links(&world);
                let again = world.sandbox.run([command, "1"]);
                // It may have been killed when all was done.
                let is_done = again.code == Some(0) || again.stderr.contains("was not taken back");
                assert!(is_done, "{shown}: {}", again.report());
            }
            assert_eq!(world.tree(), to, "{shown}, and given again");
            world.sandbox.run([back, "1"]).expect(0);
            assert_eq!(world.tree(), from, "{shown}, given again, and {back}");
            let in_an_hour = SystemTime::now() + Duration::from_secs(3601);
            world.store.tidy(in_an_hour, |_| false).unwrap();
            assert_eq!(world.leftovers(), [] as [&Path; 0], "{shown}");
            if !was_killed {
                break;
            }
            moments += 1;
        }
        assert!(moments > 5, "{command} has changed files {moments} times");
    }

    fn kill_both(&self) {
        self.kill("revert", &[], "undo");
        self.kill("undo", &["revert"], "revert");
    }
}

fn quiet(command: &mut Command) {
    command.stdout(Stdio::null()).stderr(Stdio::null());
}

/// Each file is as it was or as it is to be, whatever else is there.
fn is_one_or_the_other(tree: &Tree, from: &Tree, to: &Tree, shown: &str) {
    let paths: BTreeSet<_> = from.keys().chain(to.keys()).collect();
    for path in paths {
        let is = tree.get(path);
        assert!(
            is == from.get(path) || is == to.get(path),
            "{shown}: {} is {is:?}",
            path.display()
        );
    }
}

/// A link that was never finished is known by its age.
fn age_links(world: &World) {
    let long_ago = rustix::fs::Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let times = rustix::fs::Timestamps {
        last_access: long_ago,
        last_modification: long_ago,
    };
    for path in world.leftovers() {
        if path.is_symlink() {
            let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::utimensat(rustix::fs::CWD, &path, &times, flags).unwrap();
        }
    }
}

#[test]
fn an_edit_under_a_persons_own_lines() {
    Scene {
        before: |folder| write(folder, "a.txt", LINES),
        work: |folder| write(folder, "a.txt", &LINES.replace("two", "2")),
        then: |folder| {
            let path = folder.join("a.txt");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replace("seven", "mine")).unwrap();
        },
        is_in_place: false,
    }
    .kill_both();
}

#[test]
fn a_text_and_its_permissions() {
    Scene {
        before: |folder| {
            write(folder, "run.sh", "echo one\n");
            set_mode(folder, "run.sh", 0o640);
        },
        work: |folder| {
            write(folder, "run.sh", "echo two\n");
            set_mode(folder, "run.sh", 0o755);
        },
        then: |_| {},
        is_in_place: false,
    }
    .kill_both();
}

#[test]
fn a_new_file_and_a_deleted_folder() {
    Scene {
        before: |folder| write(folder, "old/gone.txt", "here\n"),
        work: |folder| {
            write(folder, "new.txt", "new\n");
            fs::remove_dir_all(folder.join("old")).unwrap();
        },
        then: |_| {},
        is_in_place: false,
    }
    .kill_both();
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn links_that_were_made_changed_and_removed() {
    Scene {
        before: |folder| {
            write(folder, "file", "text\n");
            link(folder, "moved", "file");
            link(folder, "removed", "file");
            link(folder, "was-a-link", "file");
        },
        work: |folder| {
            link(folder, "moved", "elsewhere");
            fs::remove_file(folder.join("removed")).unwrap();
            fs::remove_file(folder.join("was-a-link")).unwrap();
            write(folder, "was-a-link", "a file\n");
            link(folder, "made", "file");
            link(folder, "file", "moved");
        },
        then: |_| {},
        is_in_place: false,
    }
    .kill_both();
}

#[test]
fn a_file_with_two_names_is_completed() {
    Scene {
        before: |folder| {
            write(folder, "a.txt", LINES);
            fs::hard_link(folder.join("a.txt"), folder.join("b.txt")).unwrap();
        },
        work: |folder| write(folder, "a.txt", "short\n"),
        then: |_| {},
        is_in_place: true,
    }
    .kill_both();
}

/// What was done before stays, if anything was written.
#[test]
fn undo_without_a_name_means_what_was_cut_off() {
    let scene = Scene {
        before: |folder| write(folder, "a.txt", LINES),
        work: |folder| {
            write(folder, "a.txt", &LINES.replace("two", "2"));
            write(folder, "new.txt", "new\n");
        },
        then: |folder| {
            let text = LINES.replace("two", "2").replace("seven", "mine");
            write(folder, "a.txt", &text);
        },
        is_in_place: false,
    };
    let (mut moments, mut cut_off) = (0, 0);
    loop {
        let (world, from) = scene.play();
        world.turn(|folder| write(folder, "kept.txt", "kept\n"));
        world.sandbox.run(["keep", "2"]).expect(0);
        let mut killed = world.sandbox.command(["revert", "1"]);
        quiet(&mut killed);
        let was_killed = killed_before(&mut killed, moments + 1);
        let shown = format!("killed before its change {}", moments + 1);
        let is_written = from
            .iter()
            .any(|(path, it)| world.tree().get(path) != Some(it));
        // What was taken back and not said is shown before it is undone.
        let undo = || world.sandbox.run(["undo"]);
        let undone = undo();
        if undone.code != Some(0) {
            let is_shown = undone.stderr.contains("the same command again");
            assert!(was_killed && is_shown, "{shown}: {}", undone.report());
            undo().expect(0);
        }
        let tree = world.tree();
        let is_as_before = |(path, it)| tree.get(path) == Some(it);
        assert!(from.iter().all(is_as_before), "{shown}: {tree:?}");
        let state = if is_written { "kept" } else { "unseen" };
        assert_eq!(world.sandbox.home.states_of(2), [state], "{shown}");
        if !was_killed {
            break;
        }
        cut_off += usize::from(is_written);
        moments += 1;
    }
    assert!(cut_off > 3, "it was cut off {cut_off} times");
}

#[test]
fn what_a_person_made_of_a_change_they_looked_at() {
    let scene = Scene {
        before: |folder| write(folder, "a.txt", LINES),
        work: |folder| {
            write(
                folder,
                "a.txt",
                &LINES.replace("two", "2").replace("seven", "7"),
            )
        },
        then: |_| {},
        is_in_place: false,
    };
    let accepted = LINES.replace("seven", "7");
    let mut moments = 0;
    loop {
        let (world, from) = scene.play();
        let file = world.sandbox.home.root().join("accepted");
        fs::write(&file, &accepted).unwrap();
        let mut to = from.clone();
        to.get_mut(Path::new("a.txt")).unwrap().1 = accepted.clone().into_bytes();
        let mut looking = again("changes::kills::accept_what_is_looked_at", &world);
        looking.env(ACCEPTED, &file);
        let was_killed = killed_before(&mut looking, moments + 1);
        let shown = format!("look, killed before its change {}", moments + 1);
        let tree = world.tree();
        is_one_or_the_other(&tree, &from, &to, &shown);
        world.sandbox.run(["revert", "1"]).expect(0);
        assert_eq!(world.tree(), scene.expected(), "{shown}, and taken back");
        world.sandbox.run(["undo"]).expect(0);
        is_one_or_the_other(&world.tree(), &from, &to, &shown);
        let in_an_hour = SystemTime::now() + Duration::from_secs(3601);
        world.store.tidy(in_an_hour, |_| false).unwrap();
        assert_eq!(world.leftovers(), [] as [&Path; 0], "{shown}");
        if !was_killed {
            assert_eq!(tree, to);
            break;
        }
        moments += 1;
    }
    assert!(moments > 5, "it has changed files {moments} times");
}

/// The folder of the user whose store another process of these tests uses, and the file with a text that it accepts.
const HOME: &str = "PILLION_TEST_HOME_OF_STORE";
const ACCEPTED: &str = "PILLION_TEST_ACCEPTED";

/// One of these tests, in a process of its own.
fn again(test: &str, world: &World) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--include-ignored"])
        .args(["--test-threads", "1"])
        .env(HOME, world.sandbox.home.home());
    quiet(&mut command);
    command
}

fn store_of(home: OsString) -> Store {
    Store::of(&Environment::from_pairs([("HOME", home)])).unwrap()
}

/// As the hub does when a person has accepted this text in a diff of what is written.
#[test]
#[ignore = "needs to be started by another test: cargo xtask test"]
fn accept_what_is_looked_at() {
    let (Some(home), Some(text)) = (std::env::var_os(HOME), std::env::var_os(ACCEPTED)) else {
        return;
    };
    let store = store_of(home);
    let kept = Kept::read(&store, 1).unwrap();
    let name = "1.1".parse().unwrap();
    let looked = looking::look(&store, &kept, name, &[], 1).unwrap();
    let text = fs::read_to_string(text).unwrap();
    let mut deciding = Deciding::new(&store, &kept);
    let decided = looked.shown[0].decide(&mut deciding, &kept, Some(&text), &[]);
    decided.unwrap().unwrap().result.unwrap();
}

#[test]
#[ignore = "needs to be started by another test: cargo xtask test"]
fn shorten() {
    if let Some(home) = std::env::var_os(HOME) {
        let in_time = SystemTime::now();
        store_of(home).tidy(in_time, |_| false).unwrap();
    }
}

/// A log of judgements is shortened by the hub, which is killed meanwhile.
#[test]
fn a_log_that_is_shortened_is_the_former_or_the_new_one() {
    let mut moments = 0;
    loop {
        let world = World::new();
        let turn = world.turn(|folder| {
            write(folder, "a.txt", "1\n");
            write(folder, "b.txt", "2\n");
        });
        let kept = world.store.turn(turn).unwrap();
        for at in 1..=200 {
            let made = kept.changes.iter().map(|change| Judged {
                judgement: Judgement::Kept,
                after: change.after.clone(),
                made: change.made,
                at,
                overwritten: None,
                written: None,
                in_editor: None,
                folder_modes: Vec::new(),
                made_way: Vec::new(),
                linked: None,
                notes: vec![Note::on_all(format!("{at} {}", "words ".repeat(40)))],
                former: None,
            });
            let made: Vec<_> = made.collect();
            let numbers = kept.changes.iter().map(|it| it.number);
            world
                .store
                .judge(turn, numbers.zip(made.iter().map(Some)))
                .unwrap();
        }
        let log = world
            .store
            .path()
            .join(format!("turns/{turn}/judged.jsonl"));
        let shown = || {
            let listed = history::read(&world.store, &[&world.root], 9).unwrap();
            let commands = [&["changes", "1"][..], &["show", "1.2"], &["log"]];
            let commands = commands.map(|it| world.sandbox.run(it).expect(0).stdout.clone());
            (listed, commands)
        };
        let (former, before) = (fs::read(&log).unwrap(), shown());
        let mut tidying = again("changes::kills::shorten", &world);
        let was_killed = killed_before(&mut tidying, moments + 1);
        let text = fs::read(&log).unwrap();
        assert!(text == former || text.len() < 2_000, "moment {moments}");
        for path in files(&world.store.path()) {
            let mode = path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "moment {moments}: {}", path.display());
        }
        assert_eq!(shown(), before, "moment {moments}");
        let in_an_hour = SystemTime::now() + Duration::from_secs(3601);
        world.store.tidy(in_an_hour, |_| false).unwrap();
        assert!(fs::read(&log).unwrap().len() < 2_000, "moment {moments}");
        assert_eq!(shown(), before, "moment {moments}, and done again");
        assert_eq!(world.leftovers(), [] as [&Path; 0], "moment {moments}");
        if !was_killed {
            assert_ne!(text, former);
            break;
        }
        moments += 1;
    }
    assert!(moments > 3, "it has changed files {moments} times");
}

/// The files in a folder and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|it| it.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}
