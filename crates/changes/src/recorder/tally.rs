//! The numbers of changes below the watched folders: how many nobody has seen, and one that tells lists apart.

use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::path::Path;

use super::Recorder;
use crate::kept::{is_at, is_out};
use crate::scan::is_settled;
use crate::table::Table;
use crate::turn::{ChangeState, Turn, overlap};

/// With more unseen changes in a turn than this, those of which nothing is left in their files are counted, too: these are looked at
/// each time.
const MOST_LOOKED_AT: usize = 1000;

/// The numbers of changes below some folders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of changes that nobody has seen.
    pub unseen: usize,
    /// Another number once a list of them would show something else.
    pub list: u32,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.unseen += other.unseen;
        self.list = self.list.wrapping_add(other.list);
    }
}

impl Recorder {
    /// The numbers of changes below the folders, in all turns that are kept. Waits for the disk.
    pub fn tally(&mut self) -> Tally {
        self.see_removed();
        let numbers = self.read_ended();
        self.counted.retain(|number, _| numbers.contains(number));
        let is_here = |turn: &&Turn| overlap(&turn.roots, self.tables.iter().map(Table::root));
        let (mut tally, mut news) = (Tally::default(), Vec::new());
        for turn in self.ended.values().chain(self.turns()).filter(is_here) {
            let written = self.store.written_at(turn.number);
            let known = self.counted.get(&turn.number);
            let known = known.filter(|(at, _)| Some(*at) == written);
            if let Some((_, known)) = known {
                tally.add(*known);
                continue;
            }
            let (counted, stays) = self.tally_of(turn);
            tally.add(counted);
            // File systems count time in steps: what is written in the same one leaves no trace.
            if let Some(at) = written.filter(|(at, _)| stays && is_settled(*at)) {
                news.push((turn.number, (at, counted)));
            }
        }
        self.counted.extend(news);
        tally
    }

    /// Reads the turns that have ended. Returns the numbers of all turns.
    pub(super) fn read_ended(&mut self) -> Vec<u64> {
        let numbers = self.store.numbers().unwrap_or_default();
        self.ended.retain(|number, _| numbers.contains(number));
        let open: Vec<u64> = self.turns().map(|turn| turn.number).collect();
        for number in numbers.iter().filter(|it| !open.contains(it)) {
            if !self.ended.contains_key(number)
                && let Ok(turn) = self.store.turn(*number)
                && turn.ended.is_some()
            {
                self.ended.insert(*number, turn);
            }
        }
        numbers
    }

    /// The turns in which this file was changed. Waits for the disk.
    pub fn turns_of(&mut self, path: &Path) -> Vec<u64> {
        let mut numbers = self.read_ended();
        let changes = |turn: &Turn| turn.changes.iter().any(|it| it.path == path);
        numbers.retain(|number| match self.ended.get(number) {
            Some(turn) => changes(turn),
            // It goes on, or nobody has seen its end.
            None => self.store.turn(*number).is_ok_and(|turn| changes(&turn)),
        });
        numbers
    }

    /// The numbers of a turn, without those of which nothing is left, and if they stay the same whatever is in the files.
    pub(super) fn tally_of(&self, turn: &Turn) -> (Tally, bool) {
        let judged = self.store.judged(turn.number);
        let (mut tally, mut looked_at) = (Tally::default(), 0);
        for change in turn.real_changes() {
            let judged = judged.as_ref().ok().and_then(|it| it.of(change.number));
            let mut state = change.state(judged);
            if state == ChangeState::Unseen {
                looked_at += 1;
                let before = change.decided_part(judged).unwrap_or(&change.before);
                let is_gone = || is_at(before, &change.path) || is_out(&self.store, turn, change);
                if looked_at <= MOST_LOOKED_AT && is_gone() {
                    state = ChangeState::Gone;
                }
            }
            let mut hasher = DefaultHasher::new();
            let at = judged.map(|it| it.at);
            let shown = (turn.number, change.number, &change.after, state.name(), at);
            shown.hash(&mut hasher);
            tally.add(Tally {
                unseen: usize::from(state == ChangeState::Unseen),
                list: (hasher.finish() >> 32) as u32,
            });
        }
        (tally, looked_at == 0)
    }
}
