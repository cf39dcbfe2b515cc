//! One proposed change: the text before, the text after, the hunks between them, and everything
//! that the reviewer did to it. No I/O, no drawing.

mod carry;
mod draft;
mod places;
mod state;
mod texts;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use pillion_text::Text;
pub use pillion_text::hunks::Hunk;
use pillion_text::hunks::{self, Mark};
use pillion_text::{merge, restore};
pub use places::Moves;
use places::Origin;
use state::State;
use texts::Texts;

/// One of the two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The text before.
    Left,
    /// The text after.
    Right,
}

impl Side {
    /// The one that belongs to this side, of those before and after.
    pub fn of<T>(self, (left, right): (T, T)) -> T {
        match self {
            Self::Left => left,
            Self::Right => right,
        }
    }
}

/// A proposed change under review. Cheap to clone: the texts are shared.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The file as it came with the proposal.
    came: Option<Arc<Text>>,
    /// The file as it was read last.
    disk: Option<Arc<Text>>,
    now: State,
    undo: Vec<State>,
    redo: Vec<State>,
    /// States that were undone before something else was done: no key leads there, but what was seen and noted of them counts.
    given_up: Vec<State>,
    changes: u64,
}

/// The texts that a proposal compared at some time.
#[derive(Debug, Clone)]
pub struct Version(Arc<Texts>);

impl Version {
    /// The text after, with every hunk in.
    pub fn after(&self) -> &Text {
        &self.0.after
    }

    /// A line of the text after, for showing.
    pub fn line(&self, line: usize) -> &str {
        self.0.after.shown(line)
    }
}

/// A step in the history of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The agent proposed it.
    Proposed,
    /// A hunk was taken out or back in.
    Toggled,
    /// A hunk was split.
    Split,
    /// The reviewer wrote another text.
    Edited,
    /// The reviewer's text for a former proposal was taken along to this one.
    Carried,
    /// It was merged with another text of the file on disk.
    Rebased,
    /// What comes before it was undone, and something else was done then.
    Left,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proposed => "the newer proposal was",
            Self::Toggled => "excluding or including was",
            Self::Split => "splitting the hunk was",
            Self::Edited => "your edit was",
            Self::Carried => "taking your edit along was",
            Self::Rebased => "merging with the file was",
            Self::Left => "going back from your text was",
        })
    }
}

/// The fate of the reviewer's edits when a newer proposal came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edits {
    /// There were none.
    None,
    /// All of them are in the newer one.
    Carried,
    /// The newer one changes the same lines, and stands there. This is what the reviewer had; it is in the history.
    Conflict(String),
}

/// Lines of a hunk: some before, and those after that stand in their place; of one side there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The number of the hunk.
    pub hunk: usize,
    /// Lines before.
    pub before: Range<usize>,
    /// Lines after.
    pub after: Range<usize>,
}

/// The error that a hunk cannot be taken out: its lines before are not UTF-8, and a proposal is text.
#[derive(Debug, PartialEq, Eq)]
pub struct NotText;

/// The number of lines and hunks that a proposal changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Lines that would be added, without the hunks that are taken out.
    pub added: usize,
    /// Lines that would be removed, without the hunks that are taken out.
    pub removed: usize,
    /// All hunks.
    pub hunks: usize,
    /// Those of them that are taken out.
    pub out: usize,
}

impl Proposal {
    /// A proposal as it came; `original` is `None` when the file is not there yet. Takes long for
    /// long texts, as everything that compares.
    pub fn new(original: Option<Text>, proposed: &str) -> Self {
        let disk = original.map(Arc::new);
        let texts = Texts::new(disk.clone(), Arc::new(Text::new(proposed)));
        Self {
            came: disk.clone(),
            disk,
            now: State::new(texts, Change::Proposed),
            undo: Vec::new(),
            redo: Vec::new(),
            given_up: Vec::new(),
            changes: 0,
        }
    }

    /// A placeholder for a proposal that has not been compared yet.
    pub fn unread() -> Self {
        Self::new(None, "")
    }

    /// Returns true if the file is not there yet.
    pub fn is_new_file(&self) -> bool {
        self.now.texts.original.is_none()
    }

    /// The file that it is compared with, byte for byte; `None` when it is not there yet.
    pub fn original(&self) -> Option<&[u8]> {
        self.now.texts.original.as_ref().map(|text| text.bytes())
    }

    /// The file as it came with the proposal, if it was there, and the agent's own text.
    pub fn came(&self) -> Option<(Arc<Text>, Arc<Text>)> {
        let came = self.came.as_ref()?;
        Some((Arc::clone(came), Arc::clone(&self.now.agents)))
    }

    /// The text before, as it is compared; empty when the file is not there yet.
    pub fn before(&self) -> &Text {
        &self.now.texts.before
    }

    /// The text after, as it is compared, with every hunk in.
    pub fn after(&self) -> &Text {
        &self.now.texts.after
    }

    /// One of the two texts, as it is compared.
    pub fn side(&self, side: Side) -> &Text {
        side.of((self.before(), self.after()))
    }

    /// The size of the file in bytes, if it is binary and so not shown.
    pub fn hidden_before(&self) -> Option<usize> {
        let texts = &self.now.texts;
        let size = texts.original.as_ref().map_or(0, |text| text.bytes().len());
        texts.hides_before.then_some(size)
    }

    /// The size of the proposed text in bytes, if it is binary and so not shown.
    pub fn hidden_after(&self) -> Option<usize> {
        let texts = &self.now.texts;
        texts.hides_after.then(|| texts.proposed.bytes().len())
    }

    /// Returns true if it is compared with the file as read last: not after going back over a merge.
    pub fn is_current(&self) -> bool {
        is_same(self.now.texts.original.as_ref(), self.disk.as_ref())
    }

    /// Returns true if it is compared with the file as it came with the proposal.
    pub fn is_as_it_came(&self) -> bool {
        is_same(self.now.texts.original.as_ref(), self.came.as_ref())
    }

    /// Both texts, to be compared on another thread.
    pub fn shared(&self) -> (Arc<Text>, Arc<Text>) {
        (
            Arc::clone(&self.now.texts.before),
            Arc::clone(&self.now.texts.proposed),
        )
    }

    /// The hunks between the two texts, in their order.
    pub fn hunks(&self) -> &[Hunk] {
        &self.now.hunks
    }

    /// Grows whenever what would be accepted may have become another text.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The texts that it compares now, to be asked about later.
    pub fn version(&self) -> Version {
        Version(Arc::clone(&self.now.texts))
    }

    /// Returns true if these are the texts that it compares now.
    pub fn is(&self, version: &Version) -> bool {
        Arc::ptr_eq(&version.0, &self.now.texts)
    }

    /// The current places of the lines of a former version. Those of one that it never had stay where they are.
    pub fn moves_from(&self, version: &Version) -> Moves<'_> {
        let (then, now) = (&version.0, &self.now.texts);
        let steps = match self.way_back(now, then) {
            Some(way) => way.into_iter().rev().map(|step| (step, false)).collect(),
            None => {
                let way = self.way_back(then, now).unwrap_or_default();
                way.into_iter().map(|step| (step, true)).collect()
            }
        };
        Moves { steps }
    }

    /// The steps that `from` came from `to` by, the last one first.
    fn way_back(&self, from: &Arc<Texts>, to: &Arc<Texts>) -> Option<Vec<&Origin>> {
        let mut way = Vec::new();
        let mut at = from;
        while !Arc::ptr_eq(at, to) {
            let mut states = std::iter::once(&self.now).chain(self.history());
            let state = states.find(|state| Arc::ptr_eq(&state.texts, at))?;
            let origin = state.origin.as_deref()?;
            way.push(origin);
            at = &origin.texts;
        }
        Some(way)
    }

    /// Exactly what would be accepted now.
    pub fn text(&self) -> String {
        self.now.text()
    }

    /// What would be accepted with this text in place of the lines after of a hunk, which is in then; none if there is no such hunk.
    pub fn with_hunk(&self, hunk: usize, text: &str) -> Option<String> {
        let Texts {
            before, proposed, ..
        } = &*self.now.texts;
        let lines = self.hunks().get(hunk)?.after.clone();
        let above = hunks::accepted(before, proposed, &self.hunks()[..hunk]);
        let below = hunks::accepted(before, proposed, &self.hunks()[hunk + 1..]);
        let from_here = proposed.slice(lines.start..proposed.len()).len();
        let up_to_here = proposed.slice(0..lines.end).len();
        let former = String::from_utf8_lossy(proposed.slice(lines));
        let mut text = restore::of_field(&former, text);
        if !text.is_empty() && !text.ends_with('\n') && below.len() > up_to_here {
            text.push('\n');
        }
        let bytes = [
            &above[..above.len() - from_here],
            text.as_bytes(),
            &below[up_to_here..],
        ];
        String::from_utf8(bytes.concat()).ok()
    }

    /// Returns true if every change is taken out, so that accepting would change nothing.
    pub fn is_nothing(&self) -> bool {
        !self.hunks().is_empty() && self.hunks().iter().all(|hunk| hunk.out)
    }

    /// Returns true if the file has CRLF and the proposal LF: then line endings are not compared.
    pub fn ignores_endings(&self) -> bool {
        self.now.texts.ignores_endings
    }

    /// Returns true if the text after is no longer the agent's own.
    pub fn is_edited(&self) -> bool {
        self.now.edited
    }

    /// Returns true if the reviewer wrote something, here or anywhere in the history.
    pub fn holds_edits(&self) -> bool {
        self.last_edited().is_some()
    }

    /// The reviewer's own text: as it stands, or else the last one in the history.
    pub fn edited_text(&self) -> Option<String> {
        self.last_edited().map(State::text)
    }

    fn last_edited(&self) -> Option<&State> {
        let mut states = std::iter::once(&self.now).chain(self.history());
        states.find(|state| state.edited)
    }

    /// All states but the one that stands. What was undone first was written last.
    fn history(&self) -> impl Iterator<Item = &State> {
        let undone = self.redo.iter().chain(self.undo.iter().rev());
        undone.chain(self.given_up.iter().rev())
    }

    /// The line of a hunk in what would be accepted, from 1.
    pub fn line_of(&self, hunk: usize) -> usize {
        let Some(current) = self.hunks().get(hunk) else {
            return 1;
        };
        let lines = |hunk: &Hunk| match hunk.out {
            true => hunk.before.len(),
            false => hunk.after.len(),
        };
        let above = &self.hunks()[..hunk];
        let proposed: usize = above.iter().map(|hunk| hunk.after.len()).sum();
        let kept: usize = above.iter().map(lines).sum();
        current.after.start - proposed + kept + 1
    }

    /// The place in what would be accepted of a line of the text after, or of what stands there in place of it.
    pub fn line_in_text(&self, line: usize) -> usize {
        let mut place = line;
        for hunk in self.hunks().iter().filter(|hunk| hunk.out) {
            if line >= hunk.after.end {
                place = place + hunk.before.len() - hunk.after.len();
            } else if line >= hunk.after.start {
                let within = line - hunk.after.start;
                place -= within - within.min(hunk.before.len().saturating_sub(1));
            }
        }
        place
    }

    /// The number of lines and hunks that it changes.
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
        let texts = &self.now.texts;
        let is_text = std::str::from_utf8(texts.before.slice(hunk.before.clone())).is_ok();
        if out && (!is_text || texts.hides_before) {
            return Err(NotText);
        }
        let mut next = self.now.clone();
        next.change = Change::Toggled;
        let hunk = &mut Arc::make_mut(&mut next.hunks)[index];
        hunk.out = out;
        // The reviewer has decided about it now.
        hunk.mark
            .take_if(|mark| matches!(mark, Mark::Changed | Mark::Overwrites));
        self.go_to(next);
        Ok(out)
    }

    /// Takes these lines out, or back in if all of them are out: they become hunks of their own. The parts are those of different hunks,
    /// in their order. Answers whether they are out now.
    ///
    /// # Errors
    /// When lines before are not UTF-8.
    pub fn toggle_lines(&mut self, parts: &[Part]) -> Result<bool, NotText> {
        let texts = &self.now.texts;
        let is_in = |part: &Part| self.hunks().get(part.hunk).is_some_and(|it| !it.out);
        let out = parts.iter().any(is_in);
        let is_text =
            |part: &Part| std::str::from_utf8(texts.before.slice(part.before.clone())).is_ok();
        if out && (texts.hides_before || !parts.iter().all(is_text)) {
            return Err(NotText);
        }
        let hunks = self.cut(parts, Some(out));
        self.go_to_hunks(hunks, Change::Toggled);
        Ok(out)
    }

    /// Makes hunks of their own of these lines, without taking them out or in. Returns false if that is what they are.
    pub fn split(&mut self, parts: &[Part]) -> bool {
        let hunks = self.cut(parts, None);
        let is_other = hunks.len() > self.hunks().len();
        if is_other {
            self.go_to_hunks(hunks, Change::Split);
        }
        is_other
    }

    /// The hunks with these lines as some of their own, which are out or not, if that is to be another.
    fn cut(&self, parts: &[Part], out: Option<bool>) -> Vec<Hunk> {
        let mut parts = parts.iter().peekable();
        let mut hunks = Vec::new();
        for (index, hunk) in self.hunks().iter().enumerate() {
            match parts.next_if(|it| it.hunk == index) {
                Some(part) => hunks.extend(split(hunk, part, out)),
                None => hunks.push(hunk.clone()),
            }
        }
        hunks
    }

    fn go_to_hunks(&mut self, hunks: Vec<Hunk>, change: Change) {
        self.go_to(State {
            // Other texts in name only: what is known of the old hunks is by their numbers.
            texts: Arc::new(self.now.texts.as_ref().clone()),
            hunks: Arc::new(hunks),
            change,
            ..self.now.clone()
        });
    }

    /// Puts the reviewer's own text in place of the proposed one. Answers whether it differs.
    pub fn edit(&mut self, text: &str) -> bool {
        if text == self.text() {
            return false;
        }
        let original = self.now.texts.original.clone();
        let texts = Texts::new(original, Arc::new(Text::new(text)));
        let agents = Arc::clone(&self.now.agents);
        self.go_to(State {
            agents,
            ..State::new(texts, Change::Edited)
        });
        true
    }

    /// Takes along what the reviewer made of a former text, while this one took its place.
    pub fn edit_late(&mut self, base: &str, edited: &str) -> Edits {
        let now = Text::new(self.text());
        let carried = carry::edits(&Text::new(base), &Text::new(edited), &now);
        let original = self.now.texts.original.clone();
        let texts = Texts::new(original, Arc::new(carried.text));
        let agents = Arc::clone(&self.now.agents);
        let mut next = State {
            edited: texts.proposed != agents,
            agents,
            ..State::new(texts, Change::Carried)
        };
        carry::mark_conflicts(&carried.conflicts, &mut next);
        if carried.is_whole {
            self.go_to(next);
            return Edits::Carried;
        }
        // So that it is in the history.
        self.edit(edited);
        self.go_to(next);
        Edits::Conflict(edited.to_owned())
    }

    /// The agent proposes another text for the same file. The reviewer's decisions about hunks that
    /// are the same stand, and so does the reviewer's text, unless the agent changed that, too.
    pub fn replace(&mut self, original: Option<Text>, proposed: &str) -> Edits {
        self.read(original);
        self.came.clone_from(&self.disk);
        let agents = Arc::new(Text::new(proposed));
        let now = &self.now;
        let carried = now.edited.then(|| {
            // Hunks that are out are taken over one by one.
            carry::edits(&now.agents, &now.texts.proposed, &agents)
        });
        let (proposed, conflicts, edits) = match carried {
            None => (Arc::clone(&agents), Vec::new(), Edits::None),
            Some(carried) => {
                let edits = match carried.is_whole {
                    true => Edits::Carried,
                    false => Edits::Conflict(now.text()),
                };
                (Arc::new(carried.text), carried.conflicts, edits)
            }
        };
        let edited = proposed != agents;
        let texts = Texts::new(self.disk.clone(), proposed);
        let mut next = State {
            agents,
            edited,
            ..State::new(texts, Change::Proposed)
        };
        if next.texts.are_readable() {
            let states = std::iter::once(&self.now).chain(self.history());
            carry::decisions(states, &mut next);
            carry::mark_conflicts(&conflicts, &mut next);
        }
        if !next.is_like(&self.now) {
            self.go_to(next);
        }
        edits
    }

    /// The file on disk has another text: merges that with what is proposed. Answers whether it has.
    pub fn rebase(&mut self, original: Option<Text>) -> bool {
        self.read(original);
        if self.is_current() {
            return false;
        }
        let texts = &self.now.texts;
        let next = if self.disk.is_some() {
            let now = Texts::new(self.disk.clone(), Arc::clone(&texts.proposed));
            if texts.are_readable() && now.are_readable() {
                let (base, theirs) = (&texts.before, &texts.proposed);
                let hunks = merge::hunks(base, theirs, &now.before, &self.now.hunks);
                State::with_hunks(now, hunks, Change::Rebased)
            } else {
                State::new(now, Change::Rebased)
            }
        } else {
            // The file is gone, and with it whatever was newer.
            let text = Text::new(self.text());
            State::new(Texts::new(None, Arc::new(text)), Change::Rebased)
        };
        let has_hunks_out = self.hunks().iter().any(|hunk| hunk.out);
        let edited = self.is_edited() || (self.disk.is_none() && has_hunks_out);
        let agents = Arc::clone(&self.now.agents);
        self.go_to(State {
            edited,
            agents,
            ..next
        });
        true
    }

    /// The numbers of changes that can be taken back, and that can be done again.
    pub fn steps(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    /// Takes the last change back. Answers what it was.
    pub fn undo(&mut self) -> Option<Change> {
        let before = self.undo.pop()?;
        let undone = self.now.change;
        self.redo.push(std::mem::replace(&mut self.now, before));
        self.changes += 1;
        Some(undone)
    }

    /// Does the change again that was taken back last.
    pub fn redo(&mut self) -> Option<Change> {
        let after = self.redo.pop()?;
        self.undo.push(std::mem::replace(&mut self.now, after));
        self.changes += 1;
        Some(self.now.change)
    }

    /// Moves on to `next`. What had been undone is given up, but no text of the reviewer's, nor anything because of what the agent does.
    fn go_to(&mut self, mut next: State) {
        let is_kept = |state: &State| state.edited || next.change == Change::Proposed;
        let (kept, given_up) = self.redo.drain(..).partition::<Vec<_>, _>(is_kept);
        self.given_up.extend(given_up);
        if !kept.is_empty() {
            self.undo.extend(kept.into_iter().rev());
            self.now.change = Change::Left;
        }
        if !Arc::ptr_eq(&next.texts, &self.now.texts) {
            next.origin = Some(Arc::new(Origin::new(&self.now.texts, &next.texts)));
        }
        self.changes += 1;
        self.undo.push(std::mem::replace(&mut self.now, next));
    }

    /// The file was read. A text that is the same as before is kept as one.
    fn read(&mut self, original: Option<Text>) {
        if self.disk.as_deref() != original.as_ref() {
            self.disk = original.map(Arc::new);
        }
    }
}

/// A hunk as those above a part of it, the part, which is out or not, and those below.
fn split(hunk: &Hunk, part: &Part, out: Option<bool>) -> impl Iterator<Item = Hunk> {
    let lines = |whole: &Range<usize>, part: &Range<usize>| {
        let start = part.start.clamp(whole.start, whole.end);
        let end = part.end.clamp(start, whole.end);
        [whole.start..start, start..end, end..whole.end]
    };
    let before = lines(&hunk.before, &part.before);
    let after = lines(&hunk.after, &part.after);
    let pieces = before.into_iter().zip(after).zip([None, out, None]);
    let pieces = pieces.map(|((before, after), is_out)| Hunk {
        out: is_out.unwrap_or(hunk.out),
        // As with a whole hunk: what undoes a newer change of the file says so as long as it is there.
        mark: hunk
            .mark
            .filter(|mark| is_out.is_none() || !matches!(mark, Mark::Changed | Mark::Overwrites)),
        ..Hunk::new(before, after)
    });
    let pieces: Vec<_> = pieces.collect();
    pieces
        .into_iter()
        .filter(|it| !it.before.is_empty() || !it.after.is_empty())
}

/// Returns true if two texts of the file are one: it was read once for both.
fn is_same(one: Option<&Arc<Text>>, other: Option<&Arc<Text>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

#[cfg(test)]
mod tests;
