//! Asking the program git about a repository, for what only git knows. Nothing that the repository names is started for it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pillion_system::child::{self, Group};

/// Git tells its settings at once, unless they are on a disk that hangs, or in a pipe.
const LIMIT: Duration = Duration::from_secs(1);

/// Variables that lead git to another repository or index: whose environment this is did not mean this one by them.
const LEADING: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Git in a folder, without arguments.
pub fn command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    LEADING.iter().for_each(|it| {
        git.env_remove(it);
    });
    git.env("LC_ALL", "C").env("GIT_NO_LAZY_FETCH", "1");
    git.arg("-C").arg(folder);
    git.args(["-c", "core.fsmonitor=false"]);
    git
}

/// The value of a setting that names a file or a folder, as it stands there; none if it is not set. Blocking.
///
/// # Errors
/// When git is not there, cannot read its settings, or does not answer.
pub fn path_setting(folder: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    Ok(settings(folder, &["--get", name])?.map(path))
}

/// The files that git's settings in a work tree include, be they there or not. Blocking.
///
/// # Errors
/// As [`path_setting`].
pub fn included_files(top: &Path) -> io::Result<Vec<PathBuf>> {
    let asked = [
        "-z",
        "--show-origin",
        "--get-regexp",
        r"^include(if\..+)?\.path$",
    ];
    let told = settings(top, &asked)?.unwrap_or_default();
    let mut words = told.split(|byte| *byte == 0);
    let mut found = Vec::new();
    // `file:ORIGIN` and `NAME` with its value: a relative one begins where the origin is.
    while let (Some(origin), Some(setting)) = (words.next(), words.next()) {
        let value = setting.splitn(2, |byte| *byte == b'\n').nth(1);
        if let Some((origin, value)) = origin.strip_prefix(b"file:").zip(value) {
            let origin = top.join(path(origin.to_vec()));
            found.push(origin.with_file_name("").join(path(value.to_vec())));
        }
    }
    Ok(found)
}

/// The files that the newest entry of a work tree's stash has put away: those in the work tree, in the index, and untracked ones. Blocking.
pub fn in_stash(top: &Path) -> Vec<PathBuf> {
    let names = |arguments: &[&str]| {
        let mut git = command(top);
        git.arg(arguments[0]).args(["-r", "-z", "--name-only"]);
        git.args(&arguments[1..]);
        out(git)
    };
    let differ = |it: &str| names(&["diff-tree", "--no-renames", "stash@{0}^1", it]);
    let (files, index) = (differ("stash@{0}"), differ("stash@{0}^2"));
    // Most entries have no third parent.
    let untracked = names(&["ls-tree", "--full-tree", "stash@{0}^3"]);
    let told = [files, index, untracked].concat();
    let names = told.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    names.map(|it| top.join(path(it.to_vec()))).collect()
}

/// Returns true if commits alone lead from the one to the other, and all of them were made since this time, in seconds since 1970. Blocking.
pub fn was_committed_since(top: &Path, [old, new]: [&str; 2], since: u64) -> bool {
    let mut git = command(top);
    let range = format!("{old}...{new}");
    git.args(["rev-list", "--left-right", "--timestamp", &range]);
    let told = out(git);
    let is_since = |line: &str| {
        let at = line.split_once(" >").and_then(|(at, _)| at.parse().ok());
        at.is_some_and(|at: u64| at >= since)
    };
    !told.is_empty() && String::from_utf8_lossy(&told).lines().all(is_since)
}

fn out(mut git: Command) -> Vec<u8> {
    let ended = child::run(&mut git, Group::Own, LIMIT);
    ended.map(|it| it.out).unwrap_or_default()
}

/// Settings that name files or folders; none if there are none.
fn settings(folder: &Path, asked: &[&str]) -> io::Result<Option<Vec<u8>>> {
    let mut git = command(folder);
    git.args(["config", "--path"]).args(asked);
    let ended = child::run(&mut git, Group::Own, LIMIT)?;
    match ended.status.and_then(|it| it.code()) {
        Some(0) => Ok(Some(ended.out)),
        Some(1) => Ok(None),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
        None => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn path(mut line: Vec<u8>) -> PathBuf {
    line.pop_if(|it| *it == b'\n');
    line.pop_if(|it| *it == b'\r');
    name(line).into()
}

#[cfg(unix)]
fn name(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn name(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
