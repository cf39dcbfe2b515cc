//! Comparing takes long for long texts, so that it is done elsewhere, one step after the other for
//! each view. Until then nothing of it can be decided.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_companion::{DiffId, Reply};
use pillion_text::Text;

use super::{App, Effect};
use crate::proposal::Proposal;
use crate::view::View;

/// Shorter comparisons are not worth a frame that says so.
const QUICK: Duration = Duration::from_millis(50);

/// What becomes of a proposal.
#[derive(Debug)]
pub enum Step {
    /// The agent proposes it, or another in its place.
    Propose {
        /// The file; `None` when it is not there yet.
        original: Option<Vec<u8>>,
        /// What is proposed.
        proposed: Arc<str>,
        /// Answered when it can be seen.
        shown: Reply<()>,
    },
    /// The file on disk has this text now.
    Rebase(Option<Vec<u8>>),
    /// The reviewer wrote this text.
    Edit(Arc<str>),
}

/// What a step came to.
#[derive(Debug)]
pub enum Done {
    /// The agent's proposal can be shown.
    Proposed {
        /// Whether another one was there before.
        is_newer: bool,
        /// Answered when it can be seen.
        shown: Reply<()>,
    },
    /// It was merged with the file, unless that had no other text.
    Rebased(bool),
    /// The reviewer's text is the proposal now, unless it was already.
    Edited(bool),
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
                if is_newer {
                    proposal.replace(original, &proposed);
                } else {
                    proposal = Proposal::new(original, &proposed);
                }
                Done::Proposed { is_newer, shown }
            }
            Step::Rebase(original) => Done::Rebased(proposal.rebase(original.map(Text::new))),
            Step::Edit(text) => Done::Edited(proposal.edit(&text)),
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
    /// What will stand in the view, where that is known.
    standing: Option<Arc<str>>,
    /// What the reviewer wrote.
    edited: Option<Arc<str>>,
    has_proposal: bool,
}

impl View {
    /// Whether what it shows is being compared.
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

    /// What the reviewer wrote last, if anything.
    pub fn edited_text(&self) -> Option<String> {
        let waiting = self.comparing.edited.as_deref().map(str::to_owned);
        waiting.or_else(|| self.proposal.edited_text())
    }
}

impl App {
    /// Takes a step with the view's proposal when those before it are taken.
    pub(super) fn compare(&mut self, id: DiffId, step: Step, now: Instant) -> Option<Effect> {
        let view = self.view_mut(id)?;
        let comparing = &mut view.comparing;
        match &step {
            Step::Propose { proposed, .. } => comparing.standing = Some(Arc::clone(proposed)),
            Step::Edit(text) => {
                comparing.standing = Some(Arc::clone(text));
                comparing.edited = Some(Arc::clone(text));
            }
            Step::Rebase(_) => {}
        }
        comparing.waiting.push_back(step);
        self.start(id, now)
    }

    fn start(&mut self, id: DiffId, now: Instant) -> Option<Effect> {
        self.jobs += 1;
        let number = self.jobs;
        let view = self.view_mut(id)?;
        if view.is_comparing() {
            return None;
        }
        let step = view.comparing.waiting.pop_front()?;
        view.comparing.running = Some((number, now));
        let proposal = view.comparing.has_proposal.then(|| view.proposal.clone());
        Some(Effect::Compare(Box::new(Job {
            id,
            number,
            proposal,
            step,
        })))
    }

    /// A step was taken.
    pub(super) fn compared(&mut self, compared: Compared, now: Instant) -> Vec<Effect> {
        let id = compared.id;
        let view = self.view_mut(id).filter(|view| {
            let running = view.comparing.running;
            running.is_some_and(|(number, _)| number == compared.number)
        });
        let Some(view) = view else {
            // The waiting agent gets an error.
            return Vec::new();
        };
        if std::mem::replace(&mut view.comparing.has_proposal, true) {
            view.proposal = compared.proposal;
        } else {
            view.start_with(compared.proposal);
        }
        view.comparing.running = None;
        if view.comparing.waiting.is_empty() {
            (view.comparing.standing, view.comparing.edited) = (None, None);
        }
        let mut effects = self.arrived(id, compared.done, now);
        effects.extend(self.start(id, now));
        effects
    }

    /// Whether a frame now would only say that something is being compared, and until when to wait.
    pub fn settles(&self, now: Instant) -> Option<Instant> {
        let (_, since) = self.view()?.comparing.running?;
        Some(since + QUICK).filter(|until| *until > now)
    }
}
