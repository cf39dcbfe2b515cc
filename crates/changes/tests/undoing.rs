//! What is undone without a name, of several changes at once, and while another view decides about the same ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use pillion_changes::deciding::last_act;
use pillion_changes::recorder::Call;
use pillion_changes::take_back::{self, Present};
use pillion_changes::{
    Act, Change, ChangeRef, ChangeState, DecideError, Decided, Deciding, Kept, Recorder, Store,
};
use pillion_changes::{history, looking};
use pillion_protocol::Note;
use pillion_system::clock;

use shared::{WorkTree, recorder, shell};

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const NEW: &str = "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n";

/// Turns in which an agent has changed files.
struct Lab {
    root: PathBuf,
    store: Store,
    recorder: Recorder,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        let recorder = recorder(&store, &root);
        Self {
            root,
            store,
            recorder,
            _folder: folder,
        }
    }

    /// With a file that was changed in the first turn.
    fn edited() -> Self {
        let mut lab = Self::new();
        lab.write("a", OLD);
        lab.turn(&[("a", NEW)]);
        lab
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }

    /// A turn in which these files get these texts.
    fn turn(&mut self, writes: &[(&str, &str)]) {
        self.recorder.begin(1, "claude", "").unwrap();
        self.call(writes);
        self.recorder.end(1).unwrap();
    }

    /// A turn in which a shell command does this in the folder.
    fn turn_of(&mut self, command: impl FnOnce(&Path)) {
        self.recorder.begin(1, "claude", "").unwrap();
        self.recorder.before(1, "claude", shell("1")).unwrap();
        command(&self.root);
        self.recorder.after(1, "1", |_| Vec::new()).unwrap();
        self.recorder.end(1).unwrap();
    }

    fn call(&mut self, writes: &[(&str, &str)]) {
        self.recorder.before(1, "claude", shell("1")).unwrap();
        for (name, text) in writes {
            self.write(name, text);
        }
        self.recorder.after(1, "1", |_| Vec::new()).unwrap();
    }

    fn kept(&self, turn: u64) -> Kept {
        Kept::read(&self.store, turn).unwrap()
    }

    /// As a command does it, at a time of its own. Returns what became of each change.
    fn act(&self, act: Act, names: &[ChangeRef]) -> Result<Vec<String>, DecideError> {
        let now = clock::now_ms();
        while clock::now_ms() == now {}
        let kept = self.kept(names[0].turn);
        let mut deciding = Deciding::new(&self.store, &kept);
        done(&mut deciding, act, names)
    }

    fn last(&self) -> Result<Vec<ChangeRef>, DecideError> {
        last_act(&self.store, std::slice::from_ref(&self.root))
    }

    fn undo_last(&self) -> Result<Vec<String>, DecideError> {
        self.act(Act::Undo, &self.last()?)
    }

    fn state(&self, turn: u64) -> Vec<ChangeState> {
        let kept = self.kept(turn);
        let changes = kept.turn.changes.iter();
        changes.map(|it| kept.state(it)).collect()
    }
}

fn done(
    deciding: &mut Deciding<'_>,
    act: Act,
    names: &[ChangeRef],
) -> Result<Vec<String>, DecideError> {
    let mut done = Vec::new();
    deciding.all(act, names, |it| {
        done.push(match it.result {
            Ok(what) => format!("{}: {what}", it.name),
            Err(error) => format!("{}: {error}", it.name),
        });
    })?;
    Ok(done)
}

fn name(name: &str) -> ChangeRef {
    name.parse().unwrap()
}

#[test]
fn what_cannot_be_undone_is_not_in_the_way_of_what_was_taken_back_before() {
    type Spoil = fn(&mut Lab);
    let spoils: [(&str, Spoil); 3] = [
        ("its turn is damaged", |lab| {
            lab.turn(&[("b", "new\n")]);
            lab.act(Act::TakeBack, &[name("2.1")]).unwrap();
            fs::write(lab.store.path().join("turns/2/turn.json"), "{").unwrap();
        }),
        ("what was made of it cannot be read", |lab| {
            lab.turn(&[("b", "new\n")]);
            fs::create_dir(lab.store.path().join("turns/2/judged.jsonl")).unwrap();
        }),
        ("its turn is gone", |lab| {
            lab.turn(&[("b", "new\n")]);
            lab.act(Act::TakeBack, &[name("2.1")]).unwrap();
            fs::remove_file(lab.store.path().join("turns/2/turn.json")).unwrap();
        }),
    ];
    for (why, spoil) in spoils {
        let mut lab = Lab::edited();
        lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
        spoil(&mut lab);
        assert_eq!(lab.last().unwrap(), [name("1.1")], "{why}");
        lab.undo_last().unwrap();
        assert_eq!(lab.text("a").as_deref(), Some(NEW), "{why}");
        let nothing = lab.last().unwrap_err();
        assert!(matches!(nothing, DecideError::NothingDecided), "{why}");
    }
}

/// Of those that were taken back at once, one was written anew since, one was undone, and one cannot be undone.
#[test]
fn of_many_at_once_all_are_undone_with_which_that_can_be_done() {
    let mut lab = Lab::new();
    let names: Vec<String> = (0..150).map(|at| format!("f{at:03}")).collect();
    let all: Vec<_> = names.iter().map(|it| (&**it, "new\n")).collect();
    lab.recorder.begin(1, "claude", "").unwrap();
    lab.call(&all);
    lab.act(Act::TakeBack, &[name("1")]).unwrap();
    lab.call(&[("f001", "another\n")]);
    lab.recorder.end(1).unwrap();
    let kept = lab.kept(1);
    let named = |file: &str| {
        let mut changes = kept.turn.changes.iter();
        let change = changes.find(|it| it.path.ends_with(file)).unwrap();
        kept.name(change)
    };
    let last = lab.last().unwrap();
    assert_eq!(last.len(), 150);
    lab.act(Act::Undo, &[named("f002")]).unwrap();
    lab.write("f003", "mine\n");
    let done = lab.act(Act::Undo, &last).unwrap();
    assert_eq!(done.len(), 149);
    let failed: Vec<_> = { done.iter() }
        .filter(|it| !it.ends_with("is as the agent left it"))
        .collect();
    assert_eq!(failed.len(), 2, "{failed:?}");
    for file in ["f001", "f003"] {
        let is_it = |it: &&&String| it.starts_with(&named(file).to_string());
        assert_eq!(failed.iter().filter(is_it).count(), 1, "{failed:?}");
    }
    for file in &names {
        let expected = match &**file {
            "f001" => "another\n",
            "f003" => "mine\n",
            _ => "new\n",
        };
        assert_eq!(lab.text(file).as_deref(), Some(expected), "{file}");
    }
    // Nothing of these is left.
    let again = lab.act(Act::Undo, &[named("f004"), named("f005")]);
    assert!(matches!(again, Err(DecideError::NothingDecided)));
}

/// Whoever decides about a turn waits until nobody else does, and finds then what that has come to.
#[test]
fn of_two_who_decide_about_a_turn_at_once_one_is_second() {
    const TIMES: usize = 40;
    let lab = Lab::edited();
    let (store, path) = (&lab.store, &lab.root.join("a"));
    let act = |act: Act| {
        for _ in 0..TIMES {
            let held = Kept::hold(store, 1).unwrap();
            let mut deciding = Deciding::new(store, &held);
            let said = done(&mut deciding, act, &[name("1.1")]).unwrap_or_default();
            let is_back = fs::read_to_string(path).unwrap() == OLD;
            assert_eq!(is_back, act == Act::TakeBack, "{said:?}");
            let kept = Kept::read(store, 1).unwrap();
            let state = kept.state(&kept.turn.changes[0]);
            assert_eq!(state == ChangeState::TakenBack, is_back, "{said:?}");
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| act(Act::TakeBack));
        scope.spawn(|| act(Act::Undo));
    });
}

/// The agent has changed the file again in the same turn: in the same place, in another one, to the same text, or as a new file.
#[test]
fn what_was_taken_back_comes_back_though_the_agent_changed_the_file_again() {
    const IN_PART: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let both = NEW.replace('3', "three");
    let elsewhere = OLD.replace('3', "three");
    let beside = Ok("is back, beside what the agent has changed since");
    let conflict = Err("has changed since, in 1 of the same places");
    let other = Err("is no longer as the change left it");
    // What the agent made of it, what it makes then, what comes of the undo, and the text in the file.
    for (before, made, again, expected, text) in [
        (Some(OLD), NEW, &*elsewhere, beside, &*both),
        (Some(OLD), NEW, NEW, beside, NEW),
        (
            Some(OLD),
            IN_PART,
            "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n",
            conflict,
            "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n",
        ),
        (None, "new\n", "another\n", other, "another\n"),
    ] {
        for is_over in [false, true] {
            let mut lab = Lab::new();
            if let Some(before) = before {
                lab.write("b", before);
            }
            lab.recorder.begin(1, "claude", "").unwrap();
            lab.call(&[("b", made)]);
            lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
            lab.call(&[("b", again)]);
            if is_over {
                lab.recorder.end(1).unwrap();
            }
            assert_eq!(lab.state(1), [ChangeState::Unseen]);
            assert_eq!(lab.last().unwrap(), [name("1.1")], "{again}");
            let mut failed = None;
            let kept = lab.kept(1);
            let shown = kept.taken_back_before(&kept.turn.changes[0]).unwrap();
            let overwritten = shown.overwritten.as_ref().unwrap();
            let overwritten = lab.store.text_of(overwritten).unwrap().unwrap();
            assert_eq!(overwritten, made.as_bytes());
            Deciding::new(&lab.store, &kept)
                .all(Act::Undo, &lab.last().unwrap(), |it| {
                    failed = Some(it.result)
                })
                .unwrap();
            assert_eq!(lab.text("b").as_deref(), Some(text));
            match (failed.unwrap(), expected) {
                (Ok(what), Ok(expected)) => {
                    assert_eq!(what, expected);
                    lab.last().unwrap_err();
                }
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().ends_with(expected), "{error}");
                    let hint = error.hint().unwrap();
                    assert!(hint.contains("`pillion show 1.1`"), "{hint}");
                    assert_eq!(lab.last().unwrap(), [name("1.1")], "it is not forgotten");
                }
                (result, _) => panic!("{again}: {result:?}"),
            }
        }
    }
}

/// Two texts of one change, each taken back: the one that was taken back last comes back first.
#[test]
fn what_was_taken_back_before_comes_back_after_what_was_taken_back_last() {
    let mut lab = Lab::new();
    lab.write("b", OLD);
    lab.recorder.begin(1, "claude", "").unwrap();
    for text in [OLD.replace('1', "one"), OLD.replace('5', "five")] {
        lab.call(&[("b", &text)]);
        lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
        assert_eq!(lab.text("b").as_deref(), Some(OLD));
    }
    assert_eq!(lab.undo_last().unwrap(), ["1.1: is as the agent left it"]);
    assert_eq!(lab.text("b"), Some(OLD.replace('5', "five")));
    assert_eq!(lab.state(1), [ChangeState::Unseen]);
    lab.undo_last().unwrap();
    let both = OLD.replace('5', "five").replace('1', "one");
    assert_eq!(lab.text("b"), Some(both));
    lab.last().unwrap_err();
}

/// Nothing before it, and that a change is kept, too.
#[test]
fn what_is_undone_is_the_last_act() {
    let mut lab = Lab::edited();
    lab.turn(&[("b", "new\n"), ("c", "new\n")]);
    lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
    lab.act(Act::TakeBack, &[name("2.1")]).unwrap();
    lab.act(Act::Keep, &[name("2.2")]).unwrap();
    assert_eq!(lab.undo_last().unwrap(), ["2.2: is not kept any more"]);
    let states = [ChangeState::TakenBack, ChangeState::Unseen];
    assert_eq!(lab.state(2), states);
    assert_eq!(lab.state(1), [ChangeState::TakenBack]);
    assert_eq!(lab.undo_last().unwrap(), ["2.1: is as the agent left it"]);
    assert_eq!(lab.text("a").as_deref(), Some(OLD));
    // With a person's line in it, a file is not as the agent left it.
    lab.write("a", &OLD.replace('3', "mine"));
    let undone = lab.undo_last().unwrap();
    assert_eq!(undone, ["1.1: is back, beside what has changed since"]);
    assert_eq!(lab.text("a"), Some(NEW.replace('3', "mine")));
    lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
    lab.write("a", OLD);
    // What was kept before it was taken back is kept again.
    lab.act(Act::Keep, &[name("2.1")]).unwrap();
    lab.act(Act::TakeBack, &[name("2.1")]).unwrap();
    lab.undo_last().unwrap();
    assert_eq!(lab.state(2)[0], ChangeState::Kept);
    assert_eq!(lab.last().unwrap(), [name("2.1")]);
    // Several turns at once.
    for turn in [1, 2] {
        let kept = lab.kept(turn);
        let mut deciding = Deciding::new(&lab.store, &kept);
        deciding.at(u64::MAX);
        let named = ChangeRef {
            turn,
            change: Some(1),
        };
        done(&mut deciding, Act::Keep, &[named]).unwrap();
    }
    assert_eq!(
        lab.last().unwrap(),
        [name("2.1")],
        "1.1 is taken back already"
    );
}

/// By git, another program, or the person.
#[test]
fn of_what_is_no_longer_in_the_file_nothing_is_taken_back_and_nothing_told() {
    let mut lab = Lab::edited();
    lab.turn(&[("new", "new\n")]);
    for (turn, file, before, after) in [(1, "a", Some(OLD), NEW), (2, "new", None, "new\n")] {
        let named = [ChangeRef { turn, change: None }];
        match before {
            Some(before) => lab.write(file, before),
            None => fs::remove_file(lab.root.join(file)).unwrap(),
        }
        assert_eq!(lab.state(turn), [ChangeState::Gone]);
        let kept = lab.kept(turn);
        let mut deciding = Deciding::new(&lab.store, &kept);
        let said = done(&mut deciding, Act::TakeBack, &named).unwrap();
        assert_eq!(said, [format!("{turn}.1: no longer in the file")]);
        assert_eq!(deciding.take_told(), []);
        lab.last().unwrap_err();
        // It comes back, as by `git stash pop`.
        lab.write(file, after);
        assert_eq!(lab.state(turn), [ChangeState::Unseen]);
    }
}

/// A program has put back a text of two turns before, or the person the lines; what was changed again is there until it is seen.
#[test]
fn what_another_program_has_put_back_is_in_no_file_also_where_that_is_another_text() {
    let later = NEW.replace("3\n", "three\n");
    let own = |text: &str| text.replace("7\n", "seven\n");
    let again = later.replace("three", "drei");
    use ChangeState::{Gone, Unseen};
    for (text, states) in [
        (OLD, [Gone, Gone]),
        (NEW, [Unseen, Gone]),
        (&*own(OLD), [Gone, Gone]),
        (&*own(NEW), [Unseen, Gone]),
        (&*own(&later), [Unseen, Unseen]),
        (&*again, [Unseen, Unseen]),
        (&*later, [Unseen, Unseen]),
    ] {
        let mut lab = Lab::edited();
        lab.turn(&[("a", &later)]);
        lab.write("a", text);
        assert_eq!([1, 2].map(|it| lab.state(it)[0]), states, "{text}");
        let unseen = states.iter().filter(|it| **it == Unseen).count();
        assert_eq!(lab.recorder.tally().unseen, unseen, "{text}");
        let gone = states.iter().position(|it| *it == Gone);
        if let Some(number) = gone.map(|at| at as u64 + 1) {
            let said = lab
                .act(Act::TakeBack, &[name(&number.to_string())])
                .unwrap();
            assert_eq!(said, [format!("{number}.1: no longer in the file")]);
            assert_eq!(lab.text("a").unwrap(), text);
        }
    }
}

/// By whoever is doing it, or was killed before it was kept.
#[test]
fn what_is_written_back_is_taken_back_before_that_is_kept() {
    let lab = Lab::edited();
    let kept = lab.kept(1);
    let (change, roots) = (&kept.turn.changes[0], &kept.turn.roots);
    for act in [Act::TakeBack, Act::Undo, Act::Keep] {
        take_back::take_back(&lab.store, roots, change, None).unwrap();
        assert_eq!(lab.state(1), [ChangeState::TakenBack], "{act:?}");
        let (said, text) = match act {
            Act::TakeBack => (vec!["1.1: taken back"], OLD),
            Act::Undo => (vec!["1.1: is as the agent left it"], NEW),
            Act::Keep => (vec![], OLD),
        };
        assert_eq!(lab.act(act, &[name("1")]).unwrap(), said, "{act:?}");
        assert_eq!(lab.text("a").unwrap(), text, "{act:?}");
        if act == Act::TakeBack {
            lab.undo_last().unwrap();
        }
    }
    // Another program writes the same again, as by `git checkout`.
    lab.write("a", NEW);
    lab.write("a", OLD);
    assert_eq!(lab.state(1), [ChangeState::Gone]);
}

/// Acts are told apart by the milliseconds.
fn next_millisecond() {
    thread::sleep(Duration::from_millis(2));
}

/// A hunk, all of a file with a person's line, all of it: what is undone without a name is what was cut off, and not what was done
/// before. A later act is the last one.
#[test]
fn what_was_cut_off_is_the_last_act() {
    let with_mine = |text: &str| text.replace('3', "mine");
    for (now, left) in [
        (NEW.to_owned(), NEW.replace("one", "1")),
        (with_mine(NEW), with_mine(OLD)),
        (NEW.to_owned(), OLD.to_owned()),
    ] {
        let mut lab = Lab::edited();
        lab.turn(&[("b", "new\n"), ("c", "new\n")]);
        lab.act(Act::Keep, &[name("2.1")]).unwrap();
        next_millisecond();
        lab.write("a", &now);
        let cut_off = || {
            let kept = lab.kept(1);
            let (change, roots) = (&kept.turn.changes[0], &kept.turn.roots);
            let seen = Present {
                before: None,
                now: lab.text("a").map(String::into_bytes),
                changed_since: 0,
                changed_at: String::new(),
                is_link: false,
            };
            take_back::rewrite(&lab.store, roots, change, &seen, left.as_bytes()).unwrap();
            assert_eq!(lab.text("a").as_ref(), Some(&left));
        };
        cut_off();
        assert_eq!(lab.last().unwrap(), [name("1.1")]);
        lab.undo_last().unwrap();
        assert_eq!(lab.text("a").as_ref(), Some(&now));
        assert_eq!(lab.state(1), [ChangeState::Unseen]);
        assert_eq!(lab.last().unwrap(), [name("2.1")]);
        cut_off();
        next_millisecond();
        lab.act(Act::Keep, &[name("2.2")]).unwrap();
        for last in ["2.2", "1.1", "2.1"] {
            assert_eq!(lab.last().unwrap(), [name(last)]);
            lab.undo_last().unwrap();
        }
        lab.last().unwrap_err();
        assert_eq!(lab.text("a").as_ref(), Some(&now));
    }
}

/// Of many files, what was kept already and what was cut off are one act, beside the later and the earlier ones.
#[test]
fn what_was_cut_off_between_two_parts_is_undone_at_once() {
    let mut lab = Lab::new();
    let names: Vec<_> = (0..70).map(|it| format!("f{it}")).collect();
    let writes: Vec<_> = names.iter().map(|it| (it.as_str(), "new\n")).collect();
    lab.turn(&[("before", "new\n")]);
    lab.turn(&writes);
    lab.act(Act::TakeBack, &[name("1")]).unwrap();
    let log = lab.store.path().join("turns/2/judged.jsonl");
    let aside = log.with_extension("aside");
    let (mut kept, turn) = (0, lab.kept(2));
    let mut deciding = Deciding::new(&lab.store, &turn);
    let each = |it: Decided| {
        kept += usize::from(it.result.is_ok());
        // From now on nothing is kept, as if it was killed.
        if it.result.is_ok() && !aside.exists() {
            fs::rename(&log, &aside).unwrap();
            fs::create_dir(&log).unwrap();
        }
    };
    deciding.all(Act::TakeBack, &[name("2")], each).unwrap();
    assert_eq!(kept, 64);
    fs::remove_dir(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    assert!(names.iter().all(|it| lab.text(it).is_none()));
    assert_eq!(lab.last().unwrap().len(), names.len());
    lab.undo_last().unwrap();
    assert!(names.iter().all(|it| lab.text(it).is_some()));
    assert_eq!(lab.last().unwrap(), [name("1.1")]);
}

/// Whatever the person made of the first part in between. Where both have written the same lines, it is left out.
#[test]
fn what_another_agent_has_written_between_two_calls_stays() {
    for (steps, expected, mode) in [
        ("1:1=one 2:5=five 1:9=nine", "1 five 7 9", 0o644),
        ("1:1=one 2:5=five 2:end 1:9=nine", "1 five 7 9", 0o644),
        (
            "1:1=one 2:5=five 1:9=nine 2:five=V 1:nine=NINE",
            "1 V 7 9",
            0o644,
        ),
        ("1:1=one 2:chmod 1:9=nine", "1 5 7 9", 0o755),
        ("1:1=one 2:5=five P:7=mine", "1 five mine 9", 0o644),
        ("1:1=one 2:5=five P:7=mine 1:9=nine", "1 five mine 9", 0o644),
        ("1:1=one back 2:5=five 1:9=nine", "1 five 7 9", 0o644),
        ("1:1=one keep 2:5=five 1:9=nine", "one five 7 9", 0o644),
        ("1:1=one keep back 2:5=five 1:9=nine", "1 five 7 9", 0o644),
        ("1:1=one 2:one=ONE 1:9=nine", "ONE 5 7 nine", 0o644),
        ("1:1=one 2:rm 1:9=nine", "nine", 0o644),
    ] {
        let mut lab = Lab::new();
        lab.write("a", "1\n-\n5\n-\n7\n-\n9\n");
        let path = lab.root.join("a");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        for (number, agent) in [(1, "claude"), (2, "codex")] {
            lab.recorder.begin(number, agent, "").unwrap();
            lab.recorder.before(number, agent, shell("0")).unwrap();
            lab.recorder.after(number, "0", |_| Vec::new()).unwrap();
        }
        for step in steps.split(' ') {
            let Some((number, what)) = step.split_once(':') else {
                let act = if step == "keep" {
                    Act::Keep
                } else {
                    Act::TakeBack
                };
                lab.act(act, &[name("1.1")]).unwrap();
                continue;
            };
            let lines = what.split_once('=');
            let write = |lab: &Lab| {
                let (from, to) = lines.unwrap();
                let text = lab.text("a").unwrap_or_else(|| format!("{from}\n"));
                lab.write("a", &text.replace(from, to));
            };
            if number == "P" {
                write(&lab);
                lab.recorder.saved(&path).unwrap();
                continue;
            }
            let number = number.parse().unwrap();
            if what == "end" {
                lab.recorder.end(number).unwrap();
                continue;
            }
            let agent = ["", "claude", "codex"][usize::try_from(number).unwrap()];
            lab.recorder.before(number, agent, shell(step)).unwrap();
            match lines {
                Some(_) => write(&lab),
                None if what == "rm" => fs::remove_file(&path).unwrap(),
                None => fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap(),
            }
            lab.recorder.after(number, step, |_| Vec::new()).unwrap();
        }
        lab.recorder.end(1).unwrap();
        lab.act(Act::TakeBack, &[name("1")]).unwrap();
        let left = lab.text("a").unwrap().replace("\n-", "").replace('\n', " ");
        assert_eq!(left.trim_end(), expected, "{steps}");
        let is = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(is, mode, "{steps}");
    }
}

/// What nobody knows to be the agent's, and what the person kept while they did not keep the rest.
#[test]
fn a_turn_is_taken_back_without_what_is_unclear_or_was_kept_by_name() {
    let mut lab = Lab::new();
    lab.recorder.begin(1, "claude", "").unwrap();
    lab.call(&[("a", "new\n"), ("b", "new\n")]);
    lab.write("notes", "mine\n");
    lab.recorder.end(1).unwrap();
    lab.act(Act::Keep, &[name("1.1")]).unwrap();
    let mut said = lab.act(Act::TakeBack, &[name("1")]).unwrap();
    said.sort();
    let expected = [
        "1.1: left out, as you kept it",
        "1.2: taken back",
        "1.3: left out, as it is unclear who changed it",
    ];
    assert_eq!(said, expected);
    assert_eq!(lab.text("notes").as_deref(), Some("mine\n"));
    assert_eq!(lab.text("a").as_deref(), Some("new\n"));
    let kept = lab.kept(1);
    let mut deciding = Deciding::new(&lab.store, &kept);
    deciding.take_all();
    done(&mut deciding, Act::TakeBack, &[name("1")]).unwrap();
    assert_eq!([lab.text("a"), lab.text("notes")], [None, None]);
}

/// What was kept by the one name is kept by the other, as long as both are the file that the agent has written.
#[test]
fn what_was_kept_by_one_name_of_a_file_is_not_taken_back_with_its_turn_by_another() {
    for kept in ["1.1", "1.2"] {
        for is_one in [true, false] {
            let mut lab = Lab::new();
            lab.write("a", "old\n");
            fs::hard_link(lab.root.join("a"), lab.root.join("b")).unwrap();
            lab.turn(&[("a", "new\n")]);
            lab.act(Act::Keep, &[name(kept)]).unwrap();
            if !is_one {
                let copy = lab.root.join("copy");
                fs::copy(lab.root.join("b"), &copy).unwrap();
                fs::rename(copy, lab.root.join("b")).unwrap();
            }
            let said = lab.act(Act::TakeBack, &[name("1")]).unwrap().join(" ");
            let left_out = said.matches("left out, as you kept it").count();
            assert_eq!(left_out, 1 + usize::from(is_one), "{kept}: {said}");
            let texts = ["a", "b"].map(|it| lab.text(it).unwrap());
            let stays = |it| is_one || kept == it;
            let expected = ["1.1", "1.2"].map(|it| if stays(it) { "new\n" } else { "old\n" });
            assert_eq!(texts, expected, "{kept} {is_one}");
            let turn = lab.kept(1);
            let mut deciding = Deciding::new(&lab.store, &turn);
            deciding.take_all();
            done(&mut deciding, Act::TakeBack, &[name("1")]).unwrap();
            let texts = ["a", "b"].map(|it| lab.text(it).unwrap());
            assert_eq!(texts, ["old\n"; 2], "{kept} {is_one}");
        }
    }
}

/// To take it back deletes the file with what they wrote.
#[test]
fn a_turn_is_taken_back_without_the_new_file_in_which_a_person_wrote_too() {
    let mut lab = Lab::new();
    lab.turn(&[("a", "new\n"), ("b", "new\n")]);
    let mut kept = lab.kept(1);
    kept.turn.changes[0].is_mixed = true;
    let mut deciding = Deciding::new(&lab.store, &kept);
    let mut said = done(&mut deciding, Act::TakeBack, &[name("1")]).unwrap();
    said.sort();
    let left_out = "1.1: left out, as you have written in the new file, too";
    assert_eq!(said, [left_out, "1.2: taken back"]);
    assert_eq!(
        [lab.text("a").as_deref(), lab.text("b").as_deref()],
        [Some("new\n"), None]
    );
    done(&mut deciding, Act::TakeBack, &[name("1.1")]).unwrap();
    assert_eq!(lab.text("a"), None);
}

/// Taken back and undone, then the person's own text: what the agent writes at once is its change, also if that is the same
/// as what was just written for the person.
#[test]
fn the_same_text_as_was_just_written_for_a_person_is_the_agents_if_it_writes_it() {
    let mut lab = Lab::edited();
    lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
    lab.act(Act::Undo, &[name("1.1")]).unwrap();
    lab.write("a", "mine\n");
    lab.turn(&[("a", NEW)]);
    let kept = lab.kept(2);
    let [change] = &kept.turn.changes[..] else {
        panic!("{:?}", kept.turn.changes);
    };
    let before = lab.store.text_of(&change.before).unwrap().unwrap();
    assert_eq!(before, b"mine\n");
}

/// However often a change is edited, what was decided last counts, and the last steps can be undone.
#[test]
fn no_decision_is_lost_after_hundreds_of_edits() {
    const STEPS: usize = 140;
    let lab = Lab::edited();
    let text = |at: usize| format!("{NEW}{at}\n");
    let kept = lab.kept(1);
    let change = &kept.turn.changes[0];
    let mut deciding = Deciding::new(&lab.store, &kept);
    for at in 0..STEPS {
        let seen = take_back::present(&lab.store, &kept.turn.roots, change).unwrap();
        deciding.rewrite(change, &seen, &text(at)).unwrap();
    }
    assert_eq!(lab.state(1), [ChangeState::Edited]);
    deciding.one(Act::TakeBack, change).unwrap();
    assert_eq!(lab.state(1), [ChangeState::TakenBack]);
    // Another view reads them from the disk.
    let kept = lab.kept(1);
    let change = &kept.turn.changes[0];
    let mut deciding = Deciding::new(&lab.store, &kept);
    let mut undone = 0;
    while deciding.one(Act::Undo, change).is_ok() {
        let expected = text(STEPS - 1 - undone);
        assert_eq!(lab.text("a"), Some(expected));
        undone += 1;
    }
    assert_eq!(undone, 50);
    assert_eq!(lab.state(1), [ChangeState::Unseen]);
}

/// What was made of the middle one of three turns cannot be read, in three ways.
#[test]
fn decisions_that_cannot_be_read_keep_nothing_else_from_being_listed_removed_or_begun() {
    type Spoil = fn(&Path);
    let spoils: [Spoil; 3] = [
        |log| fs::create_dir(log).unwrap(),
        |log| std::os::unix::fs::symlink("elsewhere", log).unwrap(),
        |log| {
            let made = std::process::Command::new("mkfifo").arg(log).status();
            assert!(made.unwrap().success());
        },
    ];
    for spoil in spoils {
        let mut lab = Lab::new();
        for (number, file) in ["a", "b", "c", "d"].into_iter().enumerate() {
            lab.turn(&[(file, "new\n")]);
            lab.act(Act::Keep, &[name(&(number + 1).to_string())])
                .unwrap();
        }
        let log = lab.store.path().join("turns/2/judged.jsonl");
        fs::remove_file(&log).unwrap();
        spoil(&log);
        let listed = history::read(&lab.store, &[&lab.root], 9).unwrap();
        assert_eq!(listed.len(), 3);
        let now = SystemTime::now() + Duration::from_secs(8 * 24 * 60 * 60);
        lab.store.tidy(now, |_| false).unwrap();
        assert_eq!(lab.store.numbers().unwrap(), [2]);
        // This recorder has removed nothing yet.
        lab.recorder = Recorder::new(lab.store.clone(), &[lab.root.clone()], Vec::new());
        lab.turn(&[("e", "new\n")]);
        assert_eq!(lab.store.numbers().unwrap(), [2, 5]);
    }
}

/// The last one of several, the only one, and one of a store that was removed as a whole.
#[test]
fn the_number_of_a_turn_that_is_gone_is_not_given_again() {
    let mut lab = Lab::new();
    for (file, gone) in [("a", "2"), ("b", "2"), ("c", "3")] {
        lab.turn(&[(file, "new\n")]);
        if lab.store.numbers().unwrap().last() == gone.parse().ok().as_ref() {
            let gone = [gone.parse().unwrap()];
            lab.store.forget_all(&gone, &[]).unwrap();
        }
    }
    assert_eq!(lab.store.numbers().unwrap(), [1]);
    lab.store.forget_all(&[1], &[]).unwrap();
    lab.recorder = Recorder::new(lab.store.clone(), &[lab.root.clone()], Vec::new());
    lab.turn(&[("d", "new\n")]);
    assert_eq!(lab.store.numbers().unwrap(), [4]);
    fs::remove_dir_all(lab.store.path().parent().unwrap()).unwrap();
    lab.turn(&[("e", "new\n")]);
    assert_eq!(lab.store.numbers().unwrap(), [5]);
}

/// A call that began after the turn had been read is known, and that it has ended.
#[test]
fn what_a_call_may_be_writing_by_now_is_refused_until_that_has_ended() {
    type Decide = fn(&mut Deciding<'_>, &Change, &Present) -> Result<(), DecideError>;
    let decide: [Decide; 6] = [
        |it, change, _| it.one(Act::TakeBack, change).map(drop_str),
        |it, change, _| it.take_lines_back(change, 0..1).map(drop_str),
        |it, change, _| it.take_out_of(change, None, NEW).map(drop),
        |it, change, seen| it.rewrite(change, seen, "mine\n").map(drop_str),
        |it, _, _| first(it, Act::TakeBack, name("1")),
        |it, _, _| first(it, Act::TakeBack, name("1.1")),
    ];
    for decide in decide {
        let mut lab = Lab::new();
        lab.write("a", OLD);
        lab.recorder.begin(1, "claude", "").unwrap();
        lab.call(&[("a", NEW)]);
        let kept = lab.kept(1);
        let change = &kept.turn.changes[0];
        let seen = take_back::present(&lab.store, &kept.turn.roots, change).unwrap();
        let mut deciding = Deciding::new(&lab.store, &kept);
        for id in ["2", "3"] {
            let call = Call {
                id: id.to_owned(),
                tool: "Bash".to_owned(),
                path: None,
                subagent: None,
            };
            lab.recorder.before(1, "claude", call).unwrap();
            let refused = decide(&mut deciding, change, &seen).unwrap_err();
            assert!(matches!(refused, DecideError::Running { .. }), "{refused}");
            assert_eq!(lab.text("a").as_deref(), Some(NEW));
            lab.recorder.after(1, id, |_| Vec::new()).unwrap();
        }
        decide(&mut deciding, change, &seen).unwrap();
    }
}

fn drop_str(_: &str) {}

/// What becomes of the first change.
fn first(deciding: &mut Deciding<'_>, act: Act, name: ChangeRef) -> Result<(), DecideError> {
    let mut first = Ok(());
    deciding.all(act, &[name], |it| first = it.result.map(drop_str))?;
    first
}

/// An agent hears of many files by a number, and those that may be a person's are not called its own.
#[test]
fn whose_the_files_are_of_which_only_the_number_is_told() {
    let long: String = (0..9_000).map(|line| format!("{line}\n")).collect();
    for (has_hooks, files, whose) in [
        (true, 60, "of your files"),
        (false, 60, "files"),
        (false, 90, "files"),
    ] {
        let mut lab = Lab::new();
        let names: Vec<_> = (0..files).map(|at| at.to_string()).collect();
        let writes: Vec<_> = names.iter().map(|it| (&**it, &*long)).collect();
        if has_hooks {
            lab.turn(&writes);
        } else {
            lab.recorder.attend(1, "opencode").unwrap();
            for (name, text) in writes {
                lab.write(name, text);
            }
            lab.recorder.glance().unwrap();
        }
        let kept = lab.kept(1);
        let mut deciding = Deciding::new(&lab.store, &kept);
        done(&mut deciding, Act::TakeBack, &[name("1")]).unwrap();
        let told = deciding.take_told();
        let more = files - told.len();
        assert!(more > 0);
        let last = told.last().unwrap().text.lines().last();
        let expected = format!("The user did the same with {more} more {whose}.");
        assert_eq!(last, Some(&*expected));
    }
}

/// What was taken back or edited is not forgotten when it is kept: that it was is what lists say, and it can be undone.
#[test]
fn to_keep_what_was_taken_back_or_edited_leaves_it_to_be_undone() {
    type Make = fn(&Lab);
    let makes: [(&str, Make, ChangeState, &str); 3] = [
        (
            "all",
            |lab| drop(lab.act(Act::TakeBack, &[name("1.1")]).unwrap()),
            ChangeState::TakenBack,
            "taken back already",
        ),
        (
            "every hunk",
            |lab| {
                let kept = lab.kept(1);
                let mut deciding = Deciding::new(&lab.store, &kept);
                let change = &kept.turn.changes[0];
                deciding.take_lines_back(change, 0..9).unwrap();
            },
            ChangeState::TakenBack,
            "taken back already",
        ),
        (
            "edited",
            |lab| {
                let kept = lab.kept(1);
                let change = &kept.turn.changes[0];
                let seen = take_back::present(&lab.store, &kept.turn.roots, change).unwrap();
                let mut deciding = Deciding::new(&lab.store, &kept);
                deciding.rewrite(change, &seen, "mine\n").unwrap();
            },
            ChangeState::Edited,
            "edited",
        ),
    ];
    for (what, make, state, said) in makes {
        let lab = Lab::edited();
        make(&lab);
        let kept = lab.act(Act::Keep, &[name("1.1")]).unwrap();
        assert_eq!(kept, [format!("1.1: {said}")], "{what}");
        let kept = lab.kept(1);
        let change = &kept.turn.changes[0];
        let in_view = Deciding::new(&lab.store, &kept).one(Act::Keep, change);
        assert_eq!(in_view.unwrap(), said, "{what}");
        assert_eq!(lab.state(1), [state], "{what}");
        if said == "edited" {
            lab.undo_last().unwrap();
            assert_eq!(lab.text("a").as_deref(), Some("mine\n"), "{what}");
        }
        lab.undo_last().unwrap();
        assert_eq!(lab.text("a").as_deref(), Some(NEW), "{what}");
    }
}

#[test]
fn folders_that_a_turn_has_made_go_with_their_last_file_and_come_back() {
    let mut lab = Lab::new();
    for folder in ["old/empty", "old/full"] {
        fs::create_dir_all(lab.root.join(folder)).unwrap();
    }
    lab.write("old/full/mine", "mine");
    lab.turn_of(|root| {
        for folder in ["new/a/b", "new/c", "old/new"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for name in [
            "new/a/b/1",
            "new/c/2",
            "old/new/3",
            "old/empty/4",
            "old/full/5",
        ] {
            fs::write(root.join(name), name).unwrap();
        }
    });
    let there = |lab: &Lab| {
        let all = [
            "new/a/b",
            "new/a",
            "new/c",
            "new",
            "old/new",
            "old/empty",
            "old/full",
        ];
        all.map(|it| lab.root.join(it).is_dir())
    };
    let first = lab
        .kept(1)
        .turn
        .changes
        .iter()
        .find(|it| it.path.ends_with("b/1"))
        .unwrap()
        .number;
    let first = [name(&format!("1.{first}"))];
    for _ in 0..2 {
        lab.act(Act::TakeBack, &first).unwrap();
        assert_eq!(there(&lab), [false, false, true, true, true, true, true]);
        lab.act(Act::TakeBack, &[name("1")]).unwrap();
        assert_eq!(there(&lab), [false, false, false, false, false, true, true]);
        lab.act(Act::Undo, &[name("1")]).unwrap();
        assert_eq!(there(&lab), [true; 7]);
        assert_eq!(lab.text("new/a/b/1").as_deref(), Some("new/a/b/1"));
    }
    // What a person has put there keeps its folder.
    lab.write("new/a/mine", "mine");
    fs::create_dir(lab.root.join("new/c/mine")).unwrap();
    lab.act(Act::TakeBack, &[name("1")]).unwrap();
    assert_eq!(there(&lab), [false, true, true, true, false, true, true]);
}

#[test]
fn a_folder_that_came_back_with_its_file_goes_when_that_is_undone() {
    let mut lab = Lab::new();
    fs::create_dir_all(lab.root.join("gone/in")).unwrap();
    lab.write("gone/in/a", OLD);
    lab.turn_of(|root| fs::remove_dir_all(root.join("gone")).unwrap());
    for _ in 0..2 {
        lab.act(Act::TakeBack, &[name("1")]).unwrap();
        assert_eq!(lab.text("gone/in/a").as_deref(), Some(OLD));
        lab.act(Act::Undo, &[name("1")]).unwrap();
        assert!(!lab.root.join("gone").exists());
    }
    assert!(lab.root.exists());
}

#[test]
fn what_was_written_to_take_something_back_is_known_until_somebody_else_writes() {
    let lab = Lab::edited();
    let path = lab.root.join("a");
    assert!(!lab.store.has_written(&path), "the agent did");
    for act in [Act::TakeBack, Act::Undo] {
        lab.act(act, &[name("1.1")]).unwrap();
        assert!(lab.store.has_written(&path), "{act:?}");
    }
    for text in ["mine", ""] {
        lab.write("a", text);
        assert!(!lab.store.has_written(&path), "{text:?}");
    }
    fs::remove_file(&path).unwrap();
    assert!(!lab.store.has_written(&path));
    assert!(!lab.store.has_written(&lab.root.join("never")));
}

/// As a shell does it in the folder.
fn sh(root: &Path, script: &str) {
    let status = std::process::Command::new("sh")
        .args(["-ec", script])
        .current_dir(root)
        .status();
    assert!(status.unwrap().success(), "{script}");
}

/// The names, texts and links' targets of all files.
fn files(lab: &Lab) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![lab.root.clone()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            match path.read_link() {
                Ok(target) => files.push((path, target.into_os_string().into_encoded_bytes())),
                Err(_) if path.is_dir() => folders.push(path),
                Err(_) => files.push((path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

/// The name of the change of a file.
fn change_of(lab: &Lab, path: &str) -> ChangeRef {
    let kept = lab.kept(1);
    let path = lab.root.join(path);
    let mut changes = kept.turn.changes.iter();
    kept.name(changes.find(|it| it.path == path).unwrap())
}

/// What an agent's command moves, what a person puts in its way, where the text was, and where it is.
const MOVES: [(&str, &str, &str, &str); 10] = [
    ("mv a b", "echo mine > a", "a", "b"),
    ("mv a b", "mkdir -p a; echo mine > a/mine", "a", "b"),
    ("mv a e && ln -s e a", "rm a; echo mine > a", "a", "e"),
    (
        "mkdir q; mv d/f q/f; rmdir d",
        "echo mine > d",
        "d/f",
        "q/f",
    ),
    ("mv d e && ln -s e d", "rm d; echo mine > d", "d/f", "e/f"),
    ("mv d e && ln -s e d", "rm d; ln -s q d", "d/f", "e/f"),
    // It replaces another file.
    ("mv a other", "echo mine > a", "a", "other"),
    ("mv l m", "echo mine > l", "l", "m"),
    // A file and a folder change places.
    ("mv d x; mv a d; mv x a", "echo mine > a/mine", "a", "d"),
    ("mv d x; mv a d; mv x a", "echo mine > d", "d/f", "a/f"),
];

fn before_moves() -> Lab {
    let lab = Lab::new();
    sh(
        &lab.root,
        "echo old > a; echo other > other; mkdir d; echo in > d/f; ln -s a l",
    );
    lab
}

#[test]
fn a_moved_text_is_not_lost_when_a_person_has_put_something_in_its_former_place() {
    for (command, in_its_way, from, to) in MOVES {
        let mut lab = before_moves();
        let before = files(&lab);
        lab.turn_of(|root| sh(root, command));
        let moved = files(&lab);
        // Nothing is in its way: all of it comes back, and is undone byte for byte.
        for _ in 0..2 {
            let done = lab.act(Act::TakeBack, &[name("1")]).unwrap();
            assert_eq!(files(&lab), before, "{command} {done:?}");
            let done = lab.undo_last().unwrap();
            assert_eq!(files(&lab), moved, "{command} {done:?}");
        }
        sh(&lab.root, in_its_way);
        let text = |name: &str| {
            let path = lab.root.join(name);
            let target = path.read_link().map(PathBuf::into_os_string);
            target.map_or_else(|_| fs::read(&path), |it| Ok(it.into_encoded_bytes()))
        };
        let old = text(to).unwrap();
        let done = lab.act(Act::TakeBack, &[name("1")]).unwrap();
        assert_eq!(text(to).ok(), Some(old.clone()), "{command} {done:?}");
        let expected = format!(
            "{}: {to} holds the text of {from}, which is not back",
            change_of(&lab, to)
        );
        assert!(done.contains(&expected), "{command} {done:?}");
        // The person does what they were told.
        sh(&lab.root, &format!("mv {} aside", &from[..1]));
        lab.act(Act::TakeBack, &[name("1")]).unwrap();
        assert_eq!(text(from).ok(), Some(old), "{command}");
        let mut back = files(&lab);
        back.retain(|(path, _)| !path.starts_with(lab.root.join("aside")));
        assert_eq!(back, before, "{command}");
    }
}

/// Of what may be secret, the one copy may be in the new place.
#[test]
fn a_new_file_that_may_be_one_of_which_no_text_is_kept_stays() {
    for (path, to, command) in [
        (".env", "env.txt", "mv .env env.txt"),
        ("k.pem", "k.txt", "cp k.pem k.txt; rm k.pem"),
    ] {
        let mut lab = before_moves();
        fs::write(lab.root.join(path), "TOKEN=1").unwrap();
        let before = files(&lab);
        lab.turn_of(|root| sh(root, &format!("{command}; echo more > new")));
        let done = lab.act(Act::TakeBack, &[name("1")]).unwrap();
        assert_eq!(fs::read(lab.root.join(to)).unwrap(), b"TOKEN=1", "{done:?}");
        assert!(!lab.root.join("new").exists(), "{done:?}");
        let expected = format!("{to} may be {path}, moved");
        assert!(done.iter().any(|it| it.contains(&expected)), "{done:?}");
        // The person does what they were told.
        sh(&lab.root, &format!("mv {to} {path}"));
        lab.act(Act::TakeBack, &[name("1")]).unwrap();
        assert_eq!(files(&lab), before);
    }
}

#[test]
fn the_new_half_of_a_move_alone_is_not_taken_back_and_neither_is_the_old_one_undone() {
    for (command, _, from, to) in MOVES {
        let mut lab = before_moves();
        lab.turn_of(|root| sh(root, command));
        let moved = files(&lab);
        let [old, new] = [from, to].map(|it| change_of(&lab, it));
        let kept = lab.kept(1);
        let change = |name: ChangeRef| kept.named(name).unwrap()[0];
        let error = Deciding::new(&lab.store, &kept)
            .one(Act::TakeBack, change(new))
            .unwrap_err();
        let (hint, advice) = (error.in_full(), format!("`pillion revert {new} {old}"));
        let aside = format!("; if something else is at {from}, move that aside before");
        assert!(hint.contains(&advice) && hint.ends_with(&aside), "{hint}");
        let done = lab.act(Act::TakeBack, &[new]).unwrap();
        let expected = format!("{new}: {to} holds the text of {from}, which is not back");
        assert_eq!(done, [expected], "{command}");
        assert_eq!(files(&lab), moved, "{command}");
        if command.contains("mv x") || (command.contains("ln -s") && from.contains('/')) {
            // The link is to go as well, or the other half of the exchange.
            continue;
        }
        for both in [[old, new], [new, old]] {
            let done = lab.act(Act::TakeBack, &both).unwrap();
            assert!(
                done.iter().all(|it| it.ends_with(": taken back")),
                "{done:?}"
            );
            // The former place is the only one now.
            let back = files(&lab);
            if to != "other" {
                let done = lab.act(Act::Undo, &[old]).unwrap();
                let expected = format!("{old}: {from} holds the text of {to}, which is not back");
                assert_eq!(done, [expected], "{command}");
                assert_eq!(files(&lab), back, "{command}");
            }
            lab.act(Act::Undo, &both).unwrap();
            assert_eq!(files(&lab), moved, "{command}");
        }
        // One after the other, the old one first.
        for half in [old, new] {
            let done = lab.act(Act::TakeBack, &[half]).unwrap();
            assert_eq!(done, [format!("{half}: taken back")], "{command}");
        }
        for _ in 0..2 {
            lab.undo_last().unwrap();
        }
        assert_eq!(files(&lab), moved, "{command}");
    }
}

/// Whichever is tried, the advice is a command, and that does it: nobody is sent from the one to the other and back.
#[test]
fn what_is_in_the_way_of_another_change_is_named_with_the_command_for_both() {
    for command in [
        "mv a x; mkdir a; mv x a/in",
        "mkdir x; mv a x/in; mv x a",
        "rm a; mkdir a; echo 1 > a/1; echo 2 > a/2",
        "mv d x; mv x/f d; rmdir x",
        "rm -r d; echo new > d",
        "mv d e; ln -s e d",
    ] {
        let (mut advised, mut at) = (0, 0..);
        loop {
            let at = at.next().unwrap();
            let mut lab = before_moves();
            let before = files(&lab);
            lab.turn_of(|root| sh(root, command));
            let after = files(&lab);
            let mut is_any = false;
            for (act, expected) in [(Act::TakeBack, before), (Act::Undo, after)] {
                let (kept, now) = (lab.kept(1), files(&lab));
                let Some(change) = kept.turn.real_changes().nth(at) else {
                    break;
                };
                is_any = true;
                if let Err(error) = Deciding::new(&lab.store, &kept).one(act, change) {
                    let hint = error.hint().unwrap_or_default();
                    let told = hint.split('`').nth(1);
                    let told = told.unwrap_or_else(|| panic!("{command} {act:?}: {error:?}"));
                    assert_eq!(files(&lab), now, "{command} {hint}");
                    let names: Vec<_> = told.split(' ').skip(2).map(name).collect();
                    let done = lab.act(act, &names).unwrap();
                    let failed = done
                        .iter()
                        .any(|it| it.contains("in the way") || it.contains("not back"));
                    assert!(!failed, "{command} {told}: {done:?}");
                    advised += 1;
                }
                // The others, if there are some.
                let _ = lab.act(act, &[name("1")]);
                assert_eq!(files(&lab), expected, "{command} {at} {act:?}");
            }
            if !is_any {
                break;
            }
        }
        assert!(advised > 0, "{command}");
    }
}

/// A pipe is nothing that could be kept: who has made it moves it.
#[test]
fn a_pipe_in_the_place_of_a_file_or_of_its_folder_is_said_to_be_in_the_way() {
    for (command, said) in [
        ("rm a; mkfifo a", "what stands in the place of "),
        ("rm -r d; mkfifo d", "cannot create the folder of "),
    ] {
        let mut lab = before_moves();
        lab.turn_of(|root| sh(root, command));
        let kept = lab.kept(1);
        let change = kept.turn.real_changes().next().unwrap();
        let error = Deciding::new(&lab.store, &kept)
            .one(Act::TakeBack, change)
            .unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
        assert!(
            error.hint().unwrap().starts_with("Move it aside"),
            "{error:?}"
        );
    }
}

#[test]
fn what_was_moved_into_the_way_of_its_former_place_comes_back() {
    let moves = [
        "mv d/f x; rmdir d; mv x d",
        "mv a x; mkdir a; mv x a/f",
        // Two change places, and a chain.
        "mv a x; mv other a; mv x other",
        "mv l x; mv a l; mv x a",
        "mv other third; mv a other",
        "mv a e; mv l a",
        // More files than are written at a time.
        "mkdir m; for i in $(seq 70); do echo $i > m/$i; done",
        "mv many e; ln -s e many",
        "mkdir new; mv many new/many; echo f > many",
        // A file, or a link, and a folder change places; three do; and a folder moves into its own file's place.
        "mv d x; mv a d; mv x a",
        "mv d x; mv l d; mv x l",
        "mkdir x; mv d/f x/f; mv a d/a; mv other x/o; mv d a; mv x other; mv a/a d; cp d a/f",
        "mv d x; mv a d; mv other a; mv x other",
    ];
    for command in moves {
        let mut lab = before_moves();
        if command.contains("many") {
            let many = "mkdir many; for i in $(seq 70); do echo $i > many/$i; done";
            sh(&lab.root, many);
        }
        let before = files(&lab);
        lab.turn_of(|root| sh(root, command));
        let after = files(&lab);
        for _ in 0..2 {
            let done = lab.act(Act::TakeBack, &[name("1")]).unwrap();
            assert_eq!(files(&lab), before, "{command} {done:?}");
            let done = lab.act(Act::Undo, &[name("1")]).unwrap();
            assert_eq!(files(&lab), after, "{command} {done:?}");
        }
    }
}

/// What was decided is one fact, and that it was undone another.
#[test]
fn what_was_undone_is_in_the_log() {
    for act in [Act::Keep, Act::TakeBack] {
        let lab = Lab::edited();
        let state = match act {
            Act::Keep => "kept",
            _ => "taken back",
        };
        let listed = || {
            let listed = history::read(&lab.store, &[&lab.root], 9)
                .unwrap()
                .into_iter();
            let listed = listed.map(|it| format!("{} {}{}", it.id(), it.state(), it.remark()));
            listed.collect::<Vec<_>>()
        };
        let (made, undone) = (format!("1.1 {state}"), format!("1.1 {state}, undone"));
        lab.act(act, &[name("1.1")]).unwrap();
        assert_eq!(listed(), [&*made]);
        lab.act(Act::Undo, &[name("1.1")]).unwrap();
        assert_eq!(listed(), [&*undone]);
        lab.act(act, &[name("1.1")]).unwrap();
        assert_eq!(listed(), [made, undone.clone()]);
        // What takes the place of another decision undoes none.
        if act == Act::Keep {
            lab.act(Act::TakeBack, &[name("1.1")]).unwrap();
            assert_eq!(listed(), ["1.1 taken back", &undone]);
        }
    }
}

/// Lines that somebody has changed since are no part of what is shown, and whatever is decided, they stay.
#[test]
fn what_has_changed_since_stays_and_the_other_hunks_are_decided_about() {
    let since = NEW.replace("five", "mine");
    let others_back = OLD.replace('5', "mine");
    let one_back = since.replace("one", "1");
    let why = [Note::on_all("not so")];
    for (accepted, notes, expected, state) in [
        (Some(&since), &[][..], &since, ChangeState::Kept),
        (Some(&one_back), &[], &one_back, ChangeState::Edited),
        (Some(&others_back), &[], &others_back, ChangeState::Edited),
        (None, &why, &others_back, ChangeState::Edited),
    ] {
        let lab = Lab::edited();
        lab.write("a", &since);
        let kept = lab.kept(1);
        let name = ChangeRef {
            turn: 1,
            change: None,
        };
        let looked = looking::look(&lab.store, &kept, name, &[], 9).unwrap();
        let told = "1.1 a has changed since in 1 place, and is shown as it is there: line 5";
        assert_eq!(looked.left_out, [told]);
        let [shown] = &looked.shown[..] else {
            panic!("{looked:?}");
        };
        assert_eq!(shown.now, since);
        let told = "Not shown here, and left as it is, because it was changed again since: line 5.";
        assert_eq!(shown.present.since().as_deref(), Some(told));
        assert_eq!(
            shown.present.before.as_deref(),
            Some(others_back.as_bytes())
        );
        let mut deciding = Deciding::new(&lab.store, &kept);
        let accepted = accepted.map(String::as_str);
        let decided = shown.decide(&mut deciding, &kept, accepted, notes);
        assert!(decided.unwrap().unwrap().result.is_ok());
        assert_eq!(lab.text("a").as_ref(), Some(expected));
        assert_eq!(lab.state(1), [state]);
    }
    // Nothing of it is as the agent left it.
    let lab = Lab::edited();
    lab.write("a", "mine\n2\n3\n4\nmine\n6\n7\n8\nmine\n");
    let kept = lab.kept(1);
    let name = kept.name(&kept.turn.changes[0]);
    let looked = looking::look(&lab.store, &kept, name, &[], 9).unwrap();
    assert!(looked.shown.is_empty());
    assert!(looked.left_out[0].contains("has changed since, in 3 of the same places"));
}

/// What was renamed and changed is one diff, and what is decided is about both halves.
#[test]
fn a_file_that_was_moved_and_changed_is_shown_and_decided_as_one() {
    let [old, new] = [OLD, NEW].map(|it| format!("{it}what is the same in both\n"));
    let (old, new) = (&*old, &*new);
    let edited = new.replace("one", "mine");
    let why = [Note::on_all("not so")];
    let both = |state| [state, state];
    use ChangeState::{Edited, Kept, TakenBack};
    for (accepted, notes, states, left) in [
        (Some(new), &[][..], both(Kept), (None, Some(new))),
        (Some(&*edited), &[], [Kept, Edited], (None, Some(&*edited))),
        (Some(old), &[], both(TakenBack), (Some(old), None)),
        (None, &why, both(TakenBack), (Some(old), None)),
    ] {
        let mut lab = Lab::new();
        lab.write("a", old);
        lab.turn_of(|folder| {
            fs::create_dir(folder.join("new")).unwrap();
            fs::remove_file(folder.join("a")).unwrap();
            fs::write(folder.join("new/b"), new).unwrap();
        });
        let all = ChangeRef {
            turn: 1,
            change: None,
        };
        let kept = lab.kept(1);
        let looked = looking::look(&lab.store, &kept, all, &[], 9).unwrap();
        let [shown] = &looked.shown[..] else {
            panic!("{looked:?}");
        };
        assert_eq!(
            (shown.text_before().as_deref(), &*shown.now),
            (Some(old), new)
        );
        assert!(shown.moved().unwrap().contains("moved from"));
        let mut deciding = Deciding::new(&lab.store, &kept);
        let decided = shown.decide(&mut deciding, &kept, accepted, notes).unwrap();
        decided.unwrap().result.unwrap();
        let mut found = lab.state(1);
        if lab.kept(1).turn.changes[0].path.ends_with("b") {
            found.reverse();
        }
        assert_eq!(found, states);
        let text = |name| lab.text(name);
        assert_eq!((text("a").as_deref(), text("new/b").as_deref()), left);
        // It is one act.
        lab.undo_last().unwrap();
        assert_eq!(
            (text("a").as_deref(), text("new/b").as_deref()),
            (None, Some(new))
        );
        assert_eq!(lab.state(1), both(ChangeState::Unseen));
        // What somebody has changed since is no more what was moved.
        lab.write("new/b", &edited);
        let looked = looking::look(&lab.store, &lab.kept(1), all, &[], 9).unwrap();
        assert!(
            looked.shown.iter().all(|it| it.from.is_none()),
            "{looked:?}"
        );
    }
}

/// A link is looked at, kept, edited and taken back itself: nothing becomes of what it leads to, whatever that is.
#[test]
fn a_link_is_decided_about_and_not_what_it_leads_to() {
    use std::os::unix::fs::symlink;
    let why = [Note::on_all("not so")];
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim");
    fs::write(&victim, "theirs\n").unwrap();
    for (name, begins, target) in [
        ("new", "This is a new symbolic link", victim.as_path()),
        ("folder", "This is a new symbolic link", outside.path()),
        (
            "broken",
            "This is a new symbolic link",
            Path::new("nowhere"),
        ),
        (
            "moved",
            "This is a symbolic link, which leads elsewhere",
            &victim,
        ),
        ("file", "A symbolic link has taken the place", &victim),
    ] {
        for (accepted, notes, expected, state) in [
            (None, &[][..], target, ChangeState::Unseen),
            (target.to_str(), &[], target, ChangeState::Kept),
            (Some("mine\n"), &[], Path::new("mine"), ChangeState::Edited),
            (None, &why, Path::new("before"), ChangeState::TakenBack),
        ] {
            let mut lab = Lab::new();
            match name {
                "moved" => symlink("before", lab.root.join(name)).unwrap(),
                "file" => lab.write(name, "text\n"),
                _ => {}
            }
            lab.turn_of(|folder| {
                let link = folder.join(name);
                _ = fs::remove_file(&link);
                symlink(target, link).unwrap();
            });
            let kept = lab.kept(1);
            let of = kept.name(&kept.turn.changes[0]);
            let looked = looking::look(&lab.store, &kept, of, &[], 9).unwrap();
            let [shown] = &looked.shown[..] else {
                panic!("{looked:?}");
            };
            assert_eq!(Some(&*shown.now), target.to_str());
            assert!(shown.link.unwrap().starts_with(begins), "{:?}", shown.link);
            let mut deciding = Deciding::new(&lab.store, &kept);
            let decided = shown.decide(&mut deciding, &kept, accepted, notes).unwrap();
            assert!(decided.is_none_or(|it| it.result.is_ok()), "{name}");
            assert_eq!(lab.state(1), [state], "{name}");
            let left = fs::read_link(lab.root.join(name)).ok();
            match (state, name) {
                (ChangeState::TakenBack, "file") => {
                    assert_eq!(lab.text(name).as_deref(), Some("text\n"));
                }
                (ChangeState::TakenBack, "new" | "folder" | "broken") => assert_eq!(left, None),
                _ => assert_eq!(left.as_deref(), Some(expected), "{name}"),
            }
            if state == ChangeState::Edited {
                lab.act(Act::Undo, &[of]).unwrap();
                let left = fs::read_link(lab.root.join(name)).unwrap();
                assert_eq!(left, target, "{name}");
            }
            assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs\n");
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        }
        // No link leads to several lines.
        let mut lab = Lab::new();
        lab.turn_of(|folder| symlink(target, folder.join(name)).unwrap());
        let kept = lab.kept(1);
        let looked = looking::look(&lab.store, &kept, kept.name(&kept.turn.changes[0]), &[], 9);
        let mut deciding = Deciding::new(&lab.store, &kept);
        let shown = &looked.unwrap().shown[0];
        let decided = shown.decide(&mut deciding, &kept, Some("a\nb\n"), &[]);
        let refused = decided.unwrap().unwrap().result.unwrap_err().to_string();
        assert!(refused.contains("can lead to one path"), "{refused}");
        assert_eq!(fs::read_link(lab.root.join(name)).unwrap(), target);
    }
}

/// A person decides about what they were shown, and the agent goes on meanwhile.
#[test]
fn what_the_agent_has_changed_since_it_was_shown_is_not_decided_about() {
    let newer = NEW.replace("six", "6").replace("7", "seven");
    let why = [Note::on_all("not so")];
    for (accepted, notes) in [(Some(NEW), &[][..]), (Some(OLD), &[]), (None, &why)] {
        let mut lab = Lab::new();
        lab.write("a", OLD);
        lab.recorder.begin(1, "claude", "").unwrap();
        lab.call(&[("a", NEW)]);
        let kept = lab.kept(1);
        let name = kept.name(&kept.turn.changes[0]);
        let looked = looking::look(&lab.store, &kept, name, &[], 9).unwrap();
        lab.call(&[("a", &newer)]);
        let kept = lab.kept(1);
        let mut deciding = Deciding::new(&lab.store, &kept);
        let decided = looked.shown[0].decide(&mut deciding, &kept, accepted, notes);
        let refused = decided.unwrap().unwrap().result.unwrap_err();
        assert!(
            matches!(refused, DecideError::ChangedSinceShown),
            "{refused}"
        );
        assert_eq!(lab.text("a").as_ref(), Some(&newer));
        assert_eq!(lab.state(1), [ChangeState::Unseen]);
    }
}

/// The permissions of the folders below the root, by path.
fn folders(lab: &Lab) -> BTreeMap<PathBuf, u32> {
    let (mut found, mut waiting) = (BTreeMap::new(), vec![lab.root.clone()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                let inner = path.strip_prefix(&lab.root).unwrap();
                found.insert(inner.to_owned(), metadata.mode() & 0o7777);
                waiting.push(path);
            }
        }
    }
    found
}

#[test]
fn folders_have_the_permissions_that_go_with_their_files() {
    for script in [
        // Moved, made, made in one another, and exchanged: with files of other names, and of the same.
        "mv private moved; ln -s moved private",
        "mkdir -m 700 new; echo x > new/x; echo y > new/y",
        "mkdir -m 710 new; mkdir -m 700 new/in; echo x > new/in/x; echo y > new/y",
        "mv private aside; mv open private; mv aside open",
        "mv private aside; mv twin private; mv aside twin",
        "rm -r private; mkdir -m 750 private; echo new > private/b",
    ] {
        let mut lab = Lab::new();
        sh(
            &lab.root,
            "mkdir -m 700 private; mkdir -m 755 open; mkdir -m 751 twin; \
             echo a > private/a; echo b > private/b; echo c > open/c; echo A > twin/a; echo B > twin/b",
        );
        let before = (folders(&lab), files(&lab));
        lab.turn_of(|root| sh(root, script));
        let after = (folders(&lab), files(&lab));
        for _ in 0..2 {
            lab.act(Act::TakeBack, &[name("1")]).unwrap();
            assert_eq!((folders(&lab), files(&lab)), before, "{script}");
            lab.act(Act::Undo, &[name("1")]).unwrap();
            assert_eq!((folders(&lab), files(&lab)), after, "{script}");
        }
    }
}

#[test]
fn permissions_that_a_person_has_given_a_folder_since_stay() {
    let mut lab = Lab::new();
    sh(
        &lab.root,
        "mkdir -m 755 one two; echo 1 > one/a; echo 2 > two/a; chmod 711 two",
    );
    lab.turn_of(|root| sh(root, "mv one aside; mv two one; mv aside two"));
    sh(&lab.root, "chmod 700 one");
    lab.act(Act::TakeBack, &[name("1")]).unwrap();
    let expected = [("one", 0o700), ("two", 0o711)].map(|(path, mode)| (path.into(), mode));
    assert_eq!(folders(&lab), BTreeMap::from(expected));
}
