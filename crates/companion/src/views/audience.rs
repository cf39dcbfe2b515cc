//! The views that show one proposal, from the moment it comes until the last of them has closed it.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_view::{CloseReason, Diff, ProposalKey, Proposed};

use super::ViewId;

/// The time limit for views to close once the first has: one that hangs must not keep what the others answered.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The views that show a proposal.
#[derive(Debug)]
pub(super) struct Audience {
    diff: Diff,
    /// Those that were asked to show it, and have not refused.
    seated: Vec<ViewId>,
    /// Those that cannot show this revision.
    refused: Vec<ViewId>,
    /// True once the agent has heard that it is shown.
    is_shown: bool,
    closing: Option<Closing>,
}

/// The news of a proposal for its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShownResult {
    Shown,
    NotShown(String),
    /// The last view that showed it cannot any more.
    Unseen,
}

/// A text that a person wrote in a view, where something else was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) view: ViewId,
    pub(crate) diff: Diff,
    pub(crate) text: String,
}

/// The views are being closed.
#[derive(Debug)]
struct Closing {
    reason: CloseReason,
    awaited: Vec<ViewId>,
    /// Those that nothing came of yet.
    answers: Vec<(ViewId, Result<String, String>)>,
    /// The time from which those that have not answered are not waited for any more.
    deadline: Option<Instant>,
    /// The decision, once that is clear: nothing that a person wrote beside it may be lost, however late it comes.
    decided: Option<Decided>,
}

/// The text that the agent gets, or got from another view.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Decided {
    Text(Arc<String>),
    Nothing,
}

/// The outcome so far of closing a proposal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) text: Option<Result<String, String>>,
    /// The texts that the person wrote elsewhere, which nobody else has.
    pub(crate) leftovers: Vec<Leftover>,
}

impl Audience {
    pub(super) fn new(diff: Diff) -> Self {
        Self {
            diff,
            seated: Vec::new(),
            refused: Vec::new(),
            is_shown: false,
            closing: None,
        }
    }

    pub(super) fn diff(&self) -> &Diff {
        &self.diff
    }

    pub(super) fn key(&self) -> ProposalKey {
        self.diff.key()
    }

    pub(super) fn path(&self) -> &Path {
        &self.diff.path
    }

    pub(super) fn is_open(&self) -> bool {
        self.closing.is_none()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seated.is_empty()
    }

    pub(super) fn has(&self, view: ViewId) -> bool {
        self.seated.contains(&view)
    }

    /// Those that show it, or are about to.
    pub(super) fn seated(&self) -> &[ViewId] {
        &self.seated
    }

    pub(super) fn is_refused_by(&self, view: ViewId) -> bool {
        self.refused.contains(&view)
    }

    /// What a view could not show before it may show now.
    pub(super) fn asks_again(&mut self, view: ViewId) {
        self.refused.retain(|it| *it != view);
    }

    /// A view is asked to show it.
    pub(super) fn seat(&mut self, view: ViewId) {
        self.seated.push(view);
    }

    /// A newer revision takes its place. Returns the guests, which are not to show that, and those that are.
    pub(super) fn replace(
        &mut self,
        diff: Diff,
        is_guest: impl Fn(ViewId) -> bool,
    ) -> (Vec<ViewId>, Vec<ViewId>) {
        let seated = std::mem::take(&mut self.seated).into_iter();
        let (guests, seated): (_, Vec<_>) = seated.partition(|view| is_guest(*view));
        *self = Self {
            seated: seated.clone(),
            ..Self::new(diff)
        };
        (guests, seated)
    }

    /// A view shows this revision, or cannot; nothing if the agent need not hear of it. An error says that others may be
    /// asked.
    pub(super) fn shown(
        &mut self,
        view: ViewId,
        key: ProposalKey,
        result: Result<(), String>,
    ) -> Option<ShownResult> {
        if key != self.key() || !self.is_open() || !self.has(view) {
            return None;
        }
        match result {
            Ok(()) if std::mem::replace(&mut self.is_shown, true) => None,
            Ok(()) => Some(ShownResult::Shown),
            Err(reason) => {
                self.seated.retain(|it| *it != view);
                self.refused.push(view);
                Some(self.unseen(reason))
            }
        }
    }

    /// Returns what the agent is to hear if no view is left.
    pub(super) fn unseen(&self, reason: String) -> ShownResult {
        match self.is_shown {
            true => ShownResult::Unseen,
            false => ShownResult::NotShown(reason),
        }
    }

    /// Has it closed. Returns the views that are to close it.
    pub(super) fn close(&mut self, reason: CloseReason) -> Vec<ViewId> {
        self.close_with(reason, None)
    }

    /// Has it closed where it was not decided. Returns those views. `accepted`: the accepted text; none if it was rejected.
    pub(super) fn close_elsewhere(
        &mut self,
        reason: CloseReason,
        accepted: Option<Arc<String>>,
    ) -> Vec<ViewId> {
        let decided = accepted.map_or(Decided::Nothing, Decided::Text);
        self.close_with(reason, Some(decided))
    }

    fn close_with(&mut self, reason: CloseReason, decided: Option<Decided>) -> Vec<ViewId> {
        let former = self.closing.take();
        let answers = former.map(|former| former.answers).unwrap_or_default();
        let has_answered = |view: &ViewId| answers.iter().any(|(answered, _)| answered == view);
        let awaited = self.seated.iter().copied();
        let awaited: Vec<_> = awaited.filter(|view| !has_answered(view)).collect();
        self.closing = Some(Closing {
            reason,
            awaited: awaited.clone(),
            answers,
            deadline: None,
            decided,
        });
        awaited
    }

    /// A view has closed it, or says why not.
    pub(super) fn answered(&mut self, view: ViewId, text: Result<String, String>, now: Instant) {
        if let Some(closing) = &mut self.closing
            && closing.awaited.contains(&view)
        {
            closing.awaited.retain(|it| *it != view);
            closing.answers.push((view, text));
            closing.deadline.get_or_insert(now + CLOSE_TIMEOUT);
        }
    }

    pub(super) fn left(&mut self, view: ViewId, now: Instant) {
        self.seated.retain(|it| *it != view);
        self.answered(view, Err("the editor has left".to_owned()), now);
    }

    /// Returns the time at which [`Audience::closed`] is to be asked, although views have not answered.
    pub(super) fn due(&self) -> Option<Instant> {
        let closing = self.closing.as_ref()?;
        let is_awaited = !closing.awaited.is_empty() && closing.decided.is_none();
        closing.deadline.filter(|_| is_awaited)
    }

    /// Returns true if it is closed everywhere.
    pub(super) fn is_over(&self) -> bool {
        let closing = self.closing.as_ref();
        closing.is_some_and(|closing| closing.awaited.is_empty())
    }

    /// Returns the outcome of closing it. `used` orders the views by when they were used.
    pub(super) fn closed(&mut self, used: impl Fn(ViewId) -> u64, now: Instant) -> Closed {
        let Some(closing) = &mut self.closing else {
            return Closed::default();
        };
        let mut text = None;
        if closing.decided.is_none() {
            let is_late = closing.deadline.is_some_and(|deadline| deadline <= now);
            if !closing.awaited.is_empty() && !is_late {
                return Closed::default();
            }
            closing
                .answers
                .sort_by_key(|(view, _)| Reverse(used(*view)));
            let standing = standing(&closing.answers, &self.diff.proposed);
            if closing.reason == CloseReason::Settled && standing.is_err() {
                // Nothing was decided: it stays.
                self.closing = None;
                return Closed {
                    text: Some(standing),
                    leftovers: Vec::new(),
                };
            }
            let decided = standing.clone().ok().map(Arc::new);
            closing.decided = Some(decided.map_or(Decided::Nothing, Decided::Text));
            text = Some(standing);
        }
        // In other cases each view keeps what was written there.
        let is_taken = matches!(
            closing.reason,
            CloseReason::ClosedByAgent
                | CloseReason::Settled
                | CloseReason::AcceptedElsewhere
                | CloseReason::RejectedElsewhere
        );
        let answers = std::mem::take(&mut closing.answers).into_iter();
        let written = answers.filter_map(|(view, text)| Some((view, text.ok()?)));
        let leftovers = written.filter(|(_, text)| {
            let decided = closing.decided.as_ref();
            let is_decided = matches!(decided, Some(Decided::Text(decided)) if **decided == *text);
            is_taken && !is_decided && *text != *self.diff.proposed
        });
        let leftovers = leftovers.map(|(view, text)| Leftover {
            view,
            diff: self.diff.clone(),
            text,
        });
        Closed {
            text,
            leftovers: leftovers.collect(),
        }
    }
}

/// Returns the text that stands in the views: the one that the person edited last, or else the proposed one.
fn standing(
    answers: &[(ViewId, Result<String, String>)],
    proposed: &str,
) -> Result<String, String> {
    let mut texts = answers.iter().map(|(_, text)| text);
    let edited = texts
        .clone()
        .find(|text| text.as_ref().is_ok_and(|text| text != proposed));
    let any = texts.clone().find(|text| text.is_ok());
    let none = || Err("no view showed it".to_owned());
    edited
        .or(any)
        .or_else(|| texts.next())
        .cloned()
        .unwrap_or_else(none)
}
