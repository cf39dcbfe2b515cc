//! The steps of a view's proposal: one after the other, each of them compared elsewhere. Until
//! then nothing of it can be decided.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use pillion_text::Text;
use pillion_view::{DiffId, Reply};

use super::Judged;
use crate::proposal::{Edits, Proposal};

/// A step of a proposal.
#[derive(Debug)]
pub enum Step {
    /// The agent proposes it, or another in its place.
    Propose {
        /// The file; `None` when it is not there yet.
        original: Option<Vec<u8>>,
        /// The text that it would have.
        proposed: Arc<String>,
        /// Answered when it can be seen.
        shown: Reply<()>,
    },
    /// The file on disk has this text now.
    Rebase(Option<Vec<u8>>),
    /// The reviewer wrote this text.
    Edit(Arc<String>),
    /// The reviewer wrote a text while another proposal took the place of the one that it was made of.
    EditLate {
        /// The text that the reviewer's editor got.
        base: String,
        /// The text that it became.
        text: Arc<String>,
    },
    /// The reviewer's own version of the text from before, which nobody decided about, is offered.
    Offer(String),
}

/// The outcome of a step.
#[derive(Debug)]
pub enum Done {
    /// The agent's proposal can be shown.
    Proposed {
        /// True if another one was there before.
        is_newer: bool,
        /// The fate of what the reviewer had written.
        edits: Edits,
        /// Answered when it can be seen.
        shown: Reply<()>,
    },
    /// It was merged with the file, unless that had no other text.
    Rebased(bool),
    /// The reviewer's text is the proposal now, unless it was already.
    Edited(bool),
    /// The fate of what the reviewer wrote for a former proposal.
    EditedLate(Edits),
    /// The reviewer's former text can be had again, unless it is there.
    Offered(bool),
}

/// A step that is to be taken, with all that it needs.
#[derive(Debug)]
pub struct Job {
    id: DiffId,
    number: u64,
    proposal: Option<Proposal>,
    step: Step,
}

/// A step that was taken.
#[derive(Debug)]
pub struct Compared {
    id: DiffId,
    number: u64,
    proposal: Proposal,
    done: Done,
}

impl Job {
    /// Compares. May take seconds.
    pub fn run(self) -> Compared {
        let is_newer = self.proposal.is_some();
        let mut proposal = self.proposal.unwrap_or_else(Proposal::unread);
        let done = match self.step {
            Step::Propose {
                original,
                proposed,
                shown,
            } => {
                let original = original.map(Text::new);
                let edits = if is_newer {
                    proposal.replace(original, &proposed)
                } else {
                    proposal = Proposal::new(original, &proposed);
                    Edits::None
                };
                Done::Proposed {
                    is_newer,
                    edits,
                    shown,
                }
            }
            Step::Rebase(original) => Done::Rebased(proposal.rebase(original.map(Text::new))),
            Step::Edit(text) => Done::Edited(proposal.edit(&text)),
            Step::EditLate { base, text } => Done::EditedLate(proposal.edit_late(&base, &text)),
            Step::Offer(text) => Done::Offered(proposal.offer(&text)),
        };
        Compared {
            id: self.id,
            number: self.number,
            proposal,
            done,
        }
    }
}

/// The steps of one view that are not taken yet.
#[derive(Debug, Default)]
pub struct Comparing {
    waiting: VecDeque<Step>,
    /// The step that is being taken, and since when there was one.
    running: Option<(u64, Instant)>,
    /// The text that will stand in the view, where that is known.
    standing: Option<Arc<String>>,
    /// The reviewer's own text.
    edited: Option<Arc<String>>,
    has_proposal: bool,
}

impl Judged {
    /// Returns true if what it shows is being compared.
    pub fn is_comparing(&self) -> bool {
        self.comparing.running.is_some()
    }

    /// The text that would be accepted, also while it is compared.
    pub fn standing_text(&self) -> String {
        match &self.comparing.standing {
            Some(text) => text.to_string(),
            None => self.proposal.text(),
        }
    }

    /// The reviewer's last own text, if any.
    pub fn edited_text(&self) -> Option<String> {
        let waiting = self.comparing.edited.as_deref().cloned();
        waiting.or_else(|| self.proposal.edited_text())
    }

    /// The time since when something is compared without an end.
    pub fn is_comparing_since(&self) -> Option<Instant> {
        self.comparing.running.map(|(_, since)| since)
    }

    /// Another step is to be taken.
    pub fn push_step(&mut self, step: Step) {
        let comparing = &mut self.comparing;
        match &step {
            Step::Propose { proposed, .. } => comparing.standing = Some(Arc::clone(proposed)),
            Step::Edit(text) => {
                comparing.standing = Some(Arc::clone(text));
                comparing.edited = Some(Arc::clone(text));
            }
            Step::EditLate { text, .. } => comparing.edited = Some(Arc::clone(text)),
            Step::Rebase(_) | Step::Offer(_) => {}
        }
        comparing.waiting.push_back(step);
    }

    /// The next step, under a number that no other has, when those before it are taken.
    pub fn next_job(&mut self, number: u64, now: Instant) -> Option<Job> {
        if self.is_comparing() {
            return None;
        }
        let comparing = &mut self.comparing;
        let step = comparing.waiting.pop_front()?;
        comparing.running = Some((number, now));
        let proposal = comparing.has_proposal.then(|| self.proposal.clone());
        Some(Job {
            id: self.diff.id,
            number,
            proposal,
            step,
        })
    }

    /// Shows what a step came to, if it is the one that is being taken.
    pub fn take_step(&mut self, compared: Compared) -> Option<Done> {
        let comparing = &mut self.comparing;
        let (number, _) = comparing.running?;
        if number != compared.number {
            return None;
        }
        comparing.running = None;
        if comparing.waiting.is_empty() {
            (comparing.standing, comparing.edited) = (None, None);
        }
        comparing.has_proposal = true;
        self.proposal = compared.proposal;
        match &compared.done {
            Done::Proposed { .. } => self.offered = 0,
            done => self.offered += usize::from(matches!(done, Done::Offered(true))),
        }
        let notes = std::mem::take(&mut self.offered_notes);
        self.take_notes(notes);
        Some(compared.done)
    }
}

impl Compared {
    /// The diff.
    pub fn id(&self) -> DiffId {
        self.id
    }
}
