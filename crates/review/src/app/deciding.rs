//! Accepting and rejecting: what the reviewer has seen goes to the gate, and the view stays until the gate has ruled.

use std::time::{Duration, Instant};

use pillion_judge::listed::ListedWords;
use pillion_protocol::Note;
use pillion_view::decision::TAKEN_FOR_REJECTION;
use pillion_view::{Decide, ProposalKey, Proposed, Ruling, Seen};

use super::review_delay::Press;
use super::{App, Effect, LONG_MESSAGE, MESSAGE, Question, Tone};

impl App {
    /// Accepts the diff that is shown.
    pub(super) fn accept(&mut self, press: &Press) {
        self.accept_at(self.current, self.seen(press));
    }

    /// Accepts the diff at a place among the pending ones, of which so much was seen.
    pub(super) fn accept_at(&mut self, at: usize, seen: Seen) {
        let view = &self.views[at];
        let notes = self.note_of_list(at).into_iter().chain(view.notes(true));
        let decide = view.acceptance(seen, notes.collect());
        let text = view.accepted();
        self.send(at, decide, text);
    }

    /// Rejects the diff that is shown, or asks first if edits would be lost.
    pub(super) fn ask_or_reject(&mut self, press: &Press, now: Instant) {
        let view = &self.views[self.current];
        if view.proposal.holds_edits() && self.question() != Some(Question::Reject) {
            let text = "this would drop your edits: <answer> rejects, <accept> accepts them";
            let text = self.keys.fill(text);
            return self.ask(Question::Reject, text, now);
        }
        self.reject(press, None);
    }

    /// Rejects the diff that is shown, for this reason.
    pub(super) fn reject(&mut self, press: &Press, reason: Option<Note>) {
        let view = &self.views[self.current];
        let reason = reason.filter(|note| !note.text.trim().is_empty());
        let text = view.rejected(reason.is_some());
        let notes = reason.into_iter().chain(self.note_of_list(self.current));
        let notes = notes.chain(view.notes(false)).collect();
        let decide = view.rejection(self.seen(press), notes);
        self.send(self.current, decide, text);
    }

    /// The note on the change of a diff that was typed in the list.
    fn note_of_list(&self, at: usize) -> Option<Note> {
        let written = self.views[at].diff.written.as_ref()?;
        let note = self.changes.words.on(written).note;
        (!note.trim().is_empty()).then(|| Note::on_all(note))
    }

    fn send(&mut self, at: usize, decide: Box<Decide>, text: String) {
        let note = self.note_of_list(at).map(|note| note.text);
        let view = &mut self.views[at];
        view.note_of_list = note.unwrap_or_default();
        view.begin_decision(&decide, text);
        self.effects.push(Effect::Decide(decide));
    }

    /// The person has decided. What is not written yet is the agent's then, and nothing before it is undone by the next key.
    pub(super) fn note_decision(&mut self, can_be_undone: bool) {
        let acts = self.views.iter().map(|it| (it.diff.id, it.acts()));
        match can_be_undone {
            true => self.decided.push(acts.collect()),
            false => self.decided.clear(),
        }
    }

    /// The agent gets the note that went with the decision.
    fn drop_note_of_list(&mut self, at: usize) {
        let view = &self.views[at];
        let sent = ListedWords {
            note: view.note_of_list.clone(),
            ..ListedWords::default()
        };
        if let Some(written) = &view.diff.written {
            self.changes.words.told(written, &sent);
        }
    }

    /// The part of the shown diff that the reviewer has seen.
    pub(super) fn seen(&self, press: &Press) -> Seen {
        let drawn_for = self.delay.looked_at(press, self.subject());
        let answers = self.question() == Some(Question::Accept);
        // The keyboard knows which keys are held down.
        self.views[self.current].seen(drawn_for, Vec::new(), answers)
    }

    /// Somebody has a sentence for the person, such as what the agent did with a decision.
    pub(super) fn noticed(&mut self, text: String, now: Instant) {
        self.notices.push((MESSAGE, Tone::Warning, text));
        self.tell_notices(now);
    }

    /// Something has happened of which the person is told, at once unless a question waits for its answer.
    pub(super) fn report(
        &mut self,
        time: Duration,
        tone: Tone,
        text: impl Into<String>,
        now: Instant,
    ) {
        match self.question() {
            Some(_) => self.notices.push((time, tone, text.into())),
            None => self.say_for(time, tone, text, now),
        }
    }

    pub(super) fn tell_notices(&mut self, now: Instant) {
        // A question stays on the screen as long as it waits for its answer.
        let waits = self.question().is_some();
        if waits || self.views.iter().any(|view| view.deciding.is_some()) {
            return;
        }
        for (time, tone, text) in std::mem::take(&mut self.notices) {
            self.say_for(time, tone, text, now);
        }
    }

    /// The gate has ruled about a decision.
    pub(super) fn ruled(&mut self, key: ProposalKey, ruling: Ruling, now: Instant) {
        self.tell_ruling(key, ruling, now);
        self.tell_notices(now);
    }

    fn tell_ruling(&mut self, key: ProposalKey, ruling: Ruling, now: Instant) {
        let Ok(at) = self.views.position(key.id) else {
            return;
        };
        let said = self.views[at].deciding.take();
        let is_current = self.views[at].key() == key;
        match ruling {
            Ruling::Settled(told) if is_current => {
                let is_rejection = self.views[at].takes_for_rejection();
                let tone = if is_rejection {
                    Tone::Warning
                } else {
                    Tone::Good
                };
                self.drop_note_of_list(at);
                self.answered_question();
                let view = self.remove(at);
                if view.is_act {
                    self.note_decision(view.diff.written.is_some());
                }
                let name = view.judged.target.shown;
                let is_told = self.accepted_next(&name, None, now);
                let said = said.unwrap_or_default();
                let Some(told) = told else {
                    if !is_told {
                        self.say(tone, said, now);
                    }
                    return;
                };
                self.say_for(LONG_MESSAGE, tone, format!("{said}: {}", told.message), now);
                self.effects.extend(told.clipboard.map(Effect::Copy));
            }
            // A newer proposal is there, and was announced.
            _ if !is_current => {}
            Ruling::Settled(_) => {}
            Ruling::Refused(refusal) => {
                self.views[at].is_told_rejection |= refusal.code == TAKEN_FOR_REJECTION;
                let is_shown = at == self.current;
                let name = self.views[at].target.shown.clone();
                if self.accepted_next(&name, Some(&refusal), now) {
                    return;
                }
                if is_shown && self.question().is_some() && refusal.is_about_time() {
                    // The question stays on the screen as long as it waits for its answer.
                    return;
                }
                if !is_shown {
                    let text = format!("{name}: {}", refusal.message);
                    self.say(Tone::Warning, text, now);
                } else if refusal.repeat {
                    let how = self.keys.fill("<answer> accepts anyway");
                    let text = format!("{}: {how}", refusal.message);
                    self.ask(Question::Accept, text, now);
                } else {
                    self.say(Tone::Warning, refusal.message, now);
                }
            }
        }
    }
}
