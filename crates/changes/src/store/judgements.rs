//! People's judgements of the changes of a turn, in the store: a log, to which what is decided at once is appended with
//! one write. The last line about a change counts.
//!
//! A kill may leave a line without its end. Nobody reads it, and the next one to write begins a line of its own.
//!
//! A log that has many lines that do not count is replaced by one with those that do. Its first line says how often that was
//! done, so that whoever has read a part of the former one begins again.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};

use pillion_discovery::private_file::FileError;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError, TURNS};
use crate::turn::Judged;

/// The log in the folder of its turn.
const LOG: &str = "judged.jsonl";

/// Those who append to a log hold this together, and who replaces one holds it alone.
const LOCK: &str = "judged.lock";

/// So much of the log is read at a time: 16 MiB. A longer line is not read.
const PIECE: u64 = 16 << 20;

/// A shorter log is not replaced: 64 KiB.
const LEAST: u64 = 64 << 10;

/// The first line of a log that has replaced another one is no longer.
const MAX_FIRST: u64 = 64;

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

/// The first line of a log that has replaced another one.
#[derive(Default, Serialize, Deserialize)]
struct First {
    /// How often the log was replaced.
    replaced: u64,
}

/// People's judgements of the changes of one turn, as far as they were read.
#[derive(Debug, Clone)]
pub struct Judgements {
    turn: u64,
    by_change: BTreeMap<u64, Judged>,
    /// How often the log that was read had been replaced.
    replaced: u64,
    /// Up to this byte, it was read.
    read: u64,
}

impl Judgements {
    /// Of this turn; nothing is read yet.
    pub fn new(turn: u64) -> Self {
        Self {
            turn,
            by_change: BTreeMap::new(),
            replaced: 0,
            read: 0,
        }
    }

    /// Reads what was written since this was done last.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn refresh(&mut self, store: &Store) -> Result<(), StoreError> {
        self.refresh_by(store, PIECE)
    }

    /// Reads no more than this at a time.
    fn refresh_by(&mut self, store: &Store, piece: u64) -> Result<(), StoreError> {
        let folder = store.open(&[TURNS, &self.turn.to_string()])?;
        let log = folder.as_ref().map(|it| it.open_file(LOG)).transpose()?;
        let (Some(folder), Some(Some(log))) = (&folder, log) else {
            *self = Self::new(self.turn);
            return Ok(());
        };
        self.read_log(log, piece).map_err(|source| {
            let action = "read";
            let path = folder.path().join(LOG);
            FileError::Io {
                action,
                path,
                source,
            }
            .into()
        })
    }

    fn read_log(&mut self, mut log: File, piece: u64) -> io::Result<()> {
        let mut first = Vec::new();
        log.by_ref().take(MAX_FIRST).read_to_end(&mut first)?;
        let first = first.split(|byte| *byte == b'\n').next();
        let First { replaced } = first
            .and_then(|it| serde_json::from_slice(it).ok())
            .unwrap_or_default();
        if self.replaced != replaced {
            *self = Self {
                replaced,
                ..Self::new(self.turn)
            };
        }
        loop {
            log.seek(SeekFrom::Start(self.read))?;
            let mut new = Vec::new();
            log.by_ref().take(piece).read_to_end(&mut new)?;
            let is_all = (new.len() as u64) < piece;
            // What has no end yet is read when it has one; no line is as long as a piece.
            let end = new.iter().rposition(|byte| *byte == b'\n');
            let end = end.map_or(if is_all { 0 } else { new.len() }, |at| at + 1);
            for line in new[..end].split(|byte| *byte == b'\n') {
                match serde_json::from_slice(line) {
                    Ok(ReadLine {
                        change,
                        judged: Some(judged),
                    }) => drop(self.by_change.insert(change, judged)),
                    Ok(ReadLine { change, .. }) => drop(self.by_change.remove(&change)),
                    Err(_) => {}
                }
            }
            self.read += end as u64;
            if is_all {
                return Ok(());
            }
        }
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
    let mut lines = Vec::new();
    for (change, judged) in made {
        lines.push(b'\n');
        serde_json::to_writer(&mut lines, &Written { change, judged }).map_err(|error| {
            StoreError::Damaged {
                number: turn,
                reason: error.to_string(),
            }
        })?;
    }
    if !lines.is_empty() {
        lines.push(b'\n');
    }
    Ok(lines)
}

impl Store {
    /// Keeps what a person made of changes of a turn: of each, or that it is as if they had made nothing of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn judge<'a>(
        &self,
        turn: u64,
        made: impl IntoIterator<Item = (u64, Option<&'a Judged>)>,
    ) -> Result<(), StoreError> {
        let lines = lines(turn, made)?;
        if lines.is_empty() {
            return Ok(());
        }
        let lock = self.create(&[])?.lock_file(LOCK)?;
        // Where a file system has no locks, no log is replaced.
        while lock
            .lock_shared()
            .is_err_and(|it| it.kind() == io::ErrorKind::Interrupted)
        {}
        let folder = self.create(&[TURNS, &turn.to_string()])?;
        Ok(folder.append(LOG, &lines)?)
    }

    /// Replaces the log of a turn by one that has only the lines that count, if that is much shorter and nobody appends to a
    /// log at this moment. Whoever wants to, waits.
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
        let base = self.create(&[])?;
        let lock = base.lock_file(LOCK)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(source)) => {
                let action = "lock";
                let path = base.path().join(LOCK);
                return Err(FileError::Io {
                    action,
                    path,
                    source,
                }
                .into());
            }
        }
        let Some(folder) = self.open(&[TURNS, &turn.to_string()])? else {
            return Ok(());
        };
        let judged = self.judged(turn)?;
        let all = judged.all().map(|(change, judged)| (change, Some(judged)));
        let counting = lines(turn, all)?;
        if (counting.len() as u64).saturating_mul(2) > self.length_of_judged(turn) {
            return Ok(());
        }
        let first = First {
            replaced: judged.replaced + 1,
        };
        let mut log = serde_json::to_vec(&first).unwrap_or_default();
        log.extend(counting);
        Ok(folder.write_durably(LOG, &log)?)
    }

    /// People's judgements of the changes of a turn.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn judged(&self, turn: u64) -> Result<Judgements, StoreError> {
        let mut judged = Judgements::new(turn);
        judged.refresh(self)?;
        Ok(judged)
    }

    /// The length of a turn's log in bytes: 0 if nothing was made of any of its changes.
    pub(super) fn length_of_judged(&self, turn: u64) -> u64 {
        let path = self.path().join(TURNS).join(turn.to_string()).join(LOG);
        path.symlink_metadata().map_or(0, |it| it.len())
    }
}

/// Returns true if a file of this name in the folder of a turn has what people made of it, or had in the first form.
pub(super) fn is_judged(name: &str) -> bool {
    name == LOG || name.ends_with(".judged.json")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use proptest::prelude::*;

    use super::*;
    use crate::state::FileState;
    use crate::turn::Judgement;

    fn judged(judgement: Judgement, at: u64) -> Judged {
        Judged {
            judgement,
            after: FileState::Absent,
            at,
            overwritten: None,
            written: None,
            notes: Vec::new(),
            former: None,
        }
    }

    fn shown(judged: &Judgements) -> Vec<(u64, u64)> {
        judged.all().map(|(change, it)| (change, it.at)).collect()
    }

    #[test]
    fn the_last_word_about_a_change_counts_and_is_read_once() {
        let (_folder, store) = Store::temporary();
        let mut known = store.judged(1).unwrap();
        assert_eq!(shown(&known), []);
        let kept: Vec<_> = (1..=3).map(|at| judged(Judgement::Kept, at)).collect();
        store.judge(1, (1..).zip(kept.iter().map(Some))).unwrap();
        let back = judged(Judgement::TakenBack, 9);
        store.judge(1, [(2, Some(&back)), (3, None)]).unwrap();
        store.judge(1, []).unwrap();
        for _ in 0..2 {
            known.refresh(&store).unwrap();
            assert_eq!(shown(&known), [(1, 1), (2, 9)]);
        }
        assert_eq!(known.of(2), Some(&back));
        assert_eq!(known.read, store.length_of_judged(1));
        let path = store.path().join("turns/1").join(LOG);
        fs::remove_file(&path).unwrap();
        assert_eq!(shown(&store.judged(1).unwrap()), []);
        assert!(store.judged(2).unwrap().all().next().is_none());
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
            let mut known = store.judged(1).unwrap();
            let former: Vec<_> = shown(&known);
            assert!([&[][..], &[(1, 5)], &[(1, 5), (2, 5)]].contains(&&*former));
            store.judge(1, [(3, Some(&back))]).unwrap();
            known.refresh(&store).unwrap();
            assert_eq!(shown(&known), shown(&store.judged(1).unwrap()), "{length}");
            assert_eq!(known.of(3), Some(&back), "{length}");
        }
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"\n[]\n{\"change\":\"x\"}\n\xff\n").unwrap();
        assert_eq!(store.judged(1).unwrap().of(3), Some(&back));
    }

    #[test]
    fn a_log_is_read_in_pieces_of_any_length() {
        let (_folder, store) = Store::temporary();
        let kept: Vec<_> = (1..=9).map(|at| judged(Judgement::Kept, at)).collect();
        for judged in &kept {
            let made = (1..=judged.at).map(|change| (change, Some(judged)));
            store.judge(1, made).unwrap();
        }
        let path = store.path().join("turns/1").join(LOG);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"change\":1,").unwrap();
        let expected: Vec<_> = (1..=9).map(|change| (change, 9)).collect();
        let length = store.length_of_judged(1);
        let longest = serde_json::to_vec(&kept[0]).unwrap().len() as u64 + 40;
        for piece in [longest, longest + 1, 1000, length - 1, length, length + 1] {
            let mut known = Judgements::new(1);
            known.refresh_by(&store, piece).unwrap();
            assert_eq!(shown(&known), expected, "{piece}");
            assert_eq!(known.read, length - 12);
        }
        // Of a line that is longer than a piece, the next lines are read nevertheless.
        file.write_all(&[b' '; 5000]).unwrap();
        store.judge(1, [(2, None)]).unwrap();
        for piece in [longest, 1000, 4999] {
            let mut known = Judgements::new(1);
            known.refresh_by(&store, piece).unwrap();
            assert_eq!(known.of(2), None);
            assert_eq!(shown(&known).len(), 8);
        }
    }

    /// Decides, and reads or shortens the log meanwhile.
    #[derive(Debug, Clone)]
    enum Step {
        /// At once about some changes; none of them if that is undone.
        Judge(Vec<(u64, Option<Judgement>)>),
        /// One of the readers reads on, so many bytes at a time.
        Read(usize, u64),
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
            4 => (0..3_usize, 200..2000_u64).prop_map(|(reader, piece)| Step::Read(reader, piece)),
            1 => Just(Step::Cut),
            2 => Just(Step::Shorten),
        ];
        proptest::collection::vec(step, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn a_log_that_is_shortened_says_the_same_to_everybody(steps in steps()) {
            let (_folder, store) = Store::temporary();
            let path = store.path().join("turns/1").join(LOG);
            let mut readers = [(); 3].map(|()| Judgements::new(1));
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
                    Step::Read(reader, piece) => {
                        readers[reader].refresh_by(&store, piece).unwrap();
                        prop_assert_eq!(&readers[reader].by_change, &expected);
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
                        // What is left is little more than what counts.
                        prop_assert!(after <= before + MAX_FIRST);
                        prop_assert!(after <= (2 * counting).max(counting + MAX_FIRST));
                        prop_assert_eq!(store.shorten_judged(1).is_ok(), true);
                    }
                }
            }
            for reader in &mut readers {
                reader.refresh(&store).unwrap();
                prop_assert_eq!(&reader.by_change, &expected);
            }
        }
    }

    #[test]
    fn nothing_is_lost_that_is_decided_while_a_log_is_shortened() {
        const WRITERS: u64 = 4;
        const EACH: u64 = 300;
        let (_folder, store) = Store::temporary();
        let is_over = AtomicBool::new(false);
        let shortened = thread::scope(|scope| {
            let shortening = scope.spawn(|| {
                let mut known = Judgements::new(1);
                while !is_over.load(Ordering::Relaxed) {
                    store.shorten_judged_from(1, 0).unwrap();
                    known.refresh(&store).unwrap();
                }
                known.replaced
            });
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let store = &store;
                    scope.spawn(move || {
                        let mut known = Judgements::new(1);
                        for at in 1..=EACH {
                            // One change is judged again and again, the other ones once.
                            let made = judged(Judgement::Kept, at);
                            let once = WRITERS + writer * EACH + at;
                            let made = [writer, writer, writer, once].map(|it| (it, Some(&made)));
                            store.judge(1, made).unwrap();
                            known.refresh(store).unwrap();
                            assert_eq!(known.of(writer).unwrap().at, at);
                        }
                    })
                })
                .collect();
            for writer in writers {
                writer.join().unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
            shortening.join().unwrap()
        });
        assert!(shortened > 1, "it was shortened {shortened} times");
        let known = store.judged(1).unwrap();
        assert_eq!(known.all().count() as u64, WRITERS * (EACH + 1));
        for writer in 0..WRITERS {
            assert_eq!(known.of(writer).unwrap().at, EACH);
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_waits_for_long_and_no_link_is_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let (_folder, store) = Store::temporary();
        let kept = judged(Judgement::Kept, 1);
        for _ in 0..9 {
            store.judge(1, [(1, Some(&kept))]).unwrap();
        }
        let (log, lock) = (
            store.path().join("turns/1").join(LOG),
            store.path().join(LOCK),
        );
        let text = fs::read(&log).unwrap();
        // Somebody is appending.
        let other = File::open(&lock).unwrap();
        other.lock_shared().unwrap();
        store.shorten_judged_from(1, 0).unwrap();
        assert_eq!(fs::read(&log).unwrap(), text);
        drop(other);
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
            store.judge(1, [(1, Some(&kept))]).unwrap_err();
            assert!(path.is_symlink());
            assert_eq!(fs::read(&elsewhere).unwrap(), text);
            fs::remove_file(&path).unwrap();
            fs::rename(&elsewhere, &path).unwrap();
        }
    }
}
