//! What an agent does to files in a turn, at random; and what is in a folder then. Shared with the tests of the program.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pillion_discovery::real_path;

/// Numbers that look like random ones.
pub struct Numbers(u64);

impl Numbers {
    /// Those of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())]
    }
}

pub const NAMES: [&str; 12] = [
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

pub const TEXTS: [&[u8]; 7] = [
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
pub enum Step {
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
    pub fn random(numbers: &mut Numbers) -> Self {
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

    pub fn act(self, root: &Path) {
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
pub fn copy(root: &Path) -> Files {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            if is_version_control(&path) {
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

/// Files and links by their paths: permissions, and texts or targets.
pub type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub fn same(expected: &Files, found: &Files, what: &str) -> Result<(), String> {
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

/// Puts files and links into a folder before a turn, maybe with several names.
pub fn fill(root: &Path, has_hard_links: bool) {
    for (at, name) in NAMES.iter().enumerate().filter(|(_, name)| **name != "e") {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, TEXTS[at % TEXTS.len()]).unwrap();
    }
    let private = Permissions::from_mode(0o700);
    fs::set_permissions(root.join("private"), private).unwrap();
    symlink("d/a", root.join("link")).unwrap();
    if has_hard_links {
        fs::hard_link(root.join("a"), root.join("twin")).unwrap();
    }
}

/// Returns true if this is a folder of version control, which nobody but its program writes.
pub fn is_version_control(path: &Path) -> bool {
    let name = path.file_name().unwrap();
    [".git", ".jj", ".bare"].iter().any(|it| name == *it)
}

/// Cuts steps down to those with which it still fails, and says why.
pub fn cut_down<T: Clone>(
    mut steps: Vec<T>,
    mut why: String,
    check: impl Fn(&[T]) -> Result<(), String>,
) -> (Vec<T>, String) {
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        match check(&fewer) {
            Err(other) => (steps, why) = (fewer, other),
            Ok(()) => at += 1,
        }
    }
    (steps, why)
}

/// A number that a person has set for a run.
pub fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|it| it.parse().ok())
}
