//! One proposed change: the text before, the text after, the hunks between them, and everything
//! that the reviewer did to it. No I/O, no drawing.

use std::fmt;
use std::sync::Arc;

use crate::text::Text;
pub use crate::text::hunks::Hunk;
use crate::text::{endings, hunks};

/// A proposed change under review.
#[derive(Debug)]
pub struct Proposal {
    /// The file before; `None` when there is none yet.
    original: Option<Arc<Text>>,
    /// What stands for the file before when there is none.
    before: Arc<Text>,
    /// The agent's own text, without the reviewer's changes, has something in it.
    is_filled: bool,
    /// The line endings of the two texts are not compared.
    ignores_endings: bool,
    now: State,
    undo: Vec<State>,
    redo: Vec<State>,
    generation: u64,
    changes: u64,
}

/// What the reviewer can change and get back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    proposed: Arc<Text>,
    hunks: Arc<Vec<Hunk>>,
    /// What made it differ from the state before.
    change: Change,
    /// Whether the proposed text is the reviewer's own.
    edited: bool,
}

/// A step in the history of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The agent proposed it.
    Proposed,
    /// A hunk was taken out or back in.
    Toggled,
    /// The reviewer wrote another text.
    Edited,
    /// It is compared with another text of the file on disk.
    Rebased,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proposed => "the newer proposal was",
            Self::Toggled => "the hunk was",
            Self::Edited => "your edit was",
            Self::Rebased => "comparing with the file was",
        })
    }
}

/// Why a hunk cannot be taken out: its lines before are not UTF-8, and a proposal is text.
#[derive(Debug, PartialEq, Eq)]
pub struct NotText;

/// How many lines and hunks a proposal changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Lines that would be added, without the hunks that are taken out.
    pub added: usize,
    /// Lines that would be removed, without the hunks that are taken out.
    pub removed: usize,
    /// All hunks.
    pub hunks: usize,
    /// The hunks that are taken out.
    pub out: usize,
}

impl Proposal {
    /// A proposal as it came; `original` is `None` when the file is not there yet.
    pub fn new(original: Option<Text>, proposed: &str) -> Self {
        let (original, ignores_endings) = endings::comparable(original, proposed);
        let original = original.map(Arc::new);
        let before = original.clone().unwrap_or_default();
        let now = State::new(&before, Text::new(proposed), Change::Proposed);
        Self {
            original,
            before,
            is_filled: !proposed.is_empty(),
            ignores_endings,
            now,
            undo: Vec::new(),
            redo: Vec::new(),
            generation: 0,
            changes: 0,
        }
    }

    /// Whether the file is not there yet.
    pub fn is_new_file(&self) -> bool {
        self.original.is_none()
    }

    /// The text before; empty when the file is not there yet.
    pub fn before(&self) -> &Text {
        &self.before
    }

    /// The text after, with every hunk in.
    pub fn after(&self) -> &Text {
        &self.now.proposed
    }

    /// The changes, from top to bottom.
    pub fn hunks(&self) -> &[Hunk] {
        &self.now.hunks
    }

    /// Grows whenever the texts or their hunks become others; toggling does not count.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Grows whenever what would be accepted may have become another text.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Exactly what would be accepted now.
    pub fn text(&self) -> String {
        self.now.text(&self.before)
    }

    /// Whether every change is taken out, so that accepting would change nothing.
    pub fn is_nothing(&self) -> bool {
        !self.hunks().is_empty() && self.hunks().iter().all(|hunk| hunk.out)
    }

    /// Whether the reviewer left nothing of a text that the agent proposed.
    pub fn is_emptied(&self) -> bool {
        self.is_filled && self.text().is_empty()
    }

    /// Whether the file has CRLF and the proposal LF, so that line endings are not compared.
    pub fn ignores_endings(&self) -> bool {
        self.ignores_endings
    }

    /// Whether the text after is no longer the agent's own.
    pub fn is_edited(&self) -> bool {
        self.now.edited
    }

    /// Whether the reviewer wrote something, here or anywhere in the history.
    pub fn holds_edits(&self) -> bool {
        self.last_edited().is_some()
    }

    /// What the reviewer wrote: the text as it stands, or else the last one in the history.
    pub fn edited_text(&self) -> Option<String> {
        self.last_edited().map(|state| state.text(&self.before))
    }

    fn last_edited(&self) -> Option<&State> {
        // What was taken back first was written last.
        let history = self.redo.iter().chain(self.undo.iter().rev());
        std::iter::once(&self.now)
            .chain(history)
            .find(|state| state.edited)
    }

    /// What it changes.
    pub fn count(&self) -> Count {
        let mut count = Count {
            hunks: self.hunks().len(),
            ..Count::default()
        };
        for hunk in self.hunks() {
            if hunk.out {
                count.out += 1;
            } else {
                count.added += hunk.after.len();
                count.removed += hunk.before.len();
            }
        }
        count
    }

    /// Takes the hunk out, or back in. Answers whether it is out now.
    ///
    /// # Errors
    /// When its lines before are not UTF-8.
    pub fn toggle(&mut self, index: usize) -> Result<bool, NotText> {
        let Some(hunk) = self.hunks().get(index) else {
            return Ok(false);
        };
        let out = !hunk.out;
        if out && std::str::from_utf8(self.before.slice(hunk.before.clone())).is_err() {
            return Err(NotText);
        }
        let mut next = self.now.clone();
        next.change = Change::Toggled;
        Arc::make_mut(&mut next.hunks)[index].out = out;
        self.go_to(next);
        Ok(out)
    }

    /// Puts the reviewer's own text in place of the proposed one. Answers whether it differs.
    pub fn edit(&mut self, text: &str) -> bool {
        if text == self.text() {
            return false;
        }
        let next = State::new(&self.before, Text::new(text), Change::Edited);
        self.go_to(next);
        true
    }

    /// The agent proposes another text for the same file.
    pub fn replace(&mut self, original: Option<Text>, proposed: &str) {
        self.is_filled = !proposed.is_empty();
        self.compare_with(original, proposed);
        let next = State::new(&self.before, Text::new(proposed), Change::Proposed);
        if next.proposed != self.now.proposed || *next.hunks != *self.now.hunks {
            self.go_to(next);
        }
    }

    /// Compares with another text of the file on disk. What would be accepted stays the same.
    pub fn rebase(&mut self, original: Option<Text>) {
        let text = self.text();
        let had_hunks_out = self.hunks().iter().any(|hunk| hunk.out);
        self.compare_with(original, &text);
        if had_hunks_out {
            let mut next = State::new(&self.before, Text::new(text), Change::Rebased);
            next.edited = true;
            self.go_to(next);
        }
    }

    /// Takes the last change back. Answers what it was.
    pub fn undo(&mut self) -> Option<Change> {
        let before = self.undo.pop()?;
        let undone = self.now.change;
        self.redo.push(std::mem::replace(&mut self.now, before));
        self.generation += 1;
        self.changes += 1;
        Some(undone)
    }

    /// Does the change again that was taken back last.
    pub fn redo(&mut self) -> Option<Change> {
        let after = self.redo.pop()?;
        self.undo.push(std::mem::replace(&mut self.now, after));
        self.generation += 1;
        self.changes += 1;
        Some(self.now.change)
    }

    /// Moves on to `next`. What had been taken back stays in the history, so that nothing the
    /// reviewer wrote is ever lost.
    fn go_to(&mut self, next: State) {
        if !self.redo.is_empty() {
            let now = self.now.clone();
            self.undo.push(now.clone());
            self.undo.extend(self.redo.drain(..).rev());
            self.now = now;
        }
        if !Arc::ptr_eq(&next.proposed, &self.now.proposed) {
            self.generation += 1;
        }
        self.changes += 1;
        self.undo.push(std::mem::replace(&mut self.now, next));
    }

    /// Exchanges the text before, everywhere in the history.
    fn compare_with(&mut self, original: Option<Text>, proposed: &str) {
        let (original, ignores_endings) = endings::comparable(original, proposed);
        self.ignores_endings = ignores_endings;
        if self.original.as_deref() == original.as_ref() {
            return;
        }
        self.original = original.map(Arc::new);
        self.before = self.original.clone().unwrap_or_default();
        self.generation += 1;
        self.changes += 1;
        let states = self.undo.iter_mut().chain(&mut self.redo);
        for state in states.chain([&mut self.now]) {
            state.hunks = Arc::new(hunks::between(&self.before, &state.proposed));
        }
    }
}

impl State {
    fn new(before: &Text, proposed: Text, change: Change) -> Self {
        Self {
            hunks: Arc::new(hunks::between(before, &proposed)),
            proposed: Arc::new(proposed),
            change,
            edited: change == Change::Edited,
        }
    }

    fn text(&self, before: &Text) -> String {
        let mut bytes = Vec::with_capacity(self.proposed.bytes().len());
        let mut next = 0;
        for hunk in self.hunks.iter().filter(|hunk| hunk.out) {
            bytes.extend_from_slice(self.proposed.slice(next..hunk.after.start));
            bytes.extend_from_slice(before.slice(hunk.before.clone()));
            next = hunk.after.end;
        }
        bytes.extend_from_slice(self.proposed.slice(next..self.proposed.len()));
        // Invariant: every piece is whole lines of UTF-8, which `toggle` made sure of.
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests;
