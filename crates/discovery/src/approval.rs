//! What a person has approved in their editor, so that they are not asked about it once more in the agent's terminal: a
//! private file in the state folder for each approval. Its name is a hash of all that was approved, and it holds nothing
//! but the time. It counts once, and only for a while.

use std::time::Duration;

use crate::environment::Environment;
use crate::private_file::{FileError, Folder};
use crate::state_dir;

/// How long an approval counts.
pub const VALID_FOR: Duration = Duration::from_secs(5 * 60);

const EXTENSION: &str = ".approved";

/// No time has more digits.
const MAX_FILE: u64 = 32;

/// Remembers what this hash, in letters and digits, stands for, and removes what counts no more.
///
/// # Errors
/// When no state directory can be used; this is what was wrong with the last.
pub fn remember(environment: &Environment, hash: &str, now_ms: u64) -> Result<(), FileError> {
    let name = format!("{hash}{EXTENSION}");
    state_dir::first_usable(environment, |directory| {
        let folder = state_dir::create(directory)?;
        for old in folder.names().unwrap_or_default() {
            if old.ends_with(EXTENSION) && !counts(&folder, &old, now_ms) {
                let _ = folder.remove(&old);
            }
        }
        folder.write(&name, now_ms.to_string().as_bytes())
    })
}

/// Returns true if what this hash stands for was approved. It was not the next time.
pub fn take(environment: &Environment, hash: &str, now_ms: u64) -> bool {
    let name = format!("{hash}{EXTENSION}");
    let folders = environment.state_dirs();
    let mut folders = folders.iter().filter_map(|it| state_dir::open(it));
    folders.any(|folder| {
        let content = folder.take(&name, MAX_FILE).ok().flatten();
        content.is_some_and(|content| is_recent(&content, now_ms))
    })
}

fn counts(folder: &Folder, name: &str, now_ms: u64) -> bool {
    let content = folder.read(name, MAX_FILE).ok().flatten();
    content.is_some_and(|content| is_recent(&content, now_ms))
}

fn is_recent(content: &[u8], now_ms: u64) -> bool {
    let time = str::from_utf8(content).ok().and_then(|it| it.parse().ok());
    time.is_some_and(|time: u64| Duration::from_millis(now_ms.abs_diff(time)) <= VALID_FOR)
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
        remember(&environment, "ab", 1000).unwrap();
        assert!(!take(&environment, "cd", 1000), "another one");
        assert!(take(&environment, "ab", 1000 + late - 1));
        assert!(!take(&environment, "ab", 1000), "it was taken");
        remember(&environment, "ab", 1000).unwrap();
        assert!(!take(&environment, "ab", 1000 + late), "too late");
        assert!(!take(&environment, "ab", 1000), "and gone with that");
    }

    #[test]
    fn what_counts_no_more_is_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        remember(&environment, "old", 1000).unwrap();
        let folder = environment.state_dirs().pop().unwrap();
        fs::write(folder.join("broken.approved"), "soon").unwrap();
        fs::write(folder.join("other"), "x").unwrap();
        remember(&environment, "new", 1_000_000).unwrap();
        let names = fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["new.approved", "other"]);
    }
}
