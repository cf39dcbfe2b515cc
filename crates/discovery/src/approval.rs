//! A person's approvals in their editor, so that they are not asked once more in the agent's terminal: a
//! private file in the state folder for each approval. Its name is a hash of all that was approved, and it holds the time,
//! and what the agent is still to be told. It counts once, and only for a while.

use std::fs::File;
use std::io;
use std::time::Duration;

use crate::environment::Environment;
use crate::private_file::{FileError, Folder};
use crate::state_dir;

/// The time for which an approval counts.
pub const VALID_FOR: Duration = Duration::from_secs(5 * 60);

const EXTENSION: &str = ".approved";

/// No file of ours is longer.
const MAX_FILE: u64 = 1 << 20;

/// Remembers what this hash, in letters and digits, stands for, with a text, and removes what counts no more.
///
/// # Errors
/// When no state directory can be used; this is what was wrong with the last.
pub fn remember(
    environment: &Environment,
    hash: &str,
    text: &str,
    now_ms: u64,
) -> Result<(), FileError> {
    let name = format!("{hash}{EXTENSION}");
    state_dir::first_usable(environment, |directory| {
        let folder = state_dir::create(directory)?;
        for old in folder.names().unwrap_or_default() {
            if old.ends_with(EXTENSION) && !counts(&folder, &old, now_ms) {
                let _ = folder.remove(&old);
            }
        }
        folder.write(&name, format!("{now_ms}\n{text}").as_bytes())
    })
}

/// Takes away what this hash stands for, and returns the text with it; none if it was not approved, or not lately.
pub fn take(environment: &Environment, hash: &str, now_ms: u64) -> Option<String> {
    find(environment, hash, now_ms, Folder::take)
}

/// The same, but it stays there.
pub fn look(environment: &Environment, hash: &str, now_ms: u64) -> Option<String> {
    find(environment, hash, now_ms, Folder::read)
}

fn find(
    environment: &Environment,
    hash: &str,
    now_ms: u64,
    read: impl Fn(&Folder, &str, u64) -> Result<Option<Vec<u8>>, FileError>,
) -> Option<String> {
    let name = format!("{hash}{EXTENSION}");
    let folders = environment.state_dirs();
    let mut folders = folders.iter().filter_map(|it| state_dir::open(it));
    folders.find_map(|folder| recent(read(&folder, &name, MAX_FILE).ok().flatten()?, now_ms))
}

/// Waits until no other process holds what this hash stands for, and holds it until the file is dropped.
///
/// # Errors
/// As of [`remember`].
pub fn hold(environment: &Environment, hash: &str) -> Result<File, FileError> {
    let name = format!("{hash}{EXTENSION}");
    let file = state_dir::first_usable(environment, |directory| {
        state_dir::create(directory)?.lock_file(&name)
    })?;
    while { file.lock() }.is_err_and(|it| it.kind() == io::ErrorKind::Interrupted) {}
    Ok(file)
}

fn counts(folder: &Folder, name: &str, now_ms: u64) -> bool {
    let content = folder.read(name, MAX_FILE).ok().flatten();
    content.is_some_and(|content| recent(content, now_ms).is_some())
}

/// The text in a file that counts still.
fn recent(content: Vec<u8>, now_ms: u64) -> Option<String> {
    let content = String::from_utf8(content).ok()?;
    let (time, text) = content.split_once('\n')?;
    let age = Duration::from_millis(now_ms.abs_diff(time.parse().ok()?));
    (age <= VALID_FOR).then(|| text.to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_approval_counts_once_and_not_for_long() {
        let base = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        let late = VALID_FOR.as_millis() as u64 + 1;
        remember(&environment, "ab", "so\n", 1000).unwrap();
        assert_eq!(take(&environment, "cd", 1000), None, "another one");
        let taken = take(&environment, "ab", 1000 + late - 1);
        assert_eq!(taken.as_deref(), Some("so\n"));
        assert_eq!(take(&environment, "ab", 1000), None, "it was taken");
        remember(&environment, "ab", "so\n", 1000).unwrap();
        assert_eq!(take(&environment, "ab", 1000 + late), None, "too late");
        assert_eq!(take(&environment, "ab", 1000), None, "and gone with that");
    }

    #[test]
    fn what_counts_no_more_is_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        remember(&environment, "old", "", 1000).unwrap();
        let folder = environment.state_dirs().pop().unwrap();
        fs::write(folder.join("broken.approved"), "soon").unwrap();
        fs::write(folder.join("other"), "x").unwrap();
        remember(&environment, "new", "", 1_000_000).unwrap();
        let names = fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["new.approved", "other"]);
    }
}
