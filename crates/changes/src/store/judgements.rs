//! People's judgements of the changes of a turn, in the store: a log, to which what is decided at once is appended with
//! one write. The last line about a change counts.
//!
//! One process at a time judges the changes of a turn: it holds the turn from before it reads the log until all is written.
//! Whoever reads only reads all of it. A kill may leave a line without its end: nobody reads that, and the next one to
//! write begins a line of its own. A log that has many lines that do not count is replaced by one with those that do.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use std::{process, thread};

use pillion_discovery::private_file::FileError;
use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, Store, StoreError, TURNS};
use crate::turn::Judged;

/// The log in the folder of its turn.
const LOG: &str = "judged.jsonl";

/// The folder with a file for each turn, which whoever judges its changes has locked.
const HELD: &str = "held";

/// The time limit for whoever holds a turn, and the time between two tries.
const HELD_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// A shorter log is not replaced: 64 KiB.
const LEAST: u64 = 64 << 10;

/// A line of the log.
#[derive(Serialize)]
struct Written<'a> {
    change: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a Judged>,
}

#[derive(Deserialize)]
struct ReadLine {
    change: u64,
    #[serde(default)]
    judged: Option<Judged>,
}

/// A turn whose changes nobody else judges, and for which nobody else writes files, until this is dropped.
#[derive(Debug)]
pub struct Held {
    _lock: File,
}

/// People's judgements of the changes of one turn.
#[derive(Debug, Default, Clone)]
pub struct Judgements {
    by_change: BTreeMap<u64, Judged>,
    /// What was undone, with the numbers of the changes, as far as the log has it still.
    undone: Vec<(u64, Judged)>,
}

impl Judgements {
    fn of_log(log: &[u8]) -> Self {
        let mut judged = Self::default();
        // What has no end yet is no line.
        let end = log.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        for line in log[..end].split(|byte| *byte == b'\n') {
            if let Ok(ReadLine { change, judged: it }) = serde_json::from_slice(line) {
                judged.note(change, it);
            }
        }
        judged
    }

    /// This is what a person made of the change of this number, or it is as if they had made nothing of it.
    pub(crate) fn note(&mut self, change: u64, judged: Option<Judged>) {
        let made = judged.clone();
        let last = match judged {
            Some(judged) => self.by_change.insert(change, judged),
            None => self.by_change.remove(&change),
        };
        // One that takes the place of another has that in it.
        let is_undone = |it: &Judged| it.former.as_deref() == made.as_ref();
        let undone = last.filter(is_undone).map(|it| (change, it));
        self.undone.extend(undone);
    }

    /// The judgements that were undone, by the numbers of their changes.
    pub fn undone(&self) -> impl Iterator<Item = (u64, &Judged)> {
        self.undone.iter().map(|(change, judged)| (*change, judged))
    }

    /// The judgement of the change of this number.
    pub fn of(&self, change: u64) -> Option<&Judged> {
        self.by_change.get(&change)
    }

    /// All, by the numbers of the changes.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Judged)> {
        self.by_change
            .iter()
            .map(|(change, judged)| (*change, judged))
    }
}

/// Each of these in a line of its own: of each change, the judgement, or that there is none any more.
fn lines<'a>(
    turn: u64,
    made: impl IntoIterator<Item = (u64, Option<&'a Judged>)>,
) -> Result<Vec<u8>, StoreError> {
    let made = made.into_iter();
    let lines = super::lines(
        turn,
        made.map(|(change, judged)| Written { change, judged }),
    )?;
    Ok(match lines.is_empty() {
        true => lines,
        // A kill may have left a part of one before.
        false => [b"\n", &*lines].concat(),
    })
}

impl Store {
    /// Holds a turn, once nobody else does.
    ///
    /// # Errors
    /// When the store cannot be written, or whoever holds it does not go on.
    pub fn hold(&self, turn: u64) -> Result<Held, StoreError> {
        let mut lock = self.create(&[HELD])?.lock_file(&turn.to_string())?;
        let until = Instant::now() + HELD_WITHIN;
        // Where a file system has no locks, whoever comes is let in.
        while matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            if Instant::now() >= until {
                let mut holder = String::new();
                let _ = lock.read_to_string(&mut holder);
                return Err(StoreError::Held { turn, holder });
            }
            thread::sleep(BETWEEN_TRIES);
        }
        // Whoever waits says so. The lock is what counts.
        let noted = lock.set_len(0);
        let _ = noted.and_then(|()| write!(lock, " by process {}", process::id()));
        Ok(Held { _lock: lock })
    }

    /// As [`hold`](Self::hold); none if somebody else holds it, or if the file system has no locks.
    fn try_hold(&self, turn: u64) -> Result<Option<Held>, StoreError> {
        let folder = self.create(&[HELD])?;
        let lock = folder.lock_file(&turn.to_string())?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Held { _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => {
                let path = folder.path().join(turn.to_string());
                let action = "lock";
                Err(FileError::Io {
                    action,
                    path,
                    source,
                }
                .into())
            }
        }
    }

    /// Keeps what a person made of changes of a turn that is held: of each, or that it is as if they had made nothing of it.
    pub fn judge<'a>(
        &self,
        turn: u64,
        made: impl IntoIterator<Item = (u64, Option<&'a Judged>)>,
    ) -> Result<(), StoreError> {
        let lines = lines(turn, made)?;
        if lines.is_empty() {
            return Ok(());
        }
        let folder = self.create(&[TURNS, &turn.to_string()])?;
        Ok(folder.append(LOG, &lines)?)
    }

    /// Replaces the log of a turn by one that has only the lines that count, if that is much shorter and nobody holds the turn.
    ///
    /// # Errors
    /// When it cannot be read or written. Then it is as it was.
    pub(super) fn shorten_judged(&self, turn: u64) -> Result<(), StoreError> {
        self.shorten_judged_from(turn, LEAST)
    }

    fn shorten_judged_from(&self, turn: u64, least: u64) -> Result<(), StoreError> {
        if self.length_of_judged(turn) < least {
            return Ok(());
        }
        let Some(_held) = self.try_hold(turn)? else {
            return Ok(());
        };
        let Some(folder) = self.open(&[TURNS, &turn.to_string()])? else {
            return Ok(());
        };
        let judged = self.judged(turn)?;
        let all = judged.all().map(|(change, judged)| (change, Some(judged)));
        let counting = lines(turn, all)?;
        if (counting.len() as u64).saturating_mul(2) > self.length_of_judged(turn) {
            return Ok(());
        }
        Ok(folder.write_durably(LOG, &counting)?)
    }

    /// People's judgements of the changes of a turn.
    pub fn judged(&self, turn: u64) -> Result<Judgements, StoreError> {
        let folder = self.open(&[TURNS, &turn.to_string()])?;
        let log = folder.map(|it| it.read(LOG, MAX_RECORD)).transpose()?;
        Ok(Judgements::of_log(&log.flatten().unwrap_or_default()))
    }

    /// The length of a turn's log in bytes: 0 if nothing was made of any of its changes.
    pub(super) fn length_of_judged(&self, turn: u64) -> u64 {
        let path = self.path().join(TURNS).join(turn.to_string()).join(LOG);
        path.symlink_metadata().map_or(0, |it| it.len())
    }

    /// A turn is gone, and nobody needs to hold it any more.
    pub(super) fn forget_held(&self, turn: u64) -> Result<(), StoreError> {
        self.remove_file(&[HELD], &turn.to_string())
    }
}

/// Returns true if a file of this name in the folder of a turn has what people made of it, or had in the first form.
pub(super) fn is_judged(name: &str) -> bool {
    name == LOG || name.ends_with(".judged.json")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::state::FileState;
    use crate::turn::Judgement;

    fn judged(judgement: Judgement, at: u64) -> Judged {
        Judged {
            judgement,
            after: FileState::Absent,
            made: 0,
            at,
            overwritten: None,
            written: None,
            in_editor: None,
            folder_modes: Vec::new(),
            made_way: Vec::new(),
            linked: None,
            notes: Vec::new(),
            former: None,
        }
    }

    fn shown(judged: &Judgements) -> Vec<(u64, u64)> {
        judged.all().map(|(change, it)| (change, it.at)).collect()
    }

    #[test]
    fn the_last_word_about_a_change_counts() {
        let (_folder, store) = Store::temporary();
        assert_eq!(shown(&store.judged(1).unwrap()), []);
        let kept: Vec<_> = (1..=3).map(|at| judged(Judgement::Kept, at)).collect();
        store.judge(1, (1..).zip(kept.iter().map(Some))).unwrap();
        let back = judged(Judgement::TakenBack, 9);
        store.judge(1, [(2, Some(&back)), (3, None)]).unwrap();
        store.judge(1, []).unwrap();
        let known = store.judged(1).unwrap();
        assert_eq!(shown(&known), [(1, 1), (2, 9)]);
        assert_eq!(known.of(2), Some(&back));
        let path = store.path().join("turns/1").join(LOG);
        fs::remove_file(&path).unwrap();
        assert_eq!(shown(&store.judged(1).unwrap()), []);
        assert!(store.judged(2).unwrap().all().next().is_none());
    }

    #[test]
    fn whoever_holds_a_turn_and_does_not_go_on_is_named() {
        let (_folder, store) = Store::temporary();
        let held = store.hold(1).unwrap();
        let own = format!("by process {}", process::id());
        let refused = store.hold(1).unwrap_err();
        assert!(refused.to_string().contains(&own), "{refused}");
        drop(held);
        store.hold(1).unwrap();
    }

    #[test]
    fn a_line_that_a_kill_has_cut_short_hides_no_other() {
        let (_folder, store) = Store::temporary();
        let kept = judged(Judgement::Kept, 5);
        store
            .judge(1, [(1, Some(&kept)), (2, Some(&kept))])
            .unwrap();
        let path = store.path().join("turns/1").join(LOG);
        let whole = fs::read(&path).unwrap();
        let back = judged(Judgement::TakenBack, 7);
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let former: Vec<_> = shown(&store.judged(1).unwrap());
            assert!([&[][..], &[(1, 5)], &[(1, 5), (2, 5)]].contains(&&*former));
            store.judge(1, [(3, Some(&back))]).unwrap();
            assert_eq!(store.judged(1).unwrap().of(3), Some(&back), "{length}");
        }
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"\n[]\n{\"change\":\"x\"}\n\xff\n").unwrap();
        assert_eq!(store.judged(1).unwrap().of(3), Some(&back));
    }

    /// Decides, and shortens the log meanwhile.
    #[derive(Debug, Clone)]
    enum Step {
        /// At once about some changes; none of them if that is undone.
        Judge(Vec<(u64, Option<Judgement>)>),
        /// A kill has left a line without its end.
        Cut,
        Shorten,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let judgement = prop_oneof![
            Just(Judgement::Kept),
            Just(Judgement::TakenBack),
            Just(Judgement::Part)
        ];
        let one = (1..6_u64, proptest::option::of(judgement));
        let step = prop_oneof![
            4 => proptest::collection::vec(one, 0..5).prop_map(Step::Judge),
            1 => Just(Step::Cut),
            2 => Just(Step::Shorten),
        ];
        proptest::collection::vec(step, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn a_log_that_is_shortened_says_the_same(steps in steps()) {
            let (_folder, store) = Store::temporary();
            let path = store.path().join("turns/1").join(LOG);
            let mut expected = BTreeMap::new();
            for (at, step) in (1..).zip(steps) {
                match step {
                    Step::Judge(made) => {
                        let made = made.into_iter();
                        let made: Vec<_> = made.map(|(it, made)| (it, made.map(|it| judged(it, at)))).collect();
                        store.judge(1, made.iter().map(|(it, made)| (*it, made.as_ref()))).unwrap();
                        for (change, made) in made {
                            expected.remove(&change);
                            expected.extend(made.map(|it| (change, it)));
                        }
                    }
                    Step::Cut => {
                        let file = File::options().append(true).open(&path);
                        if let Ok(mut file) = file {
                            file.write_all(b"\n{\"change\":1,\"judged\":{\"at\"").unwrap();
                        }
                    }
                    Step::Shorten => {
                        let before = store.length_of_judged(1);
                        store.shorten_judged_from(1, 0).unwrap();
                        let after = store.length_of_judged(1);
                        let counting = expected.iter().map(|(it, judged)| (*it, Some(judged)));
                        let counting = lines(1, counting).unwrap().len() as u64;
                        prop_assert!(after <= before.min(2 * counting));
                    }
                }
                prop_assert_eq!(&store.judged(1).unwrap().by_change, &expected);
            }
        }
    }

    #[test]
    fn one_at_a_time_judges_a_turn_and_nothing_is_lost_that_is_decided_while_a_log_is_shortened() {
        const WRITERS: u64 = 4;
        const EACH: u64 = 100;
        let (_folder, store) = Store::temporary();
        let (is_held, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let shortening = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    store.shorten_judged_from(1, 0).unwrap();
                    // Whoever waits tries now and then.
                    thread::sleep(BETWEEN_TRIES);
                }
            });
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let (store, is_held) = (&store, &is_held);
                    scope.spawn(move || {
                        for at in 1..=EACH {
                            let held = store.hold(1).unwrap();
                            assert!(!is_held.swap(true, Ordering::SeqCst));
                            // One change is judged again and again, the other ones once.
                            let made = judged(Judgement::Kept, at);
                            let once = WRITERS + writer * EACH + at;
                            let made = [writer, writer, writer, once].map(|it| (it, Some(&made)));
                            store.judge(1, made).unwrap();
                            assert_eq!(store.judged(1).unwrap().of(writer).unwrap().at, at);
                            is_held.store(false, Ordering::SeqCst);
                            drop(held);
                        }
                    })
                })
                .collect();
            let ended: Vec<_> = writers.into_iter().map(|it| it.join()).collect();
            // Also if one has failed: the other thread goes on until then.
            is_over.store(true, Ordering::Relaxed);
            shortening.join().unwrap();
            assert!(ended.iter().all(Result::is_ok));
        });
        let known = store.judged(1).unwrap();
        assert_eq!(known.all().count() as u64, WRITERS * (EACH + 1));
        for writer in 0..WRITERS {
            assert_eq!(known.of(writer).unwrap().at, EACH);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_held_is_not_shortened_and_no_link_is_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let (_folder, store) = Store::temporary();
        let kept = judged(Judgement::Kept, 1);
        for _ in 0..9 {
            store.judge(1, [(1, Some(&kept))]).unwrap();
        }
        let log = store.path().join("turns/1").join(LOG);
        let lock = store.path().join(HELD).join("1");
        let text = fs::read(&log).unwrap();
        let held = store.hold(1).unwrap();
        store.shorten_judged_from(1, 0).unwrap();
        assert_eq!(fs::read(&log).unwrap(), text);
        // Another turn is another matter.
        store.hold(2).unwrap();
        drop(held);
        store.shorten_judged_from(1, text.len() as u64 + 1).unwrap();
        assert_eq!(fs::read(&log).unwrap(), text);
        store.shorten_judged_from(1, 0).unwrap();
        assert!(fs::read(&log).unwrap().len() < text.len());
        for path in [&log, &lock] {
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600, "{}", path.display());
        }
        for path in [log, lock] {
            let elsewhere = path.with_extension("elsewhere");
            fs::rename(&path, &elsewhere).unwrap();
            let text = fs::read(&elsewhere).unwrap();
            symlink(&elsewhere, &path).unwrap();
            store.shorten_judged_from(1, 0).unwrap_err();
            let judged = store
                .hold(1)
                .and_then(|_held| store.judge(1, [(1, Some(&kept))]));
            judged.unwrap_err();
            assert!(path.is_symlink());
            assert_eq!(fs::read(&elsewhere).unwrap(), text);
            fs::remove_file(&path).unwrap();
            fs::rename(&elsewhere, &path).unwrap();
        }
    }
}
