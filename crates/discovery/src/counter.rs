//! Numbers by which people name things, and that are never given twice: not by another process, and not after what had the
//! number is gone. The highest one that was given is kept in a file, which is written before anybody gets the number.

use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::environment::Environment;
use crate::private_file::{FileError, Folder};

/// The folder below the user's state directory.
const FOLDER: [&str; 2] = ["pillion", "numbers"];

/// The length of a file: as many digits as the longest number has.
const LENGTH: u64 = 20;

/// The numbers of one kind of thing, of one user. Clones are the same.
#[derive(Debug, Clone)]
pub struct Counter {
    /// The user's state directory.
    base: PathBuf,
    /// The name of its file.
    name: &'static str,
    /// The highest number that was given here: the file may be removed meanwhile.
    highest: Arc<AtomicU64>,
}

impl Counter {
    /// The numbers of what has this name. Nothing is created yet. None if the user has no home directory.
    pub fn of(environment: &Environment, name: &'static str) -> Option<Self> {
        let highest = Arc::default();
        environment.user_state_dir().map(|base| Self {
            base,
            name,
            highest,
        })
    }

    /// Takes so many numbers, all of them higher than `above`. Returns the first one. Waits for the disk.
    ///
    /// # Errors
    /// When that cannot be kept. Then none is given.
    pub fn take(&self, count: u64, above: u64) -> Result<u64, FileError> {
        self.change(|kept| {
            let last = kept.max(above).checked_add(count)?;
            Some((last - count + 1, last))
        })
    }

    /// Takes back what nobody has been given of the numbers that were taken last, unless others were taken since. `first` is the
    /// first of them, and `end` comes after the last. Waits for the disk.
    ///
    /// # Errors
    /// When that cannot be kept. Then nobody is ever given them.
    pub fn give_back(&self, first: u64, end: u64) -> Result<(), FileError> {
        self.change(|kept| match kept.checked_add(1) == Some(end) {
            true => Some(((), first - 1)),
            false => Some(((), kept)),
        })
    }

    /// Replaces the highest number by what `next` says beside its result.
    fn change<T>(&self, next: impl FnOnce(u64) -> Option<(T, u64)>) -> Result<T, FileError> {
        let folder = Folder::create(&self.base, &FOLDER)?;
        let path = folder.path().join(self.name);
        let failed = |error| FileError::io("count on in", &path, error);
        let mut file = folder.lock_file(self.name)?;
        // Some file systems have no locks.
        while { file.lock() }.is_err_and(|it| it.kind() == io::ErrorKind::Interrupted) {}
        let mut kept = String::new();
        // What is no number counts as none.
        let _ = Read::take(&file, LENGTH).read_to_string(&mut kept);
        let kept = kept.parse().unwrap_or(0);
        let kept = self.highest.load(Ordering::Relaxed).max(kept);
        let exhausted = || failed(io::ErrorKind::InvalidData.into());
        let (result, highest) = next(kept).ok_or_else(exhausted)?;
        // In its place and of one length: a kill leaves the one or the other, and the file system has room.
        file.rewind().map_err(failed)?;
        let text = format!("{highest:020}");
        file.write_all(text.as_bytes()).map_err(failed)?;
        self.highest.store(highest, Ordering::Relaxed);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    fn counter(home: &tempfile::TempDir, name: &'static str) -> Counter {
        let environment = Environment::from_pairs([("XDG_STATE_HOME", home.path())]);
        Counter::of(&environment, name).unwrap()
    }

    #[test]
    fn no_number_is_given_twice_and_those_given_back_come_again() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (counter(&home, "a"), counter(&home, "a"));
        assert_eq!(one.take(1, 0).unwrap(), 1);
        assert_eq!(other.take(10, 0).unwrap(), 2);
        one.give_back(1, 2).unwrap();
        assert_eq!(one.take(1, 0).unwrap(), 12, "others were taken since");
        other.give_back(12, 13).unwrap();
        assert_eq!(counter(&home, "a").take(1, 20).unwrap(), 21);
        assert_eq!(counter(&home, "b").take(1, 0).unwrap(), 1);
    }

    #[test]
    fn several_at_once_take_different_ones() {
        let home = tempfile::tempdir().unwrap();
        let take = || {
            let counter = counter(&home, "a");
            (0..50)
                .map(|_| counter.take(2, 0).unwrap())
                .collect::<Vec<_>>()
        };
        let mut all: Vec<u64> = thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(take));
            threads
                .into_iter()
                .flat_map(|it| it.join().unwrap())
                .collect()
        });
        all.sort_unstable();
        assert_eq!(all, (0..200).map(|at| 2 * at + 1).collect::<Vec<_>>());
    }

    #[test]
    fn a_file_that_is_removed_or_spoilt_counts_on() {
        let home = tempfile::tempdir().unwrap();
        let counter = counter(&home, "a");
        let file = home.path().join("pillion/numbers/a");
        assert_eq!(counter.take(1, 0).unwrap(), 1);
        fs::remove_dir_all(home.path().join("pillion")).unwrap();
        assert_eq!(counter.take(1, 0).unwrap(), 2);
        for (at, spoilt) in (3..).zip(["x", "", "1", "-1", "00000000000000000001 and more"]) {
            fs::write(&file, spoilt).unwrap();
            assert_eq!(counter.take(1, 0).unwrap(), at, "{spoilt:?}");
        }
        fs::write(&file, u64::MAX.to_string()).unwrap();
        assert!(counter.take(1, 0).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), u64::MAX.to_string());
    }
}
