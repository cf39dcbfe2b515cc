//! The rows of the list of what agents have written, and the person's words on them, which go with what is decided there. They are kept
//! until then.

use std::collections::HashMap;

use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;
use pillion_view::changes::{ChangesList, ListedChange, ListedTurn};
use serde::Serialize;

use crate::add_words;

/// The person's words about a row of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ListedWords {
    /// For the agent, with the decision.
    pub note: String,
    /// A reason that was typed, without being used.
    pub reason: String,
}

impl ListedWords {
    /// They as they are kept: as of a diff, a reason is on no lines.
    fn drafts(&self) -> Vec<Note> {
        let note = Note::at(Some(Lines { first: 0, last: 0 }), self.note.clone());
        let all = [Note::on_all(self.reason.clone()), note].into_iter();
        all.filter(|it| !it.text.trim().is_empty()).collect()
    }

    fn of_drafts(drafts: Vec<Note>) -> Self {
        let mut words = Self::default();
        for draft in drafts {
            let words = match draft.lines {
                Some(_) => &mut words.note,
                None => &mut words.reason,
            };
            add_words(words, &draft.text);
        }
        words
    }
}

/// The words that go with an act, by the names of the rows that they are about.
pub type SentWords = Vec<(String, ListedWords)>;

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesRow<'a> {
    /// A turn.
    Turn(&'a ListedTurn),
    /// A change of it.
    Change(&'a ListedChange),
}

impl ChangesRow<'_> {
    /// The name of the turn or change.
    pub fn id(&self) -> &str {
        match self {
            Self::Turn(turn) => &turn.id,
            Self::Change(change) => &change.id,
        }
    }

    /// Its revision.
    pub fn revision(&self) -> &str {
        match self {
            Self::Turn(turn) => &turn.revision,
            Self::Change(change) => &change.revision,
        }
    }

    /// Returns true if it is a change that nobody has decided about.
    pub fn is_unseen(&self) -> bool {
        matches!(self, Self::Change(change) if change.is_unseen)
    }

    /// These words, as the agent gets them with what is decided about this row: the reason first, as in a diff.
    pub fn notes_of(&self, words: &SentWords) -> Vec<Note> {
        let notes = words.iter().flat_map(|(id, words)| {
            let of_file = match self {
                Self::Turn(turn) => turn.changes.iter().find(|it| it.id == *id),
                Self::Change(_) => None,
            };
            let note = match of_file {
                Some(change) if !words.note.is_empty() => {
                    format!("{}: {}", change.shown, words.note)
                }
                _ => words.note.clone(),
            };
            [words.reason.clone(), note]
        });
        let notes = notes.filter(|text| !text.trim().is_empty());
        notes.map(Note::on_all).collect()
    }
}

/// The rows of a list, the newest turn first.
pub fn rows(list: &ChangesList) -> impl Iterator<Item = ChangesRow<'_>> {
    list.turns.iter().flat_map(|turn| {
        let changes = turn.changes.iter().map(ChangesRow::Change);
        std::iter::once(ChangesRow::Turn(turn)).chain(changes)
    })
}

/// The person's words about rows of the list, by name, which were not sent.
#[derive(Debug, Default)]
pub struct RowWords {
    words: HashMap<String, ListedWords>,
    has_former: bool,
}

impl RowWords {
    /// Returns true once the words from before have come with a list: all that is news is typed here.
    pub fn has_former(&self) -> bool {
        self.has_former
    }

    /// Takes the words from before out of a list.
    pub fn take_former(&mut self, list: &mut ChangesList) {
        let notes = std::mem::take(&mut list.notes);
        if list.problem.is_none() && !std::mem::replace(&mut self.has_former, true) {
            for (id, drafts) in notes {
                let former = || ListedWords::of_drafts(drafts);
                self.words.entry(id).or_insert_with(former);
            }
        }
    }

    /// The words on a row.
    pub fn on(&self, id: &str) -> ListedWords {
        self.words.get(id).cloned().unwrap_or_default()
    }

    /// The words on a row, to be changed.
    pub fn on_mut(&mut self, id: String) -> &mut ListedWords {
        self.words.entry(id).or_default()
    }

    /// The rows that have words.
    pub fn all(&self) -> impl Iterator<Item = (&String, &ListedWords)> {
        self.words.iter()
    }

    /// All words as they are kept, by the names of the rows, with those that are being typed on one.
    pub fn drafts(&self, typed: Option<(String, ListedWords)>) -> HashMap<String, Vec<Note>> {
        let mut words = self.words.clone();
        words.extend(typed);
        let drafts = words.into_iter().map(|(id, words)| (id, words.drafts()));
        drafts.filter(|(_, drafts)| !drafts.is_empty()).collect()
    }

    /// These words were told, and are dropped, unless others were typed since.
    pub fn told(&mut self, id: &str, sent: &ListedWords) {
        let Some(words) = self.words.get_mut(id) else {
            return;
        };
        for (now, sent) in [
            (&mut words.note, &sent.note),
            (&mut words.reason, &sent.reason),
        ] {
            if now == sent {
                now.clear();
            }
        }
        if *words == ListedWords::default() {
            self.words.remove(id);
        }
    }

    /// The words that go with an act on this row: its own, and with a turn the notes on the changes that are decided.
    pub fn for_act(&self, row: ChangesRow<'_>, is_keeping: bool, has_reason: bool) -> SentWords {
        let mut own = self.on(row.id());
        if !has_reason {
            own.reason.clear();
        }
        let changes = match row {
            ChangesRow::Turn(turn) => &turn.changes[..],
            ChangesRow::Change(_) => &[],
        };
        let decided = changes.iter().filter(|it| it.is_unseen || !is_keeping);
        let notes = decided.map(|it| {
            let note = self.on(&it.id).note;
            let words = ListedWords {
                note,
                ..ListedWords::default()
            };
            (it.id.clone(), words)
        });
        let mut words = vec![(row.id().to_owned(), own)];
        words.extend(notes);
        words.retain(|(_, it)| !(it.note.trim().is_empty() && it.reason.trim().is_empty()));
        words
    }
}
