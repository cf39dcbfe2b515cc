//! `R` and `C`: the person's words for the agent, which are typed below the diff or the list of what was written. A reason
//! goes with the decision that it is typed for, and a note with the decision, whichever that is.

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
    about: About,
    kind: Kind,
    text: String,
    /// The most bytes that they may have.
    most: usize,
    /// The last key was an Enter that nobody pressed by itself.
    is_pasted: bool,
}

/// The thing that words are about, as it was when they were begun.
#[derive(Debug, Clone)]
enum About {
    /// A proposal. Where a newer proposal came, nothing is rejected for a reason that its person has not had.
    Proposal(ProposalKey),
    /// A line of the list, by its name and revision.
    Listed(String, String),
}

/// The use of words that are being typed.
#[derive(Debug, Clone)]
enum Kind {
    /// Enter rejects the proposal with them, or takes back what was written.
    Reason,
    /// Enter keeps them as a note on these lines of the text after, as it was when they were begun.
    Note(Version, Range<usize>),
    /// Enter keeps them as a note on the line of the list.
    NoteOnListed,
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
            // The one that it replaces makes room.
            Kind::Note(..) => notes.sum::<usize>() - text.len(),
            _ => notes.sum(),
        };
        let about = About::Proposal(view.key());
        self.remark = Some(Remark::new(about, kind, text, others));
    }

    /// Starts to ask for words about the line of the list under the cursor, or goes on with those that were not sent.
    pub(super) fn ask_about_row(&mut self, is_reason: bool) {
        let Some((id, revision)) = self.changes.under_cursor() else {
            return;
        };
        let words = self.changes.words_on(&id);
        let (kind, text, others) = match is_reason {
            true => (Kind::Reason, words.reason, words.note.len()),
            false => (Kind::NoteOnListed, words.note, words.reason.len()),
        };
        let about = About::Listed(id, revision);
        self.remark = Some(Remark::new(about, kind, text, others));
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
        self.remark
            .take_if(|remark| matches!(remark.about, About::Proposal(key) if key.id == id));
    }

    /// The line that is shown while words are typed.
    pub(super) fn remark_line(&self) -> Option<String> {
        let remark = self.remark.as_ref()?;
        let text = &remark.text;
        let pasted = |does: &str| match remark.is_pasted {
            true => format!(" ({PASTED}: Enter again {does})"),
            false => String::new(),
        };
        let view = match &remark.about {
            About::Proposal(key) => self.views.find(key.id)?,
            About::Listed(id, _) => {
                let (what, again) = match remark.kind {
                    Kind::Reason => ("reason for taking back", pasted("takes it back")),
                    _ => ("note on", pasted("keeps it")),
                };
                return Some(format!("{what} {}: {text}▏{again}", named_row(id)));
            }
        };
        let name = &view.target.shown;
        Some(match &remark.kind {
            Kind::Reason => {
                let edits = match view.proposal.holds_edits() {
                    true => ", which drops your edits",
                    false => "",
                };
                let (does, again) = match view.written {
                    None => ("rejecting", pasted("rejects")),
                    Some(_) => ("taking back", pasted("takes it back")),
                };
                format!("reason for {does} {name}{edits}: {text}▏{again}")
            }
            Kind::Note(_, lines) => {
                let (lines, again) = (named(lines), pasted("keeps it"));
                format!("note on {lines} of {name}: {text}▏{again}")
            }
            Kind::NoteOnListed => return None,
        })
    }

    /// What Enter does while words are typed, and what Esc does.
    pub fn enter_and_esc_do(&self) -> Option<(&'static str, &'static str)> {
        self.remark.as_ref().map(|remark| {
            let esc = match remark.about {
                About::Proposal(_) => "back to the diff",
                About::Listed(..) => "back to the list",
            };
            let is_written = match &remark.about {
                About::Proposal(key) => {
                    let view = self.views.find(key.id);
                    view.is_some_and(|view| view.written.is_some())
                }
                About::Listed(..) => true,
            };
            let enter = match (&remark.kind, is_written) {
                (Kind::Reason, false) => "reject",
                (Kind::Reason, true) => "take back",
                _ => "keep the note",
            };
            (enter, esc)
        })
    }

    /// The note on the current hunk, or on the current line of the list.
    pub(super) fn note_line(&self) -> Option<String> {
        if self.changes().is_some() {
            let (id, _) = self.changes.under_cursor()?;
            let note = self.changes.words_on(&id).note;
            return (!note.is_empty()).then(|| format!("your note on {}: {note}", named_row(&id)));
        }
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
        let key = match remark.about {
            About::Proposal(key) => key,
            About::Listed(id, _) => {
                let words = self.changes.words_on_mut(id);
                match remark.kind {
                    Kind::Reason => words.reason = remark.text,
                    _ => words.note = remark.text,
                }
                return;
            }
        };
        let Some(view) = self.views.find_mut(key.id) else {
            return;
        };
        match remark.kind {
            Kind::NoteOnListed => {}
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
            about, kind, text, ..
        } = remark.clone();
        self.leave_remark();
        let key = match about {
            About::Proposal(key) => key,
            About::Listed(id, revision) => {
                return match kind {
                    Kind::Reason => self.take_back_because(press, &id, &revision, now),
                    _ if text.trim().is_empty() => {
                        self.say(Tone::Info, "there is no note on this", now);
                    }
                    _ => {
                        let said = "the agent gets your note when you keep this or take it back";
                        self.say(Tone::Good, said, now);
                    }
                };
            }
        };
        let is_same = self.view().is_some_and(|view| view.key() == key);
        match kind {
            Kind::NoteOnListed => {}
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
    /// Words beside notes that have so many bytes.
    fn new(about: About, kind: Kind, text: String, others: usize) -> Self {
        Self {
            about,
            kind,
            text,
            most: MAX_NOTES.saturating_sub(others),
            is_pasted: false,
        }
    }

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

/// A line of the list, in words: `turn 7`, or `7.2`.
fn named_row(id: &str) -> String {
    match id.contains('.') {
        true => id.to_owned(),
        false => format!("turn {id}"),
    }
}

/// Lines, from 0, as people count them.
fn named(lines: &Range<usize>) -> String {
    match lines.len() {
        0 | 1 => format!("line {}", lines.start + 1),
        _ => format!("lines {} to {}", lines.start + 1, lines.end),
    }
}
