//! What a person decides about the changes of a turn that goes on, while its files are looked at again and again: no change
//! is lost, and none is put down twice.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs;
use std::path::PathBuf;

use pillion_changes::{
    Act, Change, ChangeRef, ChangeState, Decided, Deciding, FileState, Kept, Recorder, Store,
};
use pillion_changes::{kept, take_back};

use shared::{WorkTree, recorder, shell};

const SESSION: u64 = 1;

const OLD: &str = "1\n2\n3\n4\n5\n";
const NEW: &str = "one\n2\n3\n4\n5\n";

/// A file before the agent changed it, and after that.
type Sides = (Option<&'static str>, Option<&'static str>);

const ALL_SIDES: [Sides; 3] = [(Some(OLD), Some(NEW)), (None, Some(NEW)), (Some(OLD), None)];

/// A turn that goes on, in which an agent has changed a file.
struct Lab {
    // Last.
    root: PathBuf,
    store: Store,
    recorder: Recorder,
    has_hooks: bool,
    calls: u32,
    sides: Sides,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new(has_hooks: bool, sides: Sides) -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        let recorder = recorder(&store, &root);
        let mut lab = Self {
            root,
            store,
            recorder,
            has_hooks,
            calls: 0,
            sides,
            _folder: folder,
        };
        lab.write(sides.0);
        match has_hooks {
            true => drop(lab.recorder.begin(SESSION, "claude", "").unwrap()),
            false => drop(lab.recorder.attend(SESSION, "opencode").unwrap()),
        }
        lab.agent_writes(sides.1);
        lab
    }

    fn path(&self) -> PathBuf {
        self.root.join("a.txt")
    }

    fn write(&self, text: Option<&str>) {
        match text {
            Some(text) => fs::write(self.path(), text).unwrap(),
            None => drop(fs::remove_file(self.path())),
        }
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(self.path()).ok()
    }

    fn agent_writes(&mut self, text: Option<&str>) {
        self.look_around(|lab| lab.write(text));
    }

    fn look(&mut self) {
        self.look_around(|_| ());
    }

    /// Looks at all files, does this, and looks again: the hooks of a call tell when, and without any it is done now and then.
    fn look_around(&mut self, work: impl FnOnce(&Self)) {
        self.calls += 1;
        let id = self.calls.to_string();
        if self.has_hooks {
            self.recorder.before(SESSION, "claude", shell(&id)).unwrap();
            work(self);
            self.recorder.after(SESSION, &id, |_| Vec::new()).unwrap();
        } else {
            self.recorder.glance().unwrap();
            work(self);
            self.recorder.glance().unwrap();
        }
    }

    fn kept(&self) -> Kept {
        Kept::read(&self.store, 1).unwrap()
    }

    fn decide(&self, act: Act) {
        let kept = self.kept();
        let mut deciding = Deciding::new(&self.store, &kept);
        let name = ChangeRef {
            turn: 1,
            change: Some(1),
        };
        let said = |decided: Decided| assert!(decided.result.is_ok(), "{decided:?}");
        deciding.all(act, &[name], said).unwrap();
    }

    /// As a kill leaves it between the file and what is kept of it.
    fn writes_back_only(&self) {
        let kept = self.kept();
        take_back::take_back(&self.store, &kept.turn.roots, &kept.turn.changes[0], None).unwrap();
    }

    fn saves(&mut self, text: &str) {
        self.write(Some(text));
        let path = self.path();
        self.recorder.saved(&path).unwrap();
    }

    fn state(&self, state: &FileState) -> Option<String> {
        let text = self.store.text_of(state).unwrap();
        text.map(|text| String::from_utf8(text).unwrap())
    }

    /// Where the only change of the turn stands, from what to what it leads, and what the file is.
    fn listed(&self) -> Vec<(ChangeState, Option<String>, Option<String>)> {
        let kept = self.kept();
        let listed = |it: &Change| {
            (
                kept.state(it),
                self.state(&it.before),
                self.state(&it.after),
            )
        };
        kept.turn.real_changes().map(listed).collect()
    }

    fn expect(&self, state: ChangeState, sides: (Option<&str>, Option<&str>), why: &str) {
        let sides = (sides.0.map(str::to_owned), sides.1.map(str::to_owned));
        assert_eq!(self.listed(), [(state, sides.0, sides.1)], "{why}");
    }
}

/// With hooks and without, of a file that was edited, created, or deleted.
fn labs() -> impl Iterator<Item = Lab> {
    let all = [true, false].into_iter();
    all.flat_map(|has_hooks| ALL_SIDES.map(|sides| Lab::new(has_hooks, sides)))
}

#[test]
fn what_is_taken_back_and_undone_between_looks_is_listed_as_before() {
    for mut lab in labs() {
        let sides = lab.sides;
        for at in 0..3 {
            let why = format!("{sides:?} {} {at}", lab.has_hooks);
            lab.decide(Act::TakeBack);
            lab.look();
            lab.expect(ChangeState::TakenBack, sides, &why);
            lab.decide(Act::Undo);
            lab.look();
            lab.expect(ChangeState::Unseen, sides, &why);
            assert_eq!(lab.text().as_deref(), sides.1);
            // Both between two looks.
            lab.decide(Act::TakeBack);
            lab.decide(Act::Undo);
            lab.look();
            lab.expect(ChangeState::Unseen, sides, &why);
        }
    }
}

#[test]
fn what_was_written_and_not_kept_with_the_turn_when_it_was_found_is_listed() {
    for mut lab in labs() {
        let sides = lab.sides;
        lab.writes_back_only();
        lab.look();
        lab.expect(ChangeState::TakenBack, sides, "the file is written");
        assert_eq!(lab.text().as_deref(), sides.0);
        lab.decide(Act::TakeBack);
        lab.look();
        lab.expect(ChangeState::TakenBack, sides, "and it is kept");
        lab.decide(Act::Undo);
        lab.look();
        lab.expect(ChangeState::Unseen, sides, "and undone");
        assert_eq!(lab.text().as_deref(), sides.1);
    }
}

/// Before the file is looked at, and after that.
#[test]
fn what_a_person_saves_in_a_file_after_that_hides_no_change() {
    for has_hooks in [true, false] {
        for is_looked_at in [true, false] {
            let lab = || Lab::new(has_hooks, ALL_SIDES[0]);
            let (old, new) = (OLD.replace('5', "mine"), NEW.replace('5', "mine"));
            let why = format!("{has_hooks} {is_looked_at}");
            // After it was taken back; then that is undone.
            let mut it = lab();
            it.decide(Act::TakeBack);
            if is_looked_at {
                it.look();
            }
            it.saves(&old);
            it.look();
            assert_eq!(it.listed()[0].0, ChangeState::TakenBack, "{why}");
            it.decide(Act::Undo);
            it.look();
            assert_eq!(it.text().as_deref(), Some(&*new), "{why}");
            assert_eq!(it.listed()[0].0, ChangeState::Unseen, "{why}");
            it.decide(Act::TakeBack);
            assert_eq!(it.text().as_deref(), Some(&*old), "{why}");
            // After it was undone.
            let mut it = lab();
            it.decide(Act::TakeBack);
            it.look();
            it.decide(Act::Undo);
            if is_looked_at {
                it.look();
            }
            it.saves(&new);
            it.look();
            it.expect(ChangeState::Unseen, (Some(&old), Some(&new)), &why);
            // Unchanged: their editor has just read what undo has written.
            let mut it = lab();
            it.decide(Act::TakeBack);
            it.look();
            it.decide(Act::Undo);
            if is_looked_at {
                it.look();
            }
            it.saves(NEW);
            it.look();
            it.expect(ChangeState::Unseen, it.sides, &why);
        }
    }
}

/// Each of these files is put back before anything is looked at, so that no look finds what was written for the person.
#[test]
fn what_an_agent_makes_of_a_file_later_as_a_person_had_before_is_its_change() {
    let mut labs = ALL_SIDES.map(|sides| Lab::new(false, sides));
    for lab in &mut labs {
        lab.recorder.attended_is_quiet(SESSION).unwrap();
        lab.decide(Act::TakeBack);
        lab.write(lab.sides.1);
    }
    for lab in &mut labs {
        lab.agent_writes(lab.sides.0);
        let kept = Kept::read(&lab.store, 2).unwrap();
        let [change] = &kept.turn.changes[..] else {
            panic!("{kept:?}");
        };
        assert_eq!(lab.state(&change.after).as_deref(), lab.sides.0);
    }
}

/// What the agent writes in a file of which everything was taken back is one change, without what the person has written.
#[test]
fn a_persons_lines_are_not_the_agents_when_it_writes_a_file_again_that_was_taken_back() {
    for has_hooks in [true, false] {
        for (saved, again) in [
            ("1\n2\n3\n4\nmine\n", "one\n2\n3\n4\nmine\n"),
            ("1\n2\n3\n4\nmine\n", "1\n2\nthree\n4\nmine\n"),
            ("mine\n", "mine\ntwo\n"),
        ] {
            let mut lab = Lab::new(has_hooks, ALL_SIDES[0]);
            lab.decide(Act::TakeBack);
            lab.saves(saved);
            lab.agent_writes(Some(again));
            let sides = (Some(saved), Some(again));
            lab.expect(ChangeState::Unseen, sides, saved);
            lab.decide(Act::TakeBack);
            assert_eq!(lab.text().as_deref(), Some(saved));
        }
    }
}

/// What a call has changed is not known before it has ended, and nothing runs of a turn that is over.
#[test]
fn that_a_call_runs_is_said_where_nothing_is_to_be_seen_yet() {
    let none = "there are no unseen changes here";
    let mut lab = Lab::new(true, ALL_SIDES[0]);
    let said = |lab: &Lab| kept::none_unseen(&lab.store, &[Kept::read(&lab.store, 1).unwrap()]);
    assert_eq!(said(&lab), none);
    lab.recorder.before(SESSION, "claude", shell("9")).unwrap();
    let running = "Claude Code is running Bash, and what that changes is listed once it has ended";
    assert_eq!(said(&lab), format!("{none} yet: {running}"));
    lab.recorder.after(SESSION, "9", |_| Vec::new()).unwrap();
    assert_eq!(said(&lab), none);
    lab.recorder.before(SESSION, "claude", shell("10")).unwrap();
    lab.recorder.end(SESSION).unwrap();
    assert_eq!(said(&lab), none);
}
