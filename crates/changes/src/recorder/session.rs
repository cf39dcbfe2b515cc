//! An agent's session while it lasts: its turn with the changes in it, and the calls that run.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use pillion_system::process;

use crate::line_log::LineLog;
use crate::remark::Remark;
use crate::store::{Store, StoreError};
use crate::table::Difference;
use crate::turn::{Author, Change, Running, Turn};

/// More changes of one turn are not kept.
pub(super) const MAX_CHANGES: usize = 50_000;

/// A call that is about to run.
#[derive(Debug, Clone)]
pub struct Call {
    /// The agent's name for it.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The one file that it is to change; none if it may change any.
    pub path: Option<PathBuf>,
    /// The subagent that makes it: it may work on when the turn has ended.
    pub subagent: Option<String>,
}

impl Call {
    pub(super) fn running(&self) -> Running {
        Running {
            tool: self.tool.clone(),
            path: self.path.clone(),
        }
    }
}

/// The facts about an agent without hooks.
#[derive(Debug)]
pub(super) struct Attended {
    /// Its short name.
    pub(super) agent: String,
    /// The files with changes that were put down since the last glance.
    pub(super) fresh: Vec<PathBuf>,
    /// Its turns so far.
    pub(super) turns: Vec<u64>,
    /// The number of turns of which it has told the beginning.
    pub(super) begun: usize,
}

/// A call that could start programs. Its times are in the unit of those at which processes start.
#[derive(Debug)]
pub(super) struct Shell {
    /// The agent's name for the call.
    id: String,
    pub(super) began: u64,
    /// None as long as nobody has told.
    ended: Option<u64>,
}

impl Shell {
    pub(super) fn new(id: &str, began: Instant) -> Self {
        Self {
            id: id.to_owned(),
            began: process::time_of(began),
            ended: None,
        }
    }

    pub(super) fn ran_at(&self, time: u64) -> bool {
        self.began <= time && self.ended.is_none_or(|it| time <= it)
    }
}

/// An agent's session, while it lasts.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) turn: Option<Turn>,
    /// The facts about an agent that runs no hooks of ours; none about one that does.
    pub(super) attended: Option<Attended>,
    /// True if the agent has ended it, and a subagent's call still runs.
    pub(super) is_ending: bool,
    /// True if the turn has ended and has left something running.
    pub(super) is_left_behind: bool,
    /// True if the agent has gone.
    pub(super) is_gone: bool,
    /// The agent's process, if that is known.
    pub(super) process: Option<u32>,
    /// The calls of the turn that could start programs, in the order in which they began.
    pub(super) shells: Vec<Shell>,
    /// The places of changes that are others than the store has them.
    pub(super) log: LineLog<usize>,
    /// The place in the turn of each file's change.
    pub(super) places: HashMap<PathBuf, usize>,
    /// Changes for which the turn has no room at present.
    pub(super) beyond: HashMap<PathBuf, Difference>,
    /// The folders that the turn has made.
    pub(super) new_folders: HashSet<PathBuf>,
    /// The calls that run.
    pub(super) calls: Vec<Call>,
    /// The count when anything was heard of it last: of two that may have changed a file, it is the later one's.
    pub(super) heard: u64,
    /// True if a person decided about a proposal in the turn.
    pub(super) has_decisions: bool,
}

impl Session {
    /// A call has run.
    pub(super) fn shell_ends(&mut self, id: &str, at: Instant) {
        let mut running = self.shells.iter_mut();
        if let Some(shell) = running.find(|it| it.id == id && it.ended.is_none()) {
            shell.ended = Some(process::time_of(at));
        }
    }

    /// A turn that goes on.
    pub(super) fn of(turn: Turn, heard: u64) -> Self {
        let changes = turn.changes.iter().map(|it| it.path.clone());
        Self {
            places: changes.enumerate().map(|(at, path)| (path, at)).collect(),
            new_folders: turn.new_folders.iter().cloned().collect(),
            turn: Some(turn),
            heard,
            ..Self::default()
        }
    }

    /// Has its turn say what was not watched and what runs, and have all changes for which there is room.
    pub(super) fn sums_up(&mut self, uncovered: &[String]) {
        self.make_room();
        let Some(turn) = &mut self.turn else {
            return;
        };
        turn.uncovered = uncovered.to_owned();
        if !self.beyond.is_empty() {
            let uncovered = format!("changes beyond the limit of {MAX_CHANGES} files");
            turn.uncovered.push(uncovered);
        }
        turn.running = self.calls.iter().map(Call::running).collect();
    }

    /// The number of its turn, once it has one.
    pub(super) fn number(&self) -> Option<u64> {
        let number = self.turn.as_ref().map(|it| it.number);
        number.filter(|it| *it != 0)
    }

    /// Returns true if there is anything to keep of its turn.
    pub(super) fn has_something(&self) -> bool {
        let is_something = |it: &Turn| !it.remarks.is_empty() || it.real_changes().next().is_some();
        self.has_decisions || self.turn.as_ref().is_some_and(is_something)
    }

    /// Writes what is new of its turn.
    ///
    /// # Errors
    /// When the store cannot be written. Then it is tried again the next time.
    pub(super) fn write(&mut self, store: &Store) -> Result<(), StoreError> {
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        if turn.number == 0 {
            store.begin(turn)?;
            if let Some(attended) = &mut self.attended {
                attended.turns.push(turn.number);
            }
        }
        let (number, changes) = (turn.number, &turn.changes);
        self.log.write(changes.len(), |news| match news {
            Some(news) => store.add_changes(number, news.iter().filter_map(|it| changes.get(*it))),
            None => store.begin_changes(number, changes),
        })?;
        // Whoever reads it has the changes that it knows of.
        store.save(turn)
    }

    /// Takes its turn, which has ended, with how far it is written. One that is attended goes on without.
    pub(super) fn take_ended(&mut self) -> Self {
        self.places.clear();
        self.beyond.clear();
        self.new_folders.clear();
        Self {
            turn: self.turn.take(),
            log: std::mem::take(&mut self.log),
            has_decisions: std::mem::take(&mut self.has_decisions),
            ..Self::default()
        }
    }

    /// Puts down the changes for which there was no room, in the place of those of which nothing is left.
    pub(super) fn make_room(&mut self) {
        let Some(turn) = self.turn.as_mut().filter(|_| !self.beyond.is_empty()) else {
            return;
        };
        turn.changes.retain(|it| !it.is_undone());
        self.log.begins_anew();
        let paths = turn.changes.iter().map(|it| it.path.clone());
        self.places = paths.enumerate().map(|(at, path)| (path, at)).collect();
        for (_, found) in std::mem::take(&mut self.beyond) {
            self.note(found, Author::Unclear, None);
        }
    }

    /// There is this to say of its turn.
    pub(super) fn remark(&mut self, new: &Remark) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        let former = turn.remarks.iter().position(|it| it.is_of_same(new));
        let former = former.map(|at| turn.remarks.remove(at));
        let mut new = former.map_or_else(|| new.clone(), |it| new.clone().since(&it));
        if let Remark::Folder { path, before, .. } = &mut new
            && let Some(mode) = mode_before(&turn.changes, path)
        {
            *before = mode;
        }
        if !new.is_undone() {
            turn.remarks.push(new);
        }
    }

    /// The change of this file in the turn so far.
    pub(super) fn change(&mut self, path: &Path) -> Option<&mut Change> {
        let place = *self.places.get(path)?;
        self.log.learns(place);
        self.turn.as_mut()?.changes.get_mut(place)
    }

    /// Puts down what was found.
    pub(super) fn note(&mut self, mut found: Difference, by: Author, moved_from: Option<PathBuf>) {
        if let Some(attended) = &mut self.attended {
            attended.fresh.push(found.path.clone());
        }
        for folder in std::mem::take(&mut found.new_folders) {
            if let Some(turn) = &mut self.turn
                && self.new_folders.insert(folder.clone())
            {
                turn.new_folders.push(folder);
            }
        }
        if self.places.contains_key(&found.path) {
            if let Some(change) = self.change(&found.path) {
                if change.is_by_head && !change.is_lost && !found.is_by_head {
                    // The agent's change begins with what git wrote, and git has what was there before.
                    change.before = found.before.clone();
                }
                change.after = found.after;
                change.is_by_head = found.is_by_head;
                change.is_lost |= found.is_lost;
                change.shared = change.shared.filter(|it| found.shared == Some(*it));
                change.folders_become(found.folder_modes);
                change.made += 1;
                change.by.joins(by);
            }
            return;
        }
        let Some(turn) = &mut self.turn else {
            return;
        };
        let around = found.path.ancestors().skip(1);
        for (folder, mode) in around.zip(&mut found.folder_modes) {
            // A call before may have changed what goes in this one.
            let was = turn.remarks.iter().find_map(|it| it.modes_of(folder));
            mode.before = was
                .filter(|(_, after)| *after == mode.before)
                .map_or(mode.before, |it| it.0);
        }
        if turn.changes.len() >= MAX_CHANGES {
            let after = found.after.clone();
            let known = self.beyond.entry(found.path.clone());
            known.and_modify(|it| it.after = after).or_insert(found);
            return;
        }
        let number = turn.changes.last().map_or(1, |it| it.number + 1);
        self.log.learns(turn.changes.len());
        self.places.insert(found.path.clone(), turn.changes.len());
        turn.changes.push(Change {
            number,
            path: found.path,
            before: found.before,
            after: found.after,
            made: 0,
            by,
            moved_from,
            accepted: None,
            decided: None,
            is_mixed: false,
            shared: found.shared,
            is_by_head: found.is_by_head,
            is_lost: found.is_lost,
            folder_modes: found.folder_modes,
        });
    }
}

/// The permissions that this folder had when another one took its place, or none did.
fn mode_before(changes: &[Change], folder: &Path) -> Option<u32> {
    changes.iter().find_map(|change| {
        let around = change.path.ancestors().skip(1);
        let mut modes = around.zip(&change.folder_modes);
        modes.find_map(|(path, mode)| (path == folder).then_some(mode.before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::Recorder;
    use crate::state::{FileState, Hash};

    fn found(path: &Path, before: FileState, after: FileState) -> Difference {
        Difference::new(path.to_owned(), before, after)
    }

    /// As when a folder with many files is moved and comes back.
    #[test]
    fn what_a_full_turn_has_no_room_for_is_put_down_once_it_has_some() {
        let (_folder, store) = Store::temporary();
        let mut recorder = Recorder::new(store, &[], Vec::new());
        recorder.begin(1, "claude", "").unwrap();
        let text = |text: &str| FileState::Link {
            text: Some(Hash::of(text.as_bytes())),
        };
        let session = recorder.sessions.get_mut(&1).unwrap();
        let note = |session: &mut Session, found| session.note(found, Author::Unclear, None);
        let moved: Vec<_> = (0..MAX_CHANGES)
            .map(|it| PathBuf::from(it.to_string()))
            .collect();
        for path in &moved {
            note(session, found(path, text("a"), FileState::Absent));
        }
        let path = Path::new("evil");
        note(session, found(path, text("a"), text("b")));
        note(session, found(path, text("b"), text("c")));
        session.make_room();
        assert!(session.change(path).is_none() && !session.beyond.is_empty());
        for path in &moved[1..] {
            note(session, found(path, FileState::Absent, text("a")));
        }
        session.make_room();
        let change = session.change(path).unwrap().clone();
        assert_eq!((change.before, change.after), (text("a"), text("c")));
        assert!(session.beyond.is_empty());
        let turn = session.turn.as_ref().unwrap();
        let numbers: Vec<_> = turn.real_changes().map(|it| it.number).collect();
        assert_eq!(numbers.len(), 2, "{numbers:?}");
        assert_eq!(turn.change(change.number).map(|it| &*it.path), Some(path));
    }
}
