//! The turns in the store: of each, a file with what there is to say of all of it, which is replaced, and a log of its changes, to which those
//! that are others by now are added. Only whoever watches the turn writes either.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::time::SystemTime;

use pillion_discovery::private_file::{FileError, is_unfinished};
use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, MAX_WRITING, Store, StoreError, TURNS, damaged, judgements, lines};
use crate::turn::{Change, Turn};

/// The file of a turn in its folder, and the log of its changes.
const TURN: &str = "turn.json";
const CHANGES: &str = "changes.jsonl";

/// The form in which turns are kept. One with another number is not read.
const VERSION: u32 = 3;

/// A turn as it is kept, without its changes.
#[derive(Serialize)]
struct Record<'a> {
    version: u32,
    #[serde(flatten)]
    turn: &'a Turn,
}

/// The form in which a turn is kept.
#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    version: u32,
}

/// The changes of a log, by number. A kill may have left a part of the last line: whoever goes on begins the log anew.
fn of_lines(number: u64, log: &[u8]) -> Result<Vec<Change>, StoreError> {
    let end = log.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let mut changes = BTreeMap::new();
    for line in log[..end].split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            let change: Change = serde_json::from_slice(line).map_err(damaged(number))?;
            changes.insert(change.number, change);
        }
    }
    Ok(changes.into_values().collect())
}

impl Store {
    /// Gives a turn its number, with which it is kept then.
    ///
    /// # Errors
    /// When it cannot be written. Then it has none.
    pub(crate) fn begin(&self, turn: &mut Turn) -> Result<(), StoreError> {
        let turns = self.create(&[TURNS])?;
        let newest = self.numbers()?.last().copied().unwrap_or(0);
        if newest == 0 {
            self.begin_noting_agents()?;
        }
        let number = self.turns.take(1, newest)?;
        let path = turns.path().join(number.to_string());
        let failed = |source| FileError::Io {
            action: "create",
            path: path.clone(),
            source,
        };
        let made = private_folder().create(&path).map_err(failed);
        turn.number = number;
        { made.map_err(StoreError::from) }
            .and_then(|()| self.save(turn))
            .inspect_err(|_| {
                // Without a record it is none.
                let _ = fs::remove_dir(&path);
                turn.number = 0;
                // A full disk would use up one with each try.
                let _ = self.turns.give_back(number, number + 1);
            })
    }

    /// Keeps a turn as it is now, but for its changes.
    ///
    /// # Errors
    /// When it cannot be written. Then it is kept as it was.
    pub fn save(&self, turn: &Turn) -> Result<(), StoreError> {
        let version = VERSION;
        let json = serde_json::to_vec(&Record { version, turn }).map_err(damaged(turn.number))?;
        let folder = self.create(&[TURNS, &turn.number.to_string()])?;
        Ok(folder.write(TURN, &json)?)
    }

    /// Begins the log of a turn's changes anew with these.
    ///
    /// # Errors
    /// When it cannot be written. Then it is as it was.
    pub(crate) fn begin_changes(&self, turn: u64, changes: &[Change]) -> Result<(), StoreError> {
        let folder = self.create(&[TURNS, &turn.to_string()])?;
        Ok(folder.write(CHANGES, &lines(turn, changes)?)?)
    }

    /// Adds changes to it that are new, or others by now.
    ///
    /// # Errors
    /// When it cannot be written. Then a part of them may be there.
    pub(crate) fn add_changes<'a>(
        &self,
        turn: u64,
        changes: impl IntoIterator<Item = &'a Change>,
    ) -> Result<(), StoreError> {
        let folder = self.create(&[TURNS, &turn.to_string()])?;
        Ok(folder.append(CHANGES, &lines(turn, changes)?)?)
    }

    /// The turn of this number.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn turn(&self, number: u64) -> Result<Turn, StoreError> {
        let none = || StoreError::NoTurn(number);
        let folder = self.open(&[TURNS, &number.to_string()])?.ok_or_else(none)?;
        let json = folder.read(TURN, MAX_RECORD)?.ok_or_else(none)?;
        let Version { version } = serde_json::from_slice(&json).map_err(damaged(number))?;
        if version != VERSION {
            return Err(StoreError::OtherVersion(number));
        }
        let turn: Turn = serde_json::from_slice(&json).map_err(damaged(number))?;
        // What is written before that is not older.
        let log = folder.read(CHANGES, MAX_RECORD)?.unwrap_or_default();
        let changes = of_lines(number, &log)?;
        Ok(Turn { changes, ..turn })
    }

    /// The numbers of all turns, ascending.
    pub fn numbers(&self) -> Result<Vec<u64>, StoreError> {
        let names = self.names(&[TURNS])?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The time when a file of a turn was replaced last, and the length of the log of judgements: as long as both are the same,
    /// and not from just now, all of it is the same.
    pub fn written_at(&self, turn: u64) -> Option<(SystemTime, u64)> {
        let path = self.path().join(TURNS).join(turn.to_string());
        let replaced = path.symlink_metadata().and_then(|it| it.modified()).ok()?;
        Some((replaced, self.length_of_judged(turn)))
    }

    /// Returns true if nothing has been written to the folder of this turn for long.
    pub(super) fn is_old(&self, number: u64, now: SystemTime) -> bool {
        let path = self.path().join(TURNS).join(number.to_string());
        let written = path.symlink_metadata().and_then(|it| it.modified());
        let age = written.ok().and_then(|it| now.duration_since(it).ok());
        age.is_some_and(|age| age > MAX_WRITING)
    }

    /// Removes what is kept of a turn, without what was decided in it. Its texts stay.
    pub(crate) fn forget(&self, number: u64) -> Result<(), StoreError> {
        let Some(folder) = self.open(&[TURNS, &number.to_string()])? else {
            return Err(StoreError::NoTurn(number));
        };
        for name in folder.names()? {
            if [TURN, CHANGES].contains(&&*name)
                || judgements::is_judged(&name)
                || is_unfinished(&name)
            {
                folder.remove(&name)?;
            }
        }
        self.forget_shown(number)?;
        self.forget_held(number)?;
        let path = folder.path().to_owned();
        fs::remove_dir(&path).map_err(|source| {
            FileError::Io {
                action: "remove",
                path,
                source,
            }
            .into()
        })
    }
}

/// The way to make a folder: for this user only.
fn private_folder() -> DirBuilder {
    #[allow(unused_mut, reason = "elsewhere it is as its parent")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::recorder::{Call, Recorder};

    fn shell() -> Call {
        Call {
            id: "1".to_owned(),
            tool: "Bash".to_owned(),
            path: None,
            subagent: None,
        }
    }

    fn shown(turn: &Turn) -> Vec<(u64, &Path, Option<u32>)> {
        let changes = turn.changes.iter();
        changes
            .map(|it| (it.number, &*it.path, it.after.mode()))
            .collect()
    }

    /// However many there are, a call waits only for those that it made.
    #[test]
    fn what_a_call_has_changed_is_added_to_what_was_changed_before() {
        let (folder, store) = Store::temporary();
        let root = folder.path().join("w");
        fs::create_dir(&root).unwrap();
        let mut recorder = Recorder::new(store.clone(), std::slice::from_ref(&root), Vec::new());
        recorder.prepare();
        let number = recorder.begin(1, "claude", "").unwrap();
        let log = store.path().join(format!("turns/{number}/{CHANGES}"));
        let mut call = |work: &dyn Fn()| {
            let before = fs::read(&log).unwrap_or_default();
            recorder.before(1, "claude", shell()).unwrap();
            work();
            recorder.after(1, "1", |_| Vec::new()).unwrap();
            let now = fs::read(&log).unwrap();
            let added = now.strip_prefix(&*before);
            added.map(|it| it.iter().filter(|byte| **byte == b'\n').count())
        };
        let write = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        assert_eq!(
            call(&|| ["a", "b", "c"].iter().for_each(|it| write(it, "x"))),
            Some(3)
        );
        assert_eq!(call(&|| {}), Some(0));
        assert_eq!(call(&|| write("b", "longer")), Some(1));
        assert_eq!(call(&|| fs::remove_file(root.join("c")).unwrap()), Some(1));
        let turn = store.turn(number).unwrap();
        let names: Vec<_> = shown(&turn)
            .iter()
            .map(|it| it.1.strip_prefix(&root).unwrap().to_owned())
            .collect();
        assert_eq!(names, ["a", "b", "c"].map(std::path::PathBuf::from));
        assert!(turn.changes[2].after.is_absent() && turn.changes[1].made == 1);
        // A kill leaves a part of a line, and whoever watches next begins the log anew.
        let whole = fs::read(&log).unwrap();
        for cut in 0..whole.len() {
            fs::write(&log, &whole[..cut]).unwrap();
            let known = store.turn(number).unwrap();
            assert!(known.changes.len() <= 3, "{cut}");
        }
        let ended = whole.len() - 1;
        fs::write(&log, [&whole[..ended], b"{\n"].concat()).unwrap();
        assert!(matches!(
            store.turn(number),
            Err(StoreError::Damaged { .. })
        ));
    }
}
