//! Files that are still being written, beside the file that they are to replace: those being installed, and accepted texts.
//! The remains of them after a kill go with the next writing.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use pillion_system::{lock, process};
use tempfile::{NamedTempFile, TempPath};

/// The start of their names; the writer's pid and something that nobody can guess follow.
const PREFIX: &str = ".pillion-";

/// The number of random letters that end the name.
const RANDOM: usize = 16;

/// So many are written at the same time, at most.
const MAX_OWN: usize = 256;

/// A link cannot be locked: after so long nobody makes it any more.
const LINK: Duration = Duration::from_secs(60);

/// A new one, locked for as long as it is written.
///
/// # Errors
/// When it cannot be created.
pub fn unfinished(folder: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(permissions.map_or(0o600, |it| it.mode()));
    }
    let file = make(folder, |path| options.open(path))?;
    // Not every file system has locks.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// A new symbolic link, which `make` makes at the path that it gets.
///
/// # Errors
/// When it cannot be created.
pub fn unfinished_link(
    folder: &Path,
    link: impl FnMut(&Path) -> io::Result<()>,
) -> io::Result<TempPath> {
    Ok(make(folder, link)?.into_temp_path())
}

fn make<T>(
    folder: &Path,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<NamedTempFile<T>> {
    let prefix = prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).rand_bytes(RANDOM);
    let mut refused = None;
    let made = builder.make_in(folder, |path| {
        remember(path);
        make(path).inspect_err(|error| refused = error.raw_os_error())
    });
    // The name of such a file says nothing to anybody, and would make one reason many.
    made.map_err(|error| refused.map_or(error, io::Error::from_raw_os_error))
}

fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Does the same as [`sweep`], once for each folder in the life of this process: there may be many files in it to write.
pub fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = SWEPT
        .lock()
        .is_ok_and(|mut swept| swept.insert(folder.to_owned()));
    if is_new {
        sweep(folder);
    }
}

/// Removes what writers left that are gone.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let writer = entry.file_name().to_str().and_then(writer);
        if writer.is_some_and(|pid| !process::is_alive(pid)) && is_given_up(&entry.path()) {
            // The next writing tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns true if it is the name of a file that is still being written, or was never finished.
pub fn is_unfinished(name: &str) -> bool {
    writer(name).is_some()
}

/// Returns true if it is the name of a file that a process writes at this moment. One to which anybody gives such a name is as
/// any other file.
pub fn is_being_written(name: &str) -> bool {
    writer(name).is_some_and(|pid| match pid == std::process::id() {
        true => lock(&OWN).iter().any(|it| it == name),
        false => process::is_alive(pid),
    })
}

/// The names of the files that this process has begun to write last.
static OWN: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Remembers that this process writes a file of this name, until it has begun many others.
fn remember(path: &Path) {
    let name = path.file_name().unwrap_or_default();
    let mut own = lock(&OWN);
    own.truncate(MAX_OWN - 1);
    own.push_front(name.to_string_lossy().into_owned());
}

/// The process that wrote a file of this name.
fn writer(name: &str) -> Option<u32> {
    let (pid, random) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let fits = random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| pid.parse().ok()).flatten()
}

/// Returns true if it is a regular file or a link of this user's that nobody writes: the writer may live in
/// another container, where processes have other numbers.
fn is_given_up(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return false;
    };
    if !has_our_owner(&metadata) {
        return false;
    }
    if metadata.is_symlink() {
        let made = metadata.modified().ok();
        let age = made.and_then(|made| SystemTime::now().duration_since(made).ok());
        return age.is_some_and(|age| age > LINK);
    }
    metadata.is_file()
        && File::open(path)
            .is_ok_and(|file| !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(unix)]
fn has_our_owner(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn has_our_owner(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn dead_pid() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn only_what_a_dead_writer_of_ours_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (dead, own) = (dead_pid(), std::process::id());
        let letters = "abcdefABCDEF0123";
        let path = |name: String| folder.path().join(name);
        let left = path(format!(".pillion-{dead}-{letters}"));
        let link = path(format!(".pillion-{dead}-{}", letters.replace('a', "z")));
        let locked = path(format!(".pillion-{dead}-{}", letters.replace('a', "y")));
        let others = [
            format!(".pillion-{own}-{letters}"),
            format!(".pillion-{dead}-short"),
            format!(".pillion-text-{letters}"),
            format!("pillion-{dead}-{letters}"),
            "file".to_owned(),
        ];
        for path in others
            .iter()
            .cloned()
            .map(path)
            .chain([left.clone(), locked.clone()])
        {
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("file", &link).unwrap();
        let holder = File::open(&locked).unwrap();
        holder.lock().unwrap();
        sweep(folder.path());
        assert!(!left.exists());
        assert!(link.symlink_metadata().is_ok() && locked.exists());
        assert!(others.iter().cloned().map(path).all(|path| path.exists()));
        drop(holder);
        sweep(folder.path());
        assert!(!locked.exists(), "its writer was killed");
        assert!(link.symlink_metadata().is_ok(), "it may be being made");
        let long_ago = rustix::fs::Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let times = rustix::fs::Timestamps {
            last_access: long_ago,
            last_modification: long_ago,
        };
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::utimensat(rustix::fs::CWD, &link, &times, flags).unwrap();
        sweep(folder.path());
        assert!(link.symlink_metadata().is_err(), "nobody makes it");
    }

    #[test]
    fn the_name_of_an_unfinished_file_contains_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let file = unfinished(folder.path(), None).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(writer(name), Some(std::process::id()));
        assert!(!is_given_up(file.path()), "it is being written");
    }
}
