//! The effects of agents, the file system and the reviewer's editor on the views.

use std::mem;
use std::time::Instant;

use pillion_judge::act::Act;
use pillion_judge::proposal::Edits;
use pillion_judge::{Disk, Done, Step, Target};
use pillion_view::{CloseReason, Diff, DiffId, Reply};

use super::{App, Edit, Effect, LONG_MESSAGE, MESSAGE, Overlay, Question, Tone};
use crate::view::View;

impl App {
    pub(super) fn open(
        &mut self,
        mut diff: Diff,
        original: Option<Vec<u8>>,
        shown: Reply<()>,
        now: Instant,
    ) {
        let target = Target::new(diff.path.clone(), &self.roots);
        let step = Step::Propose {
            original,
            proposed: mem::take(&mut diff.proposed),
            shown,
        };
        let id = diff.id;
        let is_of = |(agent, path): &(_, _)| *agent == diff.proposer && *path == diff.path;
        self.message
            .take_if(|it| diff.written.is_none() && it.ended.as_ref().is_some_and(is_of));
        if let Some(view) = self.views.find_mut(id) {
            view.renew(diff, target);
        } else {
            let is_asked_for = self.changes.opens(diff.written.as_deref());
            let current = self.view().map(|view| view.diff.id);
            let current = current.filter(|_| !is_asked_for).or(Some(id));
            self.views.put(View::new(diff, target));
            // A file of a set comes beside the others, perhaps before the one that is shown.
            if let Some(at) = current.and_then(|id| self.views.position(id).ok()) {
                self.current = at;
            }
        }
        self.number_agents();
        self.compare(id, step, now);
    }

    /// Shows a step that was taken, with a message.
    pub(super) fn arrived(&mut self, id: DiffId, done: Done, now: Instant) {
        let is_shown = self.shows(id);
        if is_shown {
            self.delay.forget();
            self.drop_question();
        }
        match done {
            Done::Proposed {
                is_newer,
                edits,
                shown,
            } => {
                self.proposed(id, is_newer, edits, now);
                self.effects.push(Effect::Shown(shown));
            }
            Done::Offered(false) => {}
            Done::Offered(true) => self.say_offered(id, now),
            Done::EditedLate(edits) => self.say_newer(id, edits, now),
            Done::Rebased(is_changed) => {
                let Some(view) = self.views.find(id) else {
                    return;
                };
                let text = view.say_merged(is_changed, &self.keys);
                let text = match is_shown {
                    false => format!("{}: {text}", view.target.shown),
                    true => text,
                };
                self.report(MESSAGE, Tone::Info, text, now);
            }
            Done::Edited(is_changed) => {
                let text = match is_changed {
                    true => "the proposal is now your text · <accept> accepts it, <undo> undoes it",
                    false => "the proposal is unchanged",
                };
                let text = self.keys.fill(text);
                self.report(MESSAGE, Tone::Good, text, now);
            }
        }
    }

    fn proposed(&mut self, id: DiffId, is_newer: bool, edits: Edits, now: Instant) {
        if is_newer {
            if let Some(view) = self.views.find_mut(id) {
                view.disk = Disk::Same;
            }
            self.say_newer(id, edits, now);
            return;
        }
        let shows = self.shows(id);
        if shows {
            self.show_first_hunk();
        }
        let is_next = || {
            let next = self.views.get((self.current + 1) % self.views.len().max(1));
            next.is_some_and(|it| it.diff.id == id)
        };
        // The list is in front of all diffs.
        let where_it_is = self.keys.fill(match (self.is_at_list(), shows) {
            (true, _) => "<list> shows it",
            (false, true) => return,
            (false, false) if is_next() => "<next-diff> shows it",
            (false, false) => "<files> lists it",
        });
        if let Some(view) = self.views.find(id) {
            let (agent, name) = (self.agent_name(view), &view.target.shown);
            let proposes = view.diff.does();
            let text = format!("{agent} {proposes} {name} · {where_it_is}");
            self.report(MESSAGE, Tone::Info, text, now);
        }
    }

    fn say_newer(&mut self, id: DiffId, edits: Edits, now: Instant) {
        let Some(view) = self.views.find(id) else {
            return;
        };
        let agent = self.agent_name(view);
        let how = self.keys.fill(match self.shows(id) {
            true => "<undo> restores the previous one",
            false => "in its tab",
        });
        let (text, lost) = view.say_newer(&agent, edits, &how, &self.keys);
        let kept = lost.map(|lost| view.keep(lost, text.clone()));
        self.effects.extend(kept);
        self.report(MESSAGE, Tone::Warning, text, now);
    }

    fn say_offered(&mut self, id: DiffId, now: Instant) {
        let Some(view) = self.views.find(id) else {
            return;
        };
        let place = if self.shows(id) { "" } else { " in its tab" };
        let text = view.say_offered(&(self.keys.name(Act::Redo) + place));
        self.report(LONG_MESSAGE, Tone::Warning, text, now);
    }

    fn shows(&self, id: DiffId) -> bool {
        self.view().is_some_and(|view| view.diff.id == id)
    }

    pub(super) fn show_first_hunk(&mut self) {
        self.arrange();
        if let Some(viewport) = self.viewport() {
            let view = &mut self.views[self.current];
            let (hunk, top) = (view.hunk, view.top);
            if top == Default::default() {
                view.go_to_hunk(hunk, &viewport);
            }
        }
    }

    pub(super) fn close(
        &mut self,
        id: DiffId,
        reason: CloseReason,
        closed: Reply<String>,
        now: Instant,
    ) {
        let at = match self.views.position(id) {
            Ok(at) => at,
            Err(stale) => {
                let refused = Effect::Closed(closed, Err(stale.to_string()));
                return self.effects.push(refused);
            }
        };
        // By the name that it has beside the others.
        let agent = self.agent_name(&self.views[at]);
        let was_shown = at == self.current;
        self.end_remark_on(self.views[at].diff.id);
        let view = self.remove(at);
        let written = view.diff.written.as_ref();
        let text = view.say_closed(reason, &agent);
        let why = text.clone();
        // Said above another diff, it is not to be read as if that were meant.
        let text = match self.view() {
            None => text,
            Some(_) if was_shown => format!("{text} · this is the next one"),
            Some(_) => format!("{text} · current diff unaffected"),
        };
        match view.say_untold(reason, &agent) {
            Some(untold) => {
                let text = format!("{text} · {untold}");
                self.report(LONG_MESSAGE, Tone::Warning, text, now);
            }
            // The list says it on its row, and the line below it what the person has just done there.
            None if written.is_some() && self.is_at_list() => {}
            None => self.report(MESSAGE, Tone::Info, text, now),
        }
        if let Some(message) = self.message.as_mut().filter(|_| written.is_none()) {
            message.ended = Some((view.diff.proposer, view.diff.path.clone()));
        }
        let lost = view.lost_edits(reason);
        self.effects.extend(lost.map(|text| view.keep(text, why)));
        let text = view.standing_text();
        self.effects.push(Effect::Closed(closed, Ok(text)));
    }

    /// Takes a view away. The one that is shown stays, if it is another; after a file of a set comes the next one of it.
    pub(super) fn remove(&mut self, at: usize) -> View {
        let view = self.views.remove(at);
        self.end_remark_on(view.diff.id);
        if at < self.current {
            self.current -= 1;
        } else if at == self.current {
            let next = self.views.next_of_set(view.diff.set);
            let last = self.views.len().saturating_sub(1);
            self.current = next.unwrap_or(self.current.min(last));
            match self.overlay {
                Some(Overlay::Quit) if self.views.is_empty() => self.uncover(),
                Some(Overlay::Files | Overlay::Notes) if self.views.is_empty() => {
                    self.overlay = None;
                }
                _ => {}
            }
            self.drop_question();
            self.show_first_hunk();
        }
        view
    }

    pub(super) fn reread(
        &mut self,
        id: DiffId,
        original: Result<Option<Vec<u8>>, String>,
        now: Instant,
    ) {
        let Some(view) = self.views.find_mut(id) else {
            return;
        };
        match view.reread(original) {
            Err(reason) => self.report(MESSAGE, Tone::Warning, reason, now),
            Ok(None) => {
                let name = &view.target.shown;
                let how = self
                    .keys
                    .fill("<answer> makes this a new file, <reject> rejects");
                let text = format!("{name} was deleted: {how}");
                match self.shows(id) {
                    true => self.ask(Question::Create, text, now),
                    false => self.say(Tone::Warning, text, now),
                }
            }
            Ok(Some(step)) => self.compare(id, step, now),
        }
    }

    pub(super) fn edited(&mut self, id: DiffId, edit: Edit, now: Instant) {
        self.delay.forget();
        self.drop_question();
        match edit {
            Edit::Unchanged => self.say(Tone::Info, "the proposal is unchanged", now),
            Edit::File(false) => self.say(Tone::Info, "the file is unchanged", now),
            Edit::File(true) => self.say(Tone::Info, "the file is changed", now),
            // Most of these name the place where the text is.
            Edit::Failed(reason) | Edit::Kept(reason) | Edit::Lost(reason) => {
                self.say_for(LONG_MESSAGE, Tone::Warning, reason, now);
            }
            Edit::Late { text: None, .. } => self.say_newer(id, Edits::None, now),
            Edit::Late {
                base,
                text: Some(text),
            } => {
                let text = text.into();
                self.compare(id, Step::EditLate { base, text }, now);
            }
            Edit::Text(text) => self.compare(id, Step::Edit(text.into()), now),
        }
    }
}

impl View {
    /// Keeps what the reviewer wrote, if anything.
    pub(super) fn keep_edits(&self, why: String) -> Option<Effect> {
        Some(self.keep(self.edited_text()?, why))
    }

    fn keep(&self, text: String, why: String) -> Effect {
        Effect::Keep {
            id: self.diff.id,
            path: self.target.path.clone(),
            text,
            why,
        }
    }
}
