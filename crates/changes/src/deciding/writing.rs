//! The files of changes: written as a person decides, or not while the agent may be writing them.

use std::ops::Range;
use std::path::Path;

use pillion_text::unified::unified;
use pillion_text::{Text, visible};

use super::moved::is_nested;
use super::{Act, DecideError, Deciding};
use crate::current_hunks::CurrentHunks;
use crate::kept;
use crate::parallel::in_parallel;
use crate::scan::{has_other_names, identity, is_settled};
use crate::state::FileState;
use crate::store::StoreError;
use crate::take_back::{self, Done, Overwriting, Present, TakeBackError};
use crate::turn::{Change, ChangeState, Judged, Judgement, Running};

/// So many files are written at the same time.
const SIDE_BY_SIDE: usize = 16;

impl Deciding<'_> {
    /// Writes the files of these changes side by side, as far as nothing is in the way. One that is to be where a folder of another
    /// one is waits for its turn.
    pub(super) fn write_all(&self, act: Act, changes: &[&Change]) -> Vec<Option<Done>> {
        in_parallel(SIDE_BY_SIDE, changes, |change| {
            let is_nested = || changes.iter().any(|it| is_nested(it, change));
            let waits = match act {
                Act::Keep => return None,
                // What is written by one name is there by the others.
                Act::TakeBack => has_other_names(&change.path) || is_nested(),
                Act::Undo => is_nested(),
            };
            { !waits }.then(|| self.write(act, change).ok())??
        })
    }

    /// Writes the file of a change that is taken back, or for which that is undone; none if there is nothing to write.
    pub(super) fn write(&self, act: Act, change: &Change) -> Result<Option<Done>, DecideError> {
        let (store, roots) = (&self.store, &self.kept.turn.roots);
        let is_rest = self.takes_all && self.has_decided_left(change);
        let is_back = self.state(change) == ChangeState::TakenBack && !is_rest;
        if act == Act::Keep || (act == Act::TakeBack && is_back) {
            return Ok(None);
        }
        self.refuse_running(change)?;
        self.refuse_only_copy(act, change)?;
        let former = self.folders.of(roots, &change.path);
        let with_decided = (act == Act::TakeBack && self.takes_all).then(|| Change {
            before: self.kept.first(change).clone(),
            after: if is_rest {
                &change.before
            } else {
                &change.after
            }
            .clone(),
            ..change.clone()
        });
        let change = with_decided.as_ref().unwrap_or(change);
        let judged = self.judged.of(change.number);
        let judged = judged.filter(|it| act == Act::Undo && it.written.is_some());
        let done = match (act, judged) {
            (Act::Undo, None) => match self.put_into_saved(change, &former)? {
                Some(done) => done,
                None => return Ok(None),
            },
            (_, Some(judged)) => match self.link_again(change, judged, &former)? {
                Some(done) => done,
                None => take_back::undo(store, roots, change, (judged, Some(&former)))
                    .map_err(|error| self.not_undone(change, error))?,
            },
            (_, None) => match self.written_by_other_name(change) {
                None => take_back::take_back(store, roots, change, Some(&former))?,
                Some(other) => take_back::beside(store, roots, change, &other, &former)?,
            },
        };
        self.clear_up(change, &done);
        Ok(Some(done))
    }

    /// Puts into the file what was taken out of a text in an editor, if that text was saved since; none if the file still has
    /// it, or has other lines there. It is written as what is undone: as what is taken back, it would be undone in its turn.
    fn put_into_saved(&self, change: &Change, former: &[u32]) -> Result<Option<Done>, DecideError> {
        let step = self.judged.of(change.number);
        let known = step.zip(kept::now(&change.path)).and_then(|(step, now)| {
            let texts = self.texts_in_editor(step, &now)?;
            Some((step, texts, now))
        });
        let (Some((step, [with, left], now)), FileState::File { mode, .. }) =
            (known, &change.after)
        else {
            return Ok(None);
        };
        let state = |text: &[u8]| {
            Ok::<_, StoreError>(FileState::File {
                mode: *mode,
                size: text.len() as u64,
                text: Some(self.store.put(text)?),
            })
        };
        let step = Judged {
            overwritten: Some(state(&with)?),
            written: Some(state(&left)?),
            ..step.clone()
        };
        let [with, left, now] = [with, left, now].map(Text::new);
        if CurrentHunks::find(left, with, now).is_whole() {
            return Ok(None);
        }
        let roots = &self.kept.turn.roots;
        match take_back::undo(&self.store, roots, change, (&step, Some(former))) {
            Err(TakeBackError::Conflict { .. }) => Ok(None),
            done => Ok(Some(done?)),
        }
    }

    /// The text out of which something was taken in an editor, and what was left. They end as this one does: some editors end the
    /// last line of what they save.
    pub(super) fn texts_in_editor(&self, step: &Judged, now: &[u8]) -> Option<[Vec<u8>; 2]> {
        let (with, left) = step.in_editor.as_ref()?;
        let mut texts = [self.store.get(with).ok()?, self.store.get(left).ok()?];
        if !texts[1].is_empty() && !texts[1].ends_with(b"\n") {
            let end = final_line_end(now);
            for text in texts.iter_mut().filter(|it| !it.ends_with(b"\n")) {
                text.extend_from_slice(end);
            }
        }
        Some(texts)
    }

    /// Makes the file of a change one with its other name again, as it was when it was taken back; none if that is not to be had.
    fn link_again(
        &self,
        change: &Change,
        judged: &Judged,
        former: &[u32],
    ) -> Result<Option<Done>, TakeBackError> {
        let is_it = |it: &&Change| Some(&it.path) == judged.linked.as_ref();
        let Some(other) = self.kept.turn.changes.iter().find(is_it) else {
            return Ok(None);
        };
        let written = self.judged.of(other.number).and_then(Judged::last_written);
        let known: Vec<_> = written.into_iter().chain([&other.after]).collect();
        let roots = &self.kept.turn.roots;
        take_back::link_again(&self.store, roots, change, (judged, former), &known)
    }

    /// What was written to the file of a change for a person by another of its names, if that is there now: nobody has changed
    /// it since.
    fn written_by_other_name(&self, change: &Change) -> Option<Overwriting> {
        let path = change.path.as_path();
        if !has_other_names(path) || kept::is_at(&change.after, path) {
            return None;
        }
        let others = self.kept.turn.changes.iter();
        let mut others = others.filter(|it| it.path != path && it.after == change.after);
        others.find_map(|other| {
            let writing = self.store.writing(&other.path)?;
            let (overwritten, written) = (writing.overwritten?, writing.written);
            let is_it = identity(&other.path) == identity(path) && kept::is_at(&written, path);
            is_it.then_some(Overwriting {
                overwritten,
                written,
                by_name: other.path.clone(),
            })
        })
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
        let found = take_back::hunks(&self.store, roots, change)?;
        let without = found.without(lines).ok_or_else(|| self.no_hunk(change))?;
        if without.is_all && change.before.is_absent() {
            return self.one(Act::TakeBack, change);
        }
        let seen = Present {
            before: None,
            now: Some(found.now().bytes().to_vec()),
            changed_since: 0,
            changed_at: String::new(),
            is_link: false,
        };
        let done = take_back::rewrite(&self.store, roots, change, &seen, &without.text)?;
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
        // An editor may show a last line ended that is not, and end it once it is saved.
        let end = match self.store.text_of(&change.after)? {
            Some(after) if !after.is_empty() && !after.ends_with(b"\n") => {
                final_line_end(text.as_bytes())
            }
            _ => &[],
        };
        let bytes = text.as_bytes()[..text.len() - end.len()].to_vec();
        let (mut taken, judgement) = match lines {
            None => {
                let taken = take_back::out_of(&self.store, change, bytes)?;
                (taken, Judgement::TakenBack)
            }
            Some(lines) => {
                let found: CurrentHunks = take_back::hunks_in(&self.store, change, bytes)?;
                let without = found.without(lines).ok_or_else(|| self.no_hunk(change))?;
                let judgement = judgement(without.left, without.is_all);
                (without.text, judgement)
            }
        };
        if !taken.ends_with(b"\n") {
            taken.extend_from_slice(end);
        }
        let not_text = |_| TakeBackError::NotText(change.path.clone());
        let taken = String::from_utf8(taken).map_err(not_text)?;
        let is_all = judgement == Judgement::TakenBack;
        let mut made = self.made(change, judgement, None);
        // Without room for them, it is not noticed that the person undoes this.
        let texts = [text, &taken].map(|it| self.store.put(it.as_bytes()).ok());
        if let (Some(judged), [Some(with), Some(left)]) = (&mut made.judged, texts) {
            judged.in_editor = Some((with, left));
        }
        let what = self.save(change, made)?;
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
        let done = take_back::rewrite(&self.store, roots, change, seen, text.as_bytes())?;
        self.tell_what_became(change, false, &done);
        self.judge(change, Judgement::Edited, Some(done))
    }

    /// The reason why what was taken back cannot be put into the file.
    pub(super) fn not_undone(&self, change: &Change, error: TakeBackError) -> DecideError {
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
    pub(super) fn clear_up(&self, change: &Change, done: &Done) {
        if done.written.is_absent() {
            let path = change.path.as_path();
            let around = path.ancestors().skip(1).zip(&change.folder_modes);
            let gone = around.filter(|(_, mode)| change.after.is_absent() && mode.after.is_none());
            let gone: Vec<&Path> = gone.map(|(it, _)| it).collect();
            let is_new = |it: &Path| gone.contains(&it) || self.new_folders.contains(it);
            take_back::remove_folders(&self.kept.turn.roots, path, is_new);
        }
    }

    /// Reads which calls of the agent run, if its turn goes on and others may run by now.
    pub(super) fn read_running(&mut self) {
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
    pub(super) fn call_on(&self, change: &Change) -> Option<&Running> {
        let turn = self.now.as_ref().unwrap_or(&self.kept.turn);
        turn.call_on(&change.path)
    }

    /// Refuses what a call of the agent may be writing at this moment.
    pub(super) fn refuse_running(&self, change: &Change) -> Result<(), DecideError> {
        match self.call_on(change) {
            None => Ok(()),
            Some(call) => Err(DecideError::Running {
                agent: self.kept.agent().to_owned(),
                tool: visible::one_line(&call.tool),
            }),
        }
    }
}

/// The end of the last line of this text; empty if it has none.
fn final_line_end(text: &[u8]) -> &[u8] {
    let ends: [&[u8]; 2] = [b"\r\n", b"\n"];
    let end = ends.into_iter().find(|it| text.ends_with(it));
    end.unwrap_or_default()
}

/// The judgement of a change of which hunks were taken back, and so many are left.
fn judgement(left: usize, is_all: bool) -> Judgement {
    match (left, is_all) {
        (0, true) => Judgement::TakenBack,
        (0, false) => Judgement::Edited,
        _ => Judgement::Part,
    }
}
