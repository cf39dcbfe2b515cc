//! Turns that nobody watches any more, as the process that did was killed. Whoever watches next takes them over: what has changed since
//! the last look is listed in them, as unclear, and a call that ran may run still.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process;

use super::{Extent, Recorder, Session};
use crate::remark::Remark;
use crate::store::StoreError;
use crate::table::Table;
use crate::turn::Turn;

/// No agent's session has such a number, or a higher one.
const FIRST: u64 = 1 << 63;

impl Recorder {
    /// Takes over the turns of these folders that nobody watches any more.
    pub(super) fn take_over(&mut self) {
        let numbers = self.store.numbers().unwrap_or_default();
        let turns = numbers.iter().filter_map(|it| self.store.turn(*it).ok());
        let mut cut_off: Vec<Turn> = turns.filter(Turn::was_cut_off).collect();
        let mut known = HashSet::new();
        for turn in &cut_off {
            let of_turn = |it: &&mut Table| turn.roots.iter().any(|root| root == it.root());
            for table in self.tables.iter_mut().filter(of_turn) {
                let name = (turn.watcher, table.root().to_owned());
                // Another turn of the same watcher may have been first.
                if !known.contains(&name) && table.take_over(turn.watcher) {
                    known.insert(name);
                }
            }
        }
        let is_known = |turn: &Turn, root: &PathBuf| known.contains(&(turn.watcher, root.clone()));
        cut_off.retain(|turn| turn.roots.iter().any(|root| is_known(turn, root)));
        if cut_off.is_empty() {
            return;
        }
        // What was written for a person since may not have been found yet.
        let began = cut_off.iter().map(|turn| turn.began).min();
        self.looked = began.map_or(self.looked, |began| self.looked.min(began));
        self.began = self.began.min(self.looked);
        // Of several, what has changed since is rather of one in which a call ran: it is heard last.
        cut_off.sort_by_key(|turn| !turn.running.is_empty());
        for mut turn in cut_off {
            let running = std::mem::take(&mut turn.running);
            turn.watcher = process::id();
            turn.is_cut_off = false;
            turn.session = FIRST + turn.number;
            let number = turn.session;
            let heard = self.heard();
            let mut session = Session::of(turn, heard);
            if !running.is_empty() {
                session.remark(&Remark::CutOff);
            }
            session.is_ending = running.is_empty();
            self.sessions.insert(number, session);
        }
        self.is_taking_over = true;
        self.look(Extent::All);
        self.is_taking_over = false;
        self.close_cut_off_if(|it| it.is_ending);
        // What fails is told as a problem, and taken over by the next one.
        if self.save().is_ok() {
            for (watcher, root) in known {
                let tables = self.tables.iter().filter(|it| it.root() == root);
                tables.for_each(|it| it.has_taken_over(watcher));
            }
        }
    }

    /// A call has ended whose beginning another process has seen.
    pub(super) fn call_of_cut_off_ends(&mut self) -> Result<(), StoreError> {
        if !self.cut_off().is_empty() {
            self.look(Extent::All);
            self.save()?;
        }
        Ok(())
    }

    /// A turn whose beginning another process has seen ends, or another one begins.
    pub(super) fn close_cut_off(&mut self) {
        if !self.cut_off().is_empty() {
            self.look(Extent::All);
        }
        self.close_cut_off_if(|_| true);
    }

    fn close_cut_off_if(&mut self, is_over: impl Fn(&Session) -> bool) {
        for number in self.cut_off() {
            if self.sessions.get(&number).is_some_and(&is_over) {
                self.close(number);
                self.sessions.remove(&number);
            }
        }
        self.watch_while_used();
    }

    fn cut_off(&self) -> Vec<u64> {
        let numbers = self.sessions.keys().copied();
        numbers.filter(|it| *it >= FIRST).collect()
    }

    /// Nobody watches any longer. If a person has closed the last view, the turns end with that. Else whoever watches next takes them
    /// over.
    pub fn ends(&mut self, is_by_person: bool) -> Result<(), StoreError> {
        let numbers: Vec<u64> = self.sessions.keys().copied().collect();
        if !numbers.is_empty() {
            self.look_at_end(&numbers);
        }
        if is_by_person {
            numbers.into_iter().for_each(|it| self.close(it));
            let saved = self.save();
            let tables = self.tables.iter_mut().chain([&mut self.outside]);
            tables.for_each(Table::ends);
            self.sessions.clear();
            return saved;
        }
        let turns = self.sessions.values_mut().filter_map(|it| it.turn.as_mut());
        turns.for_each(|turn| turn.is_cut_off = true);
        let saved = self.save();
        self.sessions.clear();
        saved
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::recorder::Call;
    use crate::store::Store;
    use crate::turn::Author;

    fn shell() -> Call {
        Call {
            id: "1".to_owned(),
            tool: "Bash".to_owned(),
            path: None,
            subagent: None,
        }
    }

    /// As if whoever wrote this turn had been another process, which is gone, and had known the folder so.
    fn is_killed(store: &Store, turn: u64, root: &Path, table: &[u8]) {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let mut turn = store.turn(turn).unwrap();
        turn.watcher = gone.id();
        store.save(&turn).unwrap();
        store.begin_table(turn.watcher, root, table).unwrap();
        store.remove_table(process::id(), root);
    }

    /// Before what it has found is kept, between that and what it knows of the folder, and after both.
    #[test]
    fn what_is_found_as_somebody_is_killed_is_listed_once() {
        for kept in [[false, false], [true, false], [true, true]] {
            let (folder, store) = Store::temporary();
            let root = folder.path().join("w");
            fs::create_dir(&root).unwrap();
            let roots = [root.clone()];
            let mut recorder = Recorder::new(store.clone(), &roots, Vec::new());
            let number = recorder.begin(1, "claude", "").unwrap();
            recorder.before(1, "claude", shell()).unwrap();
            let before = store.table(process::id(), &root).unwrap();
            fs::write(root.join("a"), "new\n").unwrap();
            let log = store.path().join(format!("turns/{number}/changes.jsonl"));
            if !kept[0] {
                // Nothing can be added to it.
                drop(fs::remove_file(&log));
                fs::create_dir(&log).unwrap();
            }
            assert_eq!(recorder.after(1, "1", |_| Vec::new()).is_ok(), kept[0]);
            if !kept[0] {
                fs::remove_dir(&log).unwrap();
            }
            let after = store.table(process::id(), &root).unwrap();
            assert_eq!(
                before == after,
                !kept[0],
                "a change that is not kept is known"
            );
            is_killed(
                &store,
                number,
                &root,
                if kept[1] { &after } else { &before },
            );
            drop(recorder);
            let mut recorder = Recorder::new(store.clone(), &roots, Vec::new());
            let changes = store.turn(number).unwrap().changes;
            let found: Vec<_> = { changes.iter() }
                .map(|it| (it.path.clone(), it.made, it.by.clone()))
                .collect();
            let by = match kept[0] {
                true => Author::Tool("Bash".to_owned()),
                false => Author::Unclear,
            };
            assert_eq!(found, [(root.join("a"), 0, by)], "{kept:?}");
            // The next one has all of it.
            recorder.ends(true).unwrap();
            assert!(store.table(process::id(), &root).is_none(), "{kept:?}");
        }
    }
}
