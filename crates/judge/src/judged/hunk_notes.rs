//! The person's notes on lines, hunks and the whole file: they stay at their lines while the proposal changes, and go to the agent with the decision.

use std::cmp::Ordering;
use std::ops::Range;

use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;

use pillion_text::visible;

use super::Judged;
use crate::proposal::{Change, Proposal, Side, Version};

/// No more is quoted of a line that is not there any more.
const MAX_QUOTED: usize = 60;

/// Between the first and the last of several lines that are removed, as they are quoted.
const BETWEEN: &str = "` to `";

/// A note on lines of a proposal.
#[derive(Debug, Clone)]
pub struct HunkNote {
    /// The texts that it was typed beside.
    pub version: Version,
    /// Lines of the text after.
    pub lines: Range<usize>,
    /// It is about the whole file.
    pub is_on_file: bool,
    /// The beginning of the line that it is on, if that is another one than that of `version`; of removed lines, those of the first
    /// and the last.
    pub on: Option<String>,
    /// The lines of the text before, of which `lines` is the place, if it is on lines that are removed.
    pub removed: Range<usize>,
    /// The words.
    pub text: String,
}

/// Notes as they were, and how many steps of the proposal could be undone and redone then.
#[derive(Debug)]
pub struct FormerNotes(Vec<HunkNote>, (usize, usize));

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
        self.note_like(self.empty_note(lines))
    }

    /// The note on all of a hunk, or an empty one; if it only removes lines, on these.
    pub fn note_on_hunk(&self, hunk: usize) -> Option<HunkNote> {
        let at = self.proposal.hunks().get(hunk)?;
        match at.after.is_empty() {
            true => self.note_on_removed(at.before.clone()),
            false => Some(self.note_at(self.lines_of_hunk(hunk)?)),
        }
    }

    /// The note that begins at these lines before, or an empty one on them, as far as the hunk of the first removes them.
    pub fn note_on_removed(&self, lines: Range<usize>) -> Option<HunkNote> {
        let mut new = self.empty_note(0..1);
        new.removed = lines.clone();
        let known = self.note_like(new.clone());
        let hunks = self.proposal.hunks();
        let Some(hunk) = hunks.iter().position(|it| it.before.contains(&lines.start)) else {
            return (!known.text.is_empty()).then_some(known);
        };
        let start = self.lines_of_hunk(hunk)?.start;
        new.lines = start..start + 1;
        new.removed.end = lines.end.min(hunks[hunk].before.end);
        let quoted = |line| quoted(self.proposal.before().shown(line));
        let first = quoted(new.removed.start);
        new.on = Some(match new.removed.len() {
            1 => first,
            _ => first + BETWEEN + &quoted(new.removed.end - 1),
        });
        new.text = known.text;
        Some(new)
    }

    /// The note on the whole file, or an empty one.
    pub fn note_on_file(&self) -> HunkNote {
        let note = self.empty_note(0..self.proposal.after().len().max(1));
        let is_on_file = true;
        self.note_like(HunkNote { is_on_file, ..note })
    }

    fn empty_note(&self, lines: Range<usize>) -> HunkNote {
        HunkNote {
            version: self.proposal.version(),
            lines,
            is_on_file: false,
            on: None,
            removed: 0..0,
            text: String::new(),
        }
    }

    /// This one, with the words of the one in whose place it is.
    fn note_like(&self, new: HunkNote) -> HunkNote {
        let mut notes = self.hunk_notes.iter();
        match notes.find(|note| note.is_like(&new, &self.proposal)) {
            None => new,
            Some(known) => HunkNote {
                on: new.on.or_else(|| known.on.clone()),
                text: known.text.clone(),
                ..new
            },
        }
    }

    /// The person writes a note in place of the one that begins at the same line; an empty one only takes that away.
    pub fn write_note(&mut self, note: HunkNote) {
        let proposal = &self.proposal;
        let known = self
            .hunk_notes
            .iter()
            .find(|it| it.is_like(&note, proposal));
        let lines = |it: &HunkNote| it.lines_in(proposal);
        let is_same = match known {
            Some(known) => known.text == note.text && lines(known) == lines(&note),
            None => note.text.trim().is_empty(),
        };
        if !is_same {
            self.remember_notes();
            self.set_note(note);
        }
    }

    /// The person deletes a note.
    pub fn delete_note(&mut self, note: usize) -> HunkNote {
        self.remember_notes();
        self.hunk_notes.remove(note)
    }

    fn remember_notes(&mut self) {
        let former = FormerNotes(self.hunk_notes.clone(), self.proposal.steps());
        self.former_notes.push(former);
        self.later_notes.clear();
    }

    /// The number of acts that can be undone.
    pub fn acts(&self) -> usize {
        self.proposal.steps().0 + self.former_notes.len()
    }

    /// Returns true if the person's last act here was to write a note or to delete one.
    pub fn has_noted_last(&self) -> bool {
        let last = self.former_notes.last();
        last.is_some_and(|it| it.1.0 == self.proposal.steps().0)
    }

    /// Undoes the person's last act, or redoes the one that was undone last. Answers what it was; nothing was to be done without a change
    /// and a note.
    pub fn go_back(&mut self, back: bool) -> (Option<Change>, Option<Ordering>) {
        let is_note = match back {
            true => self.has_noted_last(),
            false => { self.later_notes.last() }.is_some_and(|it| it.1 == self.proposal.steps()),
        };
        if !is_note {
            let change = match back {
                true => self.proposal.undo(),
                false => self.proposal.redo(),
            };
            return (change, None);
        }
        let (from, to) = match back {
            true => (&mut self.former_notes, &mut self.later_notes),
            false => (&mut self.later_notes, &mut self.former_notes),
        };
        let Some(FormerNotes(mut notes, _)) = from.pop() else {
            return (None, None);
        };
        std::mem::swap(&mut self.hunk_notes, &mut notes);
        let compared = self.hunk_notes.len().cmp(&notes.len());
        to.push(FormerNotes(notes, self.proposal.steps()));
        (None, Some(compared))
    }

    /// Keeps a note in place of the one that begins at the same line; an empty one only takes that away.
    fn set_note(&mut self, note: HunkNote) {
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
        for note in notes {
            let Some(lines) = note.lines else {
                add_words(&mut self.reason, &note.text);
                continue;
            };
            let mut note = self.taken_along(&note, lines);
            let mut known = self.hunk_notes.iter();
            if let Some(known) = known.find(|it| it.is_like(&note, &self.proposal)) {
                let words = std::mem::replace(&mut note.text, known.text.clone());
                add_words(&mut note.text, &words);
            }
            self.set_note(note);
        }
    }

    /// A note on an earlier proposal, at the nearest line that is the one beside which it was typed.
    fn taken_along(&self, note: &Note, lines: Lines) -> HunkNote {
        let (before, after) = (self.proposal.before(), self.proposal.after());
        let count = after.len().max(1);
        let place = |line: u32| usize::try_from(line).unwrap_or(usize::MAX).min(count - 1);
        let lines = place(lines.first)..place(lines.last) + 1;
        let (text, removed) = note.words();
        // The first of those that were removed.
        let on = note.on.as_deref().map(|on| match removed {
            0 | 1 => on,
            _ => on.split_once(BETWEEN).map_or(on, |it| it.0),
        });
        let is_on = |line: &str| on == Some(&*quoted(line));
        let hunks = self.proposal.hunks().iter();
        let mut before_hunks = hunks
            .flat_map(|it| it.before.clone())
            .filter(|_| removed > 0);
        let gone = before_hunks.find(|it| is_on(before.shown(*it)));
        let same = (0..after.len()).filter(|it| gone.is_none() && is_on(after.shown(*it)));
        let same = same.min_by_key(|it| it.abs_diff(lines.start));
        let start = same.unwrap_or(lines.start);
        let length = same.map_or(0, |_| removed).max(lines.len());
        HunkNote {
            version: self.proposal.version(),
            is_on_file: note.on.is_none() && count > 1 && lines == (0..count),
            lines: start..(start + length).min(count),
            on: note.on.clone().filter(|_| same.is_none()),
            removed: gone.map_or(0..0, |it| it..it + removed),
            text: text.to_owned(),
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
                let on = (has_lines && !note.is_on_file).then(|| note.typed_on());
                let text = note.says(&self.proposal);
                Note { lines, text, on }
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
        let place = |note: &Self| match note.removed_in(proposal) {
            Some(removed) => (false, true, removed.start),
            None => (note.is_on_file, false, note.lines_in(proposal).start),
        };
        place(self) == place(other)
    }

    /// What it is on, as people count lines: `the file`, `line 3`, `lines 3 to 5`, `2 lines removed at line 3`.
    pub fn place(&self, proposal: &Proposal) -> String {
        let lines = self.lines_in(proposal);
        let first = lines.start + 1;
        match (self.is_on_file, self.removed.len(), lines.len()) {
            (true, ..) => "the file".to_owned(),
            (_, 1, _) => format!("the line removed at line {first}"),
            (_, removed @ 2.., _) => format!("{removed} lines removed at line {first}"),
            (_, _, 0 | 1) => format!("line {first}"),
            _ => format!("lines {first} to {}", lines.end),
        }
    }

    /// The words, and the line on which they were typed where that is another one by now, or none.
    pub fn says(&self, proposal: &Proposal) -> String {
        let moves = proposal.moves_from(&self.version);
        let is_same = |line: usize| moves.of(Side::Right, line).is_same;
        let now = || quoted(proposal.after().shown(self.lines_in(proposal).start));
        let is_there = match &self.on {
            Some(line) => self.removed.is_empty() && *line == now(),
            None => self.is_on_file || self.lines.clone().all(is_same),
        };
        match is_there || self.text.trim().is_empty() {
            true => self.text.clone(),
            false => Note::about(&self.typed_on(), self.removed.len()) + &self.text,
        }
    }

    /// The beginning of the line that it is on, as it was then.
    fn typed_on(&self) -> String {
        let version = || quoted(self.version.line(self.lines.start));
        self.on.clone().unwrap_or_else(version)
    }

    /// The lines of the text before as it is now, if it is on lines that are removed.
    pub fn removed_in(&self, proposal: &Proposal) -> Option<Range<usize>> {
        let moves = proposal.moves_from(&self.version);
        let start = moves.of(Side::Left, self.removed.start).line;
        (!self.removed.is_empty()).then(|| start..start + self.removed.len())
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

/// Adds what the person wrote of the same in another window.
pub fn add_words(words: &mut String, more: &str) {
    if !words.is_empty() {
        words.push('\n');
    }
    words.push_str(more);
}

fn quoted(line: &str) -> String {
    visible::head(&visible::one_line(line.trim()), MAX_QUOTED)
}
