//! The messages to an agent about a person's decisions on its changes: what became of the files, and the person's words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pillion_protocol::Note;
use pillion_protocol::remarks::{self, FileRemark};

use crate::turn::{Change, ChangeRef};

/// An agent is told no more than this of what became of its changes, in bytes: it reads more elsewhere.
const MAX_TOLD: usize = 64 << 10;

/// Words on several changes are kept with each of them up to this length, in bytes. The agent hears all of them.
const MAX_SHARED: usize = 500;

/// A person's words to the agent about what they decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// On the one change, or on all changes of which several are decided about at once.
    pub notes: Vec<Note>,
    /// Beside that, on lines of changes, by their numbers.
    pub on_lines: BTreeMap<u64, Vec<Note>>,
    /// True if several changes are decided about at once.
    pub are_shared: bool,
    /// The text whose lines are meant; none if that is the file as it is before the decision.
    pub shown: Option<String>,
}

impl Words {
    /// On what is named.
    pub fn on(names: &[ChangeRef], notes: Vec<Note>) -> Self {
        let is_turn = names.iter().any(|it| it.change.is_none());
        let first = names.first();
        Self {
            notes,
            are_shared: is_turn || names.iter().any(|it| Some(it) != first),
            ..Self::default()
        }
    }

    /// Returns true if this is among them.
    pub fn has(&self, note: &Note) -> bool {
        let on_lines = self.on_lines.values().flatten();
        self.notes.iter().chain(on_lines).any(|it| it == note)
    }

    /// All that is said of a change, as it is kept with it.
    pub(super) fn all(&self, change: &Change) -> Vec<Note> {
        let on_lines = self.on_lines.get(&change.number);
        let mut notes = self.notes.clone();
        // It is kept with each of perhaps thousands.
        for note in notes.iter_mut().filter(|_| self.are_shared) {
            if note.text.len() > MAX_SHARED {
                note.text
                    .truncate(note.text.floor_char_boundary(MAX_SHARED));
                note.text.push('…');
            }
        }
        notes.extend(on_lines.into_iter().flatten().cloned());
        notes
    }

    /// The words that the agent hears with what became of a change: those on several are told once.
    pub(super) fn own(&self, change: &Change) -> Vec<Note> {
        match self.are_shared {
            true => self
                .on_lines
                .get(&change.number)
                .cloned()
                .unwrap_or_default(),
            false => self.all(change),
        }
    }
}

/// The messages that the agent of a turn is to hear.
#[derive(Debug)]
pub(super) struct Telling {
    /// True if all changes of the turn are known to be this agent's.
    is_its: bool,
    /// The person's words about what is decided next.
    pub(super) words: Words,
    /// The numbers of the changes with which the agent hears them.
    used_on: BTreeSet<u64>,
    /// The files of the changes of which they say something at once, as they were decided about, and whether these were kept.
    spoken_of: Vec<String>,
    has_kept: bool,
    told: Vec<FileRemark>,
    /// Of how many files it does not hear by name.
    untold: usize,
}

impl Telling {
    pub(super) fn new(is_its: bool) -> Self {
        Self {
            is_its,
            words: Words::default(),
            used_on: BTreeSet::new(),
            spoken_of: Vec::new(),
            has_kept: false,
            told: Vec::new(),
            untold: 0,
        }
    }

    pub(super) fn say(&mut self, words: Words) {
        self.words = words;
        self.used_on.clear();
    }

    /// All that is decided is this one change: what is said of it is said once, with what becomes of it.
    pub(super) fn is_of_one(&mut self) {
        self.words.are_shared = false;
    }

    /// Returns the words that the agent does not hear, because nothing was decided about what they say something of.
    pub(super) fn unsaid(&self) -> Vec<&Note> {
        let on_lines = self.words.on_lines.iter();
        let unused = on_lines.filter(|(number, _)| !self.used_on.contains(number));
        let on_all = self.words.notes.iter().filter(|_| self.used_on.is_empty());
        on_all.chain(unused.flat_map(|(_, notes)| notes)).collect()
    }

    /// Returns true if one sentence names all that is decided at once, with what the person says of it.
    fn is_said_of_several(&self) -> bool {
        self.words.are_shared && !self.words.notes.is_empty()
    }

    /// The agent hears the words with the decision about this change.
    fn use_words(&mut self, change: &Change) {
        if self.words.notes.is_empty() && self.words.on_lines.is_empty() {
            return;
        }
        self.used_on.insert(change.number);
        if self.is_said_of_several() {
            let path = change.path.to_string_lossy().into_owned();
            self.spoken_of.push(path);
        }
    }

    /// This change stays, and the agent hears the words with that.
    pub(super) fn kept(&mut self, change: &Change) {
        self.has_kept = true;
        self.use_words(change);
    }

    /// The agent is to hear this. After many, one sentence says how many more there are, of those in which the person says
    /// nothing.
    pub(super) fn hear(&mut self, remark: FileRemark) {
        match remark.words.is_empty() && !self.has_room(&remark) {
            true => self.untold += 1,
            false => self.told.push(remark),
        }
    }

    fn has_room(&self, remark: &FileRemark) -> bool {
        let length: usize = self.told.iter().map(|it| it.text.len()).sum();
        self.told.is_empty() || length + remark.text.len() <= MAX_TOLD
    }

    /// Returns true if the agent does not hear by name what became of this file: of thousands, no diff is made in vain.
    pub(super) fn passes_over(&mut self, change: &Change) -> bool {
        let is_one_more = self.untold > 0 && self.words.own(change).is_empty();
        if is_one_more {
            self.untold += 1;
            self.use_words(change);
        }
        is_one_more
    }

    /// The agent is to hear what was taken out of a file with this text `before`, as a diff.
    pub(super) fn taken_back(
        &mut self,
        change: &Change,
        is_all: bool,
        before: &str,
        diff: &str,
        is_gone: bool,
    ) {
        let notes = self.words.own(change);
        let shown = self.words.shown.clone();
        let shown = shown.as_deref().unwrap_or(before);
        let with = |diff: Option<&str>| {
            remark(change, is_gone, &notes, |path| {
                match self.is_said_of_several() {
                    true => remarks::one_of_several(path, diff, &notes, shown),
                    false => remarks::taken_back(path, self.is_its, is_all, diff, &notes, shown),
                }
            })
        };
        let mut remark = with(Some(diff));
        if !notes.is_empty() && !self.has_room(&remark) {
            remark = with(None);
        }
        self.hear(remark);
        self.use_words(change);
    }

    /// Takes the messages so far.
    pub(super) fn take(&mut self) -> Vec<FileRemark> {
        if let Some(told) = self.told.last_mut().filter(|_| self.untold > 0) {
            let untold = std::mem::take(&mut self.untold);
            let more = remarks::same_with_more(self.is_its, untold);
            told.text += &format!("\n\n{more}");
        }
        let on_all = self.said_of_several();
        let told = std::mem::take(&mut self.told);
        on_all.into_iter().chain(told).collect()
    }

    /// The person's words on all changes about which they decided at once.
    fn said_of_several(&mut self) -> Option<FileRemark> {
        let paths = std::mem::take(&mut self.spoken_of);
        let first = paths.first()?.clone();
        let names: Vec<&str> = paths.iter().map(String::as_str).collect();
        let notes = &self.words.notes;
        let text = remarks::of_several(self.is_its, self.has_kept, &names, notes);
        let is_gone = !Path::new(&first).exists();
        Some(FileRemark::new(first, text, notes, is_gone))
    }
}

/// The agent is to read what `text` makes of the file's path, in which the notes are.
pub(super) fn remark(
    change: &Change,
    is_gone: bool,
    notes: &[Note],
    text: impl FnOnce(&str) -> String,
) -> FileRemark {
    let path = change.path.to_string_lossy().into_owned();
    let text = text(&path);
    FileRemark::new(path, text, notes, is_gone)
}
