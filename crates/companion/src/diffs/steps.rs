//! The steps of the diffs: one for each thing that happens.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::{Outcome, remarks};
use pillion_view::{CloseReason, Diff, DiffId, ProposalKey, SetPlace};

use super::outcomes::closed_answer;
use super::{Action, Answer, Diffs, EDITOR_TIMEOUT, Entry, Proposal, State};
use crate::disk::CHECK_TIMEOUT;
use crate::ids::RequestId;
use crate::line_endings::MAY_LOSE_LINE_FEED;
use crate::on_disk::{FileState, OnDisk};
use crate::sessions::SessionId;
use crate::stand_in::StandIn;
use crate::target::Target;

const AGENT_CLOSED: &str = "the agent closed the diff";

const AGENT_GONE: &str = "the agent is gone";

const NO_ANSWER: &str = "the editor did not answer within 10 seconds";

/// The note for a person on what they would else take for the agent's own change.
const OF_SUBAGENT: &str = "A subagent proposes this.";

impl<C> Diffs<C> {
    /// An agent proposes a change. A proposal of the same session for the same path takes the
    /// place of the one before, in the same view.
    pub(crate) fn open(&mut self, proposal: Proposal, caller: C, now: Instant) -> Vec<Action<C>> {
        let found = self.entries.find(&proposal.session, proposal.name());
        let bytes = proposal.proposed.len();
        if let Some(why) = self.entries.refuse(proposal.proposer, bytes, found) {
            // As with any proposal that is not shown, nothing stays behind.
            let abandoned = found.map(|id| self.abandon(id, CloseReason::NotShown, &why));
            let answer = Err(why);
            let refused = Action::Answer { caller, answer };
            return abandoned.into_iter().flatten().chain([refused]).collect();
        }
        let mut actions = Vec::new();
        let id = found.unwrap_or_else(|| DiffId(self.numbers.give()));
        let set = self.set_place(id, &proposal);
        let (mut revision, mut is_in_editor) = (1, false);
        if let Some(former) = self.entries.remove(id) {
            revision = former.key.revision + 1;
            is_in_editor = former.is_in_editor;
            actions.extend(former.reject_call());
            let why = "a newer proposal for this file replaced it";
            actions.extend(former.state.give_up(why));
        }
        // A command's hook has a limit of its own.
        let is_limited = proposal.tab.is_some() && proposal.held().is_some();
        let entry = Entry {
            key: ProposalKey { id, revision },
            set,
            proposal,
            as_written: None,
            beside: None,
            tool: None,
            ends_with_line_feed: false,
            is_in_editor,
            opened: None,
            decided: None,
            printed: None,
            together: None,
            notes: None,
            unsaid: Vec::new(),
            done: None,
            limit: is_limited.then(|| now + self.hook_limit),
            state: State::Checking {
                caller,
                deadline: now + CHECK_TIMEOUT,
            },
        };
        actions.push(Action::Check(entry.key));
        self.entries.insert(entry);
        actions
    }

    pub(super) fn set_place(&mut self, id: DiffId, proposal: &Proposal) -> Option<SetPlace> {
        let (place, of) = proposal.set?;
        let known = self.sets.entry(proposal.session.clone());
        let DiffId(id) = *known.or_insert(id);
        Some(SetPlace { id, place, of })
    }

    /// Returns why a file cannot be shown, if another one of its set leads to the same place.
    pub(super) fn same_file_in_set(&self, id: DiffId, path: &Path) -> Option<String> {
        let entry = self.entries.get(id)?;
        let set = entry.set?;
        let is_same = |other: &&Entry<C>| {
            let opened = other.opened.as_ref();
            other.key.id != id
                && other.set.is_some_and(|other| other.id == set.id)
                && !matches!(
                    other.state,
                    State::AgentCloses { .. } | State::AgentGone { .. }
                )
                && opened.is_some_and(|opened| opened.on_disk.leads_to == path)
        };
        let other = self.entries.iter().find(is_same)?;
        let (own, other) = (&entry.proposal.file_path, &other.proposal.file_path);
        Some(format!("{own:?} and {other:?} are the same file"))
    }

    pub(crate) fn checked(
        &mut self,
        key: ProposalKey,
        result: Result<Target, String>,
        now: Instant,
    ) -> Vec<Action<C>> {
        let (entry, id) = (self.current(key), key.id);
        if !entry.is_some_and(|entry| matches!(entry.state, State::Checking { .. })) {
            return Vec::new();
        }
        let Target {
            path,
            original,
            fingerprint,
            proposed,
            beside,
            tool,
            mut notes,
            runner,
            hunks,
        } = match result {
            Ok(target) => target,
            Err(reason) => return self.abandon(id, CloseReason::NotShown, &reason),
        };
        if let Some(why) = self.same_file_in_set(id, &path) {
            return self.abandon(id, CloseReason::NotShown, &why);
        }
        let Some(entry) = self.entries.get_mut(id) else {
            return Vec::new();
        };
        let was_in_editor = mem::replace(&mut entry.is_in_editor, true);
        if let State::Checking { caller, .. } = mem::replace(&mut entry.state, State::Pending) {
            let deadline = now + EDITOR_TIMEOUT;
            entry.state = State::Opening { caller, deadline };
        }
        let text = original.text.as_deref();
        entry.ends_with_line_feed = text.is_some_and(|text| text.ends_with(b"\n"));
        if let Some(proposed) = proposed {
            let as_written = mem::replace(&mut entry.proposal.proposed, proposed);
            entry.as_written = Some(as_written);
        }
        entry.tool = tool;
        if entry.proposal.is_of_subagent() {
            notes.push(OF_SUBAGENT.to_owned());
        }
        entry.beside = beside;
        notes.extend(
            entry
                .may_lose_line_feed()
                .then(|| MAY_LOSE_LINE_FEED.to_owned()),
        );
        entry.opened = Some(FileState {
            on_disk: OnDisk {
                leads_to: path.clone(),
                stamp: original.stamp.clone(),
            },
            text: fingerprint,
        });
        if let Some(content) = self.take_accepted_before(id) {
            return self.accepted_before(id, content, was_in_editor);
        }
        let Some(entry) = self.entries.get(id) else {
            return Vec::new();
        };
        let written = entry.proposal.written();
        vec![Action::Show(Diff {
            id,
            revision: key.revision,
            proposer: entry.proposal.proposer,
            number: entry.proposal.number,
            path,
            original,
            proposed: Arc::clone(&entry.proposal.proposed),
            notes,
            hunks,
            set: entry.set,
            deletes: entry.proposal.deletes,
            original_is_other: entry.proposal.stand_in.is_some(),
            written: written.map(|it| it.name.to_string()),
            is_unclear: written.is_some_and(|it| it.is_unclear),
            is_of_subagent: entry.proposal.is_of_subagent(),
            runner,
            mode: entry.proposal.stand_in.as_deref().and_then(StandIn::mode),
        })]
    }

    /// The person has accepted it before, for the agent's hook or for the agent itself: it is not shown once more.
    fn accepted_before(
        &mut self,
        id: DiffId,
        content: Arc<String>,
        was_in_editor: bool,
    ) -> Vec<Action<C>> {
        let Some(entry) = self.entries.get_mut(id) else {
            return Vec::new();
        };
        let opened = entry.answer_opened();
        let close = was_in_editor.then(|| entry.close(CloseReason::Settled));
        let base = None;
        let notified = self.notify(id, Outcome::Accepted { content, base });
        opened.into_iter().chain(close).chain(notified).collect()
    }

    /// The editor reports whether it shows a proposal.
    pub(crate) fn shown(&mut self, key: ProposalKey, result: Result<(), String>) -> Vec<Action<C>> {
        match (self.current(key), result) {
            (None, _) => Vec::new(),
            (Some(entry), Ok(())) => entry.answer_opened().into_iter().collect(),
            // Nothing stays behind of a proposal that is not shown, not even the view that it was
            // to replace.
            (Some(_), Err(reason)) => self.abandon(key.id, CloseReason::NotShown, &reason),
        }
    }

    /// The reviewer decided about a proposal. A decision about one that was replaced
    /// meanwhile does not count for its successor.
    pub(crate) fn resolved(&mut self, key: ProposalKey, outcome: Outcome) -> Vec<Action<C>> {
        let id = key.id;
        let Some(entry) = self.current(key) else {
            return Vec::new();
        };
        let opened = entry.answer_opened();
        match (mem::replace(&mut entry.state, State::Pending), outcome) {
            // Both decided at once. The agent gets what the reviewer accepted in its answer, for no
            // outcome may follow (C5.10).
            (State::AgentCloses { caller, .. }, Outcome::Accepted { content, .. }) => {
                self.entries.remove(id);
                let answer = Ok(Answer::Closed(Arc::unwrap_or_clone(content)));
                vec![Action::Answer { caller, answer }]
            }
            // Editors may call it a rejection that the view which they were asked to close is gone.
            (closes @ State::AgentCloses { .. }, Outcome::Rejected) => {
                entry.state = closes;
                Vec::new()
            }
            (State::AgentGone { .. }, Outcome::Accepted { content, .. }) => {
                let content = Arc::unwrap_or_clone(content);
                self.lose(id, content).into_iter().collect()
            }
            (gone @ State::AgentGone { .. }, Outcome::Rejected) => {
                entry.state = gone;
                Vec::new()
            }
            (_, outcome) => opened.into_iter().chain(self.notify(id, outcome)).collect(),
        }
    }

    /// The agent closes its view, by its path or its tab's name. `undelivered` is an outcome of it that the agent has
    /// not been given yet and, having closed the view, must not get any more (C5.10).
    pub(crate) fn close(
        &mut self,
        session: &SessionId,
        name: &str,
        undelivered: Option<Outcome>,
        caller: C,
        now: Instant,
    ) -> Vec<Action<C>> {
        let found = self.entries.find(session, name);
        let Some((id, entry)) = found.and_then(|id| Some((id, self.entries.get_mut(id)?))) else {
            let answer = closed_answer(name, undelivered);
            return vec![Action::Answer { caller, answer }];
        };
        if matches!(entry.state, State::Checking { .. }) {
            // No view holds this text: it is as the agent proposed it.
            let content = entry.proposal.proposed.to_string();
            let given_up = self.abandon(id, CloseReason::ClosedByAgent, AGENT_CLOSED);
            let answer = Ok(Answer::Closed(content));
            let closed = Action::Answer { caller, answer };
            return given_up.into_iter().chain([closed]).collect();
        }
        let deadline = now + EDITOR_TIMEOUT;
        let former = mem::replace(&mut entry.state, State::AgentCloses { caller, deadline });
        let given_up = former.give_up(AGENT_CLOSED);
        let close = entry.close(entry.taken_away());
        given_up.into_iter().chain([close]).collect()
    }

    /// The editor closed a view that it was asked to close. The text that stood in the view of a proposal
    /// that was replaced meanwhile is not its successor's text.
    pub(crate) fn closed(
        &mut self,
        key: ProposalKey,
        text: Result<String, String>,
    ) -> Vec<Action<C>> {
        let id = key.id;
        let Some(entry) = self.current(key) else {
            return Vec::new();
        };
        match (mem::replace(&mut entry.state, State::Pending), text) {
            (State::AgentCloses { caller, .. }, text) => {
                let unused = text.as_ref().ok().and_then(|text| self.unused(id, text));
                let entry = self.entries.remove(id);
                // An agent knows what it has proposed in the form in which it did.
                let is_as_shown = |it: &Entry<C>| text.as_ref() == Ok(&*it.proposal.proposed);
                let sent = { entry.filter(is_as_shown) }.map(|it| it.as_written().to_owned());
                let answer = sent.map_or(text, Ok).map(Answer::Closed);
                let answer = Action::Answer { caller, answer };
                std::iter::once(answer).chain(unused).collect()
            }
            (State::AgentGone { is_text_taken, .. }, text) => match text {
                Ok(content) if is_text_taken && *content != *entry.proposal.proposed => {
                    self.lose(id, content).into_iter().collect()
                }
                Err(_) if is_text_taken => self.abandon(id, CloseReason::AgentGone, AGENT_GONE),
                _ => {
                    self.entries.remove(id);
                    Vec::new()
                }
            },
            (other, _) => {
                entry.state = other;
                Vec::new()
            }
        }
    }

    /// The session is gone for good: its views go away.
    pub(crate) fn session_gone(&mut self, session: &SessionId, now: Instant) -> Vec<Action<C>> {
        self.sets.remove(session);
        let ids = self.ids(|entry| entry.proposal.session == *session);
        ids.into_iter()
            .flat_map(|id| self.agent_gone(id, now))
            .collect()
    }

    fn agent_gone(&mut self, id: DiffId, now: Instant) -> Vec<Action<C>> {
        let shown = self.entries.get_mut(id);
        let Some(entry) = shown.filter(|entry| !matches!(entry.state, State::Checking { .. }))
        else {
            return self.abandon(id, CloseReason::AgentGone, AGENT_GONE);
        };
        // The editor was already asked to close the view and to return its text.
        let is_text_taken = matches!(entry.state, State::AgentCloses { .. });
        let gone = State::AgentGone {
            is_text_taken,
            deadline: now + EDITOR_TIMEOUT,
        };
        let given_up = mem::replace(&mut entry.state, gone).give_up(AGENT_GONE);
        let close = (!is_text_taken).then(|| entry.close(CloseReason::AgentGone));
        close.into_iter().chain(given_up).collect()
    }

    /// The editor took too long.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Action<C>> {
        let late = self.entries.late(now);
        late.into_iter()
            .flat_map(|id| self.expire_one(id))
            .collect()
    }

    /// Nobody has decided for as long as its agent waits.
    fn undecided(&mut self, id: DiffId) -> Vec<Action<C>> {
        let Some(entry) = self.entries.get_mut(id) else {
            return Vec::new();
        };
        let close = entry.close(CloseReason::AgentGone);
        let mut rejected = self.notify(id, Outcome::Rejected);
        if let Some(Action::Notify { delivery, .. }) = &mut rejected {
            delivery.words = Some(remarks::not_made(remarks::NOT_IN_TIME, &[]));
        }
        rejected.into_iter().chain([close]).collect()
    }

    /// No view shows it any more, and nobody has decided. An agent's hook must not hear that the person rejected it: it gets no
    /// outcome, and the session that is returned is to end.
    pub(crate) fn unseen(&mut self, key: ProposalKey) -> Result<Vec<Action<C>>, SessionId> {
        let is_of_hook = |entry: &mut Entry<C>| entry.proposal.proposer.is_for_agent();
        match self.current(key).is_some_and(is_of_hook) {
            true => match self.entries.remove(key.id) {
                Some(entry) => Err(entry.proposal.session),
                None => Ok(Vec::new()),
            },
            false => Ok(self.resolved(key, Outcome::Rejected)),
        }
    }

    /// The companion stops: whatever is undecided counts as rejected (C5.7), but for what an agent's hook has proposed: see
    /// [`unseen`](Self::unseen).
    pub(crate) fn stop(&mut self) -> Vec<Action<C>> {
        let ids = self.ids(|_| true);
        ids.into_iter().flat_map(|id| self.stop_one(id)).collect()
    }

    fn ids(&self, wanted: impl Fn(&Entry<C>) -> bool) -> Vec<DiffId> {
        let entries = self.entries.iter().filter(|entry| wanted(entry));
        entries.map(|entry| entry.key.id).collect()
    }

    fn current(&mut self, key: ProposalKey) -> Option<&mut Entry<C>> {
        let entry = self.entries.get_mut(key.id);
        entry.filter(|entry| entry.key == key)
    }

    fn expire_one(&mut self, id: DiffId) -> Vec<Action<C>> {
        let Some(entry) = self.entries.get_mut(id) else {
            return Vec::new();
        };
        let key = entry.key;
        match &mut entry.state {
            State::Checking { .. } => {
                let why = format!(
                    "openDiff: cannot read {:?}: no answer from its disk within {CHECK_TIMEOUT:?}",
                    entry.proposal.file_path
                );
                self.abandon(id, CloseReason::NotShown, &why)
            }
            State::Opening { .. } => self.abandon(id, CloseReason::NotShown, NO_ANSWER),
            State::Pending if entry.limit.is_some() => self.undecided(id),
            State::AgentCloses { .. } | State::AgentGone { .. } | State::Pending => {
                self.closed(key, Err(NO_ANSWER.to_owned()))
            }
        }
    }

    fn stop_one(&mut self, id: DiffId) -> Vec<Action<C>> {
        let why = "the companion is stopping";
        match self.entries.get_mut(id) {
            Some(entry) if entry.proposal.proposer.is_for_agent() => {
                self.abandon(id, CloseReason::Settled, why)
            }
            Some(entry) if matches!(entry.state, State::Pending) => {
                let given_up = mem::replace(&mut entry.state, State::Pending).give_up(why);
                let notified = self.notify(id, Outcome::Rejected);
                notified.into_iter().chain(given_up).collect()
            }
            _ => self.abandon(id, CloseReason::Settled, why),
        }
    }

    /// Drops a diff without an outcome.
    fn abandon(&mut self, id: DiffId, reason: CloseReason, why: &str) -> Vec<Action<C>> {
        let Some(entry) = self.entries.remove(id) else {
            return Vec::new();
        };
        let close = entry.is_in_editor.then(|| entry.close(reason));
        close.into_iter().chain(entry.state.give_up(why)).collect()
    }

    /// The agent takes a call back: the view of its proposal goes away, as if it had closed it.
    pub(crate) fn cancel(&mut self, session: &SessionId, request: &RequestId) -> Vec<Action<C>> {
        let is_meant = |entry: &Entry<C>| {
            let tab = entry.proposal.tab.as_ref();
            entry.proposal.session == *session && tab.is_some_and(|tab| tab.request == *request)
        };
        let ids = self.ids(is_meant);
        ids.into_iter()
            .flat_map(|id| self.abandon(id, CloseReason::ClosedByAgent, AGENT_CLOSED))
            .collect()
    }

    /// The calls that ask about the very change that is proposed now. Another one of the same file keeps its question, which
    /// has no other answer.
    pub(crate) fn asked(&self, proposed: &Proposal) -> Vec<RequestId> {
        let is_same = |entry: &&Entry<C>| {
            let it = &entry.proposal;
            it.question().is_some()
                && it.session == proposed.session
                && it.file_path == proposed.file_path
                && entry.as_written() == proposed.proposed.as_str()
        };
        let asked = self.entries.iter().filter(is_same);
        asked
            .filter_map(|it| Some(it.proposal.tab.as_ref()?.request.clone()))
            .collect()
    }

    /// Returns true if a diff of this name is open in this session.
    pub(crate) fn has(&self, session: &SessionId, name: &str) -> bool {
        self.entries.find(session, name).is_some()
    }

    /// The names of the open diffs of a session that are meant.
    pub(crate) fn names(
        &self,
        session: &SessionId,
        is_meant: impl Fn(&Proposal) -> bool,
    ) -> Vec<String> {
        let entries = self.entries.iter();
        let own = entries.filter(|entry| entry.proposal.session == *session);
        let own = own.filter(|entry| is_meant(&entry.proposal));
        let open = own.filter(|entry| !matches!(entry.state, State::AgentCloses { .. }));
        open.map(|entry| entry.proposal.name().to_owned()).collect()
    }
}

impl<C> Entry<C> {
    /// The view is open: the agent gets its answer, if it still waits for one.
    fn answer_opened(&mut self) -> Option<Action<C>> {
        if !matches!(self.state, State::Opening { .. }) {
            return None;
        }
        match mem::replace(&mut self.state, State::Pending) {
            State::Opening { caller, .. } => Some(Action::Answer {
                caller,
                answer: Ok(Answer::Opened),
            }),
            _ => None,
        }
    }
}
