//! Turns of generated commands: what is kept of them is compared with copies that the test makes itself, then all of it is
//! taken back, and put there again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_changes::recorder::Call;
use pillion_changes::take_back::{take_back, undo};
use pillion_changes::{
    Author, Change, ChangeState, FileState, Judged, Judgement, Kept, Recorder, Store, Turn,
};
use pillion_discovery::real_path;
use proptest::prelude::*;

use shared::{WorkTree, recorder, shell};

const SESSION: u64 = 1;

/// A work tree with a store elsewhere.
struct Lab {
    folder: tempfile::TempDir,
    root: PathBuf,
    store: Store,
}

impl Lab {
    fn new(has_git: bool) -> Self {
        let WorkTree {
            root,
            store,
            folder,
        } = WorkTree::new();
        let lab = Self {
            folder,
            root,
            store,
        };
        if has_git {
            lab.git(&["init", "-q"]);
        }
        lab
    }

    fn git(&self, arguments: &[&str]) {
        let home = self.folder.path();
        let status = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.org",
                "-c",
                "gc.auto=0",
            ])
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home)
            .output()
            .unwrap();
        assert!(
            status.status.success() || arguments[0] != "init",
            "{status:?}"
        );
    }

    fn write(&self, name: &str, text: &[u8]) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn recorder(&self) -> Recorder {
        recorder(&self.store, &self.root)
    }

    /// All files but git's, with what a copy would have.
    fn copy(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() && entry.file_name() != ".git" {
                    folders.push(entry.path());
                } else if kind.is_symlink() {
                    let target = fs::read_link(entry.path()).unwrap();
                    files.insert(
                        entry.path(),
                        (0, target.into_os_string().into_encoded_bytes()),
                    );
                } else if kind.is_file() {
                    let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
                    files.insert(entry.path(), (mode, fs::read(entry.path()).unwrap()));
                }
            }
        }
        files
    }

    fn state(&self, state: &FileState) -> Option<(u32, Vec<u8>)> {
        let text = || {
            self.store
                .get(state.text().expect("its text is kept"))
                .unwrap()
        };
        match state {
            FileState::Absent => None,
            FileState::File { mode, .. } => Some((*mode, text())),
            FileState::Link { .. } => Some((0, text())),
        }
    }

    fn take_back(&self, turn: &Turn, change: &Change) -> Judged {
        let done = take_back(&self.store, &turn.roots, change, None).unwrap();
        let judged = Judged {
            judgement: Judgement::TakenBack,
            after: change.after.clone(),
            made: change.made,
            at: 0,
            overwritten: Some(done.overwritten),
            written: Some(done.written),
            in_editor: None,
            folder_modes: done.folder_modes,
            made_way: Vec::new(),
            linked: None,
            notes: Vec::new(),
            former: None,
        };
        self.store
            .judge(turn.number, [(change.number, Some(&judged))])
            .unwrap();
        judged
    }
}

/// A step of a command.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    Replace(usize, Vec<u8>),
    Delete(usize),
    Move(usize, usize),
    Mode(usize, bool),
    Link(usize, usize),
    /// Writes a file of 5 MB that has only this byte, or deletes it.
    Large(Option<u8>),
    Git(&'static [&'static str]),
}

const NAMES: [&str; 8] = [
    "a.txt",
    "b.rs",
    "src/c.rs",
    "src/deep/d",
    "new/e",
    ".hidden",
    "with space",
    "ignored.log",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"one\r\ntwo\r\n".to_vec()),
        Just(b"\xef\xbb\xbfwith a mark\n".to_vec()),
        Just(b"no last newline".to_vec()),
        Just(b"\0binary\xff\xfe".to_vec()),
        Just(Vec::new()),
        Just(b"l\n".repeat(3)),
        "[a-z]{1,9}\n".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), text()).prop_map(|(name, text)| Step::Write(name, text)),
        2 => (name.clone(), text()).prop_map(|(name, text)| Step::Append(name, text)),
        2 => (name.clone(), text()).prop_map(|(name, text)| Step::Replace(name, text)),
        2 => name.clone().prop_map(Step::Delete),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (name.clone(), any::<bool>()).prop_map(|(name, runs)| Step::Mode(name, runs)),
        1 => (name.clone(), name).prop_map(|(name, to)| Step::Link(name, to)),
        1 => any::<Option<u8>>().prop_map(Step::Large),
        1 => Just(Step::Git(&["add", "-A"])),
        1 => Just(Step::Git(&["commit", "-qam", "x"])),
        1 => Just(Step::Git(&["checkout", "-q", "HEAD", "--", "."])),
        1 => Just(Step::Git(&["stash", "-q"])),
    ]
}

impl Step {
    /// Does it, as far as that is possible.
    fn run(&self, lab: &Lab) {
        let path = |name: &usize| lab.root.join(NAMES[*name]);
        let ready = |path: &Path| {
            let _ = fs::create_dir_all(path.parent().unwrap());
        };
        match self {
            Self::Write(name, text) => {
                ready(&path(name));
                let _ = fs::write(path(name), text);
            }
            Self::Append(name, text) => {
                let mut all = fs::read(path(name)).unwrap_or_default();
                all.extend(text);
                ready(&path(name));
                let _ = fs::write(path(name), all);
            }
            Self::Replace(name, text) => {
                ready(&path(name));
                fs::write(lab.root.join("tmp"), text).unwrap();
                fs::rename(lab.root.join("tmp"), path(name)).unwrap();
            }
            Self::Delete(name) => drop(fs::remove_file(path(name))),
            Self::Move(from, to) => {
                ready(&path(to));
                let _ = fs::rename(path(from), path(to));
            }
            Self::Mode(name, runs) => {
                let mode = if *runs { 0o755 } else { 0o644 };
                let is_file = path(name).symlink_metadata().is_ok_and(|it| it.is_file());
                if is_file {
                    fs::set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
                }
            }
            Self::Link(name, to) => {
                let _ = fs::remove_file(path(name));
                ready(&path(name));
                let _ = symlink(NAMES[*to], path(name));
            }
            Self::Large(byte) => {
                let path = lab.root.join("large");
                let _ = match byte {
                    Some(byte) => fs::write(path, vec![*byte; 5 << 20]),
                    None => fs::remove_file(path),
                };
            }
            Self::Git(arguments) => lab.git(arguments),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_of_a_turn_is_what_it_changed(
        has_git: bool,
        before in proptest::collection::vec(step(), 0..12),
        turn in proptest::collection::vec(step(), 1..12),
    ) {
        let lab = Lab::new(has_git);
        lab.write(".gitignore", b"*.log\n");
        for step in &before {
            step.run(&lab);
        }
        let old = lab.copy();
        let mut recorder = lab.recorder();
        let number = recorder.begin(SESSION, "claude", "do it").unwrap();
        for (index, step) in turn.iter().enumerate() {
            let id = index.to_string();
            recorder.before(SESSION, "claude", shell(&id)).unwrap();
            step.run(&lab);
            recorder.after(SESSION, &id, |_| Vec::new()).unwrap();
        }
        recorder.end(SESSION).unwrap();
        let new = lab.copy();
        let kept = match lab.store.turn(number) {
            Ok(turn) => turn,
            Err(error) => {
                prop_assert!(old == new, "{error}");
                return Ok(());
            }
        };
        let changes: BTreeMap<_, _> = kept.real_changes().map(|it| (it.path.clone(), it)).collect();
        prop_assert_eq!(changes.len(), kept.real_changes().count(), "each file once");
        for path in old.keys().chain(new.keys()) {
            let (old, new) = (old.get(path).cloned(), new.get(path).cloned());
            match changes.get(path) {
                None => prop_assert_eq!(old, new, "{:?} is missing", path),
                Some(change) => {
                    prop_assert_eq!(lab.state(&change.before), old, "{:?} before", path);
                    prop_assert_eq!(lab.state(&change.after), new, "{:?} after", path);
                    prop_assert_eq!(&change.by, &Author::Tool("Bash".to_owned()));
                    prop_assert_eq!(change.state(None), ChangeState::Unseen);
                }
            }
        }
        let judged: Vec<_> = changes.values().map(|change| lab.take_back(&kept, change)).collect();
        prop_assert_eq!(&lab.copy(), &old, "all of it is taken back");
        for (change, judged) in changes.values().zip(&judged) {
            undo(&lab.store, &kept.roots, change, (judged, None)).unwrap();
        }
        prop_assert_eq!(&lab.copy(), &new, "and is there again");
    }
}

#[test]
fn what_is_not_watched_is_neither_new_nor_gone() {
    let lab = Lab::new(false);
    lab.write("node_modules/p/index.js", b"one\n");
    lab.write("a.txt", b"one\n");
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    let path = lab.root.join("node_modules/p/index.js");
    let edit = Call {
        id: "1".to_owned(),
        tool: "Edit".to_owned(),
        path: Some(path.clone()),
        subagent: None,
    };
    recorder.before(SESSION, "claude", edit).unwrap();
    lab.write("node_modules/p/index.js", b"two\n");
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    // A look at everything does not reach it.
    recorder.before(SESSION, "claude", shell("2")).unwrap();
    lab.write("node_modules/p/other.js", b"unseen\n");
    recorder.after(SESSION, "2", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(number).unwrap();
    let [change] = &turn.changes[..] else {
        panic!("{turn:#?}");
    };
    assert_eq!(change.path, path);
    assert_eq!(lab.state(&change.before).unwrap().1, b"one\n");
    assert_eq!(lab.state(&change.after).unwrap().1, b"two\n");
    assert!(
        turn.uncovered.iter().any(|it| it.contains("node_modules")),
        "{turn:#?}"
    );
}

/// In a folder that is no generated one any more, and in one that can be read again; in the same look another file differs, or
/// none does.
#[test]
fn files_that_were_there_before_they_were_looked_at_are_not_new() {
    let is_root = rustix::process::geteuid().is_root();
    for (is_generated, is_at_once) in [(true, true), (true, false), (false, true), (false, false)] {
        if !is_generated && is_root {
            continue;
        }
        let lab = Lab::new(false);
        lab.write("in/a.txt", b"old\n");
        lab.write("in/deep/b.txt", b"old\n");
        lab.write("other.txt", b"old\n");
        let set = |mode| {
            let mode = Permissions::from_mode(mode);
            fs::set_permissions(lab.root.join("in"), mode).unwrap();
        };
        let tag = lab.root.join("in/CACHEDIR.TAG");
        match is_generated {
            true => fs::write(&tag, "").unwrap(),
            false => set(0o100),
        }
        let mut recorder = lab.recorder();
        let number = recorder.begin(SESSION, "claude", "").unwrap();
        recorder.before(SESSION, "claude", shell("1")).unwrap();
        match is_generated {
            true => fs::remove_file(&tag).unwrap(),
            false => set(0o700),
        }
        if is_at_once {
            lab.write("other.txt", b"new\n");
        }
        recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
        recorder.before(SESSION, "claude", shell("2")).unwrap();
        lab.write("in/a.txt", b"new\n");
        lab.write("in/c.txt", b"new\n");
        recorder.after(SESSION, "2", |_| Vec::new()).unwrap();
        recorder.end(SESSION).unwrap();
        let turn = lab.store.turn(number).unwrap();
        for change in turn.real_changes() {
            lab.take_back(&turn, change);
        }
        for (name, expected) in [
            ("in/a.txt", Some("old\n")),
            ("in/deep/b.txt", Some("old\n")),
            ("other.txt", Some("old\n")),
            ("in/c.txt", None),
        ] {
            let text = fs::read_to_string(lab.root.join(name)).ok();
            assert_eq!(text.as_deref(), expected, "{name}");
        }
        assert_eq!(turn.real_changes().count(), 2 + usize::from(is_at_once));
    }
}

#[test]
fn what_is_taken_back_in_a_later_turn_is_none_of_its_changes() {
    let lab = Lab::new(false);
    lab.write("a.txt", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let mut recorder = lab.recorder();
    let first = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    lab.write("a.txt", b"one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    let second = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("2")).unwrap();
    lab.write("a.txt", b"one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    recorder.after(SESSION, "2", |_| Vec::new()).unwrap();
    let turn = lab.store.turn(first).unwrap();
    lab.take_back(&turn, &turn.changes[0]);
    recorder.end(SESSION).unwrap();
    let text = |state: &FileState| lab.state(state).unwrap().1;
    let turn = lab.store.turn(second).unwrap();
    let [change] = &turn.changes[..] else {
        panic!("{turn:#?}");
    };
    assert_eq!(text(&change.before), b"1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    assert_eq!(text(&change.after), b"1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
}

/// Agents name files by paths through links to folders; each is one file, wherever it is.
#[test]
fn a_file_that_is_named_through_a_link_is_the_one_where_it_leads() {
    let lab = Lab::new(false);
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = real_path(elsewhere.path());
    fs::create_dir(lab.root.join("inner")).unwrap();
    symlink("inner", lab.root.join("in")).unwrap();
    symlink(&elsewhere, lab.root.join("out")).unwrap();
    lab.write("inner/there", b"old\n");
    fs::write(elsewhere.join("there"), "old\n").unwrap();
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    for (name, is_changed) in [
        ("in/there", true),
        ("in/new", true),
        ("out/there", true),
        ("out/there", false),
    ] {
        let call = Call {
            id: name.to_owned(),
            tool: "Edit".to_owned(),
            path: Some(lab.root.join(name)),
            subagent: None,
        };
        recorder.before(SESSION, "claude", call).unwrap();
        if is_changed {
            fs::write(lab.root.join(name), "new\n").unwrap();
        }
        recorder.after(SESSION, name, |_| Vec::new()).unwrap();
    }
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(number).unwrap();
    let changed = turn.changes.iter();
    let changed = changed.map(|it| (it.path.clone(), it.before.is_absent(), it.by.clone()));
    let by = || Author::Tool("Edit".to_owned());
    assert_eq!(
        changed.collect::<Vec<_>>(),
        [
            (lab.root.join("inner/there"), false, by()),
            (lab.root.join("inner/new"), true, by()),
            (elsewhere.join("there"), false, by()),
        ]
    );
}

/// A person's saves while a command runs: before the agent writes the same file, after it, in the same lines, and in
/// another file.
#[test]
fn what_a_person_saves_is_none_of_the_agents_changes() {
    const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let mine = LINES.replace('9', "mine");
    let agents = LINES.replace('1', "one");
    let both = mine.replace('1', "one");
    let same = LINES.replace('1', "one, and mine");
    // The texts that are written one after the other, each by the person or not; then who made the change, and of what.
    let person = |text: &str| (text.to_owned(), true);
    let agent = |text: &str| (text.to_owned(), false);
    let by_agent = || Author::Tool("Bash".to_owned());
    for (writes, expected) in [
        (vec![person(&mine)], None),
        (
            vec![person(&mine), agent(&both)],
            Some((by_agent(), &*mine, &*both, false)),
        ),
        (
            vec![agent(&agents), person(&both)],
            Some((by_agent(), &*mine, &*both, false)),
        ),
        (
            vec![agent(&agents), person(&same)],
            Some((by_agent(), LINES, &*same, true)),
        ),
        (
            vec![agent(&agents), person(&both), agent(LINES)],
            Some((by_agent(), &*mine, LINES, false)),
        ),
        // The agent's lines are gone, and with them its change.
        (vec![agent(&agents), person(LINES)], None),
    ] {
        let lab = Lab::new(false);
        lab.write("a.txt", LINES.as_bytes());
        lab.write("b.txt", b"1\n");
        let (path, other) = (lab.root.join("a.txt"), lab.root.join("b.txt"));
        let mut recorder = lab.recorder();
        let turn = recorder.begin(SESSION, "codex", "").unwrap();
        recorder.before(SESSION, "codex", shell("1")).unwrap();
        for (text, is_persons) in &writes {
            // Their editor has read what the agent wrote before they change it.
            recorder.seen(&path).unwrap();
            lab.write("a.txt", text.as_bytes());
            if *is_persons {
                recorder.saved(&path).unwrap();
            }
        }
        lab.write("b.txt", b"mine\n");
        recorder.saved(&other).unwrap();
        lab.write("new.txt", b"mine\n");
        recorder.saved(&lab.root.join("new.txt")).unwrap();
        recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
        let changes = lab.store.turn(turn).unwrap();
        let found: Vec<_> = changes.real_changes().collect();
        let text = |state: &FileState| String::from_utf8(lab.state(state).unwrap().1).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it.by.clone(),
                    text(&it.before),
                    text(&it.after),
                    it.is_mixed,
                )
            })
            .collect();
        let expected = expected.map(|(by, before, after, is_mixed)| {
            (by, before.to_owned(), after.to_owned(), is_mixed)
        });
        assert_eq!(
            found,
            expected.into_iter().collect::<Vec<_>>(),
            "{writes:?}"
        );
    }
}

/// The person saves so fast that the file is looked at only after that, and not when their editor had read it. The agent's
/// changes from before stay its own.
#[test]
fn a_save_that_is_seen_too_soon_is_the_persons_all_the_same() {
    for agents in [None, Some("one\n2\n3\n4\n5\n")] {
        let lab = Lab::new(false);
        lab.write("a.txt", b"1\n2\n3\n4\n5\n");
        let path = lab.root.join("a.txt");
        let mut recorder = lab.recorder();
        let turn = recorder.begin(SESSION, "codex", "").unwrap();
        recorder.before(SESSION, "codex", shell("1")).unwrap();
        if let Some(text) = agents {
            lab.write("a.txt", text.as_bytes());
            recorder.seen(&path).unwrap();
        }
        let mine = agents.unwrap_or("1\n2\n3\n4\n5\n").replace('5', "mine");
        lab.write("a.txt", mine.as_bytes());
        recorder.seen(&path).unwrap();
        recorder.saved(&path).unwrap();
        recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
        let turn = lab.store.turn(turn).unwrap();
        let found: Vec<_> = turn.real_changes().collect();
        assert_eq!(found.len(), usize::from(agents.is_some()), "{found:#?}");
        if let [change] = found[..] {
            let text = |state: &FileState| String::from_utf8(lab.state(state).unwrap().1).unwrap();
            assert_eq!(text(&change.before), "1\n2\n3\n4\nmine\n");
            assert_eq!(text(&change.after), "one\n2\n3\n4\nmine\n");
            assert!(!change.is_mixed);
        }
    }
}

/// Two agents at once, each with a turn of its own: what both may have changed is unclear, and a file that one of them edits
/// is that one's.
#[test]
fn of_two_agents_at_once_none_is_blamed_for_the_others_change() {
    let lab = Lab::new(false);
    for name in ["a.txt", "b.txt", "c.txt"] {
        lab.write(name, b"1\n");
    }
    let mut recorder = lab.recorder();
    let first = recorder.begin(1, "claude", "").unwrap();
    let second = recorder.begin(2, "codex", "").unwrap();
    let edit = |name: &str| Call {
        id: "edit".to_owned(),
        tool: "Edit".to_owned(),
        path: Some(lab.root.join(name)),
        subagent: None,
    };
    recorder.before(1, "claude", shell("1")).unwrap();
    recorder.before(2, "codex", shell("2")).unwrap();
    lab.write("a.txt", b"2\n");
    recorder.before(2, "codex", edit("b.txt")).unwrap();
    lab.write("b.txt", b"2\n");
    recorder.after(2, "edit", |_| Vec::new()).unwrap();
    recorder.after(2, "2", |_| Vec::new()).unwrap();
    lab.write("c.txt", b"2\n");
    recorder.after(1, "1", |_| Vec::new()).unwrap();
    recorder.end(1).unwrap();
    recorder.end(2).unwrap();
    let known = |turn: u64| {
        let turn = lab.store.turn(turn).unwrap();
        let name = |it: &Change| it.path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut known: Vec<_> = { turn.real_changes() }
            .map(|it| (name(it), it.by.clone()))
            .collect();
        known.sort_by(|one, other| one.0.cmp(&other.0));
        known
    };
    let tool = |tool: &str| Author::Tool(tool.to_owned());
    let mut all = [known(first), known(second)].concat();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("a.txt", Author::Unclear),
        ("b.txt", tool("Edit")),
        ("c.txt", tool("Bash")),
    ];
    assert_eq!(all, expected.map(|(name, by)| (name.to_owned(), by)));
    assert!(known(first).contains(&("c.txt".to_owned(), tool("Bash"))));
    assert!(known(second).contains(&("b.txt".to_owned(), tool("Edit"))));
}

/// Both wait for the person with a proposal of one file, and one of them writes it.
#[test]
fn of_two_agents_that_edit_one_file_it_is_the_one_whose_call_ends() {
    for (round, first, second) in [(1, 1, 2), (2, 2, 1), (3, 1, 2), (4, 2, 1)] {
        let lab = Lab::new(false);
        lab.write("a.txt", b"1\n");
        let mut recorder = lab.recorder();
        for (session, agent) in [(1, "claude"), (2, "claude")] {
            recorder.begin(session, agent, "").unwrap();
            let call = Call {
                path: Some(lab.root.join("a.txt")),
                ..shell("edit")
            };
            recorder.before(session, agent, call).unwrap();
        }
        let written = [(first, "2\n"), (second, "3\n")];
        for (session, text) in written {
            lab.write("a.txt", text.as_bytes());
            recorder.after(session, "edit", |_| Vec::new()).unwrap();
        }
        for session in [1, 2] {
            recorder.end(session).unwrap();
        }
        // Their turns have the numbers of the sessions.
        for (session, text) in written {
            let turn = lab.store.turn(session).unwrap();
            let [change] = &*turn.changes else {
                panic!("{round}: {:?}", turn.changes);
            };
            let after = lab.state(&change.after).unwrap().1;
            assert_eq!(after, text.as_bytes(), "{round}");
        }
    }
}

/// A look may find it before that call is over: it is the one whose change the person has accepted.
#[test]
fn of_two_agents_that_edit_one_file_it_is_the_one_whose_change_is_accepted() {
    for first in [1, 2] {
        let lab = Lab::new(false);
        lab.write("a.txt", b"1\n");
        let mut recorder = lab.recorder();
        for session in [1, 2] {
            recorder.begin(session, "claude", "").unwrap();
            let call = Call {
                path: Some(lab.root.join("a.txt")),
                ..shell("edit")
            };
            recorder.before(session, "claude", call).unwrap();
        }
        recorder.accepted(first);
        lab.write("a.txt", b"2\n");
        recorder.glance().unwrap();
        recorder.after(first, "edit", |_| Vec::new()).unwrap();
        for session in [1, 2] {
            recorder.end(session).unwrap();
        }
        // Their turns have the numbers of the sessions, and one without changes is not kept.
        assert_eq!(lab.store.numbers().unwrap(), [first]);
    }
}

/// Agents run the commands of one answer side by side, and a command may go on with what an edit began: whichever of them it was, it
/// was the agent.
#[test]
fn what_one_of_several_calls_of_one_agent_has_changed_is_the_agents() {
    for (calls, are_at_once, by, place) in [
        (["Bash", "Bash"], true, "Bash", "a.txt"),
        (["Bash", "Task"], true, "Bash, Task", "a.txt, by Bash, Task"),
        (["Bash", "Bash"], false, "Bash", "a.txt"),
        (
            ["Edit", "Bash"],
            false,
            "Edit, Bash",
            "a.txt, by Edit, Bash",
        ),
        (
            ["Bash", "Edit"],
            false,
            "Bash, Edit",
            "a.txt, by Bash, Edit",
        ),
    ] {
        let lab = Lab::new(false);
        lab.write("a.txt", b"1\n");
        let mut recorder = lab.recorder();
        let number = recorder.begin(SESSION, "codex", "").unwrap();
        let ids = ["1", "2"];
        for (tool, id) in calls.into_iter().zip(ids) {
            let path = (tool == "Edit").then(|| lab.root.join("a.txt"));
            let call = Call {
                tool: tool.to_owned(),
                path,
                ..shell(id)
            };
            recorder.before(SESSION, "codex", call).unwrap();
            if !are_at_once {
                lab.write("a.txt", format!("{tool} {id}\n").as_bytes());
                recorder.after(SESSION, id, |_| Vec::new()).unwrap();
            }
        }
        if are_at_once {
            lab.write("a.txt", b"2\n");
            for id in ids {
                recorder.after(SESSION, id, |_| Vec::new()).unwrap();
            }
        }
        recorder.end(SESSION).unwrap();
        let kept = Kept::read(&lab.store, number).unwrap();
        let [change] = &kept.turn.changes[..] else {
            panic!("{:?}", kept.turn.changes);
        };
        let by = Author::Tool(by.to_owned());
        assert_eq!((&change.by, &*kept.place(change)), (&by, place));
    }
}

/// A subagent's command runs on when the agent has ended its turn: it ends then, or with the next prompt, or it never says
/// that it has run, or the subagent or the agent ends.
#[test]
fn what_a_subagent_writes_after_the_turn_is_known() {
    let by_bash = || Some(Author::Tool("Bash".to_owned()));
    type Rest = fn(&mut Recorder);
    let rests: [(Rest, usize); 4] = [
        (
            |recorder| recorder.after(SESSION, "1", |_| Vec::new()).unwrap(),
            1,
        ),
        (
            |recorder| {
                recorder.begin(SESSION, "claude", "next").unwrap();
                recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
                recorder.end(SESSION).unwrap();
            },
            1,
        ),
        (|recorder| recorder.left(SESSION).unwrap(), 1),
        (
            |recorder| {
                recorder.begin(SESSION, "claude", "next").unwrap();
                recorder.subagent_ended(SESSION, "other").unwrap();
                recorder.subagent_ended(SESSION, "a1").unwrap();
                recorder.end(SESSION).unwrap();
            },
            1,
        ),
    ];
    for (rest, count) in rests {
        let lab = Lab::new(false);
        lab.write("a.txt", b"1\n");
        let mut recorder = lab.recorder();
        recorder.begin(SESSION, "claude", "go").unwrap();
        let call = Call {
            subagent: Some("a1".to_owned()),
            ..shell("1")
        };
        recorder.before(SESSION, "claude", call).unwrap();
        recorder
            .before(SESSION, "claude", shell("rejected"))
            .unwrap();
        recorder.end(SESSION).unwrap();
        lab.write("a.txt", b"2\n");
        rest(&mut recorder);
        let numbers = lab.store.numbers().unwrap();
        let turns: Vec<_> = numbers
            .iter()
            .map(|it| lab.store.turn(*it).unwrap())
            .collect();
        assert!(turns.iter().all(|turn| turn.ended.is_some()), "{turns:#?}");
        assert!(
            turns.iter().all(|turn| turn.running.is_empty()),
            "{turns:#?}"
        );
        let changes: Vec<_> = turns.iter().flat_map(Turn::real_changes).collect();
        assert_eq!(changes.len(), count, "{turns:#?}");
        assert_eq!(changes.first().map(|it| it.by.clone()), by_bash());
    }
}

/// In other lines, in the same ones, and a file that is something else by now.
#[test]
fn a_persons_later_lines_are_never_lost() {
    let lab = Lab::new(false);
    lab.write("a.txt", b"1\n2\n3\n4\n5\n6\n");
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    lab.write("a.txt", b"one\n2\n3\n4\n5\n6\n");
    lab.write("new.txt", b"new\n");
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(number).unwrap();
    let change = |name: &str| {
        let path = lab.root.join(name);
        turn.changes.iter().find(|it| it.path == path).unwrap()
    };
    let refused = |name: &str| {
        take_back(&lab.store, &turn.roots, change(name), None)
            .unwrap_err()
            .to_string()
    };
    lab.write("a.txt", b"one, or more\n2\n3\n4\n5\n6\n");
    assert!(refused("a.txt").contains("in 1 of the same places"));
    lab.write("new.txt", b"new\nmine\n");
    assert!(refused("new.txt").contains("is no longer as the change left it"));
    fs::remove_file(lab.root.join("a.txt")).unwrap();
    fs::create_dir(lab.root.join("a.txt")).unwrap();
    assert!(refused("a.txt").contains("is neither a file nor a link"));
    assert_eq!(fs::read(lab.root.join("new.txt")).unwrap(), b"new\nmine\n");
}

#[test]
fn nothing_is_written_through_a_folder_that_became_a_link() {
    let lab = Lab::new(false);
    lab.write("in/a.txt", b"1\n");
    let outside = lab.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "2\n").unwrap();
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    lab.write("in/a.txt", b"2\n");
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    fs::rename(lab.root.join("in"), lab.root.join("was")).unwrap();
    symlink(&outside, lab.root.join("in")).unwrap();
    let turn = lab.store.turn(number).unwrap();
    let refused = take_back(&lab.store, &turn.roots, &turn.changes[0], None).unwrap_err();
    assert!(refused.to_string().contains("symbolic link"), "{refused}");
    assert_eq!(fs::read(outside.join("a.txt")).unwrap(), b"2\n");
}

/// Between two calls of the turn that goes on: it is undone as any other.
#[test]
fn what_is_taken_back_while_its_turn_goes_on_can_be_undone() {
    let lab = Lab::new(false);
    lab.write("a.txt", b"1\n2\n3\n");
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    lab.write("a.txt", b"one\n2\n3\n");
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    let turn = lab.store.turn(number).unwrap();
    lab.take_back(&turn, &turn.changes[0]);
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(number).unwrap();
    let change = &turn.changes[0];
    let judged = lab.store.judged(number).unwrap().of(1).unwrap().clone();
    assert_eq!(change.state(Some(&judged)), ChangeState::TakenBack);
    undo(&lab.store, &turn.roots, change, (&judged, None)).unwrap();
    assert_eq!(fs::read(lab.root.join("a.txt")).unwrap(), b"one\n2\n3\n");
}

/// A turn in which one shell command does this.
fn turn(recorder: &mut Recorder, command: impl FnOnce()) -> u64 {
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    command();
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    number
}

/// A text that a person's `revert` or `undo` has written once is an agent's change if an agent writes it later.
#[test]
fn what_an_agent_writes_as_a_person_has_before_it_is_its_change() {
    let lab = Lab::new(false);
    let (old, new) = (b"1\n2\n3\n".as_slice(), b"one\n2\n3\n".as_slice());
    lab.write("a.txt", old);
    let mut recorder = lab.recorder();
    let first = turn(&mut recorder, || lab.write("a.txt", new));
    let kept = lab.store.turn(first).unwrap();
    lab.take_back(&kept, &kept.changes[0]);
    // Again what was taken back, and then what taking it back had written.
    for text in [new, old] {
        let number = turn(&mut recorder, || lab.write("a.txt", text));
        let kept = lab.store.turn(number).unwrap();
        assert_eq!(lab.state(&kept.changes[0].after).unwrap().1, text);
    }
    // What undo had written, before this recorder was there.
    lab.write("a.txt", old);
    let judged = lab.store.judged(first).unwrap().of(1).unwrap().clone();
    undo(&lab.store, &kept.roots, &kept.changes[0], (&judged, None)).unwrap();
    lab.write("a.txt", old);
    let mut recorder = lab.recorder();
    let number = turn(&mut recorder, || lab.write("a.txt", new));
    assert_eq!(lab.store.turn(number).unwrap().changes.len(), 1);
}

#[test]
fn what_an_agent_makes_again_in_its_turn_is_not_taken_back_any_more() {
    let lab = Lab::new(false);
    let (old, new) = (b"1\n2\n3\n".as_slice(), b"one\n2\n3\n".as_slice());
    for (again, state) in [
        (new, ChangeState::Unseen),
        (b"other\n".as_slice(), ChangeState::Unseen),
        (old, ChangeState::TakenBack),
    ] {
        lab.write("a.txt", old);
        let mut recorder = lab.recorder();
        let number = recorder.begin(SESSION, "claude", "").unwrap();
        for (id, text) in [("1", new), ("2", again)] {
            recorder.before(SESSION, "claude", shell(id)).unwrap();
            lab.write("a.txt", text);
            recorder.after(SESSION, id, |_| Vec::new()).unwrap();
            let turn = lab.store.turn(number).unwrap();
            if id == "1" {
                lab.take_back(&turn, &turn.changes[0]);
            }
        }
        recorder.end(SESSION).unwrap();
        let turn = lab.store.turn(number).unwrap();
        let judged = lab.store.judged(number).unwrap();
        assert_eq!(turn.changes[0].state(judged.of(1)), state);
    }
}

/// A file that became a folder, and one whose folder became a file; then all of it is taken back.
#[test]
fn what_became_something_else_is_gone() {
    let lab = Lab::new(false);
    for name in ["a.txt", "in/b.txt", "stays.txt"] {
        lab.write(name, name.as_bytes());
    }
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    fs::remove_file(lab.root.join("a.txt")).unwrap();
    fs::create_dir(lab.root.join("a.txt")).unwrap();
    fs::remove_dir_all(lab.root.join("in")).unwrap();
    lab.write("in", b"a file");
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(number).unwrap();
    let mut names: Vec<_> = turn
        .changes
        .iter()
        .map(|it| turn.shown(&it.path).to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["a.txt", "in", "in/b.txt"].map(PathBuf::from));
    let change = |name: &str| {
        let path = lab.root.join(name);
        turn.changes.iter().find(|it| it.path == path).unwrap()
    };
    // The new file first: it stands where the folder was.
    lab.take_back(&turn, change("in"));
    lab.take_back(&turn, change("in/b.txt"));
    assert_eq!(fs::read(lab.root.join("in/b.txt")).unwrap(), b"in/b.txt");
    // A folder in which nothing is makes way.
    fs::write(lab.root.join("a.txt/mine"), "").unwrap();
    let refused = take_back(&lab.store, &turn.roots, change("a.txt"), None).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("a folder that is not empty"), "{said}");
    fs::remove_file(lab.root.join("a.txt/mine")).unwrap();
    lab.take_back(&turn, change("a.txt"));
    assert_eq!(fs::read(lab.root.join("a.txt")).unwrap(), b"a.txt");
}

#[test]
#[ignore = "in --all: takes twenty seconds: cargo xtask test --all"]
fn twenty_thousand_files_are_one_look() {
    let lab = Lab::new(false);
    let mut recorder = lab.recorder();
    let number = recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    for file in 0..20_000 {
        lab.write(
            &format!("d{}/f{file}", file / 500),
            file.to_string().as_bytes(),
        );
    }
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(number).unwrap();
    assert_eq!(turn.changes.len(), 20_000);
    assert!(turn.change(20_000).is_some());
}

/// Vim writes its swap file again and again while a person types, Emacs its lock and its automatic saves: whatever runs then
/// has not written them.
#[test]
fn the_swap_files_and_locks_of_editors_are_no_changes_of_a_call_that_runs() {
    let lab = Lab::new(false);
    lab.write("src/.old.rs.swp", b"b0VIM 1");
    lab.write("gone/.a.swo", b"b0VIM");
    let mut recorder = lab.recorder();
    recorder.begin(SESSION, "claude", "").unwrap();
    recorder.before(SESSION, "claude", shell("1")).unwrap();
    lab.write("src/.old.rs.swp", b"b0VIM 2");
    lab.write("src/.new.rs.swp", b"b0VIM");
    lab.write(".x.swn", b"b0VIM");
    lab.write("src/#new.rs#", b"typed");
    symlink("me@here.1:2", lab.root.join("src/.#new.rs")).unwrap();
    fs::remove_file(lab.root.join("gone/.a.swo")).unwrap();
    lab.write("src/.x.swa", b"b0VIM");
    lab.write("src/.x.swx", b"");
    let agents = [
        "#",
        "##",
        ".b.svg",
        ".b.swf",
        ".b.swift",
        ".sws",
        ".swx",
        "a.swp",
        "src/.swap",
    ];
    for name in agents {
        lab.write(name, b"the agent's");
    }
    recorder.after(SESSION, "1", |_| Vec::new()).unwrap();
    recorder.end(SESSION).unwrap();
    let turn = lab.store.turn(1).unwrap();
    let mut names: Vec<_> = { turn.changes.iter() }
        .map(|it| it.path.strip_prefix(&lab.root).unwrap().to_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, agents);
}
