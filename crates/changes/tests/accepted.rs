//! What a person accepted before it was written: a change counts as accepted if all of it was shown to them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pillion_changes::recorder::Call;
use pillion_changes::{Act, ChangeRef, ChangeState, Deciding, Kept, Recorder, Store};
use pillion_text::fingerprint;

use shared::{WorkTree, recorder, shell};

const AGENT: u64 = 1;

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// One thing that happens to the file.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A shell command replaces a line.
    Shell(&'static str, &'static str),
    /// A shell command makes the file a copy of another one.
    Copied,
    /// A shell command exchanges the file for a link to a copy of it.
    Linked,
    /// A shell command sets the permissions.
    Mode(u32),
    /// A shell command deletes it.
    Deleted,
    /// The person is shown that a line is replaced, accepts that, and it is written.
    Accepted(&'static str, &'static str),
    /// They are shown the whole text, and accept that.
    Whole(&'static str),
    /// As [`Accepted`], and a formatter replaces another line before the call has ended.
    Formatted(&'static str, &'static str, &'static str, &'static str),
    /// They keep the change as it is.
    Kept,
    /// They take it back.
    TakenBack,
    /// They undo what they decided last.
    Undone,
    /// They save another line.
    Saved(&'static str, &'static str),
}
use Step::*;

/// The way in which the agent is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Its hooks tell of each call.
    Hooks,
    /// Its folders are looked at after each step.
    Looks,
    /// They are looked at once, when all has happened.
    OneLook,
}
use Found::*;

struct Lab {
    root: PathBuf,
    file: PathBuf,
    store: Store,
    recorder: Recorder,
    found: Found,
    calls: u64,
    /// The fingerprints of what the person was shown last, and saw before it.
    shown: Vec<String>,
    /// The hash of what they accepted, if something else was written.
    accepted: Option<String>,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new(found: Found) -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        let file = root.join("a");
        fs::write(&file, BEFORE).unwrap();
        fs::write(root.join("other"), "copied\n").unwrap();
        let mut recorder = recorder(&store, &root);
        match found {
            Hooks => drop(recorder.begin(AGENT, "claude", "").unwrap()),
            Looks | OneLook => drop(recorder.attend(AGENT, "opencode").unwrap()),
        }
        Self {
            root,
            file,
            store,
            recorder,
            found,
            calls: 0,
            shown: Vec::new(),
            accepted: None,
            _folder: folder,
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }

    fn now(&self) -> String {
        fingerprint::of(fs::read(&self.file).ok().as_deref())
    }

    fn step(&mut self, step: Step) {
        let with = |old: &str, new: &str| {
            assert!(self.text().contains(old), "{step:?}");
            self.text().replace(old, new)
        };
        let file = self.file.clone();
        match step {
            Shell(old, new) => {
                let text = with(old, new);
                self.call(None, || fs::write(file, text).unwrap());
            }
            Copied => {
                let other = self.root.join("other");
                self.call(None, || assert!(fs::copy(other, file).is_ok()));
            }
            Linked => {
                let other = self.root.join("moved");
                self.call(None, || {
                    fs::rename(&file, &other).unwrap();
                    symlink(other, file).unwrap();
                });
            }
            Mode(mode) => self.call(None, || {
                fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
            }),
            Deleted => self.call(None, || fs::remove_file(file).unwrap()),
            Accepted(old, new) => self.accept(with(old, new)),
            Whole(text) => self.accept(text.to_owned()),
            Formatted(old, new, before, after) => {
                let text = with(old, new);
                self.write_accepted(&text.replace(before, after), &text);
            }
            Kept => self.decide(Act::Keep),
            TakenBack => self.decide(Act::TakeBack),
            Undone => self.decide(Act::Undo),
            Saved(old, new) => {
                fs::write(file, with(old, new)).unwrap();
                self.recorder.saved(&self.file.clone()).unwrap();
            }
        }
    }

    /// It is shown beside what is there now.
    fn accept(&mut self, text: String) {
        self.write_accepted(&text, &text);
    }

    fn write_accepted(&mut self, written: &str, accepted: &str) {
        let beside = self.now();
        // As whoever shows it knows what was accepted before.
        let accepted_before = self.shown.first() == Some(&beside);
        self.shown = match accepted_before {
            true => std::mem::take(&mut self.shown)[1..].to_vec(),
            false => Vec::new(),
        };
        self.shown.insert(0, beside);
        let file = self.file.clone();
        // As the log keeps it.
        let hash = self.store.put(accepted.as_bytes()).unwrap();
        self.accepted = (written != accepted).then(|| hash.as_str().to_owned());
        self.call(Some(file.clone()), || fs::write(file, written).unwrap());
        let now = self.now();
        self.shown.insert(0, now);
    }

    fn call(&mut self, path: Option<PathBuf>, work: impl FnOnce()) {
        self.calls += 1;
        let id = self.calls.to_string();
        let call = Call {
            path: path.clone(),
            ..shell(&id)
        };
        if self.found == Hooks {
            self.recorder.before(AGENT, "claude", call).unwrap();
        }
        work();
        let shown = self.shown.clone();
        let seen_from = move |it: &Path| match path.as_deref() == Some(it) {
            true => shown.clone(),
            false => Vec::new(),
        };
        match self.found {
            Hooks => {
                let accepted = { self.accepted.take() }.map(|it| (self.shown.clone(), vec![it]));
                let is_other = accepted.is_some();
                self.recorder
                    .goes_on_from_accepted(AGENT, &id, |_| accepted);
                let seen_from = |it: &Path| match is_other {
                    true => Vec::new(),
                    false => seen_from(it),
                };
                self.recorder.after(AGENT, &id, seen_from).unwrap();
            }
            Looks => {
                self.recorder.on_accepted(seen_from);
                self.recorder.glance().unwrap();
            }
            OneLook => {}
        }
    }

    fn kept(&self) -> Kept {
        let number = self.store.numbers().unwrap()[0];
        Kept::read(&self.store, number).unwrap()
    }

    fn decide(&mut self, act: Act) {
        let kept = self.kept();
        let turn = ChangeRef {
            turn: kept.turn.number,
            change: None,
        };
        let mut deciding = Deciding::new(&self.store, &kept);
        let decided = |it: pillion_changes::Decided| assert!(it.result.is_ok(), "{it:?}");
        deciding.all(act, &[turn], decided).unwrap();
    }

    /// The state of the file's change.
    fn state(&mut self) -> ChangeState {
        if self.found == OneLook {
            let (shown, file) = (self.shown[1..].to_vec(), self.file.clone());
            let seen_from = move |it: &Path| match *it == *file {
                true => shown.clone(),
                false => Vec::new(),
            };
            self.recorder.on_accepted(seen_from);
            self.recorder.glance().unwrap();
        }
        let kept = self.kept();
        let change = kept.turn.real_changes().find(|it| it.path == self.file);
        kept.state(change.unwrap())
    }
}

#[test]
fn a_change_counts_as_accepted_if_what_was_shown_begins_where_it_begins() {
    const SHELL: Step = Shell("2\n", "EVIL\n");
    const NICE: Step = Accepted("8\n", "NICE\n");
    const MORE: Step = Accepted("5\n", "MORE\n");
    let all = [
        (&[NICE][..], true),
        (&[NICE, MORE], true),
        (&[SHELL, NICE], false),
        (&[SHELL, Whole("all\n")], false),
        (&[NICE, SHELL], false),
        (&[NICE, SHELL, MORE], false),
        (&[Copied, Accepted("copied", "NICE")], false),
        (&[Deleted, Whole("all\n")], false),
        (&[Mode(0o755), NICE], false),
        (&[NICE, Mode(0o755), MORE], false),
        (&[Linked, NICE], false),
        (&[SHELL, Shell("EVIL\n", "2\n"), NICE], true),
    ];
    let decided = [
        (&[SHELL, Kept, NICE][..], true),
        (&[SHELL, Kept, Shell("3\n", "EVIL\n"), NICE], false),
        (&[SHELL, Kept, NICE, MORE], true),
        (&[SHELL, TakenBack, NICE], true),
        (&[SHELL, TakenBack, SHELL, NICE], false),
        (
            &[NICE, Saved("5\n", "mine\n"), Accepted("2\n", "two\n")],
            true,
        ),
        (&[SHELL, Saved("5\n", "mine\n"), NICE], false),
    ];
    for (steps, is_accepted) in all.into_iter().chain(decided) {
        for found in [Hooks, Looks, OneLook] {
            let is_decided = decided.iter().any(|it| std::ptr::eq(it.0, steps));
            let ends_accepted = matches!(steps.last(), Some(Accepted(..) | Whole(_)));
            if found == OneLook && (is_decided || !ends_accepted) {
                continue;
            }
            let mut lab = Lab::new(found);
            steps.iter().for_each(|it| lab.step(*it));
            let expected = match is_accepted {
                true => ChangeState::Accepted,
                false => ChangeState::Unseen,
            };
            assert_eq!(lab.state(), expected, "{steps:?} {found:?}");
        }
    }
}

/// As with `--all`.
#[test]
fn with_all_of_a_turn_what_was_decided_of_a_change_is_taken_back_too() {
    let mut lab = Lab::new(Hooks);
    lab.step(Accepted("8\n", "NICE\n"));
    lab.step(Shell("2\n", "EVIL\n"));
    let both = lab.text();
    let kept = lab.kept();
    let turn = "1".parse().unwrap();
    let mut deciding = Deciding::new(&lab.store, &kept);
    deciding.take_all();
    deciding
        .all(Act::TakeBack, &[turn], |it| assert!(it.result.is_ok()))
        .unwrap();
    assert_eq!(lab.text(), BEFORE);
    lab.step(Undone);
    assert_eq!(lab.text(), both);
}

/// What was made of it is taken back first, and it is said that the rest stays.
#[test]
fn what_was_decided_of_a_change_is_taken_back_after_what_was_made_of_it() {
    const SHELL: Step = Shell("2\n", "EVIL\n");
    for decided in [
        &[Accepted("8\n", "NICE\n")][..],
        &[Shell("8\n", "NICE\n"), Kept],
        &[Deleted, Whole("2\n"), Kept],
    ] {
        let mut lab = Lab::new(Hooks);
        decided.iter().for_each(|it| lab.step(*it));
        let rest = lab.text();
        lab.step(SHELL);
        let both = lab.text();
        let take_back = |lab: &Lab, takes_all: bool, name: &str| {
            let kept = lab.kept();
            let mut deciding = Deciding::new(&lab.store, &kept);
            if takes_all {
                deciding.take_all();
            }
            let mut said = Vec::new();
            let decided = |it: pillion_changes::Decided| said.push(it.result.unwrap());
            let names = [name.parse().unwrap()];
            deciding.all(Act::TakeBack, &names, decided).unwrap();
            let [said] = &*said else {
                panic!("{said:?}");
            };
            (*said, lab.text())
        };
        let part = "taken back, but for what you had accepted or kept of it";
        assert_eq!(take_back(&lab, false, "1"), (part, rest.clone()));
        let already = "taken back already, but for what you had accepted or kept of it: `--all` takes that back";
        for name in ["1", "1.1"] {
            assert_eq!(take_back(&lab, false, name), (already, rest.clone()));
        }
        let place = |lab: &Lab| {
            let kept = lab.kept();
            kept.place(&kept.turn.changes[0])
        };
        let stays = ", what you had accepted or kept of it stays";
        assert!(place(&lab).ends_with(stays), "{}", place(&lab));
        assert_eq!(
            take_back(&lab, true, "1"),
            ("taken back", BEFORE.to_owned())
        );
        assert_eq!(take_back(&lab, true, "1").0, "taken back already");
        assert!(!place(&lab).contains(stays), "{}", place(&lab));
        for expected in [&rest, &both] {
            lab.step(Undone);
            assert_eq!(lab.text(), *expected, "{decided:?}");
        }
    }
}

/// A text that was accepted or kept is the text before for what comes after it, until all is decided.
#[test]
fn what_a_command_makes_of_a_decided_text_begins_with_that() {
    const NICE: Step = Accepted("8\n", "NICE\n");
    const OWN: Step = Shell("8\n", "NICE\n");
    const MORE: Step = Shell("3\n", "MORE\n");
    const SHELL: Step = Shell("2\n", "EVIL\n");
    const BACK: Step = Shell("EVIL\n", "2\n");
    const MINE: Step = Saved("5\n", "mine\n");
    const FORMATTED: Step = Formatted("8\n", "NICE\n", "2\n", "EVIL\n");
    const OWN_3: Step = Shell("3\n", "OWN\n");
    for (steps, state, before) in [
        (&[NICE, SHELL][..], ChangeState::Unseen, "NICE"),
        (&[FORMATTED], ChangeState::Unseen, "NICE"),
        (&[FORMATTED, MORE], ChangeState::Unseen, "NICE"),
        (&[FORMATTED, MINE], ChangeState::Unseen, "mine NICE"),
        (&[FORMATTED, BACK], ChangeState::Accepted, ""),
        (&[FORMATTED, Kept, MORE], ChangeState::Unseen, "EVIL NICE"),
        (&[OWN_3, FORMATTED], ChangeState::Unseen, ""),
        (&[OWN_3, Kept, FORMATTED], ChangeState::Unseen, "OWN NICE"),
        (&[NICE, SHELL, MINE], ChangeState::Unseen, "mine NICE"),
        (&[NICE, MINE, SHELL], ChangeState::Unseen, "mine NICE"),
        (&[NICE, SHELL, BACK], ChangeState::Accepted, ""),
        (&[NICE, SHELL, MINE, BACK], ChangeState::Accepted, "mine"),
        (
            &[NICE, Accepted("3\n", "MORE\n")],
            ChangeState::Accepted,
            "",
        ),
        (&[NICE, Shell("NICE\n", "8\n")], ChangeState::Unseen, "NICE"),
        (&[NICE, SHELL, Kept], ChangeState::Kept, ""),
        (&[NICE, SHELL, Kept, MORE], ChangeState::Unseen, "EVIL NICE"),
        (&[NICE, SHELL, TakenBack, MORE], ChangeState::Unseen, "NICE"),
        (
            &[NICE, SHELL, TakenBack, Accepted("3\n", "MORE\n")],
            ChangeState::Accepted,
            "",
        ),
        (&[OWN, Kept, SHELL], ChangeState::Unseen, "NICE"),
        (&[OWN, Kept, SHELL, MINE], ChangeState::Unseen, "mine NICE"),
        (&[OWN, Kept, SHELL, BACK], ChangeState::Kept, ""),
        (&[OWN, Kept, SHELL, Kept], ChangeState::Kept, ""),
        (&[OWN, Kept, SHELL, Undone], ChangeState::Unseen, ""),
        (
            &[OWN, Kept, SHELL, TakenBack, MORE],
            ChangeState::Unseen,
            "NICE",
        ),
        (
            &[OWN, Kept, SHELL, TakenBack, Accepted("3\n", "MORE\n")],
            ChangeState::Accepted,
            "",
        ),
        (&[OWN, TakenBack, MORE], ChangeState::Unseen, ""),
    ] {
        let is_told = |it: &Step| matches!(it, Formatted(..));
        for found in [Hooks, Looks] {
            // Only hooks tell that what was accepted has been written.
            if found == Looks && steps.iter().any(is_told) {
                continue;
            }
            let mut lab = Lab::new(found);
            steps.iter().for_each(|it| lab.step(*it));
            let case = format!("{steps:?} {found:?}");
            let kept = lab.kept();
            let change = kept.turn.real_changes().next().expect(&case);
            assert_eq!(kept.state(change), state, "{case}");
            let words = |text: &str| {
                let words = text.lines().filter(|it| it.parse::<u8>().is_err());
                words.collect::<Vec<_>>().join(" ")
            };
            let text = lab.store.text_of(&change.before).unwrap().unwrap();
            assert_eq!(words(std::str::from_utf8(&text).unwrap()), before, "{case}");
            if state == ChangeState::Unseen {
                lab.step(TakenBack);
                assert_eq!(words(&lab.text()), before, "{case}");
            }
        }
    }
}
