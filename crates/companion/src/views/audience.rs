//! The views that show one proposal, from the moment it comes until the last of them has closed it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::ViewId;
use pillion_view::{CloseReason, Diff, ProposalKey, Proposed};

/// How long views may take to close once the first has: one that hangs must not keep what the others answered.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Who shows a proposal.
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

/// What the agent is to hear of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShownResult {
    /// A view shows it.
    Shown,
    /// No view can.
    NotShown(String),
    /// The last view that showed it cannot any more.
    Unseen,
}

/// What a person wrote in a view that closed because they decided in another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) diff: Diff,
    pub(crate) text: String,
}

/// The views are being closed.
#[derive(Debug)]
struct Closing {
    reason: CloseReason,
    /// What was accepted where it was decided.
    accepted: Option<String>,
    awaited: Vec<ViewId>,
    answers: BTreeMap<ViewId, Result<String, String>>,
    /// When those that have not answered are not waited for any more.
    deadline: Option<Instant>,
}

/// What came of closing a proposal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Not all have answered yet.
    Waiting,
    /// This stood in it.
    Text(Result<String, String>),
    /// It was decided in another view. What the person wrote in these is nowhere else.
    Elsewhere(Vec<Leftover>),
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

    /// Returns true unless it is being closed.
    pub(super) fn is_open(&self) -> bool {
        self.closing.is_none()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seated.is_empty()
    }

    pub(super) fn has(&self, view: ViewId) -> bool {
        self.seated.contains(&view)
    }

    pub(super) fn is_refused_by(&self, view: ViewId) -> bool {
        self.refused.contains(&view)
    }

    /// A view is asked to show it.
    pub(super) fn seat(&mut self, view: ViewId) {
        self.seated.push(view);
    }

    /// A newer revision takes its place. Who is to show that.
    pub(super) fn replace(&mut self, diff: Diff) -> Vec<ViewId> {
        let seated = std::mem::take(&mut self.seated);
        *self = Self {
            seated: seated.clone(),
            ..Self::new(diff)
        };
        seated
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

    /// What the agent is to hear if no view is left.
    pub(super) fn unseen(&self, reason: String) -> ShownResult {
        match self.is_shown {
            true => ShownResult::Unseen,
            false => ShownResult::NotShown(reason),
        }
    }

    /// Has it closed. Who is to close it. `accepted`: what was accepted elsewhere.
    pub(super) fn close(&mut self, reason: CloseReason, accepted: Option<String>) -> Vec<ViewId> {
        let former = self.closing.take();
        let answers = former.map(|former| former.answers).unwrap_or_default();
        let awaited = self.seated.iter().copied();
        let awaited: Vec<_> = awaited.filter(|view| !answers.contains_key(view)).collect();
        self.closing = Some(Closing {
            reason,
            accepted,
            awaited: awaited.clone(),
            answers,
            deadline: None,
        });
        awaited
    }

    /// A view has closed it, or says why not.
    pub(super) fn answered(&mut self, view: ViewId, text: Result<String, String>, now: Instant) {
        if let Some(closing) = &mut self.closing
            && closing.awaited.contains(&view)
        {
            closing.awaited.retain(|it| *it != view);
            closing.answers.insert(view, text);
            closing.deadline.get_or_insert(now + CLOSE_TIMEOUT);
        }
    }

    /// A view has left.
    pub(super) fn left(&mut self, view: ViewId, now: Instant) {
        self.seated.retain(|it| *it != view);
        self.answered(view, Err("the editor has left".to_owned()), now);
    }

    /// When [`Audience::closed`] is to be asked, although views have not answered.
    pub(super) fn due(&self) -> Option<Instant> {
        let closing = self.closing.as_ref()?;
        closing.deadline.filter(|_| !closing.awaited.is_empty())
    }

    /// What came of closing it. `newest` orders the views by when they were used.
    pub(super) fn closed(&mut self, newest: impl Fn(ViewId) -> u64, now: Instant) -> Closed {
        let Some(closing) = &mut self.closing else {
            return Closed::Waiting;
        };
        let is_late = closing.deadline.is_some_and(|deadline| deadline <= now);
        if !closing.awaited.is_empty() && !is_late {
            return Closed::Waiting;
        }
        let mut answers: Vec<_> = std::mem::take(&mut closing.answers).into_iter().collect();
        answers.sort_by_key(|(view, _)| std::cmp::Reverse(newest(*view)));
        let proposed = &self.diff.proposed;
        if closing.reason == CloseReason::DecidedElsewhere {
            let accepted = closing.accepted.as_ref();
            let is_left_over = |text: &String| text != &**proposed && Some(text) != accepted;
            let texts = answers.into_iter().filter_map(|(_, text)| text.ok());
            let texts = texts.filter(is_left_over).map(|text| Leftover {
                diff: self.diff.clone(),
                text,
            });
            return Closed::Elsewhere(texts.collect());
        }
        let is_edited = |(_, text): &(_, Result<String, String>)| {
            text.as_ref().is_ok_and(|text| text != &**proposed)
        };
        let at = answers.iter().position(is_edited);
        let at = at.or_else(|| answers.iter().position(|(_, text)| text.is_ok()));
        let text = match at.or((!answers.is_empty()).then_some(0)) {
            Some(at) => answers.swap_remove(at).1,
            None => Err("no view showed it".to_owned()),
        };
        if closing.reason == CloseReason::Settled && text.is_err() {
            // Nothing was decided: it stays.
            self.closing = None;
        }
        Closed::Text(text)
    }
}
