//! `R` and `C`: the person's words for the agent, which are typed below the diff. A reason goes with the rejection that
//! it is typed for, and notes on hunks with the decision, whichever that is.

use std::ops::Range;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyModifiers};
use pillion_protocol::Note;
use pillion_protocol::verdict::MAX_NOTES;
use pillion_view::{DiffId, ProposalKey, Proposed};

use super::review_delay::Press;
use super::{App, PASTED, Tone};
use crate::proposal::Version;
use crate::view::HunkNote;

/// Words that are being typed.
#[derive(Debug, Clone)]
pub struct Remark {
    /// The proposal that they are about. Where a newer proposal came, nothing is rejected for a reason that its person has not had.
    key: ProposalKey,
    kind: Kind,
    text: String,
    /// The most bytes that they may have.
    most: usize,
    /// The last key was an Enter that nobody pressed by itself.
    is_pasted: bool,
}

/// The use of words that are being typed.
#[derive(Debug, Clone)]
enum Kind {
    /// Enter rejects the proposal with them.
    Reason,
    /// Enter keeps them as a note on these lines of the text after, as it was when they were begun.
    Note(Version, Range<usize>),
}

impl App {
    /// Starts to ask for the reason, or goes on with one that was not sent.
    pub(super) fn ask_for_reason(&mut self, now: Instant) {
        if self.views[self.current].deciding.is_some() {
            return self.say(Tone::Info, "this is being decided", now);
        }
        let text = std::mem::take(&mut self.views[self.current].reason);
        self.ask_for(Kind::Reason, text);
    }

    /// Starts to ask for a note on the current hunk, or goes on with the one that it has.
    pub(super) fn ask_for_note(&mut self, now: Instant) {
        let view = &self.views[self.current];
        if view.deciding.is_some() {
            return self.say(Tone::Info, "this is being decided", now);
        }
        let Some(lines) = view.lines_of_hunk() else {
            return self.say(Tone::Info, "there is no hunk to comment on", now);
        };
        let text = view.note_on(&lines).map(|note| note.text.clone());
        let kind = Kind::Note(view.proposal.version(), lines);
        self.ask_for(kind, text.unwrap_or_default());
    }

    fn ask_for(&mut self, kind: Kind, text: String) {
        let view = &self.views[self.current];
        let notes = view.hunk_notes.iter().map(|it| it.text.len());
        let others = match &kind {
            Kind::Reason => notes.sum(),
            // The one that it replaces makes room.
            Kind::Note(..) => notes.sum::<usize>() - text.len(),
        };
        self.remark = Some(Remark {
            key: view.key(),
            kind,
            text,
            most: MAX_NOTES.saturating_sub(others),
            is_pasted: false,
        });
    }

    /// A key while words are typed.
    pub(super) fn on_remark_key(&mut self, press: &Press, now: Instant) {
        let Some(remark) = &mut self.remark else {
            return;
        };
        remark.is_pasted = false;
        let control = press.key.modifiers.contains(KeyModifiers::CONTROL);
        match (press.key.code, control) {
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'g'), true) => self.leave_remark(),
            (KeyCode::Enter, _) => self.end_remark(press, now),
            (KeyCode::Backspace, false) | (KeyCode::Char('h'), true) => {
                remark.text.pop();
            }
            (KeyCode::Char('u'), true) => remark.text.clear(),
            (KeyCode::Char('w'), true) | (KeyCode::Backspace, true) => {
                let rest = remark.text.trim_end();
                let end = rest.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                remark.text.truncate(end);
            }
            (KeyCode::Char(typed), false) => remark.insert(typed.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    /// A text that was pasted while words are typed. Returns true if they are.
    pub(super) fn paste_remark(&mut self, text: &str) -> bool {
        let Some(remark) = &mut self.remark else {
            return false;
        };
        remark.insert(text);
        true
    }

    /// The view of this diff is gone, and with it the words that were typed about it.
    pub(super) fn drop_remark(&mut self, id: DiffId) {
        self.remark.take_if(|remark| remark.key.id == id);
    }

    /// The line that is shown while words are typed.
    pub(super) fn remark_line(&self) -> Option<String> {
        let remark = self.remark.as_ref()?;
        let view = self.views.find(remark.key.id)?;
        let (name, text) = (&view.target.shown, &remark.text);
        let pasted = |does: &str| match remark.is_pasted {
            true => format!(" ({PASTED}: Enter again {does})"),
            false => String::new(),
        };
        Some(match &remark.kind {
            Kind::Reason => {
                let edits = match view.proposal.holds_edits() {
                    true => ", which drops your edits",
                    false => "",
                };
                let again = pasted("rejects");
                format!("reason for rejecting {name}{edits}: {text}▏{again}")
            }
            Kind::Note(_, lines) => {
                let (lines, again) = (named(lines), pasted("keeps it"));
                format!("note on {lines} of {name}: {text}▏{again}")
            }
        })
    }

    /// What Enter does while words are typed.
    pub fn enter_does(&self) -> Option<&'static str> {
        self.remark.as_ref().map(|remark| match remark.kind {
            Kind::Reason => "reject",
            Kind::Note(..) => "keep the note",
        })
    }

    /// The note on the current hunk.
    pub(super) fn note_line(&self) -> Option<String> {
        let view = self.view()?;
        let lines = view.lines_of_hunk()?;
        let note = view.note_on(&lines)?;
        Some(format!("your note on {}: {}", named(&lines), note.text))
    }

    /// Goes back to the diff; the same key goes on with the words.
    fn leave_remark(&mut self) {
        let Some(remark) = self.remark.take() else {
            return;
        };
        let Some(view) = self.views.find_mut(remark.key.id) else {
            return;
        };
        match remark.kind {
            Kind::Reason => view.reason = remark.text,
            Kind::Note(version, lines) => view.set_note(HunkNote {
                version,
                lines,
                text: remark.text,
            }),
        }
    }

    /// Enter: rejects with a reason, or keeps a note.
    fn end_remark(&mut self, press: &Press, now: Instant) {
        let Some(remark) = &mut self.remark else {
            return;
        };
        if press.is_no_decision() {
            // An Enter in what was pasted.
            remark.insert(" ");
            remark.is_pasted = true;
            return;
        }
        let Remark {
            key, kind, text, ..
        } = remark.clone();
        self.leave_remark();
        let is_same = self.view().is_some_and(|view| view.key() == key);
        match kind {
            Kind::Note(..) if text.trim().is_empty() => {
                self.say(Tone::Info, "there is no note on this hunk", now);
            }
            Kind::Note(..) => {
                let said = "the agent gets your note when you accept or reject";
                self.say(Tone::Good, said, now);
            }
            Kind::Reason if is_same => self.reject(press, Some(Note::on_all(text))),
            Kind::Reason => {
                let text = "a newer proposal is there: look at it; R goes on with your reason";
                self.say(Tone::Warning, text, now);
            }
        }
    }
}

impl Remark {
    /// Adds a text, in one line, as far as there is room.
    fn insert(&mut self, text: &str) {
        for letter in text.chars() {
            let letter = if letter.is_control() { ' ' } else { letter };
            if self.text.len() + letter.len_utf8() > self.most {
                return;
            }
            self.text.push(letter);
        }
    }
}

/// Lines, from 0, as people count them.
fn named(lines: &Range<usize>) -> String {
    match lines.len() {
        0 | 1 => format!("line {}", lines.start + 1),
        _ => format!("lines {} to {}", lines.start + 1, lines.end),
    }
}
