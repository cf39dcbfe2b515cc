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
        self.look(Extent::All);
        self.close_cut_off_if(|it| it.is_ending);
        // What fails is told as a problem.
        let _ = self.save();
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
