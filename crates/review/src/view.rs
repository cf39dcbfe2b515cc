//! One pending diff as the reviewer sees it: the proposal, and where in it the view stands.

mod comparing;
mod hunk_notes;
mod paint;
mod part;
mod scroll;
mod seen;
mod stay;
pub mod white;

use std::path::PathBuf;

use pillion_protocol::Note;
use pillion_text::damage;
use pillion_view::{Diff, ProposalKey, Proposed, SetPlace};

use comparing::Comparing;
pub use comparing::{Compared, Done, Job, Step};
pub use hunk_notes::HunkNote;
pub use paint::{Changed, LineOf, Paint, content};
pub use part::{RowPart, Window};
pub use scroll::{Top, Viewport};
use seen::Seen;
use stay::Former;
pub use stay::Stayed;

use pillion_text::visible;

use crate::geometry::Columns;
use crate::highlight::Texts;
use crate::proposal::{Hunk, Proposal, Side, Version};
use crate::rows::{Layout, Rows};

/// A line that takes more columns than this fits nowhere.
const WIDEST: usize = 1_000;

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
}

/// The fate of the file on disk since the diff opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Disk {
    /// It still has the text that the diff compares with.
    #[default]
    Same,
    /// It has another text.
    Changed,
    Gone,
    /// It appeared, where there was none.
    Appeared,
}

/// A pending diff in the review.
pub struct View {
    /// What is proposed; its texts are in `proposal`.
    pub diff: Diff,
    pub target: Target,
    pub proposal: Proposal,
    /// The steps that are yet to be taken with it.
    comparing: Comparing,
    pub hunk: usize,
    pub top: Top,
    /// Columns that are scrolled off to the left.
    pub x: usize,
    /// True if unchanged regions are shown in full.
    pub unfold: bool,
    pub disk: Disk,
    /// The message once the gate has let the decision through that is under way.
    pub deciding: Option<String>,
    /// True once the gate has said that the agent would take what was accepted for a rejection.
    pub is_told_rejection: bool,
    /// A reason for rejecting it that was typed and not sent.
    pub reason: String,
    /// The person's notes on hunks.
    pub hunk_notes: Vec<HunkNote>,
    /// Those on an earlier proposal, until the texts are compared on whose lines they are.
    offered_notes: Vec<Note>,
    /// The note from the list of changes that went with the decision.
    pub note_of_list: String,
    /// It is being read again.
    pub is_rereading: bool,
    /// It was said that there is no file to merge with any more.
    pub is_gone: bool,
    /// For each hunk, true if it changes whitespace only, and none that has a meaning there.
    pub white: Vec<bool>,
    /// True if the reviewer ignores such hunks.
    pub ignores_white: bool,
    /// The lines after that get U+FFFD in place of their characters.
    pub unreadable: Vec<usize>,
    /// Colours and line breaks that were worked out.
    pub paint: Paint,
    /// Counts the pairs of texts that were shown.
    paints: u64,
    rows: Rows,
    rows_for: (Layout, bool),
    /// The columns of the longest line that changes on each side, and the texts that they were measured in.
    widest: (usize, usize),
    measured: Version,
    /// The texts that the rows are of.
    version: Version,
    /// The number of them that could be seen last.
    height: usize,
    seen: Seen,
}

impl Proposed for View {
    fn key(&self) -> ProposalKey {
        self.diff.key()
    }

    fn set(&self) -> Option<SetPlace> {
        self.diff.set
    }
}

impl View {
    /// A view without anything to see yet.
    pub fn new(diff: Diff, target: Target) -> Self {
        let proposal = Proposal::unread();
        let version = proposal.version();
        Self {
            paint: Paint::default(),
            paints: 0,
            diff,
            target,
            proposal,
            comparing: Comparing::default(),
            hunk: 0,
            top: Top::default(),
            x: 0,
            unfold: false,
            disk: Disk::Same,
            deciding: None,
            is_told_rejection: false,
            reason: String::new(),
            hunk_notes: Vec::new(),
            offered_notes: Vec::new(),
            note_of_list: String::new(),
            is_rereading: false,
            is_gone: false,
            white: Vec::new(),
            ignores_white: false,
            unreadable: Vec::new(),
            rows: Rows::default(),
            rows_for: (Layout::Unified, false),
            widest: (0, 0),
            measured: version.clone(),
            version,
            height: 1,
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

    /// The rows, as [`View::arrange`] worked them out.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Works the rows out again if the texts, the layout or the folding changed, and stays at the
    /// lines that were seen. Now `height` rows can be. Answers what became of the current hunk, if anything did.
    pub fn arrange(&mut self, layout: Layout, height: usize) -> Option<Stayed> {
        let rows_for = (layout, self.unfold);
        let height = std::mem::replace(&mut self.height, height);
        if !self.proposal.is(&self.version) {
            // What was worked out is of no use for other texts.
            self.paint = Paint::default();
            self.paint.refill();
            self.paints += 1;
            (self.white, self.unreadable) = self.peculiarities();
        } else if rows_for == self.rows_for {
            return None;
        }
        let rows = Rows::new(&self.proposal, layout, self.unfold);
        let moves = self.proposal.moves_from(&self.version);
        let former = Former {
            rows: &self.rows,
            height,
            top: self.top,
            hunk: self.hunk,
        };
        let stand = stay::stay(&former, &rows, self.proposal.hunks(), &moves);
        (self.top, self.hunk) = (stand.top, stand.hunk);
        if layout != self.rows_for.0 {
            self.top.sub = 0;
        }
        self.version = self.proposal.version();
        (self.rows, self.rows_for) = (rows, rows_for);
        Some(stand.stayed)
    }

    /// Measures the lines that change, if the texts are others.
    pub fn measure(&mut self) {
        if self.proposal.is(&self.measured) {
            return;
        }
        self.measured = self.proposal.version();
        let hunks = self.proposal.hunks();
        let widest = |side: Side| {
            let lines = hunks
                .iter()
                .flat_map(|hunk| side.of((&hunk.before, &hunk.after)).clone());
            let columns =
                lines.map(|line| LineOf::new(&self.proposal, side, line).columns_up_to(WIDEST));
            columns.max().unwrap_or(0)
        };
        self.widest = (widest(Side::Left), widest(Side::Right));
    }

    /// Divides so many columns for its texts.
    pub fn columns(&self, layout: Layout, width: u16) -> Columns {
        let (before, after) = (self.proposal.before(), self.proposal.after());
        Columns::new(layout, width, before.len(), after.len())
    }

    /// Returns true if these columns cut no line that changes.
    pub fn fits(&self, columns: &Columns) -> bool {
        self.widest.0 <= columns.left_text && self.widest.1 <= columns.right_text
    }

    /// For each hunk, true if it changes whitespace only that means nothing; and the lines that become unreadable.
    fn peculiarities(&self) -> (Vec<bool>, Vec<usize>) {
        let (before, after) = (self.proposal.before(), self.proposal.after());
        let hunks = self.proposal.hunks().iter();
        let is_indented = white::is_indented(&self.target.path);
        let white = hunks.clone().map(|hunk| {
            let old = before.slice(hunk.before.clone());
            let new = after.slice(hunk.after.clone());
            white::is_same(old, new) && (!is_indented || white::has_same_indents(old, new))
        });
        let unreadable = hunks
            .clone()
            .flat_map(|hunk| damage::unreadable(hunk, before, after));
        (white.collect(), unreadable.collect())
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

    /// The texts that are shown.
    pub fn texts(&self) -> Texts {
        Texts {
            id: self.diff.id,
            generation: self.paints,
        }
    }

    pub fn current_hunk(&self) -> Option<&Hunk> {
        self.proposal.hunks().get(self.hunk)
    }

    /// Returns true if only one of the two texts has lines.
    pub fn is_one_sided(&self) -> bool {
        self.proposal.before().is_empty() || self.proposal.after().is_empty()
    }
}
