//! The files of a work tree that git tracks, as its index has them. Reads the index and runs no program; what it
//! reads is a regular file below a limit, and is not mapped: somebody else may cut it. Texts are never git's, but copies.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_discovery::regular_file;
use pillion_discovery::version_control::{self, GitFolders};

use crate::scan::Stat;

/// An index is not longer than this, in bytes: it has some hundred for each file.
const MAX_INDEX: u64 = 256 << 20;

/// A file of settings is not longer than this, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;

/// The facts about a file before the name of its object, in bytes, and those after it: flags, which may be twice as long.
const FACTS: usize = 40;
const FLAGS: usize = 2;
const IS_EXTENDED: u8 = 0x40;

/// The folders that hold tracked files of the repository in whose work tree this folder is; none if there is no such
/// repository, or its index cannot be read. Blocking.
pub fn tracked_folders(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let tops = folder.ancestors();
    let mut tops = tops.filter_map(|top| Some((top, GitFolders::of(top)?)));
    let is_repository = |(_, git): &(_, GitFolders)| version_control::is_git_folder(&git.own);
    let Some((work_tree, git)) = tops.find(is_repository) else {
        return found;
    };
    let index = Index::of(work_tree, &git);
    index.each(|_, path| {
        let inner = path.ancestors().skip(1);
        for folder in inner.take_while(|it| it.starts_with(work_tree)) {
            if !found.insert(folder.to_owned()) {
                break;
            }
        }
    });
    found
}

/// Returns true if git has written this file, as a checkout or a stash does, or has compared it with its index since somebody else did.
/// Blocking.
pub fn has_git_written(path: &Path) -> bool {
    let Ok(Some(stat)) = Stat::at(path) else {
        return false;
    };
    let mut folders = path.ancestors().skip(1);
    let index = folders.find_map(|it| Some(Index::of(it, &GitFolders::of(it)?)));
    let tracked = index.and_then(|it| it.tracked().remove(path));
    tracked.is_some_and(|it| it.is_clean(&stat))
}

/// The index of a work tree as it was read.
#[derive(Debug, Default)]
pub struct Index {
    work_tree: PathBuf,
    /// The files that it consists of: those that it shares first.
    files: Vec<Vec<u8>>,
    /// The length of an object's name, in bytes.
    object: usize,
    /// When it was written, and its length.
    written: Option<(SystemTime, u64)>,
}

impl Index {
    /// Reads that of a work tree. Blocking.
    pub fn of(work_tree: &Path, git: &GitFolders) -> Self {
        let config =
            regular_file::read(&git.common.join("config"), MAX_SETTINGS).unwrap_or_default();
        let is_sha256 = config
            .windows(6)
            .any(|it| it.eq_ignore_ascii_case(b"sha256"));
        let written = Self::written(git);
        // The names of an index may be those of another one, with others of its own.
        let names = fs::read_dir(&git.own).into_iter().flatten().flatten();
        let shared = names.map(|it| it.file_name());
        let shared = shared.filter(|it| it.as_encoded_bytes().starts_with(b"sharedindex."));
        let files = shared.chain(["index".into()]);
        let read = |file| regular_file::read(&git.own.join(file), MAX_INDEX).unwrap_or_default();
        Self {
            work_tree: work_tree.to_owned(),
            files: files.map(read).collect(),
            object: if is_sha256 { 32 } else { 20 },
            written,
        }
    }

    fn written(git: &GitFolders) -> Option<(SystemTime, u64)> {
        let facts = git.own.join("index").symlink_metadata().ok()?;
        Some((facts.modified().ok()?, facts.len()))
    }

    /// Returns true if it is as it was when it was read.
    pub fn is_current(&self, git: &GitFolders) -> bool {
        self.written.is_some() && Self::written(git) == self.written
    }

    /// The tracked files.
    pub fn tracked(&self) -> HashMap<PathBuf, Tracked> {
        let mut tracked = HashMap::new();
        self.each(|facts, path| {
            tracked.extend(Tracked::of(facts).map(|it| (path.to_owned(), it)));
        });
        tracked
    }

    fn each(&self, mut each: impl FnMut(&[u8], &Path)) {
        for file in &self.files {
            each_name(file, self.object, |facts, name| {
                if let Some(path) = path(name) {
                    each(facts, &self.work_tree.join(path));
                }
            });
        }
    }
}

/// A tracked file.
#[derive(Debug)]
pub struct Tracked {
    /// When the file was written, since 1970, and its size, when it had the text of the index.
    modified: Duration,
    size: u32,
    /// The name of that text.
    object: Vec<u8>,
}

impl Tracked {
    fn of(facts: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_be_bytes(*facts.get(at..)?.first_chunk()?));
        Some(Self {
            modified: Duration::new(number(8)?.into(), number(12)?.min(999_999_999)),
            size: number(36)?,
            object: facts[FACTS..].to_owned(),
        })
    }

    /// Returns true if the file has the text of the index, by the same facts as git goes by.
    pub fn is_clean(&self, stat: &Stat) -> bool {
        let (one, other) = (self.modified, stat.modified);
        let is_same_time = one.as_secs() == other.as_secs()
            && (one.subsec_nanos() == 0 || one.subsec_nanos() == other.subsec_nanos());
        is_same_time && u64::from(self.size) == stat.size & u64::from(u32::MAX)
    }

    /// Returns true if both have the same text.
    pub fn is_same(&self, other: &Self) -> bool {
        self.object == other.object
    }
}

/// Hands over the facts and the names in an index whose objects have names of so many bytes, up to the first that is damaged.
fn each_name(index: &[u8], object: usize, mut each: impl FnMut(&[u8], &[u8])) -> Option<()> {
    let number = |at: usize| Some(u32::from_be_bytes(*index.get(at..)?.first_chunk()?));
    let version = number(4).filter(|_| index.starts_with(b"DIRC"))?;
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..number(8)? {
        let flags = at + FACTS + object;
        let is_extended = index.get(flags)? & IS_EXTENDED != 0;
        let mut start = flags + if is_extended { 2 * FLAGS } else { FLAGS };
        // From the fourth form on, a name begins as the one before it.
        let same = match version {
            4 => name.len().checked_sub(variable(index, &mut start)?)?,
            _ => 0,
        };
        name.truncate(same);
        let rest = index.get(start..)?;
        let end = rest.iter().position(|it| *it == 0)?;
        name.extend_from_slice(&rest[..end]);
        each(index.get(at..flags)?, &name);
        at = match version {
            4 => start + end + 1,
            // One to eight zeros fill it up.
            _ => at + ((start + end - at) / 8 + 1) * 8,
        };
    }
    Some(())
}

/// Reads a number of variable length, as git writes it.
fn variable(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number = number.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(number);
        }
        number = number.checked_add(1)?;
    }
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere not every path is one")]
fn path(bytes: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(Path::new)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_folders_of_tracked_files_are_found_in_each_form_of_an_index() {
        for (format, more) in [
            ("sha1", "git update-index --index-version 2"),
            (
                "sha1",
                "git add -N new/long/er; git update-index --index-version 3",
            ),
            ("sha1", "git update-index --index-version 4"),
            ("sha1", "git update-index --split-index; git add new"),
            ("sha256", "git update-index --index-version 4"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            let command = format!(
                "git init -q --object-format={format}; mkdir -p a/b c target/d new/long e;
                 for it in top a/b/one a/b/two c/$(printf %0200d 0) target/d/x; do echo > $it; done
                 git add .; echo > new/long/er; {more}; git add new"
            );
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]).current_dir(root);
            shell.env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(shell.status().unwrap().success());
            let inner = ["", "a", "a/b", "c", "new", "new/long", "target", "target/d"];
            let expected: BTreeSet<_> = inner.iter().map(|it| root.join(it)).collect();
            let shown = |it: BTreeSet<PathBuf>| -> Vec<PathBuf> { it.into_iter().collect() };
            let normal =
                |it: BTreeSet<PathBuf>| it.iter().map(|it| it.components().collect()).collect();
            assert_eq!(tracked_folders(root), normal(expected.clone()), "{more}");
            assert_eq!(
                shown(tracked_folders(&root.join("e"))).len(),
                expected.len()
            );
        }
    }

    #[test]
    fn what_a_checkout_or_a_stash_has_written_is_gits() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let file = root.join("inner/file");
        for (command, expected) in [
            ("git init -q; mkdir inner; echo one > inner/file", false),
            (
                "git add .; git commit -qm one; echo mine > inner/file",
                false,
            ),
            ("git stash -q", true),
            ("echo mine > inner/file", false),
            ("git checkout -q inner/file", true),
            ("git rm -q inner/file", false),
        ] {
            let command = format!(
                "git() {{ command git -c user.name=a -c user.email=a@b \"$@\"; }}; {command}"
            );
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]).current_dir(root);
            shell.env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(shell.status().unwrap().success());
            assert_eq!(has_git_written(&file), expected, "{command}");
        }
    }

    #[test]
    fn a_damaged_index_names_what_comes_before_the_damage() {
        let entry = |name: &str| {
            let mut entry = vec![0; FACTS + 20 + FLAGS];
            entry.extend_from_slice(name.as_bytes());
            entry.resize((entry.len() / 8 + 1) * 8, 0);
            entry
        };
        let start = [&b"DIRC\0\0\0\x02\0\0\0\x03"[..], &entry("a"), &entry("b/c")].concat();
        let names = |index: &[u8]| {
            let mut names = Vec::new();
            each_name(index, 20, |_, it| {
                names.push(String::from_utf8(it.to_vec()).unwrap())
            });
            names
        };
        assert_eq!(names(&start), ["a", "b/c"]);
        for end in 0..start.len() {
            assert!(names(&start[..end]).len() <= 2);
        }
        let endless = [&b"DIRC\0\0\0\x04\0\0\0\x01"[..], &[0; 62], &[0xff; 40]].concat();
        assert!(names(&endless).is_empty());
    }
}
