//! Disks that are full or must not be written, mounted for the test in a mount namespace of its own: nothing is lost, and
//! what is not kept is said.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![allow(clippy::print_stderr, reason = "says why a test tests nothing")]
#![cfg(target_os = "linux")]

use std::error::Error as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_changes::recorder::{Call, Coverage};
use pillion_changes::take_back::{TakeBackError, take_back};
use pillion_changes::{
    Act, Author, Change, ChangeRef, Deciding, Kept, Recorder, Store, Turn, Words,
};
use pillion_discovery::Environment;
use pillion_protocol::Note;

const SESSION: u64 = 1;

/// Runs one test of this file again, in a shell that first mounts something below `$LAB`, or has `$AS` run it with fewer rights.
fn again(test: &str, mount: &str) {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can mount");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["work", "state"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let script = format!("{mount}\nexec $AS \"$0\" --exact {test} --include-ignored --nocapture");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-ec", &script])
        .arg(std::env::current_exe().unwrap())
        .env("LAB", folder.path())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{script}\n{out}\n{err}");
    assert!(out.contains("1 passed"), "{script}\n{out}\n{err}");
}

fn shell() -> Call {
    Call {
        id: "1".to_owned(),
        tool: "Bash".to_owned(),
        path: None,
        subagent: None,
    }
}

/// A work tree and a store, of which the caller has mounted one.
struct Lab {
    root: PathBuf,
    state: PathBuf,
    store: Store,
    recorder: Recorder,
}

impl Lab {
    /// Nothing if the test is run by itself.
    fn open() -> Option<Self> {
        let folder = PathBuf::from(std::env::var_os("LAB")?);
        let folder = pillion_discovery::canonicalize(&folder).unwrap();
        let (root, state) = (folder.join("work"), folder.join("state"));
        let pairs = [("XDG_STATE_HOME", state.clone())];
        let store = Store::of(&Environment::from_pairs(pairs)).unwrap();
        let recorder = Recorder::new(store.clone(), std::slice::from_ref(&root), Vec::new());
        Some(Self {
            root,
            state,
            store,
            recorder,
        })
    }

    fn call(&mut self, work: impl FnOnce(&Path)) {
        self.recorder.before(SESSION, "claude", shell()).unwrap();
        work(&self.root);
        self.recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    }

    fn turn(&mut self, work: impl FnOnce(&Path)) -> Turn {
        let number = self.recorder.begin(SESSION, "claude", "").unwrap();
        self.call(work);
        self.recorder.end(SESSION).unwrap();
        self.store.turn(number).unwrap()
    }

    fn take_back(&self, turn: &Turn, change: &Change) -> Result<(), TakeBackError> {
        take_back(&self.store, &turn.roots, change, None).map(drop)
    }
}

/// Bytes of which no two megabytes are the same.
fn bytes(length: usize, seed: usize) -> Vec<u8> {
    let byte = |at: usize| u8::try_from((at / 977 + at + seed) % 251).unwrap();
    (0..length).map(byte).collect()
}

/// Fills the disk on which this folder is.
fn fill(folder: &Path) -> PathBuf {
    let filler = folder.join("filler");
    let error = fs::write(&filler, vec![b'x'; 32 << 20]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    filler
}

fn change<'a>(turn: &'a Turn, name: &str) -> &'a Change {
    let mut changes = turn.real_changes();
    changes.find(|it| it.path.ends_with(name)).unwrap()
}

/// The error with what caused it.
fn said(error: &TakeBackError) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        said = format!("{said}: {it}");
        cause = it.source();
    }
    said
}

fn unfinished(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".pillion-")).count()
}

#[test]
fn texts_before_are_not_kept_on_a_full_disk_and_are_again_when_there_is_room() {
    again(
        "the_store_is_full",
        "mount -t tmpfs -o size=8m pillion-test \"$LAB/state\"",
    );
}

#[test]
#[ignore = "run by texts_before_are_not_kept_on_a_full_disk_and_are_again_when_there_is_room"]
fn the_store_is_full() {
    let Some(mut lab) = Lab::open() else { return };
    let filler = lab.state.join("filler");
    fs::write(&filler, vec![b'x'; (13 << 20) / 2]).unwrap();
    // The second one ends in the middle.
    for at in 0..3 {
        fs::write(lab.root.join(at.to_string()), bytes(1 << 20, at)).unwrap();
    }
    fs::write(lab.root.join("small"), "old\n").unwrap();
    let turn = lab.turn(|root| {
        for at in 0..3 {
            fs::write(root.join(at.to_string()), "new\n").unwrap();
        }
        fs::write(root.join("small"), "new\n").unwrap();
    });
    let problem = lab.recorder.problem().unwrap();
    let texts = lab.store.path().join("texts");
    for part in [
        texts.to_str().unwrap(),
        "No space left on device",
        "free some space on that file system",
    ] {
        assert!(problem.contains(part), "{problem}");
    }
    // All that was changed is listed, and what is not kept is not taken back.
    assert_eq!(turn.real_changes().count(), 4);
    let is_kept: Vec<_> = (0..3)
        .map(|at| lab.take_back(&turn, change(&turn, &at.to_string())))
        .collect();
    assert_eq!(
        is_kept.iter().filter(|it| it.is_ok()).count(),
        1,
        "{is_kept:?}"
    );
    for (at, result) in is_kept.iter().enumerate() {
        let there = fs::read(lab.root.join(at.to_string())).unwrap();
        match result {
            Ok(()) => assert_eq!(there, bytes(1 << 20, at)),
            Err(error) => {
                assert!(said(error).ends_with("was not kept"), "{error}");
                assert_eq!(there, b"new\n");
            }
        }
    }
    lab.take_back(&turn, change(&turn, "small")).unwrap();
    assert_eq!(fs::read(lab.root.join("small")).unwrap(), b"old\n");
    // There is room again: from the next turn on all is kept, without anything being listed that nobody has changed.
    for at in 0..3 {
        fs::write(lab.root.join(at.to_string()), bytes(1 << 20, at + 3)).unwrap();
    }
    lab.recorder.prepare();
    assert!(lab.recorder.problem().is_some(), "it is still full");
    fs::remove_file(&filler).unwrap();
    let turn = lab.turn(|root| fs::write(root.join("2"), "newer\n").unwrap());
    assert_eq!(lab.recorder.problem(), None);
    assert_eq!(turn.real_changes().count(), 1, "{turn:#?}");
    lab.take_back(&turn, change(&turn, "2")).unwrap();
    assert_eq!(fs::read(lab.root.join("2")).unwrap(), bytes(1 << 20, 5));
    assert_eq!(lab.recorder.coverage(&lab.root.join("2")), Coverage::Kept);
    let filler = fill(&lab.state);
    assert!(!lab.store.takes_more());
    fs::remove_file(filler).unwrap();
    assert!(lab.store.takes_more());
    assert_eq!(unfinished(&lab.store.path().join("written")), 0);
}

#[test]
fn a_store_that_cannot_be_written_is_named() {
    again(
        "the_store_is_read_only",
        "mount -t tmpfs -o ro pillion-test \"$LAB/state\"",
    );
}

#[test]
#[ignore = "run by a_store_that_cannot_be_written_is_named"]
fn the_store_is_read_only() {
    let Some(mut lab) = Lab::open() else { return };
    fs::write(lab.root.join("file"), "old\n").unwrap();
    let refused = lab.recorder.begin(SESSION, "claude", "").unwrap_err();
    let problem = refused.in_full();
    assert!(problem.contains(lab.state.to_str().unwrap()), "{problem}");
    assert!(problem.contains("Read-only file system"), "{problem}");
    assert!(problem.contains("set XDG_STATE_HOME to "), "{problem}");
    assert!(!lab.store.takes_more());
    assert_eq!(
        lab.recorder.coverage(&lab.root.join("file")),
        Coverage::NotKept
    );
}

/// As where the system ignores case, and `Read.txt` was renamed to `READ.TXT`: here, a mount has both names lead to one file.
#[test]
fn a_file_that_has_both_names_is_not_deleted() {
    again("both_names_are_one_file", "true");
}

#[test]
#[ignore = "run by a_file_that_has_both_names_is_not_deleted"]
fn both_names_are_one_file() {
    let Some(mut lab) = Lab::open() else { return };
    let [was, is] = ["Read.txt", "READ.TXT"].map(|it| lab.root.join(it));
    fs::write(&was, "text\n").unwrap();
    let turn = lab.turn(|_| fs::rename(&was, &is).unwrap());
    fs::write(&was, "").unwrap();
    let mut mount = Command::new("mount");
    let status = mount.arg("--bind").args([&is, &was]).status().unwrap();
    assert!(status.success());
    let [was_gone, is_new] = ["Read.txt", "READ.TXT"].map(|it| change(&turn, it).number);
    for (name, is_refused) in [
        ("1".to_owned(), true),
        (format!("1.{is_new}"), true),
        (format!("1.{was_gone}"), false),
    ] {
        let kept = Kept::read(&lab.store, turn.number).unwrap();
        let mut deciding = Deciding::new(&lab.store, &kept);
        let mut said = Vec::new();
        let each =
            |it: pillion_changes::Decided| said.extend(it.result.err().map(|it| it.in_full()));
        deciding
            .all(Act::TakeBack, &[name.parse().unwrap()], each)
            .unwrap();
        assert_eq!(fs::read(&is).unwrap(), b"text\n", "{name} {said:?}");
        let refused = said
            .iter()
            .any(|it| it.contains("READ.TXT is Read.txt as well"));
        assert_eq!(refused, is_refused, "{name} {said:?}");
    }
}

#[test]
fn what_changes_while_the_store_is_full_is_listed_once_there_is_room() {
    again(
        "turns_wait_for_the_store",
        "mount -t tmpfs -o size=1m pillion-test \"$LAB/state\"",
    );
}

/// Turns that begin, turns that end, and one that goes on: of an agent with hooks, and of one without.
#[test]
#[ignore = "run by what_changes_while_the_store_is_full_is_listed_once_there_is_room"]
fn turns_wait_for_the_store() {
    let Some(mut lab) = Lab::open() else { return };
    let remount = |how: &str, state: &Path| {
        let mut mount = Command::new("mount");
        let status = mount.args(["-o", how]).arg(state).status().unwrap();
        assert!(status.success());
    };
    let write = |root: &Path, name: &str| fs::write(root.join(name), "EVIL\n").unwrap();
    for at in 0..4 {
        fs::write(lab.root.join(format!("f{at}")), "old\n").unwrap();
    }
    lab.turn(|root| write(root, "first"));
    let mut listed = 1;
    for is_full in [true, false] {
        for has_hooks in [true, false] {
            let case = format!("full {is_full}, hooks {has_hooks}");
            lab.recorder.prepare();
            if !has_hooks {
                lab.recorder.attend(SESSION, "opencode").unwrap();
            }
            let filler = is_full.then(|| fill(&lab.state));
            if !is_full {
                remount("remount,ro", &lab.state);
            }
            for at in 0..4 {
                let name = format!("f{at}");
                let text = format!("{case}\n");
                if has_hooks {
                    lab.recorder.begin(SESSION, "claude", "").unwrap_err();
                    let _ = lab.recorder.before(SESSION, "claude", shell());
                    fs::write(lab.root.join(&name), text).unwrap();
                    let _ = lab.recorder.after(SESSION, "1", |_| Vec::new());
                    if at < 3 {
                        let _ = lab.recorder.end(SESSION);
                    }
                } else {
                    fs::write(lab.root.join(&name), text).unwrap();
                    let _ = lab.recorder.glance();
                    let _ = lab.recorder.attended_is_quiet(SESSION);
                }
                for _ in 0..2 {
                    assert!(lab.recorder.problem().is_some(), "{case}");
                    let unkept = lab.recorder.unkept().turns.into_iter();
                    let shown = unkept.flat_map(|turn| {
                        let changes = turn.changes.iter();
                        let shown = changes.map(|it| turn.shown(&it.path).to_owned());
                        shown.collect::<Vec<_>>()
                    });
                    let names: Vec<_> =
                        (0..=at).map(|at| PathBuf::from(format!("f{at}"))).collect();
                    assert_eq!(shown.collect::<Vec<_>>(), names, "{case}");
                }
            }
            assert_eq!(lab.recorder.tally().unseen, listed + 4, "{case}");
            match filler {
                Some(filler) => fs::remove_file(filler).unwrap(),
                None => remount("remount,rw", &lab.state),
            }
            lab.recorder.catch_up().unwrap();
            assert_eq!(lab.recorder.problem(), None, "{case}");
            assert_eq!(lab.recorder.unkept().turns, [], "{case}");
            let numbers = lab.store.numbers().unwrap();
            assert_eq!(numbers.last(), Some(&(listed as u64 + 4)), "{case}");
            for (at, number) in numbers[listed..].iter().enumerate() {
                let turn = lab.store.turn(*number).unwrap();
                let names: Vec<_> = turn.real_changes().map(|it| turn.shown(&it.path)).collect();
                assert_eq!(names, [Path::new(&format!("f{at}"))], "{case}");
                assert_eq!(turn.ended.is_none(), at == 3 && has_hooks, "{case}");
            }
            listed += 4;
            lab.recorder.left(SESSION).unwrap();
            assert_eq!(lab.recorder.tally().unseen, listed, "{case}");
        }
    }
}

#[test]
fn what_comes_to_a_turn_while_the_store_is_full_is_its_calls_work() {
    again(
        "the_store_is_full_in_the_middle_of_a_turn",
        "mount -t tmpfs -o size=1m pillion-test \"$LAB/state\"",
    );
}

/// The lines of a few changes may fit where nothing else does.
#[test]
#[ignore = "run by what_comes_to_a_turn_while_the_store_is_full_is_its_calls_work"]
fn the_store_is_full_in_the_middle_of_a_turn() {
    let Some(mut lab) = Lab::open() else { return };
    for at in 0..9 {
        fs::write(lab.root.join(format!("f{at}")), "old\n").unwrap();
    }
    lab.recorder.prepare();
    let number = lab.recorder.begin(SESSION, "claude", "").unwrap();
    lab.call(|root| fs::write(root.join("f0"), "new\n").unwrap());
    let filler = fill(&lab.state);
    for at in 1..9 {
        let _ = lab.recorder.before(SESSION, "claude", shell());
        fs::write(lab.root.join(format!("f{at}")), "new\n").unwrap();
        let _ = lab.recorder.after(SESSION, "1", |_| Vec::new());
    }
    let _ = lab.recorder.end(SESSION);
    let of_store = lab.store.turn(number).unwrap();
    let unkept = lab.recorder.unkept();
    let all = unkept
        .turns
        .iter()
        .chain([&of_store])
        .flat_map(|it| &it.changes);
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|it| it.number);
    let paths: Vec<_> = all.iter().map(|it| it.path.clone()).collect();
    let expected: Vec<_> = (0..9).map(|at| lab.root.join(format!("f{at}"))).collect();
    assert_eq!(paths, expected);
    let by: Vec<_> = all.iter().map(|it| &it.by).collect();
    assert_eq!(by, vec![&Author::Tool("Bash".to_owned()); 9]);
    // That it has ended is known, though the store does not say so.
    assert!(of_store.goes_on());
    assert_eq!(unkept.ended, [number]);
    // One that begins now is not said to be about the file of this one.
    lab.recorder.begin(SESSION, "claude", "").unwrap_err();
    let _ = lab.recorder.before(SESSION, "claude", shell());
    fs::write(lab.root.join("f0"), "newer\n").unwrap();
    let _ = lab.recorder.after(SESSION, "1", |_| Vec::new());
    let later = lab.recorder.unkept();
    assert_eq!(later.turns.last().map(|it| it.number), Some(0));
    for why in [unkept.why, later.why] {
        assert!(
            why.contains("No space left") && !why.contains("turn"),
            "{why}"
        );
    }
    fs::remove_file(filler).unwrap();
    lab.recorder.catch_up().unwrap();
    assert_eq!(lab.recorder.unkept(), Default::default());
    assert!(!lab.store.turn(number).unwrap().goes_on());
}

/// Does this with all of the first turn. Returns true if it is done.
fn all(deciding: &mut Deciding<'_>, act: Act) -> bool {
    let names: [ChangeRef; 2] = ["1", "1.1"].map(|it| it.parse().unwrap());
    let mut is_done = true;
    let each = |it: pillion_changes::Decided| is_done &= it.result.is_ok();
    deciding.all(act, &names, each).unwrap();
    is_done
}

#[test]
fn an_agent_hears_of_no_decision_that_is_not_kept() {
    again(
        "decisions_are_not_kept",
        "mount -t tmpfs -o size=8m pillion-test \"$LAB/state\"",
    );
}

#[test]
#[ignore = "run by an_agent_hears_of_no_decision_that_is_not_kept"]
fn decisions_are_not_kept() {
    let Some(mut lab) = Lab::open() else { return };
    const OLD: &str = "1\n2\n3\n4\n5\n";
    const NEW: &str = "one\n2\n3\n4\nfive\n";
    type Decide = fn(&mut Deciding<'_>, &Change) -> bool;
    // With words on the one change, and on several.
    let decisions: [(&str, bool, Decide); 5] = [
        ("kept", false, |it, change| {
            it.one(Act::Keep, change).is_ok()
        }),
        ("kept", true, |it, _| all(it, Act::Keep)),
        ("taken back", false, |it, change| {
            it.take_out_of(change, None, NEW).is_ok()
        }),
        ("taken back", true, |it, change| {
            it.take_out_of(change, Some(0..1), NEW).is_ok()
        }),
        ("undone", false, |it, change| {
            it.one(Act::Undo, change).is_ok()
        }),
    ];
    fs::write(lab.root.join("file"), OLD).unwrap();
    let turn = lab.turn(|root| fs::write(root.join("file"), NEW).unwrap());
    let log = lab.store.path().join("turns/1/judged.jsonl");
    for (what, are_shared, decide) in decisions {
        let _ = fs::remove_file(&log);
        let kept = Kept::read(&lab.store, turn.number).unwrap();
        let change = &kept.turn.changes[0];
        if what == "undone" {
            let mut deciding = Deciding::new(&lab.store, &kept);
            deciding.take_out_of(change, None, NEW).unwrap();
            // No room is left where the log ends.
            let length = fs::metadata(&log).unwrap().len();
            let rest = vec![b'\n'; usize::try_from(4096 - length % 4096).unwrap()];
            let text = [fs::read(&log).unwrap(), rest].concat();
            fs::write(&log, text).unwrap();
        }
        let kept = Kept::read(&lab.store, turn.number).unwrap();
        let change = &kept.turn.changes[0];
        let filler = fill(&lab.state);
        let mut deciding = Deciding::new(&lab.store, &kept);
        deciding.say(Words {
            notes: vec![Note::on_all("my words")],
            are_shared,
            ..Words::default()
        });
        assert!(!decide(&mut deciding, change), "{what}");
        assert_eq!(deciding.unsaid().len(), 1, "{what}");
        assert_eq!(deciding.take_told(), [], "{what}");
        // There is room again, and it is told once.
        fs::remove_file(filler).unwrap();
        assert!(decide(&mut deciding, change), "{what}");
        let told = deciding.take_told();
        let texts: Vec<_> = told.iter().map(|it| it.text.as_str()).collect();
        let said = texts.concat().matches("my words").count();
        assert_eq!(said, usize::from(what != "undone"), "{texts:?}");
        assert!(!told.is_empty(), "{what}");
    }
    // Nothing is written either, as the text that is overwritten cannot be kept.
    let _ = fs::remove_file(&log);
    let kept = Kept::read(&lab.store, turn.number).unwrap();
    let mut deciding = Deciding::new(&lab.store, &kept);
    fill(&lab.state);
    assert!(!all(&mut deciding, Act::TakeBack));
    assert_eq!(fs::read_to_string(lab.root.join("file")).unwrap(), NEW);
    assert_eq!(deciding.take_told(), []);
}

#[test]
fn nothing_is_lost_where_the_workspace_is_full() {
    again(
        "the_workspace_is_full",
        "mount -t tmpfs -o size=8m pillion-test \"$LAB/work\"",
    );
}

#[test]
#[ignore = "run by nothing_is_lost_where_the_workspace_is_full"]
fn the_workspace_is_full() {
    let Some(mut lab) = Lab::open() else { return };
    let old = bytes(1 << 20, 1);
    for name in ["file", "in-place", "gone"] {
        fs::write(lab.root.join(name), &old).unwrap();
    }
    // One of two names: it is written in place.
    fs::hard_link(lab.root.join("in-place"), lab.root.join("other")).unwrap();
    let turn = lab.turn(|root| {
        fs::write(root.join("file"), "new\n").unwrap();
        fs::write(root.join("in-place"), bytes(9000, 2)).unwrap();
        fs::remove_file(root.join("gone")).unwrap();
    });
    assert_eq!(turn.real_changes().count(), 4);
    let filler = fill(&lab.root);
    for name in ["file", "in-place", "gone"] {
        let error = lab.take_back(&turn, change(&turn, name)).unwrap_err();
        let said = said(&error);
        assert!(
            said.contains(lab.root.join(name).to_str().unwrap()),
            "{said}"
        );
        assert!(said.contains("No space left on device"), "{said}");
        // The same reason in the same words, which are said once for many.
        assert!(!said.contains(".pillion-"), "{said}");
    }
    assert_eq!(fs::read(lab.root.join("file")).unwrap(), b"new\n");
    assert_eq!(fs::read(lab.root.join("other")).unwrap(), bytes(9000, 2));
    assert!(!lab.root.join("gone").exists());
    assert_eq!(unfinished(&lab.root), 0);
    fs::remove_file(filler).unwrap();
    for name in ["file", "in-place", "gone"] {
        lab.take_back(&turn, change(&turn, name)).unwrap();
        assert_eq!(fs::read(lab.root.join(name)).unwrap(), old, "{name}");
    }
    assert_eq!(fs::read(lab.root.join("other")).unwrap(), old);
}

#[test]
fn nothing_is_lost_where_the_workspace_is_read_only() {
    again(
        "the_workspace_is_read_only",
        "mount -t tmpfs pillion-test \"$LAB/work\"",
    );
}

#[test]
#[ignore = "run by nothing_is_lost_where_the_workspace_is_read_only"]
fn the_workspace_is_read_only() {
    let Some(mut lab) = Lab::open() else { return };
    for name in ["file", "gone", "mode"] {
        fs::write(lab.root.join(name), "old\n").unwrap();
    }
    std::os::unix::fs::symlink("file", lab.root.join("link")).unwrap();
    let turn = lab.turn(|root| {
        fs::write(root.join("file"), "new\n").unwrap();
        fs::write(root.join("made"), "new\n").unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        fs::remove_file(root.join("link")).unwrap();
        fs::write(root.join("link"), "a file\n").unwrap();
        let mode = Permissions::from_mode(0o700);
        fs::set_permissions(root.join("mode"), mode).unwrap();
    });
    let remount = |how: &str| {
        let mut mount = Command::new("mount");
        let status = mount.args(["-o", how]).arg(&lab.root).status().unwrap();
        assert!(status.success());
    };
    remount("remount,ro");
    for change in turn.real_changes() {
        let error = lab.take_back(&turn, change).unwrap_err();
        let said = said(&error);
        assert!(said.contains(change.path.to_str().unwrap()), "{said}");
        assert!(said.contains("Read-only file system"), "{said}");
    }
    assert_eq!(fs::read(lab.root.join("file")).unwrap(), b"new\n");
    assert_eq!(fs::read(lab.root.join("made")).unwrap(), b"new\n");
    remount("remount,rw");
    assert_eq!(turn.real_changes().count(), 5);
    for change in turn.real_changes() {
        lab.take_back(&turn, change).unwrap();
    }
    assert_eq!(fs::read(lab.root.join("gone")).unwrap(), b"old\n");
    assert!(lab.root.join("link").is_symlink() && !lab.root.join("made").exists());
}

/// A folder with what was written in it, and one that is new.
#[test]
fn what_was_written_in_a_folder_that_was_left_unreadable_is_listed_once_it_can_be_read() {
    let rights = "-dac_override,-dac_read_search";
    again(
        "nobody_may_read_the_folder",
        &format!("AS='setpriv --bounding-set {rights} --inh-caps {rights}'"),
    );
}

#[test]
#[ignore = "run by what_was_written_in_a_folder_that_was_left_unreadable_is_listed_once_it_can_be_read"]
fn nobody_may_read_the_folder() {
    let Some(mut lab) = Lab::open() else { return };
    let path = |name: &str| lab.root.join(name);
    let (p, new, mine) = (path("p"), path("new"), path("mine"));
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(&p).unwrap();
    fs::create_dir(&mine).unwrap();
    fs::write(p.join("x"), "old\n").unwrap();
    fs::write(mine.join("theirs"), "old\n").unwrap();
    // Nobody knows what was in it.
    set_mode(&mine, 0o000);
    for (at, mode) in [0o000, 0o311].into_iter().enumerate() {
        let turn = lab.turn(|_| {
            fs::write(p.join("x"), format!("EVIL {at}\n")).unwrap();
            fs::write(p.join(format!("n{at}")), "n\n").unwrap();
            fs::create_dir(new.with_extension(at.to_string())).unwrap();
            fs::write(new.with_extension(at.to_string()).join("n"), "n\n").unwrap();
            set_mode(&p, mode);
            set_mode(&new.with_extension(at.to_string()), mode);
        });
        assert_eq!(turn.real_changes().count(), 0, "{turn:#?}");
        assert_eq!(turn.remarks.len(), 2, "{turn:#?}");
        if at == 1 {
            // Another turn goes on meanwhile.
            lab.recorder.begin(SESSION + 1, "claude", "").unwrap();
        }
        set_mode(&p, 0o755);
        set_mode(&new.with_extension(at.to_string()), 0o755);
        set_mode(&mine, 0o755);
        fs::write(lab.root.join("mine/own"), "mine\n").unwrap();
        lab.recorder.catch_up().unwrap();
        let turn = lab.store.turn(turn.number).unwrap();
        let names: Vec<_> = { turn.real_changes() }
            .map(|it| turn.shown(&it.path).display().to_string())
            .collect();
        let expected = [format!("new.{at}/n"), format!("p/n{at}"), "p/x".to_owned()];
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(sorted, expected);
        assert!(turn.real_changes().all(|it| it.by == Author::Unclear));
        let said: Vec<_> = turn
            .remarks
            .iter()
            .map(|it| it.text(1, |it| it.display().to_string()))
            .collect();
        assert!(
            said.iter().all(|it| !it.contains("cannot be read")),
            "{said:?}"
        );
        lab.take_back(&turn, change(&turn, "x")).unwrap();
        let text = fs::read_to_string(p.join("x")).unwrap();
        assert_eq!(text, "old\n");
        lab.recorder.prepare();
    }
}

/// What an agent does where nobody could read is no other turn's, and a folder with another one in its place is not meant any more.
#[test]
fn what_lies_in_the_place_of_an_unreadable_folder_is_listed() {
    let rights = "-dac_override,-dac_read_search";
    again(
        "another_one_lies_there",
        &format!("AS='setpriv --bounding-set {rights} --inh-caps {rights}'"),
    );
}

/// Closed in an earlier turn, in an earlier call, in the same one, or before anybody has looked.
#[test]
#[ignore = "run by what_lies_in_the_place_of_an_unreadable_folder_is_listed"]
fn another_one_lies_there() {
    let Some(mut lab) = Lab::open() else { return };
    let root = lab.root.clone();
    let sh = |script: &str| {
        let mut sh = Command::new("sh");
        let done = sh.args(["-ec", script]).current_dir(&root).status();
        assert!(done.unwrap().success(), "{script}");
        // The time of a file is that of the system's last tick.
        wait_for_a_tick(&root);
    };
    let listed = |store: &Store| {
        let turn = store
            .turn(*store.numbers().unwrap().last().unwrap())
            .unwrap();
        let mut names: Vec<_> = { turn.real_changes() }
            .map(|it| turn.shown(&it.path).display().to_string())
            .collect();
        names.sort();
        names.join(" ")
    };
    let shut = "chmod 000 x";
    for (other, in_it) in [
        ("mv x y; mkdir x; echo in > x/in", "x/f x/in"),
        ("mv x y; ln -s y x", "x x/f"),
        ("mv x y; echo file > x", "x x/f"),
        ("mv x y; mv z x; echo in > x/in", "x/f x/in x/q z/q"),
        ("chmod 755 x; echo AG >> x/f", "x/f"),
        ("chmod 755 x; rm x/f; echo n > x/n", "x/f x/n"),
    ] {
        for when in ["turn", "call", "same", "before"] {
            let case = format!("{other} {when}");
            sh("chmod -R u+rwX .; rm -rf x y z; mkdir x z; echo old > x/f; echo q > z/q");
            if when == "before" {
                sh(shut);
                let roots = std::slice::from_ref(&root);
                lab.recorder = Recorder::new(lab.store.clone(), roots, Vec::new());
            }
            lab.recorder.prepare();
            lab.recorder.begin(SESSION, "claude", "").unwrap();
            lab.call(|_| sh("echo a >> a"));
            match when {
                "turn" => {
                    lab.call(|_| sh(shut));
                    lab.recorder.end(SESSION).unwrap();
                    lab.recorder.begin(SESSION, "claude", "").unwrap();
                    lab.call(|_| sh(other));
                }
                "call" => {
                    lab.call(|_| sh(shut));
                    lab.call(|_| sh(other));
                }
                "same" => lab.call(|_| sh(&format!("{shut}; {other}"))),
                _ => lab.call(|_| sh(other)),
            }
            let mut expected: Vec<_> = in_it.split(' ').collect();
            // Nobody knows what was in it.
            expected.retain(|it| when != "before" || *it != "x/f" || other.contains("AG"));
            if when != "turn" {
                expected.insert(0, "a");
            }
            lab.recorder.end(SESSION).unwrap();
            assert_eq!(listed(&lab.store), expected.join(" "), "{case}");
            // It is as any other place from then on.
            lab.recorder.begin(SESSION, "claude", "").unwrap();
            lab.call(|_| {
                sh("test ! -L x || rm x; test ! -f x || rm x; mkdir -p x; echo later > x/later")
            });
            lab.call(|_| sh("echo more >> x/later"));
            lab.recorder.end(SESSION).unwrap();
            let turn = lab
                .store
                .turn(*lab.store.numbers().unwrap().last().unwrap());
            let turn = turn.unwrap();
            let later = change(&turn, "later");
            assert_eq!(later.by, Author::Tool("Bash".to_owned()), "{case}");
        }
    }
}

/// Waits until a file that is written now gets another time than those that were written before.
fn wait_for_a_tick(root: &Path) {
    let probe = root.with_file_name("probe");
    let time = || {
        fs::write(&probe, "").unwrap();
        probe.metadata().unwrap().modified().unwrap()
    };
    let first = time();
    while time() == first {}
}

/// Which a person had, and which is moved: what is in it is not new.
#[test]
fn what_was_in_an_unreadable_folder_before_is_not_new_wherever_that_lies() {
    let rights = "-dac_override,-dac_read_search";
    again(
        "the_unreadable_folder_is_moved",
        &format!("AS='setpriv --bounding-set {rights} --inh-caps {rights}'"),
    );
}

#[test]
#[ignore = "run by what_was_in_an_unreadable_folder_before_is_not_new_wherever_that_lies"]
fn the_unreadable_folder_is_moved() {
    let Some(mut lab) = Lab::open() else { return };
    let root = lab.root.clone();
    let sh = |script: &str| {
        let mut sh = Command::new("sh");
        let done = sh.args(["-ec", script]).current_dir(&root).status();
        assert!(done.unwrap().success(), "{script}");
    };
    for calls in [
        &["mv x y", "chmod 755 y"][..],
        &["mv x y; mkdir x", "mv y w", "chmod 755 w"],
        &["mv x y; mkdir x; chmod 755 y"],
        &[
            "mkdir d; mv x d/y",
            "chmod 000 d",
            "chmod 755 d",
            "chmod 755 d/y",
        ],
    ] {
        sh("chmod -R u+rwX .; rm -rf ./*; mkdir x; echo mine > x/f");
        // One without a permission to write goes into no other folder.
        sh(&format!(
            "chmod {} x",
            if calls.len() > 3 { "300" } else { "000" }
        ));
        let roots = std::slice::from_ref(&root);
        lab.recorder = Recorder::new(lab.store.clone(), roots, Vec::new());
        lab.recorder.prepare();
        lab.recorder.begin(SESSION, "claude", "").unwrap();
        wait_for_a_tick(&root);
        for call in calls {
            lab.call(|_| sh(call));
        }
        lab.call(|_| sh("echo a > a"));
        lab.recorder.end(SESSION).unwrap();
        let number = *lab.store.numbers().unwrap().last().unwrap();
        let turn = lab.store.turn(number).unwrap();
        let names: Vec<_> = { turn.real_changes() }
            .map(|it| turn.shown(&it.path).display().to_string())
            .collect();
        assert_eq!(names, ["a"], "{calls:?}");
    }
}

/// What an agent has left without permission to read or write it is taken back and brought back.
#[test]
fn a_file_that_was_left_unreadable_is_taken_back() {
    let rights = "-dac_override,-dac_read_search";
    again(
        "nobody_may_read_it",
        &format!("AS='setpriv --bounding-set {rights} --inh-caps {rights}'"),
    );
}

#[test]
#[ignore = "run by a_file_that_was_left_unreadable_is_taken_back"]
fn nobody_may_read_it() {
    let Some(mut lab) = Lab::open() else { return };
    let path = |name: &str| lab.root.join(name);
    let (paths, made_readable) = (["closed", "shut", "opened"].map(path), path("opened"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    paths.iter().for_each(|it| fs::write(it, "old\n").unwrap());
    let turn = lab.turn(|_| {
        for (path, mode) in paths.iter().zip([0o000, 0o444, 0o000]) {
            fs::write(path, "new\n").unwrap();
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
    });
    assert_eq!(change(&turn, "closed").after.text(), None);
    fs::set_permissions(made_readable, Permissions::from_mode(0o644)).unwrap();
    for (act, text, modes) in [
        (Act::TakeBack, "old\n", [0o644; 3]),
        (Act::Undo, "new\n", [0o000, 0o444, 0o644]),
    ] {
        let kept = Kept::read(&lab.store, turn.number).unwrap();
        let name = ChangeRef {
            turn: turn.number,
            change: None,
        };
        let done = Deciding::new(&lab.store, &kept).all(act, &[name], |it| {
            it.result.unwrap();
        });
        done.unwrap();
        assert_eq!(paths.each_ref().map(|it| mode(it)), modes, "{act:?}");
        for path in &paths {
            if mode(path) != 0 {
                assert_eq!(fs::read_to_string(path).unwrap(), text, "{act:?}");
            }
        }
    }
}
