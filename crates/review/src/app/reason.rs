//! `R`: a rejection with a reason, which is typed below the diff.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyModifiers};
use pillion_protocol::Note;
use pillion_protocol::verdict::MAX_NOTES;
use pillion_view::{DiffId, ProposalKey, Proposed};

use super::review_delay::Press;
use super::{App, PASTED, Tone};

/// A reason that is being typed.
#[derive(Debug, Clone)]
pub struct Reason {
    /// The proposal that it is about. Where a newer proposal came, nothing is rejected for a reason that its person has not had.
    key: ProposalKey,
    text: String,
    /// The last key was an Enter that nobody pressed by itself.
    is_pasted: bool,
}

impl App {
    /// Starts to ask for the reason, or goes on with one that was not sent.
    pub(super) fn ask_for_reason(&mut self, now: Instant) {
        let view = &mut self.views[self.current];
        if view.deciding.is_some() {
            return self.say(Tone::Info, "this is being decided", now);
        }
        let key = view.key();
        let text = std::mem::take(&mut view.reason);
        self.reason = Some(Reason {
            key,
            text,
            is_pasted: false,
        });
    }

    /// A key while a reason is typed.
    pub(super) fn on_reason_key(&mut self, press: &Press, now: Instant) {
        let Some(reason) = &mut self.reason else {
            return;
        };
        reason.is_pasted = false;
        let control = press.key.modifiers.contains(KeyModifiers::CONTROL);
        match (press.key.code, control) {
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'g'), true) => self.leave_reason(),
            (KeyCode::Enter, _) => self.reject_with_reason(press, now),
            (KeyCode::Backspace, false) | (KeyCode::Char('h'), true) => {
                reason.text.pop();
            }
            (KeyCode::Char('u'), true) => reason.text.clear(),
            (KeyCode::Char('w'), true) | (KeyCode::Backspace, true) => {
                let rest = reason.text.trim_end();
                let end = rest.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                reason.text.truncate(end);
            }
            (KeyCode::Char(typed), false) => reason.insert(typed.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    /// A text that was pasted while a reason is typed; whether one is.
    pub(super) fn paste_reason(&mut self, text: &str) -> bool {
        let Some(reason) = &mut self.reason else {
            return false;
        };
        reason.insert(text);
        true
    }

    /// The view of this diff is gone, and with it what was typed about it.
    pub(super) fn drop_reason(&mut self, id: DiffId) {
        self.reason.take_if(|reason| reason.key.id == id);
    }

    /// The line that is shown while a reason is typed.
    pub(super) fn reason_line(&self) -> Option<String> {
        let Reason {
            key,
            text,
            is_pasted,
        } = self.reason.as_ref()?;
        let view = self.views.find(key.id)?;
        let name = &view.target.shown;
        let edits = match view.proposal.holds_edits() {
            true => ", which drops your edits",
            false => "",
        };
        let again = match is_pasted {
            true => format!(" ({PASTED}: Enter again rejects)"),
            false => String::new(),
        };
        Some(format!(
            "reason for rejecting {name}{edits}: {text}▏{again}"
        ))
    }

    /// Goes back to the diff; `R` goes on with what was typed.
    fn leave_reason(&mut self) {
        if let Some(Reason { key, text, .. }) = self.reason.take()
            && let Some(view) = self.views.find_mut(key.id)
        {
            view.reason = text;
        }
    }

    fn reject_with_reason(&mut self, press: &Press, now: Instant) {
        if press.is_no_decision() {
            // An Enter in what was pasted.
            if let Some(reason) = &mut self.reason {
                reason.insert(" ");
                reason.is_pasted = true;
            }
            return;
        }
        let Some(Reason { key, text, .. }) = self.reason.clone() else {
            return;
        };
        self.leave_reason();
        if self.view().is_none_or(|view| view.key() != key) {
            let text = "a newer proposal is there: look at it; R goes on with your reason";
            return self.say(Tone::Warning, text, now);
        }
        self.reject(press, vec![Note::on_all(text)]);
    }
}

impl Reason {
    /// Adds a text, in one line, as far as there is room.
    fn insert(&mut self, text: &str) {
        for letter in text.chars() {
            let letter = if letter.is_control() { ' ' } else { letter };
            if self.text.len() + letter.len_utf8() > MAX_NOTES {
                return;
            }
            self.text.push(letter);
        }
    }
}
