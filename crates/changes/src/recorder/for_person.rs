//! The files that a person saves while agents work, or that are written for a person: none of that is an agent's change.

use std::path::Path;
use std::time::{Duration, Instant};

use pillion_text::Text;
use pillion_text::merge;

use super::{Recorder, judgements};
use crate::state::{FileState, Writing};
use crate::store::{Store, StoreError};
use crate::table::Difference;
use crate::turn::{Change, Judgement};

/// A save that comes so soon after an editor's word that it has read a file may have been written before that word was heard.
const SOON: Duration = Duration::from_secs(1);

/// A file is written for a person so soon after that was noted, in milliseconds.
const WRITTEN_SOON: u64 = 2_000;

impl Recorder {
    /// A person's editor has read this file, or they begin to change it there: what was changed until now is not theirs.
    ///
    /// # Errors
    /// When the store cannot be written.
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
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn saved(&mut self, path: &Path) -> Result<(), StoreError> {
        let path = self.located(path);
        let path = path.as_path();
        let now = Instant::now();
        let just_read =
            { self.read.iter() }.position(|(until, it)| it.path == path && now < *until);
        let just_read = just_read.map(|at| self.read.swap_remove(at).1);
        match (self.difference(path), just_read) {
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
    fn saved_by_person(&mut self, mut difference: Difference) {
        let writing = self.writing(&difference.path);
        if let Some(writing) = writing.filter(|it| it.written != difference.before) {
            self.found_written
                .insert(difference.path.clone(), writing.at);
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
        self.unbegun.retain(|(_, it)| it != difference);
        for session in self.sessions.values_mut() {
            let number = session.turn.as_ref().map(|turn| turn.number);
            let Some(change) = session.change(&difference.path) else {
                continue;
            };
            if of == Some(&change.after) {
                continue;
            }
            let judged = number.and_then(|number| {
                let judged = judgements(&mut self.judged, number, &self.store);
                judged.of(change.number)
            });
            let is_its_own = judged.is_some_and(|it| {
                let is_back = it.judgement == Judgement::TakenBack;
                let is_written = it.written.as_ref() == Some(&difference.after);
                it.after == change.after && (is_back || is_written)
            });
            if !is_its_own {
                change.written_for_person(difference, &self.store);
            }
        }
    }

    /// The time before which everything that was noted has been written and looked at.
    pub(super) fn noted_since(&self) -> u64 {
        self.began.max(self.looked.saturating_sub(WRITTEN_SOON))
    }

    /// The state that was written to this path for a person, if it has not been found yet.
    fn writing(&self, path: &Path) -> Option<Writing> {
        let is_new = |it: &Writing| {
            it.at > self.noted_since() && self.found_written.get(path) != Some(&it.at)
        };
        self.store.writing(path).filter(is_new)
    }

    /// Puts down what was written for a person. Returns false if this was not: an agent may have made the same of the file
    /// later.
    pub(super) fn found_for_person(&mut self, difference: &Difference) -> bool {
        let path = &difference.path;
        let writing = self.writing(path);
        let Some(writing) = writing.filter(|it| it.written == difference.after) else {
            return false;
        };
        self.found_written.insert(path.clone(), writing.at);
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
        let text = |state: &FileState| store.get(state.text()?).ok().map(Text::new);
        let texts = (text(&saved.before), text(&self.before), text(&saved.after));
        let merged = match texts {
            (Some(former), Some(before), Some(now)) => {
                let merged = merge::texts(&former, &now, &before);
                (merged.conflicts == 0).then_some(merged.text)
            }
            _ => None,
        };
        let kept = merged.and_then(|text| Some((text.len() as u64, store.put(&text).ok()?)));
        match (kept, &mut self.before) {
            (Some((length, hash)), FileState::File { size, text, .. }) => {
                *size = length;
                *text = Some(hash);
            }
            _ => self.is_mixed = true,
        }
        if was_accepted {
            self.accepted = Some(self.after.clone());
        }
    }
}
