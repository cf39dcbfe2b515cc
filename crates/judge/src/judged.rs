//! One pending diff as a person judges it: the proposal, the person's notes on it, what of it was seen, and what is being done
//! with it. Where on a screen it stands is no part of this.

mod comparing;
mod deciding;
mod hunk_notes;
mod seen;
mod telling;

use std::path::PathBuf;

use pillion_protocol::Note;
use pillion_text::{damage, visible};
use pillion_view::{Diff, ProposalKey, Proposed, SetPlace};

use crate::proposal::{Proposal, Version};
use crate::{Moved, white};
pub use telling::DECIDING;

use comparing::Comparing;
pub use comparing::{Compared, Done, Job, Step};
use hunk_notes::FormerNotes;
pub use hunk_notes::{HunkNote, add_words};
use seen::Seen;
pub use seen::{Intervals, Seen as SeenParts, SeenHunks};

/// The file that a proposal would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The real path: the companion follows links.
    pub path: PathBuf,
    /// The path for people: below the workspace if it is there.
    pub shown: String,
    /// True if it is outside of every workspace folder.
    pub is_outside: bool,
}

impl Target {
    /// Names `path` for people, relative to the root that holds it.
    pub fn new(path: PathBuf, roots: &[PathBuf]) -> Self {
        let within = roots.iter().find_map(|root| path.strip_prefix(root).ok());
        Self {
            shown: visible::one_line(&within.unwrap_or(&path).to_string_lossy()),
            is_outside: within.is_none(),
            path,
        }
    }

    /// The folder that it lies in, for people; none if that is the workspace.
    pub fn folder(&self) -> Option<&str> {
        let at = self.shown.rfind(['/', std::path::MAIN_SEPARATOR])?;
        Some(&self.shown[..at])
    }
}

/// The fate of the file on disk since the diff opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Disk {
    /// It still has the text that the diff compares with.
    #[default]
    Same,
    /// It has another text.
    Changed,
    /// It is not there any more.
    Gone,
    /// It appeared, where there was none.
    Appeared,
}

/// A pending diff, and what its person has made of it so far.
#[derive(Debug)]
pub struct Judged {
    /// What is proposed; its texts are in `proposal`.
    pub diff: Diff,
    /// The file.
    pub target: Target,
    /// The texts, and what became of them.
    pub proposal: Proposal,
    /// The steps that are yet to be taken with it.
    comparing: Comparing,
    /// The number of the person's texts from before that redoing brings back.
    pub offered: usize,
    /// What has become of the file meanwhile.
    pub disk: Disk,
    /// The message once the gate has let the decision through that is under way.
    pub deciding: Option<String>,
    /// That decision is more than to leave it unseen.
    pub is_act: bool,
    /// True once the gate has said that the agent would take what was accepted for a rejection.
    pub is_told_rejection: bool,
    /// A reason for rejecting it that was typed and not sent.
    pub reason: String,
    /// The person's notes on hunks.
    pub hunk_notes: Vec<HunkNote>,
    /// As they were before each of the person's acts, and after those that were undone.
    former_notes: Vec<FormerNotes>,
    later_notes: Vec<FormerNotes>,
    /// Those on an earlier proposal, until the texts are compared on whose lines they are.
    offered_notes: Vec<Note>,
    /// The note from the list of changes that went with the decision.
    pub note_of_list: String,
    /// It is being read again.
    pub is_rereading: bool,
    /// It was said that there is no file to merge with any more.
    pub is_gone: bool,
    /// The proposal that was in sight for as long as a decision takes.
    looked_at: Option<ProposalKey>,
    /// Its texts as they were then, and those of the one before it.
    looked: [Option<Version>; 2],
    /// For each hunk, true if it changes whitespace only, and none that has a meaning there.
    pub white: Vec<bool>,
    /// The number of hunks that change whitespace only, of which the indentation has a meaning.
    pub indenting: usize,
    /// True if the reviewer ignores such hunks.
    pub ignores_white: bool,
    /// The lines after that get U+FFFD in place of their characters.
    pub unreadable: Vec<usize>,
    /// The blocks that it moves.
    pub moved: Moved,
    seen: Seen,
}

impl Proposed for Judged {
    fn key(&self) -> ProposalKey {
        self.diff.key()
    }

    fn set(&self) -> Option<SetPlace> {
        self.diff.set
    }
}

impl Judged {
    /// Somebody else looks at it: what they have seen of it, in exchange for what the last one had.
    pub fn swap_seen(&mut self, seen: &mut SeenParts) {
        std::mem::swap(&mut self.seen, seen);
    }

    /// A diff whose texts are yet to be compared.
    pub fn new(diff: Diff, target: Target) -> Self {
        Self {
            diff,
            target,
            proposal: Proposal::unread(),
            comparing: Comparing::default(),
            offered: 0,
            disk: Disk::Same,
            deciding: None,
            is_act: false,
            is_told_rejection: false,
            reason: String::new(),
            hunk_notes: Vec::new(),
            former_notes: Vec::new(),
            later_notes: Vec::new(),
            offered_notes: Vec::new(),
            note_of_list: String::new(),
            is_rereading: false,
            is_gone: false,
            white: Vec::new(),
            looked_at: None,
            looked: [None, None],
            indenting: 0,
            ignores_white: false,
            unreadable: Vec::new(),
            moved: Moved::default(),
            seen: Seen::default(),
        }
    }

    /// Returns true if the agent would take it for a rejection if this was accepted.
    pub fn takes_for_rejection(&self) -> bool {
        // Of an empty new file only the gate knows: the agent's question may be answered in place of its proposal.
        let may_be = self.is_told_rejection || self.proposal.original().is_some();
        // Finding out takes a copy of the text.
        may_be
            && self.diff.proposer.is(|agent| {
                agent.unchanged_is_rejection()
                    && agent.takes_for_rejection(self.proposal.original(), &self.proposal.text())
            })
    }

    /// The texts are others: finds the hunks of whitespace that means nothing, the lines that become unreadable, and those that move.
    pub fn find_peculiarities(&mut self) {
        let (before, after) = (self.proposal.before(), self.proposal.after());
        let hunks = self.proposal.hunks().iter();
        let is_indented = white::is_indented(&self.target.path);
        let mut indenting = 0;
        let white = hunks.clone().map(|hunk| {
            let old = before.slice(hunk.before.clone());
            let new = after.slice(hunk.after.clone());
            let is_same = white::is_same(old, new);
            let has_meaning = is_same && is_indented && !white::has_same_indents(old, new);
            indenting += usize::from(has_meaning);
            is_same && !has_meaning
        });
        let white = white.collect();
        let unreadable = hunks
            .clone()
            .flat_map(|hunk| damage::unreadable(hunk, before, after));
        let moved = Moved::new(before, after, self.proposal.hunks());
        (self.white, self.unreadable) = (white, unreadable.collect());
        self.indenting = indenting;
        self.moved = moved;
    }

    /// The next hunk in one direction that is not ignored.
    pub fn next_hunk(&self, from: usize, down: bool) -> Option<usize> {
        let is_shown = |hunk: &usize| !self.is_ignored(*hunk);
        match down {
            true => (from + 1..self.proposal.hunks().len()).find(is_shown),
            false => (0..from).rev().find(is_shown),
        }
    }

    /// Returns true if the reviewer does not want to see a hunk.
    pub fn is_ignored(&self, hunk: usize) -> bool {
        self.ignores_white && self.white.get(hunk) == Some(&true)
    }

    /// Returns true if a hunk is still to be seen.
    pub fn is_wanted(&self, hunk: usize) -> bool {
        !self.has_seen(hunk) && !self.is_ignored(hunk)
    }

    /// Returns true if only one of the two texts has lines.
    pub fn is_one_sided(&self) -> bool {
        self.proposal.before().is_empty() || self.proposal.after().is_empty()
    }
}
