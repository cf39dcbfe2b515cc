//! Turns of random changes: whatever an agent did is taken back to the byte, and brought back to the byte. A run prints its seeds;
//! `PILLION_TURNS=1000 PILLION_SEED=7` makes it longer, and another one. A turn that fails is cut down to the changes that matter.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]
#![cfg(unix)]

mod shared;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_changes::deciding::last_act;
use pillion_changes::{Act, ChangeRef, Deciding, Kept, Recorder};
use pillion_discovery::real_path;
use pillion_system::clock;

use shared::{WorkTree, recorder, shell};

const HOOKED: u64 = 1;
const ATTENDED: u64 = 2;

/// Numbers that look like random ones.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())]
    }
}

const NAMES: [&str; 12] = [
    "a",
    "b",
    "d/a",
    "d/b",
    "d/in/a",
    "e",
    "e/a",
    "private/a",
    "private/in/b",
    "n\new",
    "\u{e9}",
    "x y",
];

const TEXTS: [&[u8]; 7] = [
    b"",
    b"one\ntwo\nthree\n",
    b"one\nzwei\nthree\n",
    b"one\r\ntwo\r\n",
    b"gr\xfc\xdfe\nno end",
    b"\0binary\xff",
    b"one\n",
];

const MODES: [u32; 5] = [0o644, 0o600, 0o755, 0o444, 0o4755];

/// Something that an agent does. What does not work is left out.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(&'static str, &'static [u8]),
    Replace(&'static str, &'static [u8]),
    Remove(&'static str),
    RemoveFolder(&'static str),
    Move(&'static str, &'static str),
    MoveFolder(&'static str, &'static str),
    Mode(&'static str, u32),
    Link(&'static str, &'static str),
    HardLink(&'static str, &'static str),
    Folder(&'static str, u32),
}

impl Step {
    fn random(numbers: &mut Numbers) -> Self {
        let (name, other) = (numbers.of(&NAMES), numbers.of(&NAMES));
        let folders = ["d", "d/in", "e", "private", "private/in", "new", "d/new"];
        let (folder, to) = (numbers.of(&folders), numbers.of(&folders));
        match numbers.next(10) {
            0 => Self::Write(name, numbers.of(&TEXTS)),
            1 => Self::Replace(name, numbers.of(&TEXTS)),
            2 => Self::Remove(name),
            3 => Self::RemoveFolder(folder),
            4 => Self::Move(name, other),
            5 => Self::MoveFolder(folder, to),
            6 => Self::Mode(name, numbers.of(&MODES)),
            7 => Self::Link(name, other),
            8 => Self::HardLink(name, other),
            _ => Self::Folder(folder, numbers.of(&[0o755, 0o700, 0o711])),
        }
    }

    fn act(self, root: &Path) {
        let at = |name: &str| root.join(name);
        // What leads out of the folder is another test's.
        let is_inner = |path: &Path| {
            let parent = path.parent().filter(|it| it.exists()).map(real_path);
            parent.is_some_and(|it| it.starts_with(root))
        };
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_symlink());
        let parents = |path: &Path| drop(fs::create_dir_all(path.parent().unwrap()));
        let done = match self {
            Self::Write(name, text) if !is_link(&at(name)) => {
                parents(&at(name));
                fs::write(at(name), text)
            }
            Self::Replace(name, text) => {
                parents(&at(name));
                let new = at("aside");
                fs::write(&new, text).unwrap();
                let done = fs::rename(&new, at(name));
                drop(fs::remove_file(new));
                done
            }
            Self::Remove(name) => fs::remove_file(at(name)),
            Self::RemoveFolder(name) if !is_link(&at(name)) => fs::remove_dir_all(at(name)),
            Self::Move(from, to) if at(from).is_file() || is_link(&at(from)) => {
                parents(&at(to));
                fs::rename(at(from), at(to))
            }
            Self::MoveFolder(from, to) if is_inner(&at(to)) => fs::rename(at(from), at(to)),
            Self::Mode(name, mode) if !is_link(&at(name)) && at(name).is_file() => {
                fs::set_permissions(at(name), Permissions::from_mode(mode))
            }
            Self::Link(name, target) => symlink(target, at(name)),
            Self::HardLink(name, from) if !is_link(&at(from)) => fs::hard_link(at(from), at(name)),
            Self::Folder(name, mode) if !is_link(&at(name)) => {
                drop(fs::create_dir(at(name)));
                match at(name).is_dir() {
                    true => fs::set_permissions(at(name), Permissions::from_mode(mode)),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        };
        // It may have made no sense.
        drop(done);
    }
}

/// All files and links with their permissions, and their texts or targets.
fn copy(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            let (mode, text) = match metadata.is_symlink() {
                true => (
                    0,
                    fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                ),
                false => (metadata.mode() & 0o7777, fs::read(&path).unwrap()),
            };
            files.insert(path.strip_prefix(root).unwrap().to_owned(), (mode, text));
        }
    }
    files
}

/// A folder before a turn: as a repository or not, with files that have several names.
fn start(shape: usize, has_hard_links: bool) -> WorkTree {
    let tree = WorkTree::new();
    for (at, name) in NAMES.iter().enumerate().filter(|(_, name)| **name != "e") {
        let path = tree.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, TEXTS[at % TEXTS.len()]).unwrap();
    }
    let private = Permissions::from_mode(0o700);
    fs::set_permissions(tree.root.join("private"), private).unwrap();
    symlink("d/a", tree.root.join("link")).unwrap();
    if has_hard_links {
        fs::hard_link(tree.root.join("a"), tree.root.join("twin")).unwrap();
    }
    let git = |arguments: &str| {
        let mut git = Command::new("sh");
        git.args(["-ec", arguments]).current_dir(&tree.root);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.status().unwrap().success());
    };
    match shape {
        0 => {}
        1 => git("git init -q; git add -A"),
        _ => git(
            "git init -q; printf 'a\\nd/\\n' > .gitignore; git init -q d/in; git add -A 2>&1 | true",
        ),
    }
    tree
}

/// The turns of one run.
#[derive(Debug, Clone, Copy)]
struct Kind {
    shape: usize,
    has_hooks: bool,
    has_hard_links: bool,
    /// True if each half is a turn of its own, and both are taken back at once.
    has_two_turns: bool,
}

/// These steps, taken back and brought back. Returns what went wrong.
fn check(steps: &[Step], kind: Kind) -> Result<(), String> {
    let Kind {
        shape,
        has_hooks,
        has_hard_links,
        has_two_turns,
    } = kind;
    let tree = start(shape, has_hard_links);
    let mut recorder: Recorder = recorder(&tree.store, &tree.root);
    match has_hooks {
        true => {
            recorder.begin(HOOKED, "claude", "").unwrap();
            // Twice, so that the system tells of all folders.
            recorder.before(HOOKED, "claude", shell("0")).unwrap();
            recorder.after(HOOKED, "0", |_| Vec::new()).unwrap();
        }
        false => drop(recorder.attend(ATTENDED, "opencode").unwrap()),
    }
    let before = copy(&tree.root);
    for (at, part) in steps.chunks(steps.len().div_ceil(2).max(1)).enumerate() {
        let id = at.to_string();
        if at > 0 && has_two_turns && has_hooks {
            recorder.end(HOOKED).unwrap();
            recorder.begin(HOOKED, "claude", "").unwrap();
        }
        if has_hooks {
            recorder.before(HOOKED, "claude", shell(&id)).unwrap();
        }
        part.iter().for_each(|step| step.act(&tree.root));
        match has_hooks {
            true => recorder.after(HOOKED, &id, |_| Vec::new()).unwrap(),
            false if has_two_turns => {
                drop(recorder.attended_begins(ATTENDED, |_| Vec::new()).unwrap())
            }
            false => drop(recorder.glance(|_| Vec::new()).unwrap()),
        }
    }
    let session = if has_hooks { HOOKED } else { ATTENDED };
    recorder.left(session).unwrap();
    let after = copy(&tree.root);
    let mut turns = tree.store.numbers().unwrap();
    if turns.is_empty() {
        return same(&before, &after, "nothing is listed");
    }
    turns.sort_unstable_by_key(|it| Reverse(*it));
    let all = turns.into_iter();
    let all = all.map(|turn| ChangeRef { turn, change: None });
    act(&tree, Act::TakeBack, &all.collect::<Vec<_>>())?;
    same(&before, &copy(&tree.root), "taken back")?;
    let last = last_act(&tree.store, std::slice::from_ref(&tree.root)).unwrap();
    act(&tree, Act::Undo, &last)?;
    same(&after, &copy(&tree.root), "brought back")
}

type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn same(expected: &Files, found: &Files, what: &str) -> Result<(), String> {
    let differs =
        |(path, it): &(&PathBuf, &(u32, Vec<u8>)), other: &Files| other.get(*path) != Some(it);
    let lost: Vec<_> = { expected.iter() }
        .filter(|it| differs(it, found))
        .collect();
    let more: Vec<_> = { found.iter() }
        .filter(|it| differs(it, expected))
        .collect();
    match lost.is_empty() && more.is_empty() {
        true => Ok(()),
        false => Err(format!("{what}: expected {lost:?}, found {more:?}")),
    }
}

/// Does this with what is named, turn by turn in this order.
fn act(tree: &WorkTree, act: Act, names: &[ChangeRef]) -> Result<(), String> {
    let (at, mut failed) = (clock::now_ms(), Vec::new());
    for names in names.chunk_by(|one, other| one.turn == other.turn) {
        let kept = Kept::read(&tree.store, names[0].turn).unwrap();
        let mut deciding = Deciding::new(&tree.store, &kept);
        deciding.at(at);
        deciding.take_all();
        let done = deciding.all(act, names, |it| {
            failed.extend(it.result.err().map(|error| format!("{}: {error}", it.path)));
        });
        done.map_err(|error| error.to_string())?;
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("{act:?}: {failed:?}")),
    }
}

#[test]
fn whatever_a_turn_did_is_taken_back_and_brought_back() {
    let variable = |name| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let (turns, seed): (u64, u64) = (
        variable("PILLION_TURNS").unwrap_or(100),
        variable("PILLION_SEED").unwrap_or(1),
    );
    for seed in seed..seed + turns {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut steps: Vec<Step> = (0..=numbers.next(9))
            .map(|_| Step::random(&mut numbers))
            .collect();
        let kind = Kind {
            shape: numbers.next(3),
            has_hooks: numbers.next(2) == 0,
            has_hard_links: numbers.next(2) == 0,
            has_two_turns: numbers.next(2) == 0,
        };
        let Err(mut why) = check(&steps, kind) else {
            continue;
        };
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.remove(at);
            match check(&fewer, kind) {
                Err(other) => (steps, why) = (fewer, other),
                Ok(()) => at += 1,
            }
        }
        panic!("seed {seed}, {kind:?}: {steps:?}\n{why}");
    }
}
