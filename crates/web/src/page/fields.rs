//! What is being typed in the fields of tabs and was not sent. It belongs to the proposal that it was begun on, and to a tab.

use std::collections::HashMap;
use std::path::PathBuf;

use pillion_judge::HunkNote;
use pillion_judge::proposal::Proposal;
use pillion_text::visible::{self, Place};
use pillion_text::{Text, counted, restore};
use pillion_view::DiffId;

use super::{Page, Shown};
use crate::server::{Outcome, json};
use crate::wire::{self, Unseeable};

/// A file of more bytes is edited in parts of so many: browsers need seconds for each letter in a field of megabytes.
const MAX_FIELD: usize = 500_000;
const MAX_PART: usize = 100_000;

/// The lines of a part above the person's line.
const ABOVE: usize = 100;

/// So many characters that cannot be seen are named.
const MOST_NAMED: usize = 8;

/// What is typed on one diff.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    edits: Vec<Edit>,
    /// The note that is being typed in a tab.
    pub(crate) notes: HashMap<String, HunkNote>,
    /// The note for which a tab has opened its field last.
    begun: HashMap<String, HunkNote>,
    /// The number of what was heard last of a tab.
    heard: HashMap<String, u64>,
}

/// A diff that is gone, and what was typed on it: more may be on its way.
pub(crate) struct Ended {
    id: DiffId,
    path: PathBuf,
    fields: Fields,
    /// Why it is gone.
    words: String,
}

impl Ended {
    pub(super) fn new(view: Shown, words: String) -> Self {
        Self {
            id: view.diff.id,
            path: view.judged.target.path,
            fields: view.fields,
            words,
        }
    }
}

/// What of a file is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    File,
    Hunk(usize),
    /// Lines of the text that would be accepted: the first, and the one after the last.
    Lines(usize, usize),
}

impl Piece {
    pub(crate) fn new(hunk: Option<usize>, lines: Option<(usize, usize)>) -> Self {
        let lines = lines.map_or(Self::File, |(from, to)| Self::Lines(from, to));
        hunk.map_or(lines, Self::Hunk)
    }
}

/// A text that is being edited.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    tab: String,
    part: Piece,
    /// As it was when it was begun.
    pub(crate) base: Proposal,
    /// What the field holds, once something was typed.
    text: Option<String>,
}

impl Edit {
    /// The file as it was typed; none if nothing is another.
    fn whole(&self) -> Option<String> {
        let text = edited(&self.base, self.part, self.text.as_ref()?)?;
        (text != self.base.text()).then_some(text)
    }
}

impl Fields {
    /// What was begun in this tab.
    pub(crate) fn edit(&mut self, tab: &str, part: Piece) -> Option<&mut Edit> {
        let mut edits = self.edits.iter_mut();
        edits.find(|it| it.tab == tab && it.part == part)
    }

    /// The note of a tab, as it was begun.
    pub(crate) fn begun_note(&self, tab: &str) -> Option<&HunkNote> {
        self.notes.get(tab).or_else(|| self.begun.get(tab))
    }

    /// Returns true if this is newer than what was heard of a tab: of two requests, the second may come first.
    fn hear(&mut self, tab: &str, n: u64) -> bool {
        let heard = self.heard.entry(tab.to_owned()).or_default();
        let is_newer = n >= *heard;
        *heard = n.max(*heard);
        is_newer
    }

    /// It is no longer only in the field.
    pub(crate) fn sent(&mut self, tab: &str, part: Piece) {
        self.edits.retain(|it| it.tab != tab || it.part != part);
    }

    /// All texts that were typed and not sent.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.edits.iter().filter_map(Edit::whole)
    }
}

/// The text that would be accepted with what was typed in place of a part of it.
pub(crate) fn edited(of: &Proposal, part: Piece, text: &str) -> Option<String> {
    match part {
        Piece::File => Some(restore::of_field(&of.text(), text)),
        Piece::Hunk(hunk) => of.with_hunk(hunk, text),
        Piece::Lines(from, to) => {
            let whole = Text::new(of.text());
            let to = to.min(whole.len());
            let slice = |lines| String::from_utf8_lossy(whole.slice(lines));
            let mut text = restore::of_field(&slice(from.min(to)..to), text);
            if !text.is_empty() && !text.ends_with('\n') && to < whole.len() {
                text.push('\n');
            }
            Some([&*slice(0..from.min(to)), &text, &*slice(to..whole.len())].concat())
        }
    }
}

/// The part of a text that a field takes, at this line of it; none if it takes all.
pub(crate) fn part_of(text: &Text, line: usize) -> Option<(usize, usize)> {
    let from = line.min(text.len().saturating_sub(1)).saturating_sub(ABOVE);
    let mut left = MAX_PART;
    let fits = |line: &usize| {
        left > 0 && {
            left = left.saturating_sub(text.line(*line).len());
            true
        }
    };
    let lines = (from..text.len()).take_while(fits).count();
    (text.bytes().len() > MAX_FIELD).then_some((from, from + lines))
}

/// The line of the text that would be accepted at which a line after stands.
pub(crate) fn accepted_line(of: &Proposal, line: usize) -> usize {
    let out = of.hunks().iter();
    let out = out.filter(|it| it.out && it.after.start <= line);
    out.fold(line, |accepted, hunk| {
        let gone = hunk.after.len().min(line - hunk.after.start);
        let back = if hunk.after.end <= line {
            hunk.before.len()
        } else {
            0
        };
        accepted - gone + back
    })
}

impl Unseeable {
    /// That of a text: what rows would show as something else. The mark at the beginning of a file is in no field.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (mut named, mut count) = (Vec::new(), 0);
        let is_plain = |it: u8| matches!(it, b' '..=b'~' | b'\t' | b'\r');
        for (line, number) in text.split('\n').zip(1..) {
            if line.bytes().all(is_plain) {
                continue;
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            for piece in visible::pieces(line, Place::default()) {
                if piece.replaced {
                    count += 1;
                    if named.len() < MOST_NAMED {
                        named.push(format!("{} in line {number}", piece.text));
                    }
                }
            }
        }
        let more = (count > named.len()).then(|| format!("{} more", count - named.len()));
        named.extend(more);
        let hidden = (count > 0).then(|| {
            let count = counted(count, "character");
            format!("{count} cannot be seen in this field: {}", named.join(", "))
        });
        Self { hidden }
    }
}

impl Page {
    /// A field is opened. Answers what was typed in it before, if that was on this text; what was typed on another is kept.
    pub(crate) fn begin_edit(&mut self, tab: &str, id: DiffId, part: Piece) -> Option<String> {
        let tabs = &self.tabs;
        let view = self.views.find_mut(id)?;
        let is_free =
            |it: &mut Edit| it.part == part && (it.tab == tab || !tabs.contains_key(&it.tab));
        let former: Vec<_> = view.fields.edits.extract_if(.., is_free).collect();
        let now = view.proposal.text();
        let (same, other): (Vec<_>, Vec<_>) =
            former.into_iter().partition(|it| it.base.text() == now);
        let typed = same.into_iter().rev().find_map(|it| it.text);
        view.fields.edits.push(Edit {
            tab: tab.to_owned(),
            part,
            base: view.proposal.clone(),
            text: typed.clone(),
        });
        let (path, name) = (view.target.path.clone(), view.target.shown.clone());
        for text in other.iter().filter_map(Edit::whole) {
            let why = format!("{name} was another text when you typed what you did not send");
            self.keep(path.clone(), text, why);
        }
        typed
    }

    /// Something is typed.
    pub(crate) fn typed(&mut self, tab: &str, id: DiffId, typed: wire::Typed) -> Outcome {
        let wire::Typed { n, unsent } = typed;
        let (wire::Unsent::Reason(text)
        | wire::Unsent::Begun(wire::NoteText { text, .. })
        | wire::Unsent::Note(wire::NoteText { text, .. })
        | wire::Unsent::Edit(wire::EditText { text, .. })) = &unsent;
        let hidden = Unseeable::of(text);
        match self.views.find_mut(id) {
            Some(view) => {
                if view.fields.hear(tab, n) {
                    self.take_typed(tab, id, unsent);
                }
            }
            None => self.typed_late(tab, id, n, unsent),
        }
        json(&hidden)
    }

    fn take_typed(&mut self, tab: &str, id: DiffId, unsent: wire::Unsent) {
        let (note, is_begun) = match unsent {
            wire::Unsent::Begun(note) => (note, true),
            wire::Unsent::Note(note) => (note, false),
            wire::Unsent::Reason(text) => {
                if let Some(view) = self.views.find_mut(id) {
                    view.reason = text;
                }
                if !self.tabs.contains_key(tab) {
                    self.tell_diff(id);
                }
                return;
            }
            wire::Unsent::Edit(edit) => {
                let view = self.views.find_mut(id);
                let part = Piece::new(edit.hunk, edit.lines);
                if let Some(known) = view.and_then(|it| it.fields.edit(tab, part)) {
                    known.text = Some(edit.text);
                }
                return;
            }
        };
        let on = self.noted(tab, id, note);
        if let Some((view, on)) = self.views.find_mut(id).zip(on.ok()) {
            let Fields { notes, begun, .. } = &mut view.fields;
            let fields = if is_begun { begun } else { notes };
            fields.insert(tab.to_owned(), on);
        }
        // What was typed last before a reload may come after it.
        if !self.tabs.contains_key(tab) {
            self.leave_notes(tab);
        }
    }

    /// What was typed on a diff comes when that is gone: it is kept.
    fn typed_late(&mut self, tab: &str, id: DiffId, n: u64, unsent: wire::Unsent) {
        let ended = self.ended.iter_mut().find(|it| it.id == id);
        let Some(ended) = ended else {
            return;
        };
        if !ended.fields.hear(tab, n) {
            return;
        }
        let (path, words) = (ended.path.clone(), ended.words.clone());
        match unsent {
            wire::Unsent::Begun(_) => {}
            wire::Unsent::Reason(text) | wire::Unsent::Note(wire::NoteText { text, .. }) => {
                self.keep_words(path, text.trim(), &words);
            }
            wire::Unsent::Edit(edit) => {
                let known = ended.fields.edit(tab, Piece::new(edit.hunk, edit.lines));
                let whole = known.and_then(|it| {
                    it.text = Some(edit.text);
                    it.whole()
                });
                if let Some(text) = whole {
                    self.keep_text(path, text, &words);
                }
            }
        }
    }

    fn keep_words(&self, path: PathBuf, unsent: &str, words: &str) {
        if !unsent.is_empty() {
            let said = visible::one_line(unsent);
            let why = format!("{words} · you had not sent “{said}”");
            self.keep(path.with_extension("words.txt"), unsent.to_owned(), why);
        }
    }

    fn keep_text(&self, path: PathBuf, text: String, words: &str) {
        let why = format!("{words} · you had typed a text and not sent it");
        self.keep(path, text, why);
    }

    /// A diff was decided: what was typed on it and not sent is kept.
    pub(crate) fn keep_unsent(&self, view: &Shown, words: &str) {
        let notes = view.fields.notes.values().map(|it| it.text.as_str());
        let unsent = notes.chain([view.reason.as_str()]).map(str::trim);
        let unsent: Vec<_> = unsent.filter(|it| !it.is_empty()).collect();
        self.keep_words(view.target.path.clone(), &unsent.join("\n"), words);
        self.keep_texts(view, words);
    }

    /// The texts that were typed on a diff and not sent are kept, now that it is gone.
    pub(super) fn keep_texts(&self, view: &Shown, words: &str) {
        for text in view.fields.texts() {
            self.keep_text(view.target.path.clone(), text, words);
        }
    }

    /// A tab is gone: a note that was being typed there is one, as after Esc.
    pub(super) fn leave_notes(&mut self, tab: &str) {
        let mut noted = Vec::new();
        for view in self.views.iter_mut() {
            if let Some(note) = view.fields.notes.remove(tab) {
                view.write_note(note);
                view.arranged = None;
                noted.push(view.diff.id);
            }
        }
        for id in noted {
            self.tell_diff(id);
        }
    }
}
