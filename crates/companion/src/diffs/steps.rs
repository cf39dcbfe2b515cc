//! What each thing that happens does to the diffs.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::Outcome;

use super::{Action, Answer, Closer, Diffs, EDITOR_PATIENCE, Entry, Proposal, State};
use crate::editor::{CloseReason, Diff, DiffId};
use crate::sessions::SessionId;

const NO_ANSWER: &str = "the editor did not answer within 10 seconds";

impl<C> Diffs<C> {
    /// An agent proposes a change. A proposal of the same session for the same path takes the
    /// place of the one before, in the same view.
    pub(crate) fn open(&mut self, proposal: Proposal, caller: C, now: Instant) -> Vec<Action<C>> {
        let mut actions = Vec::new();
        let state = State::Opening {
            caller,
            deadline: now + EDITOR_PATIENCE,
        };
        let id = self
            .find(&proposal.session, &proposal.file_path)
            .unwrap_or_else(|| {
                self.last_id += 1;
                DiffId(self.last_id)
            });
        let attempt = match self.entries.remove(&id) {
            Some(former) => {
                if let State::Opening { caller, .. } = former.state {
                    let answer = Err("a newer proposal for this file took its place".to_owned());
                    actions.push(Action::Answer { caller, answer });
                }
                former.attempt + 1
            }
            None => 1,
        };
        let diff = Diff {
            id,
            revision: attempt,
            agent: proposal.agent,
            path: proposal.path,
            proposed: Arc::clone(&proposal.proposed),
        };
        let entry = Entry {
            session: proposal.session,
            agent: proposal.agent,
            file_path: proposal.file_path,
            proposed: proposal.proposed,
            attempt,
            state,
        };
        self.entries.insert(id, entry);
        actions.push(Action::Show { diff, attempt });
        actions
    }

    /// The editor says whether it shows a proposal.
    pub(crate) fn shown(
        &mut self,
        id: DiffId,
        attempt: u32,
        result: Result<(), String>,
    ) -> Vec<Action<C>> {
        let Some(entry) = self.entries.get_mut(&id) else {
            return Vec::new();
        };
        // The answer to an earlier proposal, which has been answered for long.
        if entry.attempt != attempt {
            return Vec::new();
        }
        match result {
            Ok(()) => entry.answer_opened().into_iter().collect(),
            Err(reason) => self.fail_to_open(id, reason),
        }
    }

    /// The reviewer decided.
    pub(crate) fn resolved(&mut self, id: DiffId, outcome: Outcome) -> Vec<Action<C>> {
        // The agent may have closed the view just before: then no outcome is sent (C5.10).
        match self.entries.get_mut(&id) {
            Some(entry) if !matches!(entry.state, State::Closing { .. }) => {
                let opened = entry.answer_opened();
                opened.into_iter().chain(self.notify(id, outcome)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The agent closes its view. `undelivered` is an outcome for this path that the agent has
    /// not been given yet and, having closed the view, must not get any more (C5.10).
    pub(crate) fn close(
        &mut self,
        session: &SessionId,
        file_path: &str,
        undelivered: Option<Outcome>,
        caller: C,
        now: Instant,
    ) -> Vec<Action<C>> {
        let Some(id) = self.find(session, file_path) else {
            let answer = match undelivered {
                Some(Outcome::Accepted { content }) => Ok(Answer::Closed(content)),
                Some(Outcome::Rejected) => Err(format!("the diff of {file_path} was rejected")),
                None => Err(format!("no diff of {file_path} is open")),
            };
            return vec![Action::Answer { caller, answer }];
        };
        self.ask_to_close(id, Closer::Agent(caller), CloseReason::ClosedByAgent, now)
    }

    /// The editor closed a view that it was asked to close.
    pub(crate) fn closed(&mut self, id: DiffId, text: Result<String, String>) -> Vec<Action<C>> {
        let closer = match self.entries.get_mut(&id) {
            Some(entry) => match mem::replace(&mut entry.state, State::Pending) {
                State::Closing { closer, .. } => closer,
                other => {
                    entry.state = other;
                    return Vec::new();
                }
            },
            None => return Vec::new(),
        };
        match (closer, text) {
            (Closer::Agent(caller), text) => {
                self.entries.remove(&id);
                let answer = text.map(Answer::Closed);
                vec![Action::Answer { caller, answer }]
            }
            (Closer::Command(caller), Ok(content)) => {
                let mut actions = self.notify(id, Outcome::Accepted { content });
                let answer = Ok(Answer::Settled);
                actions.push(Action::Answer { caller, answer });
                actions
            }
            // Nobody decided anything: the diff goes on waiting.
            (Closer::Command(caller), Err(reason)) => {
                let answer = Err(reason);
                vec![Action::Answer { caller, answer }]
            }
        }
    }

    /// A command settles a pending diff. Accepting without a content takes what stands in the
    /// view: the text as proposed, unless somebody edited it there.
    pub(crate) fn settle(
        &mut self,
        id: DiffId,
        decision: Decision,
        caller: C,
        now: Instant,
    ) -> Vec<Action<C>> {
        let pending = self.entries.get(&id).map(|entry| &entry.state);
        if !matches!(pending, Some(State::Pending)) {
            let answer = Err(format!("no diff {id} is pending"));
            return vec![Action::Answer { caller, answer }];
        }
        let reason = CloseReason::Settled;
        let outcome = match decision {
            Decision::Accept => {
                return self.ask_to_close(id, Closer::Command(caller), reason, now);
            }
            Decision::AcceptAs(content) => Outcome::Accepted { content },
            Decision::Reject => Outcome::Rejected,
        };
        let mut actions = self.notify(id, outcome);
        actions.push(Action::Close { id, reason });
        let answer = Ok(Answer::Settled);
        actions.push(Action::Answer { caller, answer });
        actions
    }

    /// The session is gone for good: its views go away.
    pub(crate) fn session_gone(&mut self, session: &SessionId) -> Vec<Action<C>> {
        let ids = self.ids(|entry| entry.session == *session);
        ids.into_iter()
            .flat_map(|id| self.abandon(id, CloseReason::AgentGone, "the agent is gone"))
            .collect()
    }

    /// The editor took too long.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Action<C>> {
        let late = self.ids(|entry| entry.state.deadline().is_some_and(|at| at <= now));
        late.into_iter()
            .flat_map(|id| match self.entries.get(&id).map(|entry| &entry.state) {
                Some(State::Opening { .. }) => self.fail_to_open(id, NO_ANSWER.to_owned()),
                _ => self.closed(id, Err(NO_ANSWER.to_owned())),
            })
            .collect()
    }

    /// The companion stops: whatever is pending counts as rejected (C5.7).
    pub(crate) fn stop(&mut self) -> Vec<Action<C>> {
        let ids = self.ids(|_| true);
        ids.into_iter()
            .flat_map(|id| match self.entries.get(&id).map(|entry| &entry.state) {
                Some(State::Pending) => self.notify(id, Outcome::Rejected),
                _ => self.abandon(id, CloseReason::Settled, "the companion stops"),
            })
            .collect()
    }

    /// The open diff of a session for a path. One that is being closed is open no more.
    fn find(&self, session: &SessionId, file_path: &str) -> Option<DiffId> {
        self.entries
            .iter()
            .find(|(_, entry)| {
                entry.session == *session
                    && entry.file_path == file_path
                    && !matches!(entry.state, State::Closing { .. })
            })
            .map(|(id, _)| *id)
    }

    fn ids(&self, wanted: impl Fn(&Entry<C>) -> bool) -> Vec<DiffId> {
        self.entries
            .iter()
            .filter(|(_, entry)| wanted(entry))
            .map(|(id, _)| *id)
            .collect()
    }

    fn ask_to_close(
        &mut self,
        id: DiffId,
        closer: Closer<C>,
        reason: CloseReason,
        now: Instant,
    ) -> Vec<Action<C>> {
        let mut actions = Vec::new();
        if let Some(entry) = self.entries.get_mut(&id) {
            let deadline = now + EDITOR_PATIENCE;
            let former = mem::replace(&mut entry.state, State::Closing { closer, deadline });
            if let State::Opening { caller, .. } = former {
                let answer = Err("the diff was closed before it was shown".to_owned());
                actions.push(Action::Answer { caller, answer });
            }
            actions.push(Action::Close { id, reason });
        }
        actions
    }

    /// A proposal that is not shown leaves no view behind, not even the one it was to replace.
    fn fail_to_open(&mut self, id: DiffId, reason: String) -> Vec<Action<C>> {
        self.abandon(id, CloseReason::NotShown, &reason)
    }

    /// Drops a diff without an outcome.
    fn abandon(&mut self, id: DiffId, reason: CloseReason, why: &str) -> Vec<Action<C>> {
        let Some(entry) = self.entries.remove(&id) else {
            return Vec::new();
        };
        let caller = match entry.state {
            State::Opening { caller, .. } => Some(caller),
            State::Closing { closer, .. } => match closer {
                Closer::Agent(caller) | Closer::Command(caller) => Some(caller),
            },
            State::Pending => None,
        };
        let mut actions = vec![Action::Close { id, reason }];
        actions.extend(caller.map(|caller| Action::Answer {
            caller,
            answer: Err(why.to_owned()),
        }));
        actions
    }

    fn notify(&mut self, id: DiffId, outcome: Outcome) -> Vec<Action<C>> {
        let entry = self.entries.remove(&id);
        entry
            .map(|entry| Action::Notify {
                session: entry.session,
                file_path: entry.file_path,
                outcome,
            })
            .into_iter()
            .collect()
    }
}

/// What a command decides.
#[derive(Debug)]
pub(crate) enum Decision {
    Accept,
    AcceptAs(String),
    Reject,
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
