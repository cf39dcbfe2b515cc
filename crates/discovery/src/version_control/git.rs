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
    git.env("LC_ALL", "C").arg("-C").arg(folder);
    git.args(["-c", "core.fsmonitor=false"]);
    git
}

/// The value of a setting that names a file or a folder, as it stands there; none if it is not set. Blocking.
///
/// # Errors
/// When git is not there, cannot read its settings, or does not answer.
pub fn path_setting(folder: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let mut git = command(folder);
    git.args(["config", "--path", "--get", name]);
    let ended = child::run(&mut git, Group::Own, LIMIT)?;
    match ended.status.and_then(|it| it.code()) {
        Some(0) => Ok(Some(path(ended.out))),
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
