//! The files that a person saves while agents work, or that are written for a person: none of that is an agent's change.

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_text::Text;
use pillion_text::merge;

use super::Recorder;
use super::found::judgements;
use crate::scan::Stat;
use crate::state::{FileState, Stage, Writing};
use crate::store::{Store, StoreError};
use crate::table::Difference;
use crate::turn::{Author, Change, ChangeState, DecidedText, Judged, Judgement};

/// A save that comes so soon after an editor's word that it has read a file may have been written before that word was heard.
const SOON: Duration = Duration::from_secs(1);

impl Recorder {
    /// A person's editor has read this file, or they begin to change it there: what was changed until now is not theirs.
    pub fn seen(&mut self, path: &Path) -> Result<(), StoreError> {
        let path = self.located(path);
        let path = path.as_path();
        let Some(difference) = self.difference(path) else {
            // What was found before has been read: if they save that unchanged, it does not become theirs.
            self.read.retain(|(_, it)| it.path != path);
            return Ok(());
        };
        self.may_be_saved(&difference, SOON);
        self.found(vec![difference]);
        self.save()
    }

    /// A person has saved this file in their editor: what has changed since it was looked at last is theirs.
    pub fn saved(&mut self, path: &Path) -> Result<(), StoreError> {
        let path = self.located(path);
        let path = path.as_path();
        let now = Instant::now();
        let just_read =
            { self.read.iter() }.position(|(until, it)| it.path == path && now < *until);
        let just_read = just_read.map(|at| self.read.swap_remove(at).1);
        match (self.difference(path), just_read) {
            // An editor that writes in place was seen in the middle of that: the file was empty.
            (Some(difference), Some(begun))
                if begun.after == difference.before && begun.after.is_empty() =>
            {
                self.wrote_for_person(&begun, None);
                self.wrote_for_person(&difference, None);
            }
            (Some(difference), _) => self.saved_by_person(difference),
            // Nobody saves what they have not changed: the look before has found what they saved.
            (None, Some(difference)) => self.wrote_for_person(&difference, None),
            (None, None) => return Ok(()),
        }
        self.save()
    }

    /// A person's editor may say within this time that it has written what differs.
    pub(super) fn may_be_saved(&mut self, difference: &Difference, within: Duration) {
        let now = Instant::now();
        self.read
            .retain(|(until, it)| now < *until && it.path != difference.path);
        self.read.push((now + within, difference.clone()));
    }

    /// This difference was saved by a person. A text that was written for them between the last look and that is not theirs.
    pub(super) fn saved_by_person(&mut self, mut difference: Difference) {
        let writing = self.writing(&difference.path);
        let is_between = |it: &Writing| {
            it.overwritten.as_ref() == Some(&difference.before) && it.written != difference.before
        };
        if let Some(writing) = writing.filter(is_between) {
            self.passed.insert(difference.path.clone(), writing.at);
            let written = Difference {
                after: writing.written.clone(),
                ..difference.clone()
            };
            self.wrote_for_person(&written, writing.of.as_ref());
            if writing.written == difference.after {
                return;
            }
            difference.before = writing.written;
        }
        self.wrote_for_person(&difference, None);
    }

    /// This difference was written for a person, and is put down so where an agent has changed the file before. That a change
    /// was judged is not one more change: `of` is the `after` of the one for which this was written.
    fn wrote_for_person(&mut self, difference: &Difference, of: Option<&FileState>) {
        for session in self.sessions.values_mut() {
            let number = session.turn.as_ref().map(|turn| turn.number);
            let Some(change) = session.change(&difference.path) else {
                continue;
            };
            if of == Some(&change.after) {
                continue;
            }
            let judged = number
                .and_then(|number| judgements(&mut self.judged, number, &self.store))
                .and_then(|judged| judged.of(change.number));
            let is_its_own = change.counting(judged).is_some_and(|it| {
                let is_back = it.judgement == Judgement::TakenBack;
                let is_written = it.last_written() == Some(&difference.after);
                is_back || is_written
            });
            if !is_its_own {
                // Otherwise, a look has found it before.
                if change.after != difference.after {
                    change.passes_over(&difference.before, judged, &self.store);
                }
                change.written_for_person(difference, &self.store);
            }
        }
    }

    /// What was, or is being, written to this path for a person, if nothing has been found there since.
    fn writing(&self, path: &Path) -> Option<Writing> {
        let is_new = |it: &Writing| {
            let is_since = match it.stage {
                Stage::Failed => false,
                Stage::Done { at, .. } => at >= self.looked,
                Stage::Begun | Stage::InPlace => it.at >= self.began,
            };
            is_since && self.passed.get(path) != Some(&it.at)
        };
        self.store.writing(path).filter(is_new)
    }

    /// Puts down what was written for a person. Returns false if this was not: an agent may have made the same of the file
    /// later.
    pub(super) fn found_for_person(&mut self, difference: &Difference) -> bool {
        let path = &difference.path;
        let Some(writing) = self.writing(path) else {
            return false;
        };
        let (is_over, is_it) = match writing.stage {
            Stage::Done { stat, .. } => {
                // What was overwritten was found before.
                let is_later = writing.overwritten.as_ref() == Some(&difference.after);
                (!is_later, Stat::at(path).is_ok_and(|it| it == stat))
            }
            _ => (false, true),
        };
        let is_it = is_it && writing.written == difference.after;
        if is_over || is_it {
            self.passed.insert(path.clone(), writing.at);
        }
        if !is_it {
            return false;
        }
        // If they save the file unchanged now, this does not become theirs.
        self.read.retain(|(_, it)| it.path != *path);
        self.wrote_for_person(difference, writing.of.as_ref());
        true
    }
}

impl Change {
    /// The file was changed for a person from what the agent had made of it: the text before gets the same change, so that
    /// it is none of the agent's.
    fn written_for_person(&mut self, saved: &Difference, store: &Store) {
        // All of the change is what the person saved.
        if self.before == saved.before && self.after == saved.after {
            self.before = saved.after.clone();
            return;
        }
        let was_accepted = self.accepted.as_ref() == Some(&self.after);
        self.after = saved.after.clone();
        self.is_mixed |= !self.begins_after((&saved.before, &saved.after), store);
        let decided = self.decided.as_ref().filter(|it| !it.is_kept);
        if was_accepted {
            self.accepted = Some(self.after.clone());
        } else if let Some(decided) = decided {
            self.accepted = Some(decided.state.clone());
        }
    }

    /// An agent in another turn has written since this change what is there now: that is none of it. Where both have written the same
    /// lines, it is unclear.
    pub(super) fn passes_over(&mut self, now: &FileState, judged: Option<&Judged>, store: &Store) {
        let left = self.counting(judged).and_then(Judged::last_written);
        let left = left.unwrap_or(&self.after).clone();
        let is_back = self.state(judged) == ChangeState::TakenBack;
        if left != *now && !is_back && !self.begins_after((&left, now), store) {
            self.by = Author::Unclear;
        }
    }

    /// Somebody else has made the one state of the file of the other: what was there before this change gets the same. Returns false
    /// if both have changed the same lines.
    fn begins_after(&mut self, (former, now): (&FileState, &FileState), store: &Store) -> bool {
        let text = |state: &FileState| store.get(state.text()?).ok().map(Text::new);
        let merged = |before: &FileState| {
            let is_same_mode = former.mode() == now.mode();
            let mode = if is_same_mode { before } else { now }.mode()?;
            let [former, now] = [former, now].map(text);
            let merged = merge::texts(&former?, &now?, &text(before)?);
            let size = merged.text.len() as u64;
            let text = { merged.conflicts == 0 }.then(|| store.put(&merged.text).ok());
            let text = Some(text??);
            Some(FileState::File { mode, size, text })
        };
        self.decided = self.decided.take().and_then(|it| {
            let state = merged(&it.state)?;
            Some(DecidedText { state, ..it })
        });
        let before = merged(&self.before);
        let is_merged = before.is_some();
        self.before = before.unwrap_or_else(|| self.before.clone());
        is_merged
    }
}
