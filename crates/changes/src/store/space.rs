//! The room that the store takes: who needs which text, what goes once nobody does, and what goes when too much is kept.
//!
//! Whoever watches a folder knows the names of texts that are in no turn yet. They see that some were removed, and copy again
//! what they need.

use std::collections::HashSet;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use pillion_discovery::Environment;
use pillion_discovery::private_file::Folder;
use pillion_system::lock;

use super::{
    MAX_AGE, MAX_IDLE, MAX_TURNS, Store, StoreError, TEXTS, TURNS, WRITTEN, age_of, agents, holds,
    notes, remove_unfinished, shown, tables,
};
use crate::log::EntryRef;
use crate::state::{FileState, Hash};
use crate::turn::{Change, ChangeState, Turn};

/// The variable with the limit for the whole store, and the limit without it.
const VARIABLE: &str = "PILLION_CHANGES_LIMIT";
const USUAL: u64 = 2 << 30;

/// When the store is full, texts go that no turn needs and that nobody has put there for so long.
const LEAST_IDLE: Duration = Duration::from_secs(60 * 60);

/// If there is no room, it is looked for again after this, or after so many times what that took.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
const TIMES: u32 = 20;

/// The file that is another one once texts were removed, and those who watch should look whether they need them.
const REMOVED: &str = "removed";

/// The room that a store has, and takes.
#[derive(Debug, Clone)]
pub(super) struct Space {
    limit: u64,
    taken: Arc<Mutex<Taken>>,
    /// The texts that this process is about to note in a turn or in a table.
    unnoted: Arc<Mutex<HashSet<Hash>>>,
}

#[derive(Debug, Default)]
struct Taken {
    /// In bytes; none until that is known.
    bytes: Option<u64>,
    /// The time before which no room is looked for again.
    tries_at: Option<Instant>,
}

impl Space {
    pub(super) fn of(environment: &Environment) -> Self {
        Self {
            limit: limit(environment).unwrap_or(USUAL),
            taken: Arc::default(),
            unnoted: Arc::default(),
        }
    }

    /// So many bytes more are taken.
    pub(super) fn grows(&self, bytes: usize) {
        if let Some(taken) = &mut lock(&self.taken).bytes {
            *taken += bytes as u64;
        }
    }
}

/// The limit for the whole store in bytes.
///
/// # Errors
/// A sentence for people, if theirs cannot be read.
pub fn limit(environment: &Environment) -> Result<u64, String> {
    let Some(value) = environment.filled(VARIABLE) else {
        return Ok(USUAL);
    };
    let text = value.to_string_lossy();
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let unit = units
        .iter()
        .find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, *bits)));
    let (number, bits) = unit.unwrap_or((&text, 0));
    let bytes = number
        .trim()
        .parse()
        .ok()
        .and_then(|it: u64| it.checked_mul(1 << bits));
    bytes.ok_or_else(|| {
        format!("{VARIABLE} is {value:?}, and is not used: expected a size such as 500M or 2G")
    })
}

/// A number of bytes, for people.
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(bits, _)| bytes >> bits > 0);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(bits, name)| {
            let tenths = (u128::from(bytes) * 10) >> bits;
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        },
    )
}

/// What the store holds, in bytes.
#[derive(Debug, Default)]
pub struct Usage {
    /// All texts.
    pub total: u64,
    /// The numbers of the turns, oldest first, each with the texts that none before it needs. Of one that cannot be read, none are
    /// known.
    pub turns: Vec<(u64, u64)>,
    /// What the log needs beside that.
    pub decisions: u64,
}

impl Usage {
    /// The texts that neither turns nor the log need: those of files as they are now.
    pub fn others(&self) -> u64 {
        let turns: u64 = self.turns.iter().map(|(_, bytes)| bytes).sum();
        self.total.saturating_sub(turns + self.decisions)
    }
}

impl Store {
    /// The most bytes that it may hold, as this process has it.
    pub fn limit(&self) -> u64 {
        self.space.limit
    }

    /// What it holds.
    pub fn usage(&self) -> Result<Usage, StoreError> {
        let mut counted = HashSet::new();
        let mut size = |hash: &Hash| match counted.insert(hash.clone()) {
            true => self.size_of(hash),
            false => 0,
        };
        let mut usage = Usage {
            total: self.measure()?,
            ..Usage::default()
        };
        for number in self.numbers()? {
            let texts = self.texts_of_turn(number);
            let bytes = texts.iter().flatten().map(&mut size).sum();
            usage.turns.push((number, bytes));
        }
        let entries = self.entries()?;
        usage.decisions = entries.iter().flat_map(|it| it.texts()).map(size).sum();
        Ok(usage)
    }

    fn size_of(&self, hash: &Hash) -> u64 {
        let name = hash.as_str();
        let path = self.path().join(TEXTS).join(&name[..2]).join(name);
        path.symlink_metadata().map_or(0, |it| it.len())
    }

    /// The size of all texts.
    fn measure(&self) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for folder in self.text_folders()? {
            let entries = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            let sizes = entries.filter_map(|it| it.metadata().ok());
            bytes += sizes.map(|it| it.len()).sum::<u64>();
        }
        Ok(bytes)
    }

    /// As [`put`](Store::put), of what agents write: only if there is room.
    ///
    /// # Errors
    /// As there, and when there is none.
    pub(crate) fn put_within(&self, text: &[u8]) -> Result<Hash, StoreError> {
        let bytes = text.len() as u64;
        let hash = Hash::of(text);
        self.is_unnoted(hash.clone());
        let is_there = || self.size_of(&hash) == bytes;
        match is_there() || self.has_room(bytes)? {
            true => self.put(text),
            false => Err(StoreError::Full(self.space.limit)),
        }
    }

    /// This text stays until all is noted, whatever makes room for others.
    pub(crate) fn is_unnoted(&self, text: Hash) {
        lock(&self.space.unnoted).insert(text);
    }

    /// What this process knows is in turns and tables.
    pub(crate) fn is_all_noted(&self) {
        lock(&self.space.unnoted).clear();
    }

    fn has_room(&self, more: u64) -> Result<bool, StoreError> {
        let mut taken = lock(&self.space.taken);
        let bytes = match taken.bytes {
            Some(bytes) => bytes,
            None => *taken.bytes.insert(self.measure()?),
        };
        let fits = bytes.saturating_add(more) <= self.space.limit;
        let began = Instant::now();
        if fits || taken.tries_at.is_some_and(|it| began < it) {
            return Ok(fits);
        }
        let bytes = self.make_room(more)?;
        taken.bytes = Some(bytes);
        let fits = bytes.saturating_add(more) <= self.space.limit;
        let took = began.elapsed().saturating_mul(TIMES);
        taken.tries_at = (!fits).then(|| Instant::now() + took.max(BETWEEN_TRIES));
        Ok(fits)
    }

    /// Forgets the oldest turns of which nothing is unseen, until there is room for so many bytes more. If that is not enough,
    /// texts go that nothing needs. Returns how many bytes are taken.
    fn make_room(&self, more: u64) -> Result<u64, StoreError> {
        let mut bytes = self.measure()?;
        let watched = self.watched()?;
        let surplus = |bytes: u64| bytes.saturating_add(more).saturating_sub(self.space.limit);
        while surplus(bytes) > 0 {
            // Some more than needed, so that this is not done for each file.
            let (mut going, mut room) = (Vec::new(), surplus(bytes) + self.space.limit / 20);
            for number in self.numbers()? {
                let Ok(turn) = self.turn(number) else {
                    continue;
                };
                if room == 0 {
                    break;
                }
                if self.is_seen(&turn)? && !turn.goes_on() {
                    let texts = self.texts_of_turn(number)?;
                    let going_with_it = texts.iter().filter(|it| !watched.contains(*it));
                    let bytes: u64 = going_with_it.map(|it| self.size_of(it)).sum();
                    room = room.saturating_sub(bytes);
                    going.extend((bytes > 0).then_some(number));
                }
            }
            if going.is_empty() {
                break;
            }
            tracing::info!(?going, "turns are forgotten, as the store is full");
            let texts = self.forget_all(&going, &[])?;
            self.remove(&texts)?;
            bytes = self.measure()?;
        }
        if surplus(bytes) > 0 {
            self.remove_texts(SystemTime::now(), LEAST_IDLE, |_| false)?;
            bytes = self.measure()?;
        }
        Ok(bytes)
    }

    /// Removes old turns of which nothing is unseen, and texts that were kept long ago and that neither a turn needs nor, as
    /// `needed` says, who watches. Unfinished files that a kill left go, too.
    pub fn tidy(&self, now: SystemTime, needed: impl Fn(&Hash) -> bool) -> Result<(), StoreError> {
        let numbers = self.numbers()?;
        for (newer, number) in numbers.iter().rev().enumerate() {
            // One that cannot be read keeps no other.
            if let Err(error) = self.tidy_turn(*number, newer, now) {
                tracing::debug!(%error, "a turn stays");
            }
        }
        self.tidy_log(now)?;
        self.tidy_notes(now)?;
        if let Err(error) = self.remove_texts(now, MAX_IDLE, needed) {
            tracing::debug!(%error, "texts stay that what cannot be read may need");
        }
        lock(&self.space.taken).bytes = None;
        Ok(())
    }

    /// Removes a turn if it is old and nothing of it is unseen, or else what does not count in its log. So many turns are `newer`.
    fn tidy_turn(&self, number: u64, newer: usize, now: SystemTime) -> Result<(), StoreError> {
        self.remove_unfinished(&[TURNS, &number.to_string()], now)?;
        let turn = match self.turn(number) {
            // One that another process has begun just now has no record yet.
            Err(StoreError::NoTurn(_)) if self.is_old(number, now) => {
                return self.forget(number);
            }
            turn => turn?,
        };
        let ended = Duration::from_millis(turn.ended.unwrap_or(turn.began));
        let age = now
            .duration_since(SystemTime::UNIX_EPOCH + ended)
            .unwrap_or_default();
        match self.is_seen(&turn)? && (newer >= MAX_TURNS || age > MAX_AGE) {
            true => self.forget(number),
            false => self.shorten_judged(number),
        }
    }

    /// Returns true if nothing of a turn is unseen.
    fn is_seen(&self, turn: &Turn) -> Result<bool, StoreError> {
        let judged = self.judged(turn.number)?;
        let state = |it: &Change| it.state(judged.of(it.number));
        let mut changes = turn.real_changes();
        Ok(changes.all(|it| state(it) != ChangeState::Unseen))
    }

    /// Removes what is kept of these turns, without what was decided in them, and of these entries of the log. Returns the texts
    /// that only their files do not have any more: [`remove`](Self::remove) has them go.
    ///
    /// # Errors
    /// When one is not there, or cannot be removed.
    pub fn forget_all(
        &self,
        turns: &[u64],
        entries: &[EntryRef],
    ) -> Result<HashSet<Hash>, StoreError> {
        let (mut texts, mut present) = (HashSet::new(), HashSet::new());
        for number in turns {
            // Of one that cannot be read, they are not known.
            let (Ok(turn), Ok(of_turn)) = (self.turn(*number), self.texts_of_turn(*number)) else {
                continue;
            };
            texts.extend(of_turn);
            for change in &turn.changes {
                let states = [&change.before, &change.after].into_iter();
                let states = states.filter_map(FileState::text);
                present.extend(states.filter(|it| holds(&change.path, it)).cloned());
            }
        }
        for name in entries {
            texts.extend(self.entry(*name)?.texts().cloned());
        }
        turns.iter().try_for_each(|it| self.forget(*it))?;
        entries.iter().try_for_each(|it| self.forget_entry(*it))?;
        texts.retain(|it| !present.contains(it));
        Ok(texts)
    }

    /// Removes those of these texts that neither a turn, the log nor a change that is in no turn yet needs.
    ///
    /// # Errors
    /// When one of them cannot be read, which may need any; or when texts cannot be removed.
    pub fn remove(&self, texts: &HashSet<Hash>) -> Result<(), StoreError> {
        let needed = self.needed()?;
        let mut going = texts.difference(&needed).peekable();
        if going.peek().is_none() {
            return Ok(());
        }
        for hash in going {
            if let Some(folder) = self.open(&[TEXTS, &hash.as_str()[..2]])? {
                folder.remove(hash.as_str())?;
            }
        }
        self.note_removed()
    }

    /// Removes the texts that nothing needs, as for [`remove`](Self::remove), and that were put there longer ago than this, but for those that who
    /// watches says to need.
    ///
    /// # Errors
    /// As for [`remove`](Self::remove).
    pub fn remove_texts(
        &self,
        now: SystemTime,
        idle: Duration,
        needed: impl Fn(&Hash) -> bool,
    ) -> Result<(), StoreError> {
        let texts = self.needed()?;
        let is_needed = |hash: &Hash| texts.contains(hash) || needed(hash);
        let mut are_removed = false;
        for folder in self.text_folders()? {
            remove_unfinished(&folder, now)?;
            are_removed |= remove_idle(&folder, now, idle, is_needed)?;
        }
        if are_removed {
            self.note_removed()?;
        }
        for folder in [
            WRITTEN,
            shown::SHOWN,
            agents::AGENTS,
            notes::NOTES,
            notes::ON_PROPOSALS,
            tables::TABLES,
        ] {
            self.remove_unfinished(&[folder], now)?;
        }
        for folder in [WRITTEN, tables::TABLES] {
            if let Some(folder) = self.open(&[folder])? {
                remove_idle(&folder, now, idle, |_| false)?;
            }
        }
        Ok(())
    }

    /// The texts of files as they were looked at last: a file may be another one by now, and its text is the one before that change, which
    /// is in no turn yet.
    fn watched(&self) -> Result<HashSet<Hash>, StoreError> {
        let mut texts = self.texts_of_tables()?;
        texts.extend(lock(&self.space.unnoted).iter().cloned());
        Ok(texts)
    }

    /// The texts that turns and the log need, and changes that are in no turn yet.
    fn needed(&self) -> Result<HashSet<Hash>, StoreError> {
        let mut texts = self.watched()?;
        for number in self.numbers()? {
            match self.texts_of_turn(number) {
                Ok(of_turn) => texts.extend(of_turn),
                Err(StoreError::NoTurn(_)) => {}
                Err(error) => return Err(error),
            }
        }
        for entry in self.all_entries()? {
            texts.extend(entry.texts().cloned());
        }
        Ok(texts)
    }

    /// The texts that a turn needs, and what people made of it.
    fn texts_of_turn(&self, number: u64) -> Result<HashSet<Hash>, StoreError> {
        let (turn, judged) = (self.turn(number)?, self.judged(number)?);
        let changes = turn.changes.iter().flat_map(Change::texts);
        let judged = judged.all().flat_map(|(_, it)| it.texts());
        Ok(changes.chain(judged).cloned().collect())
    }

    fn text_folders(&self) -> Result<Vec<Folder>, StoreError> {
        let mut folders = Vec::new();
        for part in self.names(&[TEXTS])? {
            if part.len() == 2 && part != ".." {
                folders.extend(self.open(&[TEXTS, &part])?);
            }
        }
        Ok(folders)
    }

    fn note_removed(&self) -> Result<(), StoreError> {
        let now = SystemTime::now();
        let folder = self.create(&[WRITTEN])?;
        Ok(folder.write(REMOVED, format!("{now:?}").as_bytes())?)
    }

    /// Another text once texts were removed that who watches may need.
    pub(crate) fn removed(&self) -> Option<String> {
        self.open(&[WRITTEN]).ok()??.mark(REMOVED)
    }

    /// The names of all texts.
    pub(crate) fn text_names(&self) -> Result<HashSet<Hash>, StoreError> {
        let mut names = HashSet::new();
        for folder in self.text_folders()? {
            names.extend(folder.names()?.iter().filter_map(|it| it.parse().ok()));
        }
        Ok(names)
    }
}

/// Removes files of a folder that were written long ago. Returns true if there were some.
fn remove_idle(
    folder: &Folder,
    now: SystemTime,
    limit: Duration,
    is_needed: impl Fn(&Hash) -> bool,
) -> Result<bool, StoreError> {
    let mut are_removed = false;
    for name in folder.names()? {
        let Ok(hash) = name.parse::<Hash>() else {
            continue;
        };
        let idle = age_of(folder, &name, now);
        if idle.is_some_and(|idle| idle >= limit) && !is_needed(&hash) {
            folder.remove(&name)?;
            are_removed = true;
        }
    }
    Ok(are_removed)
}
