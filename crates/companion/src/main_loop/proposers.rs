//! The loop's work for proposers that are no agents' sessions.

use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::{Outcome, Proposer};
use tokio::sync::mpsc;

use super::MainLoop;
use super::calls::answer;
use crate::event::Caller;
use crate::outbox::Delivery;
use crate::proposal::Proposal;
use crate::proposers::{News, Proposed};
use crate::sessions::SessionId;
use crate::target;

impl MainLoop {
    /// Returns the name by which its proposals are known.
    pub(crate) fn proposer_comes(
        &mut self,
        proposer: Proposer,
        turn_of: Option<SessionId>,
        news: mpsc::UnboundedSender<News>,
    ) -> SessionId {
        let agent = turn_of.as_ref().and_then(|it| self.agents.get_mut(it));
        agent.into_iter().for_each(|it| it.notes.goes_on());
        self.proposers.come(proposer, turn_of, news)
    }

    /// Proposes a file. The caller is answered once it is shown.
    pub(crate) fn propose(
        &mut self,
        session: &SessionId,
        (file, stand_in): Proposed,
        set: Option<(u32, u32)>,
        caller: Caller,
        now: Instant,
    ) {
        let Some((proposer, number)) = self.proposers.find(session) else {
            return answer(caller, Err("the companion is stopping".to_owned()));
        };
        if let Err(reason) = target::validate(&file.path) {
            return answer(caller, Err(reason));
        }
        let proposal = Proposal {
            number,
            set,
            deletes: file.deletes,
            asked_in: self.asked_before_hook(session),
            is_hook_of_subagent: file.is_of_subagent,
            held_tool: proposer.agent().zip(file.tool),
            stand_in: stand_in.map(Arc::new),
            over: file.over,
            ..Proposal::new(Arc::clone(session), proposer, file.path, file.content)
        };
        let actions = self.diffs.open(proposal, caller, now);
        self.perform(actions);
        self.report_agents();
    }

    /// The session in which the agent whose hook proposes this asks before its hooks.
    fn asked_before_hook(&self, session: &SessionId) -> Option<SessionId> {
        let (turn_of, proposer) = self.proposers.turn_of(session)?;
        let asks_before = proposer.agent()?.asks_before_hooks();
        asks_before.then(|| self.agents.connected_as(turn_of))?
    }

    /// Nobody is to decide about this file any more. The caller is answered with what stood in its view.
    pub(crate) fn withdraw(
        &mut self,
        session: &SessionId,
        path: &str,
        caller: Caller,
        now: Instant,
    ) {
        let actions = self.diffs.close(session, path, None, caller, now);
        self.perform(actions);
    }

    /// A person has decided about what a proposer has proposed.
    pub(super) fn tell_proposer(&mut self, session: &SessionId, delivery: Delivery) {
        if let Outcome::Accepted { .. } = delivery.outcome {
            self.agents.command_accepted(&delivery.file_path);
        }
        self.proposers
            .tell(session, News::Decided(Box::new(delivery)));
    }

    /// It waits no more, and has not got these: its views go away. `is_told` if its agent is told all that was decided.
    pub(crate) fn proposer_gone(
        &mut self,
        session: &SessionId,
        lost: Vec<Delivery>,
        is_told: bool,
        now: Instant,
    ) {
        let turn_of = self.proposers.turn_of(session).filter(|_| !is_told);
        let agent = turn_of.and_then(|(turn_of, _)| self.agents.get_mut(turn_of));
        agent
            .into_iter()
            .for_each(|it| it.notes.is_unanswered(session));
        for delivery in &lost {
            self.written.withdraw(session, &delivery.file_path);
        }
        self.lose(lost);
        if self.proposers.go(session) {
            let actions = self.diffs.session_gone(session, now);
            self.perform(actions);
            self.report_agents();
        }
    }
}
