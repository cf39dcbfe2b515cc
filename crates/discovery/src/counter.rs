//! Numbers by which people name things, and that are never given twice: not by another process, and not after what had the
//! number is gone. The highest one that was given is kept in a file, which is written before anybody gets the number.
//!
//! A file that holds anything else was damaged, and one that is empty or gone beside what has numbers was removed: nobody knows
//! any more which numbers were given, so that counting goes on from the time, which is higher than all of them. The file may be
//! removed at any moment, so that each process also remembers what it has seen of it and given.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pillion_system::{clock, lock};

use crate::environment::Environment;
use crate::private_file::{FileError, Folder};

/// The folder below the user's state directory.
const FOLDER: [&str; 2] = ["pillion", "numbers"];

/// So often a number is written anew whose file is removed meanwhile. The process knows it all the same.
const MAX_TRIES: usize = 8;

/// The length of a file: as many digits as the longest number has.
const LENGTH: usize = 20;

/// The highest number that every reader of JSON can tell from the next one. The time is lower for 285,000 years.
const MAX: u64 = 1 << 53;

/// The counter of diffs.
pub const DIFFS: &str = "diffs";
/// The one of agents, and of all else that proposes.
pub const AGENTS: &str = "agents";
/// The one of turns.
pub const TURNS: &str = "turns";
/// The one of entries of the log.
pub const ENTRIES: &str = "log";

/// All of them.
pub const NAMES: [&str; 4] = [DIFFS, AGENTS, TURNS, ENTRIES];

/// What this process knows of each counter, by the user's state directory and its name.
static KNOWN: Mutex<BTreeMap<(PathBuf, &str), Shared>> = Mutex::new(BTreeMap::new());

type Shared = Arc<Mutex<Known>>;

/// What a process knows of the numbers, whatever becomes of the file.
#[derive(Debug, Default)]
struct Known {
    highest: u64,
    /// True if they began with 1 here, because no file was there.
    began_here: bool,
}

/// The numbers of one kind of thing, of one user. Clones are the same.
#[derive(Debug, Clone)]
pub struct Counter {
    /// The user's state directory.
    base: PathBuf,
    /// The name of its file.
    name: &'static str,
    known: Shared,
}

impl Counter {
    /// The numbers of what has this name. Nothing is created yet. None if the user has no home directory.
    pub fn of(environment: &Environment, name: &'static str) -> Option<Self> {
        let base = environment.user_state_dir()?;
        let mut all = lock(&KNOWN);
        let known = all.entry((base.clone(), name)).or_default().clone();
        Some(Self { base, name, known })
    }

    /// Takes so many numbers, all of them higher than `above`, which was given for sure if it is not 0. Returns the first one.
    /// Waits for the disk.
    ///
    /// # Errors
    /// When that cannot be kept. Then none is given.
    pub fn take(&self, count: u64, above: u64) -> Result<u64, FileError> {
        self.change(&mut lock(&self.known), above > 0, |kept| {
            let last = kept.max(above).checked_add(count)?;
            Some((last - count + 1, last))
        })
    }

    /// Numbers were given before this process began. If nothing is known of them any more, counting goes on from the time, and what
    /// was taken and not given yet, up to the number that is returned, is not to be given any more. Waits for the disk.
    ///
    /// # Errors
    /// When that cannot be kept. Later numbers of this process are higher all the same.
    pub fn were_given(&self) -> Result<Option<u64>, FileError> {
        let mut known = lock(&self.known);
        let (mut former, now) = (0, clock::now_ms());
        if std::mem::take(&mut known.began_here) {
            former = known.highest;
            known.highest = now;
        }
        self.change(&mut known, true, |kept| {
            Some(((kept >= now).then_some(former), kept.max(1)))
        })
    }

    /// Takes back what nobody has been given of the numbers that were taken last, unless others were taken since. `first` is the
    /// first of them, and `end` comes after the last. Waits for the disk.
    ///
    /// # Errors
    /// When that cannot be kept. Then nobody is ever given them.
    pub fn give_back(&self, first: u64, end: u64) -> Result<(), FileError> {
        let mut known = lock(&self.known);
        self.change(&mut known, false, |kept| {
            match kept.checked_add(1) == Some(end) {
                true => Some(((), first - 1)),
                false => Some(((), kept)),
            }
        })
    }

    /// Returns true if there is something beside the numbers already: at the first start of all there is not. Waits for the disk.
    pub fn is_among_others(&self) -> bool {
        let folder = Folder::open(&self.base, &FOLDER[..1]).ok().flatten();
        let names = folder.and_then(|folder| folder.names().ok());
        names.is_some_and(|names| names.iter().any(|name| name != FOLDER[1]))
    }

    /// Replaces the highest number by what `next` says beside its result. `was_used` says that some were given before.
    fn change<T>(
        &self,
        known: &mut Known,
        was_used: bool,
        next: impl FnOnce(u64) -> Option<(T, u64)>,
    ) -> Result<T, FileError> {
        let mut kept = self.open()?;
        let found = kept.read()?;
        let highest = match found {
            Some(highest) => highest.max(known.highest),
            None if was_used && known.highest == 0 => clock::now_ms(),
            None => known.highest,
        };
        let exhausted = || kept.failed(io::ErrorKind::InvalidData.into());
        let (result, next) = next(highest).ok_or_else(exhausted)?;
        // A file that holds 0 says that all which was taken was given back.
        known.began_here |= highest == 0 && found.is_none();
        known.highest = next;
        // What is written to a file that was removed meanwhile is lost.
        let mut next = next;
        for _ in 0..MAX_TRIES {
            kept.write(next)?;
            if kept.is_there()? {
                break;
            }
            kept = self.open()?;
            next = kept.read()?.map_or(next, |other| other.max(next));
        }
        Ok(result)
    }

    /// Opens the file, and makes it if need be. Nobody else counts on until it is closed.
    fn open(&self) -> Result<Kept, FileError> {
        let folder = Folder::create(&self.base, &FOLDER)?;
        let path = folder.path().join(self.name);
        let file = folder.lock_file(self.name)?;
        // Some file systems have no locks.
        while { file.lock() }.is_err_and(|it| it.kind() == io::ErrorKind::Interrupted) {}
        Ok(Kept { file, path })
    }
}

/// The open file of a counter.
struct Kept {
    file: File,
    path: PathBuf,
}

impl Kept {
    fn failed(&self, error: io::Error) -> FileError {
        FileError::io("count on in", &self.path, error)
    }

    fn read(&mut self) -> Result<Option<u64>, FileError> {
        read(&mut self.file).map_err(|error| self.failed(error))
    }

    fn write(&mut self, highest: u64) -> Result<(), FileError> {
        write(&mut self.file, highest).map_err(|error| self.failed(error))
    }

    /// Returns false if it was removed since it was opened.
    fn is_there(&self) -> Result<bool, FileError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let found = self.file.metadata().map_err(|error| self.failed(error))?;
            Ok(found.nlink() > 0)
        }
        // An open file cannot be removed there.
        #[cfg(not(unix))]
        Ok(true)
    }
}

/// The highest number that was given, as far as the file knows: none, as long as it is empty.
fn read(file: &mut File) -> io::Result<Option<u64>> {
    let mut kept = Vec::new();
    file.take(LENGTH as u64 + 1).read_to_end(&mut kept)?;
    let is_whole = kept.len() == LENGTH && kept.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(&kept).ok().filter(|_| is_whole);
    let number = number.and_then(|it| it.parse().ok());
    Ok(match number.filter(|it| *it <= MAX) {
        Some(number) => Some(number),
        None if kept.is_empty() => None,
        None => Some(clock::now_ms()),
    })
}

/// Writes it in its place and in one length: whoever is killed leaves the one or the other, and a full disk has room.
fn write(file: &mut File, highest: u64) -> io::Result<()> {
    let is_as_long = file.metadata()?.len() == LENGTH as u64;
    file.rewind()?;
    file.write_all(format!("{highest:020}").as_bytes())?;
    if !is_as_long {
        file.set_len(LENGTH as u64)?;
        // Else it could be empty after a loss of power, as if nobody had been given anything.
        file.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    fn of_this_process(home: &tempfile::TempDir) -> Counter {
        let environment = Environment::from_pairs([("XDG_STATE_HOME", home.path())]);
        Counter::of(&environment, "a").unwrap()
    }

    /// As another process has it.
    fn counter(home: &tempfile::TempDir, name: &'static str) -> Counter {
        Counter {
            name,
            known: Arc::default(),
            ..of_this_process(home)
        }
    }

    #[test]
    fn where_all_were_given_back_counting_begins_anew_and_not_with_the_time() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (counter(&home, "a"), counter(&home, "a"));
        assert_eq!(one.take(100, 0).unwrap(), 1);
        one.give_back(1, 101).unwrap();
        assert_eq!(other.take(100, 1).unwrap(), 2);
        assert_eq!(other.were_given().unwrap(), None);
        assert_eq!(other.take(1, 0).unwrap(), 102);
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
    fn a_file_that_is_removed_counts_on() {
        let home = tempfile::tempdir().unwrap();
        let counter = counter(&home, "a");
        assert_eq!(counter.take(1, 0).unwrap(), 1);
        fs::remove_dir_all(home.path().join("pillion")).unwrap();
        assert_eq!(counter.take(1, 0).unwrap(), 2);
    }

    #[test]
    fn a_folder_that_goes_away_at_any_step_gives_no_number_again() {
        for step in 0..4 {
            let home = tempfile::tempdir().unwrap();
            let one = of_this_process(&home);
            let goes = |now| {
                if now == step {
                    fs::remove_dir_all(home.path().join("pillion")).unwrap();
                }
            };
            assert_eq!(one.take(1, 0).unwrap(), 1);
            goes(0);
            let taken = one.change(&mut lock(&one.known), false, |kept| {
                goes(1);
                Some((kept + 1, kept + 1))
            });
            assert_eq!(taken.unwrap(), 2, "{step}");
            goes(2);
            // Another counter of this process knows what the first one does; another process, what is in the file.
            let other = match step {
                2 => of_this_process(&home),
                _ => counter(&home, "a"),
            };
            assert_eq!(other.take(1, 0).unwrap(), 3, "{step}");
        }
    }

    #[test]
    fn numbers_that_were_given_before_this_process_began_are_given_no_more() {
        let home = tempfile::tempdir().unwrap();
        let before = clock::now_ms();
        assert_eq!(of_this_process(&home).were_given().unwrap().unwrap_or(0), 0);
        let first = of_this_process(&home).take(1, 0).unwrap();
        assert!(first > before, "{first}");
        // It has begun with 1, and hears of them only then; and once.
        let home = tempfile::tempdir().unwrap();
        assert_eq!(of_this_process(&home).take(5, 0).unwrap(), 1);
        assert_eq!(of_this_process(&home).were_given().unwrap(), Some(5));
        let next = of_this_process(&home).take(1, 0).unwrap();
        assert!(next > before, "{next}");
        assert_eq!(of_this_process(&home).were_given().unwrap().unwrap_or(0), 0);
        assert_eq!(of_this_process(&home).take(1, 0).unwrap(), next + 1);
        // What a file knows is enough.
        let later = counter(&home, "a");
        assert_eq!(later.were_given().unwrap().unwrap_or(0), 0);
        assert_eq!(later.take(1, 0).unwrap(), next + 2);
    }

    #[test]
    fn a_file_that_is_removed_beside_what_has_numbers_counts_on_from_the_time() {
        let home = tempfile::tempdir().unwrap();
        let numbers = home.path().join("pillion/numbers");
        let take = |above| counter(&home, "a").take(1, above).unwrap();
        assert_eq!(take(0), 1);
        assert!(!counter(&home, "a").is_among_others());
        fs::remove_dir_all(&numbers).unwrap();
        let before = clock::now_ms();
        let next = take(1);
        assert!(next > before && next < MAX, "{next}");
        assert_eq!(take(1), next + 1);
        fs::write(numbers.join("a"), "").unwrap();
        assert!(take(1) > before);
        fs::create_dir(home.path().join("pillion/turns")).unwrap();
        assert!(counter(&home, "a").is_among_others());
    }

    #[test]
    fn a_file_that_is_damaged_counts_on_from_the_time_also_for_who_comes_later() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("pillion/numbers/a");
        let take = || counter(&home, "a").take(1, 0).unwrap();
        assert_eq!(take(), 1);
        let torn = &format!("{:019}", 1);
        let long = &format!("{:020} and more", 1);
        let highest = &u64::MAX.to_string();
        for damaged in ["x", "1", "-1", "+0000000000000000001", torn, long, highest] {
            let before = clock::now_ms();
            fs::write(&file, damaged).unwrap();
            let next = take();
            assert!(next > before && next < MAX, "{damaged:?}: {next}");
            assert_eq!(take(), next + 1, "{damaged:?}");
        }
        fs::write(&file, "").unwrap();
        assert_eq!(take(), 1, "as a full disk leaves it, before any was given");
    }
}
