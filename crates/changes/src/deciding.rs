//! A person's decisions about changes that are written already: keep them, take them back, or undo that. Commands and
//! companions decide with this code; who may decide, and who is told, is theirs.

mod error;
mod meant;
mod moved;
mod telling;
mod writing;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use pillion_protocol::Note;
use pillion_protocol::remarks::{self, FileRemark};
use pillion_system::clock;
use pillion_text::unified::unified;
use pillion_text::{Text, merge, visible};

pub use self::error::{Act, DecideError};
pub use self::meant::{is_any_taken_back_shown, last_act};
use self::moved::{Failed, Gone, Origins};
pub use self::telling::Words;
use self::telling::{Telling, remark};
use crate::current_hunks::CurrentHunks;
use crate::history::as_text;
use crate::kept::{self, Kept};
use crate::state::FileState;
use crate::store::{Judgements, Store, StoreError};
use crate::take_back::{Done, Folders};
use crate::turn::{Change, ChangeRef, ChangeState, Judged, Judgement, Turn};

/// So many files are written before what became of them is kept.
const PART: usize = 64;

/// So many steps of what was taken back of one change can be undone: what is nested much deeper is not read again.
const MAX_STEPS: usize = 50;

/// The result for a change that was taken back before.
const ALREADY: &str = "taken back already";

/// The same, and the result for one that is taken back, where a person had accepted or kept a part of it before.
const ALREADY_IN_PART: &str =
    "taken back already, but for what you had accepted or kept of it: `--all` takes that back";
const IN_PART: &str = "taken back, but for what you had accepted or kept of it";

/// The result for a change that somebody else has taken out of the file: there is nothing to take back, and nothing to tell.
const GONE: &str = "no longer in the file";

/// What became of a change: a judgement, or why there is none.
type Judging = Result<Made, &'static str>;

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

impl Decided {
    /// Returns true if its turn was taken back without it.
    pub fn is_left_out(&self) -> bool {
        let result = self.result.as_ref();
        result.is_ok_and(|it| it.starts_with(LEFT_OUT))
    }
}

/// The beginning of each [reason](Deciding::left_out) for that.
const LEFT_OUT: &str = "left out, ";

/// A person's decisions about the changes of one turn, one after the other.
#[derive(Debug)]
pub struct Deciding<'a> {
    /// What is written is noted as part of this act.
    store: Store,
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
    /// The files that the turn has had go, once somebody asks.
    gone: OnceLock<Gone<'a>>,
    /// The numbers of those that go first, of changes that wait for each other.
    opens_circle: BTreeSet<u64>,
    /// The folders that the turn has made.
    new_folders: HashSet<&'a Path>,
    /// The texts that an act brings back, as far as they were looked for.
    origins: Option<(Act, Origins)>,
    /// The folders as they were before this act, whichever of its files comes first.
    folders: Folders,
}

impl<'a> Deciding<'a> {
    /// Nothing is decided yet.
    pub fn new(store: &Store, kept: &'a Kept) -> Self {
        let (at, mut store) = (clock::now_ms(), store.clone());
        (store.act, store.turn) = (Some(at), Some(kept.turn.number));
        Self {
            store,
            judged: kept.judgements().clone(),
            new_folders: kept.turn.new_folders.iter().map(PathBuf::as_path).collect(),
            now: None,
            now_at: None,
            kept,
            telling: Telling::new(!kept.turn.is_without_hooks),
            at,
            takes_all: false,
            gone: OnceLock::new(),
            at_once: BTreeSet::new(),
            opens_circle: BTreeSet::new(),
            origins: None,
            folders: Folders::default(),
        }
    }

    /// What is decided is part of an act of this time, which may be about several turns.
    pub fn at(&mut self, at: u64) {
        self.at = at;
        self.store.act = Some(at);
    }

    /// With a turn, all of it is taken back: also what may be somebody else's, and what was accepted, or kept by its name.
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

    /// What is said of the turn beside its changes is seen: nothing else may be left of it.
    fn see_remarks(&self) -> Result<(), StoreError> {
        let turn = &self.kept.turn;
        match turn.remarks.is_empty() || turn.goes_on() {
            true => Ok(()),
            false => self.store.save(&Turn {
                remarks: Vec::new(),
                ..turn.clone()
            }),
        }
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
        self.folders = Folders::default();
        if act == Act::Undo {
            self.complete(names)?;
        }
        let meant = self.meant(act, names)?;
        if act == Act::Undo && meant.is_empty() {
            return Err(DecideError::NothingDecided);
        }
        if act == Act::Keep && meant.is_empty() {
            self.see_remarks()?;
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
            let is_stuck = failed.len() == count;
            let first = is_stuck
                .then(|| self.first_in_circle(act, &failed))
                .flatten();
            self.opens_circle.extend(first.map(|it| it.number));
            if failed.is_empty() || (is_stuck && first.is_none()) {
                for (change, error) in failed {
                    let error = self.explained(act, change, error);
                    said(self.decided(change, Err(error)));
                }
                return Ok(());
            }
            waiting = failed.into_iter().map(|(change, _)| change).collect();
        }
    }

    /// Keeps what was taken back of these: whoever did it may have been killed before that was kept.
    fn complete(&mut self, names: &[ChangeRef]) -> Result<(), DecideError> {
        for name in names {
            for change in self.kept.named(*name)? {
                let Some(writing) = self.kept.cut_off(change) else {
                    continue;
                };
                let is_all = kept::is_at(&change.before, &change.path);
                let judgement = match is_all {
                    true => Judgement::TakenBack,
                    false => Judgement::Part,
                };
                let done = Done {
                    overwritten: writing.overwritten.unwrap_or(change.after.clone()),
                    written: writing.written,
                    folder_modes: writing.folder_modes,
                    made_way: Vec::new(),
                    linked: None,
                };
                self.tell_what_became(change, is_all, &done);
                self.judge(change, judgement, Some(done))?;
            }
        }
        Ok(())
    }

    /// Does this with each of these changes once, so many at a time. Hands over what was done, and returns the others.
    fn pass<'b>(
        &mut self,
        act: Act,
        changes: &[&'b Change],
        part: usize,
        said: &mut impl FnMut(Decided),
    ) -> Vec<Failed<'b>> {
        let mut failed = Vec::new();
        for part in changes.chunks(part) {
            self.read_running();
            for change in part {
                self.folders.note(&self.kept.turn.roots, &change.path);
            }
            let written = self.write_all(act, part);
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

    /// Does this with one change.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn one(&mut self, act: Act, change: &Change) -> Result<&'static str, DecideError> {
        self.read_running();
        self.know_origins(act);
        self.folders = Folders::default();
        let made = self.make(act, change, None);
        match made.map_err(|error| self.explained(act, change, error))? {
            Ok(made) => self.save(change, made),
            Err(why) => Ok(why),
        }
    }

    /// The judgement of a change for which this was written already, unless something was in the way.
    fn make(
        &mut self,
        act: Act,
        change: &Change,
        written: Option<Done>,
    ) -> Result<Judging, DecideError> {
        let done = match written {
            // Another file of these may have been in its way.
            None => self.write(act, change)?,
            written => written,
        };
        Ok(match (act, done) {
            (Act::Keep, _) => self.kept(change).ok_or(ALREADY),
            (Act::TakeBack, Some(done)) => self.taken_back(change, done),
            (Act::TakeBack, None) if self.has_decided_left(change) => Err(ALREADY_IN_PART),
            (Act::TakeBack, None) => Err(ALREADY),
            (Act::Undo, done) => Ok(self.undone(change, done.as_ref())?),
        })
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

    /// All of a change has been taken back, if there was anything of it.
    fn taken_back(&mut self, change: &Change, done: Done) -> Judging {
        if done.is_nothing() {
            return Err(GONE);
        }
        self.tell_what_became(change, true, &done);
        let made = self.made(change, Judgement::TakenBack, Some(done));
        let is_in_part =
            !self.takes_all && self.kept.has_decided_left(change, made.judged.as_ref());
        let what = if is_in_part { IN_PART } else { made.what };
        Ok(Made { what, ..made })
    }

    /// Returns true if a change is taken back, but for what the person had accepted or kept of it before.
    fn has_decided_left(&self, change: &Change) -> bool {
        self.kept
            .has_decided_left(change, self.judged.of(change.number))
    }

    /// A person has saved a file. If all stands in it again that they had taken back of a change, by the undo of their editor,
    /// they have undone that: the last of several steps, or more of them. So they have if they had it read again, for what was
    /// taken out of its text in an editor alone. Returns true if so.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn synced(
        &mut self,
        change: &Change,
        now: &[u8],
        is_saved: bool,
    ) -> Result<bool, DecideError> {
        let judged = self.judged.of(change.number).cloned();
        let mut left = judged.as_ref().filter(|it| change.has_taken_back(Some(it)));
        let (mut undone, mut without) = (None, now.to_vec());
        while let Some(step) = left.and_then(Judged::last_taking)
            && (is_saved || step.in_editor.is_some())
            && let Some(out) = self.out_again(step, &without)
        {
            without = out;
            undone = Some(step.former.as_deref().cloned());
            left = step.former_of_text();
        }
        let Some(former) = undone else {
            return Ok(false);
        };
        let sides = as_text(&without).zip(as_text(now));
        let diff = sides.map_or_else(String::new, |(before, after)| unified(before, after));
        self.keep_made(vec![(change.number, former)])?;
        self.telling.hear(remark(change, false, &[], |path| {
            remarks::put_back(path, Some(&diff))
        }));
        Ok(true)
    }

    /// This text without what was taken out in this step; none if not all of that stands in it.
    fn out_again(&self, step: &Judged, text: &[u8]) -> Option<Vec<u8>> {
        let [with, left] = match &step.in_editor {
            Some(_) => self.texts_in_editor(step, text)?,
            None => {
                let text = |it: &Option<FileState>| self.text(it.as_ref()?);
                [text(&step.overwritten)?, text(&step.written)?].map(String::into_bytes)
            }
        };
        let (with, left, text) = (Text::new(with), Text::new(left), Text::new(text));
        let out = merge::texts(&with, &left, &text).text;
        CurrentHunks::find(left, with, text)
            .is_whole()
            .then_some(out)
    }

    /// The state of a change now.
    fn state(&self, change: &Change) -> ChangeState {
        change.state(self.judged.of(change.number))
    }

    /// The person's last judgement of a change, also if the agent has changed the file again since.
    fn judged(&self, change: &Change) -> Result<&Judged, DecideError> {
        let judged = self.judged.of(change.number);
        judged.ok_or_else(|| DecideError::NotTakenBack(self.kept.name(change)))
    }

    /// A change that was taken back is there again, if it was not in an editor only, where nothing was saved since.
    fn undone(&mut self, change: &Change, done: Option<&Done>) -> Result<Made, DecideError> {
        let is_kept = self.judged(change)?.judgement == Judgement::Kept;
        // The agent was told no more than the person's words of what was kept. Of thousands, no diff is made in vain.
        let is_told = !is_kept && !self.telling.passes_over(change);
        let mut remark = is_told.then(|| {
            let diff = done.map(|it| self.what_became(it));
            let is_gone = done.is_some_and(|it| it.written.is_absent());
            remark(change, is_gone, &[], |path| {
                remarks::put_back(path, diff.as_deref())
            })
        });
        // A file that was written is as it is, whether that is kept or not.
        if done.is_some()
            && let Some(remark) = remark.take()
        {
            self.telling.hear(remark);
        }
        let judged = self.judged(change)?;
        let is_changed_since = change.counting(Some(judged)).is_none();
        let is_beside = |it: &Done| change.after.is_known() && it.written != change.after;
        let former = judged.former_of_text();
        let former = former.map(|it| match it.name() == Judgement::Edited.name() {
            true => Judgement::Edited,
            false => it.judgement,
        });
        let what = match (judged.written.is_some() || done.is_some(), former) {
            (false, _) if is_kept => "is not kept any more",
            (true, _) if is_changed_since => "is back, beside what the agent has changed since",
            (true, _) if judged.linked.is_some() && done.is_some_and(is_beside) => {
                "is one file with its other name again"
            }
            (true, None | Some(Judgement::Kept)) if done.is_some_and(is_beside) => {
                "is back, beside what has changed since"
            }
            (true, None | Some(Judgement::Kept)) => "is as the agent left it",
            (true, Some(Judgement::Edited)) => "is as you had edited it",
            (true, Some(_)) => "is as before the last hunk was taken back",
            (false, None) => "is unseen again; undo it in the editor, too",
            (false, Some(_)) => "undo it in the editor, too",
        };
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
        let (folder_modes, made_way) = { done.as_ref() }
            .map(|it| (it.folder_modes.clone(), it.made_way.clone()))
            .unwrap_or_default();
        let linked = done.as_ref().and_then(|it| it.linked.clone());
        let (overwritten, written) = done.map(|it| (it.overwritten, it.written)).unzip();
        Made::of(Judged {
            judgement,
            after: change.after.clone(),
            made: change.made,
            at: self.at,
            overwritten,
            written,
            in_editor: None,
            folder_modes,
            made_way,
            linked,
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

    /// The result for a file that was written, as a diff; in words, where no text shows it. Empty if nothing became of it.
    fn what_became(&self, done: &Done) -> String {
        let (before, after) = (&done.overwritten, &done.written);
        match (self.text(before), self.text(after)) {
            (Some(old), Some(new)) if old != new => unified(&old, &new),
            _ if after.is_absent() && !before.is_absent() => "(It is gone.)".to_owned(),
            (Some(_), Some(_)) if before.is_absent() && !after.is_absent() => {
                "(It is there again, and empty.)".to_owned()
            }
            (Some(_), Some(_)) => { before.mode_beside_text(after) }
                .map_or_else(String::new, |(_, mode)| {
                    format!("(Its text is the same, and its mode is {mode:o} again.)")
                }),
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
