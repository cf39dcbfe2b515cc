//! People's judgements of the changes of a turn, in the store: a log, to which what is decided at once is appended with
//! one write. The last line about a change counts.
//!
//! A kill may leave a line without its end. Nobody reads it, and the next one to write begins a line of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, Store, StoreError, TURNS};
use crate::turn::Judged;

/// The log in the folder of its turn.
const LOG: &str = "judged.jsonl";

/// So much of the log is read at a time: 16 MiB. A longer line is not read.
const PIECE: u64 = 16 << 20;

/// Formerly, each change had a file of its own, whose name ended so.
const FORMER: &str = ".judged.json";

/// A line of the log.
#[derive(Serialize)]
struct Written<'a> {
    change: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a Judged>,
}

#[derive(Deserialize)]
struct Read {
    change: u64,
    #[serde(default)]
    judged: Option<Judged>,
}

/// People's judgements of the changes of one turn, as far as they were read.
#[derive(Debug, Clone)]
pub struct Judgements {
    turn: u64,
    by_change: BTreeMap<u64, Judged>,
    /// Up to this byte, the log was read; none if nothing was.
    read: Option<u64>,
}

impl Judgements {
    /// Of this turn; nothing is read yet.
    pub fn new(turn: u64) -> Self {
        Self {
            turn,
            by_change: BTreeMap::new(),
            read: None,
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
        let Some(folder) = store.open(&[TURNS, &self.turn.to_string()])? else {
            *self = Self::new(self.turn);
            return Ok(());
        };
        if self.read.is_none() {
            for name in folder.names()? {
                let number = name.strip_suffix(FORMER).and_then(|it| it.parse().ok());
                if let Some(number) = number
                    && let Some(json) = folder.read(&name, MAX_RECORD)?
                    && let Ok(judged) = serde_json::from_slice(&json)
                {
                    self.by_change.insert(number, judged);
                }
            }
        }
        let mut read = self.read.unwrap_or_default();
        loop {
            let new = folder.read_from(LOG, read, piece)?.unwrap_or_default();
            let is_all = (new.len() as u64) < piece;
            // What has no end yet is read when it has one; no line is as long as a piece.
            let end = new.iter().rposition(|byte| *byte == b'\n');
            let end = end.map_or(if is_all { 0 } else { new.len() }, |at| at + 1);
            for line in new[..end].split(|byte| *byte == b'\n') {
                match serde_json::from_slice(line) {
                    Ok(Read {
                        change,
                        judged: Some(judged),
                    }) => drop(self.by_change.insert(change, judged)),
                    Ok(Read { change, .. }) => drop(self.by_change.remove(&change)),
                    Err(_) => {}
                }
            }
            read += end as u64;
            self.read = Some(read);
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
        if lines.is_empty() {
            return Ok(());
        }
        lines.push(b'\n');
        let folder = self.create(&[TURNS, &turn.to_string()])?;
        Ok(folder.append(LOG, &lines)?)
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

    /// The length of a turn's log in bytes: it only grows.
    pub(super) fn length_of_judged(&self, turn: u64) -> u64 {
        let path = self.path().join(TURNS).join(turn.to_string()).join(LOG);
        path.symlink_metadata().map_or(0, |it| it.len())
    }
}

/// Returns true if a file of this name in the folder of a turn has what people made of it.
pub(super) fn is_judged(name: &str) -> bool {
    name == LOG || name.ends_with(FORMER)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use pillion_discovery::Environment;

    use super::*;
    use crate::state::FileState;
    use crate::turn::Judgement;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let environment = Environment::from_pairs([("XDG_STATE_HOME", state)]);
        (folder, Store::of(&environment).unwrap())
    }

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
        let (_folder, store) = store();
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
        assert_eq!(known.read, Some(store.length_of_judged(1)));
        let path = store.path().join("turns/1").join(LOG);
        fs::remove_file(&path).unwrap();
        assert_eq!(shown(&store.judged(1).unwrap()), []);
        assert!(store.judged(2).unwrap().all().next().is_none());
    }

    #[test]
    fn a_line_that_a_kill_has_cut_short_hides_no_other() {
        let (_folder, store) = store();
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
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"\n[]\n{\"change\":\"x\"}\n\xff\n").unwrap();
        assert_eq!(store.judged(1).unwrap().of(3), Some(&back));
    }

    #[test]
    fn a_log_is_read_in_pieces_of_any_length() {
        let (_folder, store) = store();
        let kept: Vec<_> = (1..=9).map(|at| judged(Judgement::Kept, at)).collect();
        for judged in &kept {
            let made = (1..=judged.at).map(|change| (change, Some(judged)));
            store.judge(1, made).unwrap();
        }
        let path = store.path().join("turns/1").join(LOG);
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"change\":1,").unwrap();
        let expected: Vec<_> = (1..=9).map(|change| (change, 9)).collect();
        let length = store.length_of_judged(1);
        let longest = serde_json::to_vec(&kept[0]).unwrap().len() as u64 + 40;
        for piece in [longest, longest + 1, 1000, length - 1, length, length + 1] {
            let mut known = Judgements::new(1);
            known.refresh_by(&store, piece).unwrap();
            assert_eq!(shown(&known), expected, "{piece}");
            assert_eq!(known.read, Some(length - 12));
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

    #[test]
    fn what_had_a_file_for_each_change_is_read_and_can_be_undone() {
        let (_folder, store) = store();
        let folder = store.create(&[TURNS, "1"]).unwrap();
        for change in 1..=2 {
            let json = serde_json::to_vec(&judged(Judgement::Kept, change)).unwrap();
            folder.write(&format!("{change}{FORMER}"), &json).unwrap();
        }
        assert_eq!(shown(&store.judged(1).unwrap()), [(1, 1), (2, 2)]);
        let back = judged(Judgement::TakenBack, 9);
        store.judge(1, [(1, None), (2, Some(&back))]).unwrap();
        assert_eq!(shown(&store.judged(1).unwrap()), [(2, 9)]);
        store.forget(1).unwrap();
        assert!(!folder.path().exists());
    }
}
