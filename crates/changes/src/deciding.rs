//! A person's decisions about changes that are written already: keep them, take them back, or undo that. Commands and
//! companions decide with this code; who may decide, and who is told, is theirs.

mod moved;
mod telling;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pillion_discovery::real_path;
use pillion_protocol::Note;
use pillion_protocol::remarks::{self, FileRemark};
use pillion_system::clock;
use pillion_text::unified::unified;
use pillion_text::visible;

use self::moved::Origins;
pub use self::telling::Words;
use self::telling::{Telling, remark};
use crate::current_hunks::CurrentHunks;
use crate::history::as_text;
use crate::kept::{self, Kept};
use crate::parallel::in_parallel;
use crate::save::SaveError;
use crate::scan::{has_other_names, identity, is_settled};
use crate::state::FileState;
use crate::store::{Judgements, Store, StoreError};
use crate::take_back::{self, Done, Present, TakeBackError};
use crate::turn::{
    Author, Change, ChangeRef, ChangeState, Judged, Judgement, Running, Turn, overlap,
};

/// So many files are written at the same time.
const SIDE_BY_SIDE: usize = 16;

/// So many files are written before what became of them is kept.
const PART: usize = 64;

/// So many steps of what was taken back of one change can be undone: what is nested much deeper is not read again.
const MAX_STEPS: usize = 50;

/// The result for a change that was taken back before.
const ALREADY: &str = "taken back already";

/// The result for a change that somebody else has taken out of the file: there is nothing to take back, and nothing to tell.
const GONE: &str = "no longer in the file";

/// What became of a change: a judgement, or why there is none.
type Judging = Result<Made, &'static str>;

/// An action of a person on changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// They stay, and count as seen.
    Keep,
    /// The text before comes back.
    TakeBack,
    /// A change that was taken back or edited comes back.
    Undo,
}

/// The reason why something is not done. Everything is as it was then.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is nothing to undo.
    #[error("{0} was not taken back")]
    NotTakenBack(ChangeRef),
    /// There is nothing to undo in the folder.
    #[error("nothing has been kept or taken back here")]
    NothingDecided,
    /// No hunk stands at the lines that were named.
    #[error("at these lines of {0}, nothing of an agent's change can be taken back by itself")]
    NoHunk(String),
    /// The agent may be writing the file at this moment.
    #[error("{agent} is running {tool}, which may be changing it")]
    Running {
        /// The name that people use for the agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The agent has moved a file, and the text is not back in its former place.
    #[error("{path} holds the text of {of}, which is not back")]
    OnlyCopy {
        /// The file, as it is shown.
        path: String,
        /// The one whose text it is, as it is shown.
        of: String,
        /// The name of that one's change.
        name: ChangeRef,
        /// The action that was tried.
        act: Act,
    },
    /// What was taken back does not fit into the file any more.
    #[error("{why}")]
    NotUndone {
        /// The change.
        name: ChangeRef,
        /// The reason.
        why: String,
    },
    /// It cannot be taken back.
    #[error(transparent)]
    TakeBack(#[from] TakeBackError),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DecideError {
    /// Advice on what a person can do about it, if there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Running { .. } => "Try again when it has ended.",
            Self::OnlyCopy { of, name, act, .. } => {
                let first = match act {
                    Act::Undo => format!("Undo {name} as well"),
                    _ => format!("Take {name} back as well"),
                };
                return Some(format!(
                    "{first}; if something else is at {of}, move that aside before."
                ));
            }
            Self::NotUndone { name, .. } => {
                return Some(format!("`pillion show {name}` prints what was taken back."));
            }
            Self::Store(error) => return error.hint().map(|hint| format!("{hint}.")),
            Self::TakeBack(error) => return error.hint(),
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// The error, and what to do about it, for a status line.
    pub fn in_full(&self) -> String {
        if let Self::Store(error) = self {
            return error.in_full();
        }
        let hint = self.hint();
        let hint = hint.as_deref().map(|hint| hint.trim_end_matches('.'));
        hint.map_or_else(|| self.to_string(), |hint| format!("{self}; {hint}"))
    }

    /// Returns true if the file is neither as it was nor as it is to be: that can be done again.
    pub fn is_unfinished(&self) -> bool {
        let is_incomplete =
            |it: &TakeBackError| matches!(it, TakeBackError::Save(SaveError::Incomplete { .. }));
        matches!(self, Self::TakeBack(error) if is_incomplete(error))
    }
}

/// The texts that were written for a change, and are not noted yet.
enum Written {
    TakenBack(Done),
    Undone(Done),
}

/// A person's judgement of a change, to be kept.
struct Made {
    /// None if it is as if they had made nothing of it.
    judged: Option<Judged>,
    /// In a word or a few.
    what: &'static str,
    /// True if the change stays, and the agent hears the words once that is kept.
    stays: bool,
    /// The text that the agent is to hear then.
    remark: Option<FileRemark>,
}

/// The outcome of one change.
#[derive(Debug)]
pub struct Decided {
    /// The name of the change.
    pub name: ChangeRef,
    /// Its file, as it is shown.
    pub path: String,
    /// The result in a word or a few, or why the change is as it was.
    pub result: Result<&'static str, DecideError>,
}

/// A person's decisions about the changes of one turn, one after the other.
#[derive(Debug)]
pub struct Deciding<'a> {
    store: &'a Store,
    kept: &'a Kept,
    /// The judgements of the changes until now.
    judged: Judgements,
    /// The turn as it was read last, if it goes on: other calls may run by now.
    now: Option<Turn>,
    /// The time at which it was written then, unless that may have been just now.
    now_at: Option<SystemTime>,
    /// The messages that the agent is to hear.
    telling: Telling,
    /// The time of the decision, in milliseconds since 1970. Changes that are decided at once are undone at once.
    at: u64,
    /// True if nothing of a turn is left out.
    takes_all: bool,
    /// The numbers of the changes that are decided at once.
    at_once: BTreeSet<u64>,
    /// The folders that the turn has made.
    new_folders: HashSet<&'a Path>,
    /// The texts that an act brings back, as far as they were looked for.
    origins: Option<(Act, Origins)>,
}

impl<'a> Deciding<'a> {
    /// Nothing is decided yet.
    pub fn new(store: &'a Store, kept: &'a Kept) -> Self {
        Self {
            store,
            judged: kept.judgements().clone(),
            new_folders: kept.turn.new_folders.iter().map(PathBuf::as_path).collect(),
            now: None,
            now_at: None,
            kept,
            telling: Telling::new(!kept.turn.is_without_hooks),
            at: clock::now_ms(),
            takes_all: false,
            at_once: BTreeSet::new(),
            origins: None,
        }
    }

    /// What is decided is part of an act of this time, which may be about several turns.
    pub fn at(&mut self, at: u64) {
        self.at = at;
    }

    /// With a turn, all of it is taken back: also what may be somebody else's, and what was kept by its name.
    pub fn take_all(&mut self) {
        self.takes_all = true;
    }

    /// The person says this of what is decided next.
    pub fn say(&mut self, words: Words) {
        self.telling.say(words);
    }

    /// Returns the words that the agent does not hear, because nothing was decided about what they say something of.
    pub fn unsaid(&self) -> Vec<&Note> {
        self.telling.unsaid()
    }

    /// The agent is to hear what the person has to say of a change about which they have not decided.
    pub fn tell_notes(&mut self, change: &Change, notes: &[Note], shown: &str) {
        if !notes.is_empty() {
            let is_gone = change.after.is_absent();
            self.telling.hear(remark(change, is_gone, notes, |path| {
                remarks::undecided(path, notes, shown)
            }));
        }
    }

    /// Takes the messages that the agent is to hear so far.
    pub fn take_told(&mut self) -> Vec<FileRemark> {
        self.telling.take()
    }

    /// Does this with what is named: changes of the turn, or all of it with which it can be done. Hands over what came of
    /// each. If it fails with one, it is done with the others nevertheless.
    ///
    /// # Errors
    /// When there is no such change, or nothing to undo.
    pub fn all(
        &mut self,
        act: Act,
        names: &[ChangeRef],
        mut said: impl FnMut(Decided),
    ) -> Result<(), DecideError> {
        let meant = self.meant(act, names)?;
        if act == Act::Undo && meant.is_empty() {
            return Err(DecideError::NothingDecided);
        }
        if meant.len() == 1 {
            self.telling.is_of_one();
        }
        let part = match act {
            Act::Keep => meant.len().max(1),
            Act::TakeBack | Act::Undo => PART,
        };
        let is_turn = |it: &ChangeRef| it.change.is_none();
        if act == Act::TakeBack && names.iter().any(is_turn) {
            let keeps_all = self.keeps_all();
            for change in self.kept.turn.real_changes() {
                let is_named = self.at_once.contains(&change.number);
                if let Some(why) = self.left_out(change, keeps_all).filter(|_| !is_named) {
                    said(self.decided(change, Ok(why)));
                }
            }
        }
        let mut waiting = meant;
        loop {
            let count = waiting.len();
            let failed = self.pass(act, &waiting, part, &mut said);
            // What was done may have been in the way of another.
            if failed.is_empty() || failed.len() == count {
                for (change, error) in failed {
                    said(self.decided(change, Err(error)));
                }
                return Ok(());
            }
            waiting = failed.into_iter().map(|(change, _)| change).collect();
        }
    }

    /// Does this with each of these changes once, so many at a time. Hands over what was done, and returns the others.
    fn pass<'b>(
        &mut self,
        act: Act,
        changes: &[&'b Change],
        part: usize,
        said: &mut impl FnMut(Decided),
    ) -> Vec<(&'b Change, DecideError)> {
        let mut failed = Vec::new();
        for part in changes.chunks(part) {
            self.read_running();
            let written = self.write(act, part);
            let made = part.iter().zip(written);
            let made: Vec<_> = made
                .map(|(change, written)| self.make(act, change, written))
                .collect();
            let done = part.iter().zip(&made);
            let done = done.filter_map(|(change, made)| {
                let made = made.as_ref().ok()?.as_ref().ok()?;
                Some((change.number, made.judged.clone()))
            });
            let is_kept = self.keep_made(done.collect()).is_ok();
            for (change, made) in part.iter().zip(made) {
                let result = match made {
                    Err(error) => Err(error),
                    Ok(Err(why)) => Ok(why),
                    Ok(Ok(made)) if is_kept => Ok(self.saved_made(change, made)),
                    // There may be room for some.
                    Ok(Ok(made)) => self.save(change, made),
                };
                match result {
                    Ok(what) => said(self.decided(change, Ok(what))),
                    Err(error) => failed.push((*change, error)),
                }
            }
        }
        failed
    }

    /// The judgement of a change for which this was written already, unless something was in the way.
    fn make(
        &mut self,
        act: Act,
        change: &Change,
        written: Option<Written>,
    ) -> Result<Judging, DecideError> {
        Ok(match (act, written) {
            (Act::Keep, _) => self.kept(change).ok_or(ALREADY),
            (Act::TakeBack, Some(Written::TakenBack(done))) => self.taken_back(change, done),
            (Act::Undo, Some(Written::Undone(done))) => Ok(self.undone(change, Some(&done))?),
            (Act::TakeBack, _) if self.state(change) == ChangeState::TakenBack => Err(ALREADY),
            // Another file of these may have been in its way.
            (Act::TakeBack, _) => self.write_back(change)?,
            (Act::Undo, _) => Ok(self.write_undone(change)?),
        })
    }

    /// Writes the files of these changes side by side, as far as nothing is in the way.
    fn write(&self, act: Act, changes: &[&Change]) -> Vec<Option<Written>> {
        let (store, roots) = (self.store, &self.kept.turn.roots);
        in_parallel(SIDE_BY_SIDE, changes, |change| {
            let is_back = self.state(change) == ChangeState::TakenBack;
            if self.call_on(change).is_some() || self.refuse_only_copy(act, change).is_err() {
                return None;
            }
            match act {
                Act::Keep => None,
                Act::TakeBack if is_back => None,
                // What is written by one name is there by the others.
                Act::TakeBack if has_other_names(&change.path) => None,
                Act::TakeBack => {
                    let done = take_back::take_back(store, roots, change).ok()?;
                    self.clear_up(change, &done);
                    Some(Written::TakenBack(done))
                }
                Act::Undo => {
                    let judged = self.judged.of(change.number);
                    let judged = judged.filter(|it| it.written.is_some())?;
                    let undone = take_back::undo(store, roots, change, judged).ok()?;
                    self.clear_up(change, &undone);
                    Some(Written::Undone(undone))
                }
            }
        })
    }

    /// The changes with which this is to be done, in this order.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub fn meant(&mut self, act: Act, names: &[ChangeRef]) -> Result<Vec<&'a Change>, DecideError> {
        let mut meant = Vec::new();
        for name in names {
            match self.named(act, *name) {
                Ok(changes) => meant.extend(changes),
                // Another view has undone this one of several.
                Err(DecideError::NotTakenBack(_)) if names.len() > 1 => {}
                Err(error) => return Err(error),
            }
        }
        self.at_once.clear();
        meant.retain(|it: &&Change| self.at_once.insert(it.number));
        self.find_origins(act);
        self.sort(act, &mut meant);
        Ok(meant)
    }

    fn named(&self, act: Act, name: ChangeRef) -> Result<Vec<&'a Change>, DecideError> {
        let kept = self.kept;
        let mut changes = kept.named(name)?;
        match act {
            Act::Keep if name.change.is_some() => {}
            Act::Keep => changes.retain(|it| self.is_unseen(it)),
            // What was done last is taken back first.
            Act::TakeBack => {
                let keeps_all = self.keeps_all();
                changes
                    .retain(|it| name.change.is_some() || self.left_out(it, keeps_all).is_none());
                changes.reverse();
            }
            Act::Undo => {
                let judged = |it: &Change| self.judged.of(it.number);
                let is_back = |it: &&Change| judged(it).is_some_and(Judged::takes_back);
                // To keep is undone with the other things only where that is what was done last.
                match changes.iter().any(is_back) && name.change.is_none() {
                    true => changes.retain(is_back),
                    false => changes.retain(|it| judged(it).is_some()),
                }
                if changes.is_empty() {
                    return Err(DecideError::NotTakenBack(name));
                }
            }
        }
        Ok(changes)
    }

    /// The reason why a change is not taken back with its turn, but only by its name or with all.
    fn left_out(&self, change: &Change, keeps_all: bool) -> Option<&'static str> {
        let is_unclear = change.by == Author::Unclear && !self.kept.turn.is_without_hooks;
        match () {
            () if self.takes_all => None,
            () if is_unclear => Some("left out, as it is unclear who changed it"),
            () if change.is_mixed && change.before.is_absent() => {
                Some("left out, as you have written in the new file, too")
            }
            () if !keeps_all && self.state(change) == ChangeState::Kept => {
                Some("left out, as you kept it")
            }
            () => None,
        }
    }

    /// Returns true if the person keeps all of the turn.
    fn keeps_all(&self) -> bool {
        let mut changes = self.kept.turn.real_changes();
        changes.all(|it| self.state(it) == ChangeState::Kept)
    }

    /// The outcome of this change.
    pub fn decided(&self, change: &Change, result: Result<&'static str, DecideError>) -> Decided {
        Decided {
            name: self.kept.name(change),
            path: self.shown(change),
            result,
        }
    }

    /// The file of a change, as it is shown.
    fn shown(&self, change: &Change) -> String {
        let path = self.kept.turn.shown(&change.path).display().to_string();
        visible::one_line(&path)
    }

    /// A change stays.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn keep(&mut self, change: &Change) -> Result<&'static str, DecideError> {
        match self.kept(change) {
            Some(made) => self.save(change, made),
            None => Ok(ALREADY),
        }
    }

    /// The judgement of a change that stays; none if all of it has been taken back, which can still be undone.
    fn kept(&self, change: &Change) -> Option<Made> {
        if self.is_written_back(change) {
            return None;
        }
        let notes = self.telling.words.own(change);
        let remark = (!notes.is_empty()).then(|| {
            let shown = self.telling.words.shown.clone().unwrap_or_else(|| {
                let now = kept::now(&change.path).unwrap_or_default();
                as_text(&now).unwrap_or_default().to_owned()
            });
            remark(change, change.after.is_absent(), &notes, |path| {
                remarks::decided(true, path, &notes, &shown)
            })
        });
        let made = self.made(change, Judgement::Kept, None);
        Some(Made {
            stays: true,
            remark,
            ..made
        })
    }

    /// Takes all of a change back.
    ///
    /// # Errors
    /// When it cannot be taken back.
    pub fn take_back(&mut self, change: &Change) -> Result<&'static str, DecideError> {
        if self.state(change) == ChangeState::TakenBack {
            return Ok(ALREADY);
        }
        self.read_running();
        self.know_origins(Act::TakeBack);
        match self.write_back(change)? {
            Ok(made) => self.save(change, made),
            Err(why) => Ok(why),
        }
    }

    fn write_back(&mut self, change: &Change) -> Result<Judging, DecideError> {
        self.refuse_running(change)?;
        self.refuse_only_copy(Act::TakeBack, change)?;
        let roots = &self.kept.turn.roots;
        let done = match self.written_by_other_name(change) {
            None => take_back::take_back(self.store, roots, change)?,
            Some(after) => {
                let left = Change {
                    after,
                    ..change.clone()
                };
                let done = take_back::take_back(self.store, roots, &left)?;
                let overwritten = change.after.clone();
                Done {
                    overwritten,
                    ..done
                }
            }
        };
        self.clear_up(change, &done);
        Ok(self.taken_back(change, done))
    }

    /// What was written to the file of a change for a person by another of its names, if that is there now: nobody has changed
    /// it since.
    fn written_by_other_name(&self, change: &Change) -> Option<FileState> {
        let path = change.path.as_path();
        if !has_other_names(path) || kept::is_at(&change.after, path) {
            return None;
        }
        let others = self.kept.turn.changes.iter();
        let mut others = others.filter(|it| it.path != path && it.after == change.after);
        others.find_map(|other| {
            let written = self.store.writing(&other.path)?.written;
            let is_it = identity(&other.path) == identity(path) && kept::is_at(&written, path);
            is_it.then_some(written)
        })
    }

    /// All of a change has been taken back, if there was anything of it.
    fn taken_back(&mut self, change: &Change, done: Done) -> Judging {
        if done.is_nothing() {
            return Err(GONE);
        }
        self.tell_what_became(change, true, &done);
        Ok(self.made(change, Judgement::TakenBack, Some(done)))
    }

    /// Takes the hunks of a change back that touch these lines of the file, from 0.
    ///
    /// # Errors
    /// When there are none, or they cannot be taken back.
    pub fn take_lines_back(
        &mut self,
        change: &Change,
        lines: Range<usize>,
    ) -> Result<&'static str, DecideError> {
        self.read_running();
        self.refuse_running(change)?;
        let roots = &self.kept.turn.roots;
        let found = take_back::hunks(self.store, roots, change)?;
        let without = found.without(lines).ok_or_else(|| self.no_hunk(change))?;
        if without.is_all && change.before.is_absent() {
            return self.take_back(change);
        }
        let seen = Present {
            before: None,
            now: Some(found.now().bytes().to_vec()),
            changed_since: 0,
        };
        let done = take_back::rewrite(self.store, roots, change, &seen, &without.text)?;
        self.tell_what_became(change, without.is_all, &done);
        self.judge(change, judgement(without.left, without.is_all), Some(done))
    }

    /// Takes a change, or the hunks of it that touch `lines`, out of a text of the file that is not saved. Returns the
    /// new text; nothing is written.
    ///
    /// # Errors
    /// When it cannot be taken out.
    pub fn take_out_of(
        &mut self,
        change: &Change,
        lines: Option<Range<usize>>,
        text: &str,
    ) -> Result<(String, &'static str), DecideError> {
        self.read_running();
        self.refuse_running(change)?;
        let bytes = text.as_bytes().to_vec();
        let (taken, judgement) = match lines {
            None => {
                let taken = take_back::out_of(self.store, change, bytes)?;
                (taken, Judgement::TakenBack)
            }
            Some(lines) => {
                let found: CurrentHunks = take_back::hunks_in(self.store, change, bytes)?;
                let without = found.without(lines).ok_or_else(|| self.no_hunk(change))?;
                let judgement = judgement(without.left, without.is_all);
                (without.text, judgement)
            }
        };
        let not_text = |_| TakeBackError::NotText(change.path.clone());
        let taken = String::from_utf8(taken).map_err(not_text)?;
        let is_all = judgement == Judgement::TakenBack;
        let what = self.judge(change, judgement, None)?;
        let diff = unified(text, &taken);
        self.telling.taken_back(change, is_all, text, &diff, false);
        Ok((taken, what))
    }

    /// Writes what the person made of a change that they have seen beside this.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rewrite(
        &mut self,
        change: &Change,
        seen: &Present,
        text: &str,
    ) -> Result<&'static str, DecideError> {
        self.read_running();
        self.refuse_running(change)?;
        let roots = &self.kept.turn.roots;
        let done = take_back::rewrite(self.store, roots, change, seen, text.as_bytes())?;
        self.tell_what_became(change, false, &done);
        self.judge(change, Judgement::Edited, Some(done))
    }

    /// Brings back what was taken back of a change last, or edited.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn undo(&mut self, change: &Change) -> Result<&'static str, DecideError> {
        self.read_running();
        self.know_origins(Act::Undo);
        let made = self.write_undone(change)?;
        self.save(change, made)
    }

    /// A person has saved a file. If all of a change stands in it that they had taken back, by the undo of their editor, they
    /// have undone that. Returns true if so.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn saved(&mut self, change: &Change, now: &[u8]) -> Result<bool, DecideError> {
        if !change.has_taken_back(self.judged.of(change.number)) {
            return Ok(false);
        }
        let found = take_back::hunks_in(self.store, change, now.to_vec());
        if !found.is_ok_and(|it| it.is_whole()) {
            return Ok(false);
        }
        let without = match change.before.is_absent() {
            true => Ok(Vec::new()),
            false => take_back::out_of(self.store, change, now.to_vec()),
        };
        let without = without.unwrap_or_default();
        let sides = as_text(&without).zip(as_text(now));
        let diff = sides.map_or_else(String::new, |(before, after)| unified(before, after));
        self.keep_made(vec![(change.number, None)])?;
        self.telling.hear(remark(change, false, &[], |path| {
            remarks::put_back(path, Some(&diff))
        }));
        Ok(true)
    }

    fn write_undone(&mut self, change: &Change) -> Result<Made, DecideError> {
        let judged = self.judged(change)?;
        self.refuse_running(change)?;
        self.refuse_only_copy(Act::Undo, change)?;
        let done = match judged.written {
            Some(_) => {
                let roots = &self.kept.turn.roots;
                let done = take_back::undo(self.store, roots, change, judged)
                    .map_err(|error| self.not_undone(change, error))?;
                self.clear_up(change, &done);
                Some(done)
            }
            None => None,
        };
        self.undone(change, done.as_ref())
    }

    /// The reason why what was taken back cannot be put into the file.
    fn not_undone(&self, change: &Change, error: TakeBackError) -> DecideError {
        let name = self.kept.name(change);
        match error {
            TakeBackError::Conflict { .. } | TakeBackError::Changed(_) => DecideError::NotUndone {
                name,
                why: error.to_string(),
            },
            error => error.into(),
        }
    }

    /// Once a file is gone, the folders go that the turn has made for it, or that had gone with it, and that are empty now.
    fn clear_up(&self, change: &Change, done: &Done) {
        if done.written.is_absent() {
            let path = change.path.as_path();
            let around = path.ancestors().skip(1).zip(&change.folder_modes);
            let gone = around.filter(|(_, mode)| change.after.is_absent() && mode.after.is_none());
            let gone: Vec<&Path> = gone.map(|(it, _)| it).collect();
            let is_new = |it: &Path| gone.contains(&it) || self.new_folders.contains(it);
            take_back::remove_folders(&self.kept.turn.roots, path, is_new);
        }
    }

    /// The state of a change now.
    fn state(&self, change: &Change) -> ChangeState {
        change.state(self.judged.of(change.number))
    }

    /// Returns true if nobody has looked at a change that is in its file.
    fn is_unseen(&self, change: &Change) -> bool {
        self.state(change) == ChangeState::Unseen && self.kept.state(change) != ChangeState::Gone
    }

    /// The person's last judgement of a change, also if the agent has changed the file again since.
    fn judged(&self, change: &Change) -> Result<&Judged, DecideError> {
        let judged = self.judged.of(change.number);
        judged.ok_or_else(|| DecideError::NotTakenBack(self.kept.name(change)))
    }

    /// A change that was taken back is there again, if it was not in an editor only.
    fn undone(&mut self, change: &Change, done: Option<&Done>) -> Result<Made, DecideError> {
        let diff = done.map(|it| self.what_became(it));
        let is_gone = done.is_some_and(|it| it.written.is_absent());
        let mut remark = Some(remark(change, is_gone, &[], |path| {
            remarks::put_back(path, diff.as_deref())
        }));
        // A file that was written is as it is, whether that is kept or not.
        if done.is_some()
            && let Some(remark) = remark.take()
        {
            self.telling.hear(remark);
        }
        let judged = self.judged(change)?;
        let is_changed_since = change.counting(Some(judged)).is_none();
        let former = judged.former_of_text();
        let former = former.map(|it| match it.name() == Judgement::Edited.name() {
            true => Judgement::Edited,
            false => it.judgement,
        });
        let is_kept = judged.judgement == Judgement::Kept;
        let what = match (judged.written.is_some(), former) {
            (false, _) if is_kept => "is not kept any more",
            (true, _) if is_changed_since => "is back, beside what the agent has changed since",
            (true, None | Some(Judgement::Kept)) => "is as the agent left it",
            (true, Some(Judgement::Edited)) => "is as you had edited it",
            (true, Some(_)) => "is as before the last hunk was taken back",
            (false, None) => "is unseen again; undo it in the editor, too",
            (false, Some(_)) => "undo it in the editor, too",
        };
        // The agent was told no more than the person's words.
        let remark = remark.filter(|_| !is_kept);
        Ok(Made {
            judged: judged.former.as_deref().cloned(),
            what,
            stays: false,
            remark,
        })
    }

    /// Keeps what the person decided.
    fn judge(
        &mut self,
        change: &Change,
        judgement: Judgement,
        done: Option<Done>,
    ) -> Result<&'static str, DecideError> {
        let made = self.made(change, judgement, done);
        self.save(change, made)
    }

    fn made(&self, change: &Change, judgement: Judgement, done: Option<Done>) -> Made {
        let judged = self.judged.of(change.number).cloned();
        let is_again = |it: &Judged| {
            let are_kept = judgement == Judgement::Kept && it.judgement == judgement;
            are_kept && change.counting(Some(it)).is_some()
        };
        let mut former = match judged {
            // What was kept is kept once.
            Some(judged) if is_again(&judged) => judged.former,
            judged => judged.map(Box::new),
        };
        let mut steps = &mut former;
        for _ in 1..MAX_STEPS {
            let Some(step) = steps else {
                break;
            };
            steps = &mut step.former;
        }
        *steps = None;
        let folder_modes = { done.as_ref() }.map_or_else(Vec::new, |it| it.folder_modes.clone());
        let (overwritten, written) = done.map(|it| (it.overwritten, it.written)).unzip();
        Made::of(Judged {
            judgement,
            after: change.after.clone(),
            made: change.made,
            at: self.at,
            overwritten,
            written,
            folder_modes,
            notes: self.telling.words.all(change),
            former,
        })
    }

    fn save(&mut self, change: &Change, made: Made) -> Result<&'static str, DecideError> {
        self.keep_made(vec![(change.number, made.judged.clone())])?;
        Ok(self.saved_made(change, made))
    }

    /// Keeps what the person made of these changes.
    fn keep_made(&mut self, made: Vec<(u64, Option<Judged>)>) -> Result<(), StoreError> {
        let lines = made.iter().map(|(it, judged)| (*it, judged.as_ref()));
        self.store.judge(self.kept.turn.number, lines)?;
        for (change, judged) in made {
            self.judged.note(change, judged);
        }
        Ok(())
    }

    /// A person's judgement of a change is kept: only now the agent may hear of it.
    fn saved_made(&mut self, change: &Change, made: Made) -> &'static str {
        if made.stays {
            self.telling.kept(change);
        }
        if let Some(remark) = made.remark {
            self.telling.hear(remark);
        }
        made.what
    }

    /// Returns true if the file has the text from before the change, because a person wanted it.
    fn is_written_back(&self, change: &Change) -> bool {
        let judged = self.judged.of(change.number);
        judged.is_some_and(|it| it.written.is_some())
            && self.state(change) == ChangeState::TakenBack
    }

    fn no_hunk(&self, change: &Change) -> DecideError {
        DecideError::NoHunk(self.shown(change))
    }

    /// Reads which calls of the agent run, if its turn goes on and others may run by now.
    fn read_running(&mut self) {
        if !self.now.as_ref().unwrap_or(&self.kept.turn).goes_on() {
            return;
        }
        let number = self.kept.turn.number;
        let at = self.store.written_at(number).map(|(at, _)| at);
        if at.is_some() && at == self.now_at {
            return;
        }
        match self.store.turn(number) {
            Ok(turn) => {
                self.now_at = at.filter(|at| is_settled(*at));
                self.now = Some(turn);
            }
            Err(error) => tracing::debug!(%error, "which calls run is not known"),
        }
    }

    /// The call that may be changing the file of this change, as it was read last.
    fn call_on(&self, change: &Change) -> Option<&Running> {
        let turn = self.now.as_ref().unwrap_or(&self.kept.turn);
        turn.call_on(&change.path)
    }

    /// Refuses what a call of the agent may be writing at this moment.
    fn refuse_running(&self, change: &Change) -> Result<(), DecideError> {
        match self.call_on(change) {
            None => Ok(()),
            Some(call) => Err(DecideError::Running {
                agent: self.kept.agent().to_owned(),
                tool: visible::one_line(&call.tool),
            }),
        }
    }

    /// The agent is to hear what became of the file.
    fn tell_what_became(&mut self, change: &Change, is_all: bool, done: &Done) {
        if self.telling.passes_over(change) {
            return;
        }
        let diff = self.what_became(done);
        let before = self.text(&done.overwritten).unwrap_or_default();
        let is_gone = done.written.is_absent();
        self.telling
            .taken_back(change, is_all, &before, &diff, is_gone);
    }

    /// The result for a file that was written, as a diff; if it is not text, in words.
    fn what_became(&self, done: &Done) -> String {
        match (self.text(&done.overwritten), self.text(&done.written)) {
            (Some(before), Some(after)) => unified(&before, &after),
            _ if done.written.is_absent() => "(It is gone.)".to_owned(),
            _ => "(It is not text.)".to_owned(),
        }
    }

    /// The text of a file, empty if there is none. None if it is not text, or not known.
    fn text(&self, state: &FileState) -> Option<String> {
        match state.text() {
            Some(hash) => as_text(&self.store.get(hash).ok()?).map(str::to_owned),
            None => state.is_absent().then(String::new),
        }
    }
}

impl Made {
    fn of(judged: Judged) -> Self {
        Self {
            what: judged.name(),
            judged: Some(judged),
            stays: false,
            remark: None,
        }
    }
}

/// The changes of a person's last act in these folders: those about which it was decided at once, in the order in which that
/// is undone.
///
/// # Errors
/// When there are none, or the store cannot be read.
pub fn last_act(store: &Store, folders: &[PathBuf]) -> Result<Vec<ChangeRef>, DecideError> {
    let mut all = BTreeSet::new();
    for turn in store.numbers()? {
        // What cannot be read cannot be undone.
        let Ok(judged) = store.judged(turn) else {
            continue;
        };
        all.extend(judged.all().map(|(_, it)| (Reverse(it.at), turn)));
    }
    let folders: Vec<_> = folders.iter().map(|it| real_path(it)).collect();
    let is_here = |kept: &Kept| overlap(&kept.turn.roots, &folders);
    let mut read = HashMap::new();
    let mut last: Option<(u64, Vec<ChangeRef>)> = None;
    // It may have been about several turns, the newest of which was taken back first.
    for (Reverse(at), turn) in all {
        if last.as_ref().is_some_and(|(last, _)| *last != at) {
            break;
        }
        let kept = read
            .entry(turn)
            .or_insert_with(|| Kept::read(store, turn).ok().filter(is_here));
        let Some(kept) = kept else {
            continue;
        };
        let judged = kept.judgements();
        let is_meant = |it: &&Change| judged.of(it.number).is_some_and(|it| it.at == at);
        let meant = kept.turn.changes.iter().filter(is_meant);
        let names: Vec<_> = meant.map(|it| kept.name(it)).collect();
        if !names.is_empty() {
            last.get_or_insert_default().0 = at;
            last.get_or_insert_default().1.extend(names);
        }
    }
    last.map(|(_, names)| names)
        .ok_or(DecideError::NothingDecided)
}

/// Returns true if a person was shown by a command what was taken back in one of these folders.
///
/// # Errors
/// When the store cannot be read.
pub fn is_any_taken_back_shown(store: &Store, folders: &[PathBuf]) -> Result<bool, DecideError> {
    let turns = Kept::of_folders(store, folders, drop)?;
    let is_shown = |kept: &Kept| store.shown(kept.turn.number).has_taken_back();
    Ok(turns.iter().any(is_shown))
}

/// The judgement of a change of which hunks were taken back, and so many are left.
fn judgement(left: usize, is_all: bool) -> Judgement {
    match (left, is_all) {
        (0, true) => Judgement::TakenBack,
        (0, false) => Judgement::Edited,
        _ => Judgement::Part,
    }
}
