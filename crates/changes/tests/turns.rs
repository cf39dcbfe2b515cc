//! Turns of generated commands: what is kept of them is compared with copies that the test makes itself, then all of it is
//! taken back, and put there again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_changes::recorder::Call;
use pillion_changes::take_back::{take_back, undo};
use pillion_changes::{
    Author, Change, FileState, Judged, Judgement, Recorder, Standing, Store, Turn,
};
use pillion_discovery::Environment;
use proptest::prelude::*;

const SESSION: u64 = 1;

/// A work tree with a store elsewhere.
struct Lab {
    folder: tempfile::TempDir,
    root: PathBuf,
    store: Store,
}

impl Lab {
    fn new(has_git: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        let state = folder.path().join("state");
        let store = Store::of(&Environment::from_pairs([("XDG_STATE_HOME", state)])).unwrap();
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
        Recorder::new(self.store.clone(), std::slice::from_ref(&self.root))
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
        let done = take_back(&self.store, &turn.roots, change).unwrap();
        let judged = Judged {
            judgement: Judgement::TakenBack,
            after: change.after.clone(),
            at: 0,
            overwritten: Some(done.overwritten),
            written: Some(done.written),
        };
        self.store
            .judge(turn.number, change.number, &judged)
            .unwrap();
        judged
    }
}

fn shell(id: &str) -> Call {
    Call {
        id: id.to_owned(),
        tool: "Bash".to_owned(),
        path: None,
    }
}

/// What a command does.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    Replace(usize, Vec<u8>),
    Delete(usize),
    Move(usize, usize),
    Mode(usize, bool),
    Link(usize, usize),
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
                let _ = std::os::unix::fs::symlink(NAMES[*to], path(name));
            }
            Self::Git(arguments) => lab.git(arguments),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

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
            recorder.after(SESSION, &id, |_| false).unwrap();
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
                    prop_assert_eq!(change.standing(None), Standing::Unseen);
                }
            }
        }
        let judged: Vec<_> = changes.values().map(|change| lab.take_back(&kept, change)).collect();
        prop_assert_eq!(&lab.copy(), &old, "all of it is taken back");
        for (change, judged) in changes.values().zip(&judged) {
            undo(&lab.store, &kept.roots, change, judged).unwrap();
        }
        prop_assert_eq!(&lab.copy(), &new, "and is there again");
    }
}
