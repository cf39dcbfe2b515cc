//! The person's notes on lines, hunks and the whole file: they stay at their lines while the proposal changes, and go to the agent with the decision.

use std::ops::Range;

use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;

use pillion_text::visible;

use super::Judged;
use crate::proposal::{Proposal, Side, Version};

/// No more is quoted of a line that is not there any more.
const MAX_QUOTED: usize = 60;

/// A note on lines of a proposal.
#[derive(Debug, Clone)]
pub struct HunkNote {
    /// The texts that it was typed beside.
    pub version: Version,
    /// Lines of the text after.
    pub lines: Range<usize>,
    /// It is about the whole file.
    pub is_on_file: bool,
    /// The beginning of the line before that it is about, if that is in the text after no more.
    pub removed: Option<String>,
    /// The words.
    pub text: String,
}

impl Judged {
    /// The lines of a hunk in the text after; of what is removed, the line in its place.
    pub fn lines_of_hunk(&self, hunk: usize) -> Option<Range<usize>> {
        let hunk = self.proposal.hunks().get(hunk)?;
        let last = self.proposal.after().len().saturating_sub(1);
        let start = hunk.after.start.min(last);
        Some(start..hunk.after.end.max(start + 1))
    }

    /// For each note, the last of its lines, or the first of the file, and its place among the notes.
    pub fn note_places(&self) -> Vec<(usize, usize)> {
        let notes = self.hunk_notes.iter().enumerate();
        let places = notes.map(|(at, note)| match note.is_on_file {
            true => (0, at),
            false => (note.lines_in(&self.proposal).end - 1, at),
        });
        places.collect()
    }

    /// The note that begins at these lines of the text after, or an empty one on them.
    pub fn note_at(&self, lines: Range<usize>) -> HunkNote {
        self.note_like(HunkNote {
            version: self.proposal.version(),
            lines,
            is_on_file: false,
            removed: None,
            text: String::new(),
        })
    }

    /// The note on all of a hunk, or an empty one; on this line before, or on the first one of a hunk that only removes lines.
    pub fn note_on_hunk(&self, hunk: usize, line: Option<usize>) -> Option<HunkNote> {
        let note = self.note_at(self.lines_of_hunk(hunk)?);
        let hunk = self.proposal.hunks().get(hunk)?;
        let first = hunk.after.is_empty().then_some(hunk.before.start);
        let removed = line
            .or(first)
            .map(|it| quoted(self.proposal.before().shown(it)));
        Some(HunkNote { removed, ..note })
    }

    /// The note on the whole file, or an empty one.
    pub fn note_on_file(&self) -> HunkNote {
        self.note_like(HunkNote {
            is_on_file: true,
            ..self.note_at(0..self.proposal.after().len().max(1))
        })
    }

    fn note_like(&self, new: HunkNote) -> HunkNote {
        let mut notes = self.hunk_notes.iter();
        let known = notes.find(|note| note.is_like(&new, &self.proposal));
        let text = known.map_or_else(String::new, |note| note.text.clone());
        HunkNote { text, ..new }
    }

    /// Keeps a note in place of the one that begins at the same line; an empty one only takes that away.
    pub fn set_note(&mut self, note: HunkNote) {
        let proposal = &self.proposal;
        self.hunk_notes.retain(|it| !it.is_like(&note, proposal));
        if !note.text.trim().is_empty() {
            self.hunk_notes.push(note);
        }
    }

    /// Takes in notes on an earlier proposal of the file, unless there are newer ones.
    pub fn take_notes(&mut self, notes: Vec<Note>) {
        if !self.hunk_notes.is_empty() || !self.reason.is_empty() {
            return;
        }
        if self.is_comparing() {
            self.offered_notes = notes;
            return;
        }
        let count = self.proposal.after().len().max(1);
        let place = |line: u32| usize::try_from(line).unwrap_or(usize::MAX).min(count - 1);
        for note in notes {
            let Some(lines) = note.lines else {
                self.reason = note.text;
                continue;
            };
            let lines = place(lines.first)..place(lines.last) + 1;
            self.set_note(HunkNote {
                is_on_file: count > 1 && lines == (0..count),
                text: note.text,
                ..self.note_at(lines)
            });
        }
    }

    /// The notes on hunks, for the agent, with the lines that they have in the text that is accepted, or else in the text
    /// after.
    pub fn notes(&self, is_accepted: bool) -> Vec<Note> {
        let place = |line: usize| {
            let line = match is_accepted {
                true => self.proposal.line_in_text(line),
                false => line,
            };
            u32::try_from(line).unwrap_or(u32::MAX)
        };
        let notes = self.hunk_notes.iter();
        self.notes_at(notes, place, false)
    }

    /// All notes with the lines of the text after that they are on, to be kept, and this one in place of that which begins at the
    /// same line.
    pub fn drafts(&self, typed: Option<&HunkNote>) -> Vec<Note> {
        let is_other =
            |it: &&HunkNote| typed.is_none_or(|typed| !typed.is_like(it, &self.proposal));
        let others = self.hunk_notes.iter().filter(is_other);
        let own = typed.filter(|it| !it.text.trim().is_empty());
        let place = |line| u32::try_from(line).unwrap_or(u32::MAX);
        self.notes_at(others.chain(own), place, true)
    }

    /// `has_lines`: also of a note on the whole file.
    fn notes_at<'a>(
        &self,
        notes: impl Iterator<Item = &'a HunkNote>,
        place: impl Fn(usize) -> u32,
        has_lines: bool,
    ) -> Vec<Note> {
        let mut notes: Vec<_> = notes
            .map(|note| {
                let lines = note.lines_in(&self.proposal);
                let (first, last) = (place(lines.start), place(lines.end - 1));
                let lines = (has_lines || !note.is_on_file).then_some(Lines { first, last });
                let text = note.says(&self.proposal);
                Note { lines, text }
            })
            .collect();
        notes.sort_by_key(|note| note.lines.map(|lines| lines.first));
        notes
    }

    /// The notes that no decision has taken along, one after the other.
    pub fn untold_notes(&self) -> Option<String> {
        let notes = self.hunk_notes.iter().map(|note| note.text.trim());
        let reason = Some(self.reason.trim()).filter(|it| !it.is_empty());
        let notes = notes.chain(reason).collect::<Vec<_>>().join("; ");
        (!notes.is_empty()).then_some(notes)
    }
}

impl HunkNote {
    /// Returns true if one takes the place of the other.
    fn is_like(&self, other: &Self, proposal: &Proposal) -> bool {
        let start = |note: &Self| (note.is_on_file, note.lines_in(proposal).start);
        start(self) == start(other)
    }

    /// What it is on, as people count lines: `the file`, `line 3`, `lines 3 to 5`.
    pub fn place(&self, proposal: &Proposal) -> String {
        let lines = self.lines_in(proposal);
        match (self.is_on_file, lines.len()) {
            (true, _) => "the file".to_owned(),
            (false, 0 | 1) => format!("line {}", lines.start + 1),
            (false, _) => format!("lines {} to {}", lines.start + 1, lines.end),
        }
    }

    /// The words, and the line on which they were typed where that is another one by now, or none.
    pub fn says(&self, proposal: &Proposal) -> String {
        let moves = proposal.moves_from(&self.version);
        let is_same = |line: &usize| moves.of(Side::Right, *line).is_same;
        let is_there = self.is_on_file || self.lines.clone().all(|line| is_same(&line));
        let text = &self.text;
        match &self.removed {
            _ if text.trim().is_empty() => text.clone(),
            Some(line) => format!("(on `{line}`, which is removed) {text}"),
            None if is_there => text.clone(),
            None => {
                let line = quoted(self.version.line(self.lines.start));
                format!("(typed on `{line}`, which has changed since) {text}")
            }
        }
    }

    /// The lines of the text after as it is now, or those in their place: one at least.
    pub fn lines_in(&self, proposal: &Proposal) -> Range<usize> {
        let moves = proposal.moves_from(&self.version);
        if self.is_on_file {
            return 0..proposal.after().len().max(1);
        }
        let line = |line| moves.of(Side::Right, line).line;
        let start = line(self.lines.start);
        start..line(self.lines.end - 1).max(start) + 1
    }
}

fn quoted(line: &str) -> String {
    visible::head(&visible::one_line(line.trim()), MAX_QUOTED)
}
