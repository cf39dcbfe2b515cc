//! The line that is typed below the diff or the list of what was written. `R` and `C`: the person's words for the agent; a reason
//! goes with the decision that it is typed for, and a note with the decision, whichever that is. `/` and `:`: where to go.

use std::path::PathBuf;
use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pillion_judge::DECIDING;
use pillion_judge::HunkNote;
use pillion_judge::listed::ListedWords;
use pillion_protocol::Note;
use pillion_protocol::verdict::MAX_NOTES;
use pillion_view::{DiffId, ProposalKey, Proposed};
use tui_input::{Input, InputRequest};

use super::review_delay::Press;
use super::{App, Edit, Effect, PASTED, Tone};
use crate::view::View;

/// Words that are being typed.
#[derive(Debug, Clone)]
pub struct Remark {
    purpose: Purpose,
    input: Input,
    /// The most bytes that they may have.
    most: usize,
    /// What they were when the reviewer's editor was opened on them.
    in_editor: String,
    /// They end with an Enter that nobody pressed by itself.
    is_pasted: bool,
    /// The reason why the last key or the reviewer's editor was of no use, until the next key.
    problem: Option<String>,
}

/// The use of words that are being typed, and what they are about, as it was when they were begun.
#[derive(Debug, Clone)]
enum Purpose {
    /// Enter rejects the proposal with them, or takes back what was written. Where a newer proposal came, nothing is rejected
    /// for a reason that its person has not had.
    Reason(ProposalKey),
    /// Enter keeps them as this note, which has none yet.
    Note(ProposalKey, HunkNote),
    /// Enter takes back the line of the list with this name and revision.
    ListedReason(String, String),
    /// Enter keeps them as a note on the line of the list with this name.
    ListedNote(String),
    /// Their diff has gone while they were typed, and no key of what is typed on may mean anything else. What they were then is
    /// kept with it.
    Gone {
        id: DiffId,
        path: PathBuf,
        name: String,
        kept: String,
    },
    /// Enter goes to the next place where they stand.
    Search,
    /// Enter goes to the line of this number.
    Line,
}

/// What is searched for has at most so many bytes.
const MAX_SEARCH: usize = 1_000;

impl App {
    /// Starts to ask for the reason, or goes on with one that was not sent.
    pub(super) fn ask_for_reason(&mut self, now: Instant) {
        if self.views[self.current].deciding.is_some() {
            return self.say(Tone::Info, DECIDING, now);
        }
        let view = &mut self.views[self.current];
        let (key, text) = (view.key(), std::mem::take(&mut view.reason));
        self.ask_for(Purpose::Reason(key), text);
    }

    /// Starts to ask for a note on what the cursor is at, or on the file, or goes on with the one that it has.
    pub(super) fn ask_for_note(&mut self, is_on_file: bool, now: Instant) {
        let view = &self.views[self.current];
        if view.deciding.is_some() {
            return self.say(Tone::Info, DECIDING, now);
        }
        let note = match is_on_file {
            true => Some(view.note_on_file()),
            false => self.noted(),
        };
        let Some(mut note) = note else {
            return self.say(Tone::Info, "there is no hunk to comment on", now);
        };
        let text = std::mem::take(&mut note.text);
        self.ask_for(Purpose::Note(view.key(), note), text);
    }

    /// Starts to ask what to search for.
    pub(super) fn ask_what_to_search(&mut self) {
        self.remark = Some(Remark::up_to(MAX_SEARCH, Purpose::Search, String::new()));
    }

    /// Starts to ask for the number of a line.
    pub(super) fn ask_for_line(&mut self) {
        self.remark = Some(Remark::up_to(MAX_SEARCH, Purpose::Line, String::new()));
    }

    fn ask_for(&mut self, purpose: Purpose, text: String) {
        let view = &self.views[self.current];
        let notes = view.hunk_notes.iter().map(|it| it.text.len());
        let others = match &purpose {
            // The one that it replaces makes room.
            Purpose::Note(..) => notes.sum::<usize>() - text.len(),
            _ => notes.sum(),
        };
        self.remark = Some(Remark::new(purpose, text, others));
    }

    /// Starts to ask for words about the line of the list under the cursor, or goes on with those that were not sent.
    pub(super) fn ask_about_row(&mut self, is_reason: bool) {
        let Some((id, revision)) = self.changes.under_cursor() else {
            return;
        };
        let words = self.changes.words.on(&id);
        let (note, reason) = (words.note, words.reason);
        self.remark = Some(match is_reason {
            true => Remark::new(Purpose::ListedReason(id, revision), reason, note.len()),
            false => Remark::new(Purpose::ListedNote(id), note, reason.len()),
        });
    }

    /// A key while words are typed.
    pub(super) fn on_remark_key(&mut self, key: KeyEvent, press: &Press, now: Instant) {
        let Some(remark) = &mut self.remark else {
            return;
        };
        remark.is_pasted = false;
        remark.problem = None;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let has_lines = remark.has_lines();
        match (key.code, control) {
            (KeyCode::Enter, _) if has_lines && key.modifiers.contains(KeyModifiers::ALT) => {
                remark.insert("\n");
            }
            (KeyCode::Char('j'), true) if has_lines => remark.insert("\n"),
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'g'), true) => self.leave_remark(),
            (KeyCode::Enter, _) => self.end_remark(press, now),
            _ => match request(key) {
                Some(InputRequest::InsertChar(typed)) => {
                    remark.insert(typed.encode_utf8(&mut [0; 4]));
                }
                Some(request) => {
                    remark.input.handle(request);
                }
                None => {}
            },
        }
    }

    /// Opens the reviewer's editor on the words that are being typed.
    pub(super) fn edit_words(&mut self) {
        let Some(remark) = &mut self.remark else {
            return;
        };
        if !remark.has_lines() {
            remark.input.handle(InputRequest::GoToEnd);
            return;
        }
        let text = remark.text().to_owned();
        remark.in_editor.clone_from(&text);
        self.effects.push(Effect::Edit {
            proposal: None,
            path: PathBuf::from("words.md"),
            line: text.lines().count().max(1),
            text: Some(text),
        });
    }

    /// The reviewer's editor has saved the words that are being typed, or ended.
    pub(super) fn worded(&mut self, edit: Edit) {
        let is_short = matches!(&edit, Edit::Text(text) if self.takes_words(text));
        let Some(remark) = &mut self.remark else {
            return;
        };
        let text = match edit {
            Edit::Text(text) if is_short => text,
            Edit::Unchanged => remark.in_editor.clone(),
            Edit::Failed(reason) | Edit::Kept(reason) | Edit::Lost(reason) => {
                remark.problem = Some(reason);
                return;
            }
            _ => return,
        };
        remark.input = Input::default();
        remark.insert(text.trim_end());
    }

    /// Returns true if words are being typed that may have several lines.
    pub fn types_lines(&self) -> bool {
        self.remark.as_ref().is_some_and(Remark::has_lines)
    }

    /// Returns true if so long a text may be what is being typed.
    pub fn takes_words(&self, text: &str) -> bool {
        let remark = self.remark.as_ref();
        remark.is_some_and(|remark| text.trim_end().len() <= remark.most)
    }

    /// A text that was pasted while words are typed. Returns true if they are.
    pub(super) fn paste_remark(&mut self, text: &str) -> bool {
        let Some(remark) = &mut self.remark else {
            return false;
        };
        let printed = printed(text);
        remark.insert(&match remark.has_lines() {
            true => printed,
            false => printed.replace(['\n', '\t'], " "),
        });
        remark.is_pasted = text.ends_with(['\r', '\n']);
        true
    }

    /// The view of this diff goes: it keeps the words that are being typed about it. Who types them goes on until Enter or Esc.
    pub(super) fn end_remark_on(&mut self, id: DiffId) {
        let Some(remark) = self.remark.clone().filter(|it| it.is_on(id)) else {
            return;
        };
        self.leave_remark();
        let target = self.views.find(id).map(|view| view.target.clone());
        self.remark = target.map(|target| Remark {
            purpose: Purpose::Gone {
                id,
                path: target.path,
                name: target.shown,
                kept: remark.text().to_owned(),
            },
            ..remark
        });
    }

    /// Returns true if words are being typed that were begun beside an earlier proposal of this diff: what was kept of them is no
    /// news.
    pub(super) fn types_since_before(&self, key: ProposalKey) -> bool {
        let began = self.remark.as_ref().and_then(|it| it.purpose.key());
        began.is_some_and(|began| began.id == key.id && began.revision < key.revision)
    }

    /// All that the reviewer has to say of the diff of this view and has not sent, with what is being typed.
    pub fn words_on(&self, view: &View) -> Vec<Note> {
        let mut notes = view.drafts(None);
        let mut reason = view.reason.as_str();
        if let Some(typed) = self.remark.as_ref().filter(|it| it.is_on(view.diff.id)) {
            match &typed.purpose {
                Purpose::Note(_, note) => {
                    let text = typed.text().to_owned();
                    notes = view.drafts(Some(&HunkNote {
                        text,
                        ..note.clone()
                    }));
                }
                _ => reason = typed.text(),
            }
        }
        if !reason.trim().is_empty() {
            notes.push(Note::on_all(reason));
        }
        notes
    }

    /// The words on the line of the list about which some are being typed, with these, and its name.
    pub(super) fn typed_on_row(&self) -> Option<(String, ListedWords)> {
        let typed = self.remark.as_ref()?;
        let text = typed.text().to_owned();
        let (Purpose::ListedReason(id, _) | Purpose::ListedNote(id)) = &typed.purpose else {
            return None;
        };
        let words = self.changes.words.on(id);
        let words = match typed.purpose {
            Purpose::ListedNote(_) => ListedWords {
                note: text,
                ..words
            },
            _ => ListedWords {
                reason: text,
                ..words
            },
        };
        Some((id.clone(), words))
    }

    /// The line that is shown while words are typed.
    pub(super) fn remark_line(&self) -> Option<String> {
        let remark = self.remark.as_ref()?;
        let text = with_cursor(&remark.input);
        let problem = remark.problem.as_ref();
        let problem = problem.map_or_else(String::new, |why| format!(" ({why})"));
        let text = format!("{text}{problem}");
        let pasted = |does: &str| match remark.is_pasted {
            true => format!(" ({PASTED}: Enter again {does})"),
            false => String::new(),
        };
        Some(match &remark.purpose {
            Purpose::Reason(key) => {
                let view = self.views.find(key.id)?;
                let edits = match view.proposal.holds_edits() {
                    true => ", which drops your edits",
                    false => "",
                };
                let (does, again) = match view.diff.written {
                    None => ("rejecting", pasted("rejects")),
                    Some(_) => ("taking back", pasted("takes it back")),
                };
                let name = &view.target.shown;
                format!("reason for {does} {name}{edits}: {text}{again}")
            }
            Purpose::Note(key, note) => {
                let view = self.views.find(key.id)?;
                let (name, again) = (&view.target.shown, pasted("keeps it"));
                let place = note.place(&view.proposal);
                format!("note on {place} of {name}: {text}{again}")
            }
            Purpose::ListedReason(id, _) => {
                let (name, again) = (named_row(id), pasted("takes it back"));
                format!("reason for taking back {name}: {text}{again}")
            }
            Purpose::ListedNote(id) => {
                let (name, again) = (named_row(id), pasted("keeps it"));
                format!("note on {name}: {text}{again}")
            }
            Purpose::Gone { name, .. } => {
                format!("the diff of {name} is gone, your words are kept: {text}")
            }
            Purpose::Search => format!("search: {text}"),
            Purpose::Line => format!("line: {text}"),
        })
    }

    /// The effects of Enter and of Esc while words are typed.
    pub fn enter_and_esc_do(&self) -> Option<(&'static str, &'static str)> {
        let purpose = &self.remark.as_ref()?.purpose;
        let is_written = |key: &ProposalKey| {
            let view = self.views.find(key.id);
            view.is_some_and(|view| view.diff.written.is_some())
        };
        let enter = match purpose {
            Purpose::Reason(key) if !is_written(key) => "reject",
            Purpose::Reason(_) | Purpose::ListedReason(..) => "take back",
            Purpose::Note(..) | Purpose::ListedNote(_) => "keep the note",
            Purpose::Gone { .. } => "go on",
            Purpose::Search => "search all pending diffs",
            Purpose::Line => "go there",
        };
        let esc = match purpose {
            Purpose::ListedReason(..) | Purpose::ListedNote(_) => "back to the list",
            Purpose::Note(..) => "keeps it, too",
            _ => "back to the diff",
        };
        Some((enter, esc))
    }

    /// The note on the current hunk, or on the current line of the list.
    pub(super) fn note_line(&self) -> Option<String> {
        if self.changes().is_some() {
            let (id, _) = self.changes.under_cursor()?;
            let note = self.changes.words.on(&id).note;
            return (!note.is_empty()).then(|| format!("your note on {}: {note}", named_row(&id)));
        }
        let note = self.noted().filter(|note| !note.text.is_empty())?;
        let place = note.place(&self.view()?.proposal);
        Some(format!("your note on {place}: {}", note.text))
    }

    /// Goes back to the diff, or to the list; the same key goes on with the words.
    fn leave_remark(&mut self) {
        let Some(Remark { purpose, input, .. }) = self.remark.take() else {
            return;
        };
        let text = input.value().to_owned();
        match purpose {
            Purpose::Reason(key) => {
                if let Some(view) = self.views.find_mut(key.id) {
                    view.reason = text;
                }
            }
            Purpose::Note(key, note) => {
                if let Some(view) = self.views.find_mut(key.id) {
                    view.write_note(HunkNote { text, ..note });
                }
                // The next note is on other lines.
                self.selection = None;
            }
            Purpose::ListedReason(id, _) => self.changes.words.on_mut(id).reason = text,
            Purpose::ListedNote(id) => self.changes.words.on_mut(id).note = text,
            Purpose::Gone {
                id,
                path,
                name,
                kept,
            } => {
                if text != kept {
                    let why = format!("the diff of {name} was gone before you had typed this");
                    self.effects.push(Effect::Keep {
                        id,
                        path,
                        text,
                        why,
                    });
                }
            }
            Purpose::Search | Purpose::Line => {}
        }
    }

    /// Enter: rejects or takes back with a reason, or keeps a note.
    fn end_remark(&mut self, press: &Press, now: Instant) {
        let Some(remark) = &mut self.remark else {
            return;
        };
        if press.is_no_decision() {
            // An Enter in what was pasted.
            remark.insert(if remark.has_lines() { "\n" } else { " " });
            remark.is_pasted = true;
            return;
        }
        let Remark { purpose, input, .. } = remark.clone();
        let text = input.value().trim_end().to_owned();
        self.leave_remark();
        let is_empty = text.trim().is_empty();
        let (tone, said) = match purpose {
            Purpose::Reason(key) => match self.view().is_some_and(|view| view.key() == key) {
                true => return self.reject(press, Some(Note::on_all(text))),
                false => {
                    let text =
                        "a newer proposal is there: look at it; <reason> goes on with your reason";
                    let text = self.keys.fill(text);
                    return self.say(Tone::Warning, text, now);
                }
            },
            Purpose::ListedReason(id, revision) => {
                return self.take_back_because(press, &id, &revision, now);
            }
            Purpose::Gone { .. } => return,
            Purpose::Search => return self.search_for(text, now),
            Purpose::Line => return self.go_to_line(&text, now),
            Purpose::Note(..) if is_empty => (Tone::Info, "there is no note on this hunk"),
            Purpose::Note(..) => (
                Tone::Good,
                "the agent gets your note when you accept or reject",
            ),
            Purpose::ListedNote(_) if is_empty => (Tone::Info, "there is no note on this"),
            Purpose::ListedNote(_) => (
                Tone::Good,
                "the agent gets your note when you keep this or take it back",
            ),
        };
        self.say(tone, said, now);
    }
}

impl Purpose {
    /// The proposal that the words are about; none if that is a line of the list.
    fn key(&self) -> Option<ProposalKey> {
        match self {
            Self::Reason(key) | Self::Note(key, ..) => Some(*key),
            _ => None,
        }
    }
}

impl Remark {
    fn is_on(&self, id: DiffId) -> bool {
        self.purpose.key().is_some_and(|key| key.id == id)
    }

    /// Words beside notes that have so many bytes.
    fn new(purpose: Purpose, text: String, others: usize) -> Self {
        Self::up_to(MAX_NOTES.saturating_sub(others), purpose, text)
    }

    fn up_to(most: usize, purpose: Purpose, text: String) -> Self {
        Self {
            purpose,
            input: text.into(),
            most,
            in_editor: String::new(),
            is_pasted: false,
            problem: None,
        }
    }

    /// The last key was of no use.
    pub(super) fn refuse(&mut self, why: &str) {
        self.problem = Some(why.to_owned());
    }

    /// Returns true if the words may have several lines: what is searched for has one.
    fn has_lines(&self) -> bool {
        !matches!(self.purpose, Purpose::Search | Purpose::Line)
    }

    fn text(&self) -> &str {
        self.input.value()
    }

    /// Adds a text at the cursor, as far as there is room.
    fn insert(&mut self, text: &str) {
        for letter in text.chars() {
            let is_plain = !letter.is_control() || matches!(letter, '\n' | '\t');
            let letter = if is_plain { letter } else { ' ' };
            if self.text().len() + letter.len_utf8() > self.most {
                return;
            }
            self.input.handle(InputRequest::InsertChar(letter));
        }
    }
}

/// What was typed, with the cursor in it.
pub(super) fn with_cursor(input: &Input) -> String {
    let text = input.value();
    let at = text.char_indices().nth(input.cursor());
    let (before, after) = text.split_at(at.map_or(text.len(), |(at, _)| at));
    format!("{before}▏{after}")
}

/// What a key does to the line that is typed, as in a shell.
pub(super) fn request(key: KeyEvent) -> Option<InputRequest> {
    use InputRequest::*;
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let by_word = control || alt;
    Some(match key.code {
        KeyCode::Left if by_word => GoToPrevWord,
        KeyCode::Right if by_word => GoToNextWord,
        KeyCode::Left => GoToPrevChar,
        KeyCode::Right => GoToNextChar,
        KeyCode::Home => GoToStart,
        KeyCode::End => GoToEnd,
        KeyCode::Backspace if by_word => DeletePrevWord,
        KeyCode::Backspace => DeletePrevChar,
        KeyCode::Delete if by_word => DeleteNextWord,
        KeyCode::Delete => DeleteNextChar,
        KeyCode::Char(key) if control => match key {
            'a' => GoToStart,
            'b' => GoToPrevChar,
            'd' => DeleteNextChar,
            'e' => GoToEnd,
            'f' => GoToNextChar,
            'h' => DeletePrevChar,
            'k' => DeleteTillEnd,
            'u' => DeleteFromStart,
            'w' => DeletePrevWord,
            'y' => Yank,
            _ => return None,
        },
        KeyCode::Char(key) if alt => match key {
            'b' => GoToPrevWord,
            'd' => DeleteNextWord,
            'f' => GoToNextWord,
            // It may be the end of what the terminal sends late.
            _ => InsertChar(key),
        },
        KeyCode::Char(typed) => InsertChar(typed),
        _ => return None,
    })
}

/// What a terminal would print of a text: without escape sequences and control characters other than tabs and ends of lines.
fn printed(text: &str) -> String {
    let mut printed = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.as_str().starts_with('\n') => {}
            '\r' => printed.push('\n'),
            '\n' | '\t' => printed.push(char),
            '\u{1b}' | '\u{80}'..='\u{9f}' => {
                // The eighth bit stands for an escape before the letter.
                let (kind, rest) = match char {
                    '\u{1b}' => (chars.next(), chars.as_str()),
                    _ => (char::from_u32(u32::from(char) - 0x40), chars.as_str()),
                };
                chars = after_sequence(kind, rest).chars();
            }
            char if char.is_control() => {}
            char => printed.push(char),
        }
    }
    printed
}

/// What follows an escape sequence of this kind. Of one without an end, only its beginning goes.
fn after_sequence(kind: Option<char>, rest: &str) -> &str {
    match kind {
        Some('[') => {
            let end = rest.trim_start_matches(|char| (' '..='?').contains(&char));
            end.strip_prefix(|char| ('@'..='~').contains(&char))
                .unwrap_or(end)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let ends = ["\u{7}", "\u{1b}\\", "\u{9c}"];
            let ends = ends.iter().filter_map(|end| rest.split_once(end));
            let first = ends.min_by_key(|(inner, _)| inner.len());
            first.map_or(rest, |(_, after)| after)
        }
        _ => rest,
    }
}

/// A line of the list, in words: `turn 7`, or `7.2`.
fn named_row(id: &str) -> String {
    match id.contains('.') {
        true => id.to_owned(),
        false => format!("turn {id}"),
    }
}
