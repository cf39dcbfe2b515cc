//! The loop's work for the hooks that ask before a call: they show it, hold it, and stand beside it.

use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::ProposedFile;
use pillion_view::ask::{Guard, Guarded};

use super::MainLoop;
use super::calls::answer;
use crate::agent::{AskedBeside, Held, HeldHook, Signal};
use crate::event::{Caller, GuardWay};
use crate::ids::RequestId;
use crate::proposal::Proposal;
use crate::sessions::SessionId;
use crate::stand_in::StandIn;
use crate::subagents::Question;
use crate::tasks;

impl MainLoop {
    /// What a hook asks about, as a proposal: its decision is the answer.
    fn asked(
        &self,
        session: &SessionId,
        request: &RequestId,
        path: &str,
        content: String,
    ) -> Result<Proposal, String> {
        let open = ProposedFile::new(path, content).in_tab(format!("{path} {request:?}"));
        let mut proposal = self.proposal(session, request.clone(), open)?;
        if let Some(tab) = &mut proposal.tab {
            tab.drops_last_line_feed = false;
        }
        Ok(proposal)
    }

    /// Shows a call whose hook waits for the person.
    pub(super) fn hold(&mut self, session: &SessionId, hook: HeldHook, now: Instant) {
        let HeldHook {
            call,
            request,
            held,
            caller,
        } = hook;
        // An agent that does not wait any more has cancelled it.
        if caller.is_closed() {
            return self.signal(session, Signal::GivesUp(&call), now);
        }
        let content = held.proposed().to_owned();
        match self.asked(session, &request, held.path(), content) {
            Ok(mut proposal) => {
                proposal.stand_in = Some(Arc::new(StandIn::Held(held)));
                let holds = Held {
                    call,
                    request,
                    proposal: proposal.name().to_owned(),
                };
                self.signal(session, Signal::Holds(holds), now);
                let actions = self.open(session, proposal, caller, now);
                self.perform(actions);
            }
            Err(reason) => {
                answer(caller, Err(reason));
                self.signal(session, Signal::IsAnswered(&call), now);
            }
        }
    }

    /// An agent asks whether it may make a change, which is shown as its proposal. A question that is not understood is left to it.
    pub(super) fn asks_alone(
        &mut self,
        session: &SessionId,
        request: RequestId,
        question: Option<Question>,
        caller: Caller,
        now: Instant,
    ) {
        // An agent that does not wait any more has cancelled it.
        let Some(question) = question.filter(|_| !caller.is_closed()) else {
            return;
        };
        // While the file was read, the agent has proposed the same: it asks beside that.
        let is_same =
            |it: &Proposal| it.file_path == question.path() && *it.proposed == question.proposed();
        if !question.is_of_subagent() && !self.diffs.names(session, is_same).is_empty() {
            let (path, input) = (question.path().to_owned(), question.input().clone());
            let asked = AskedBeside { caller, input };
            return self.signal(session, Signal::AsksBeside(request, path, asked), now);
        }
        // With an error it is left to the agent.
        let asked = self.asked(session, &request, question.path(), question.proposed());
        let Ok(mut proposal) = asked else {
            return;
        };
        if let Some(tab) = &mut proposal.tab {
            tab.question = Some(Arc::new(question));
        }
        let actions = self.open(session, proposal, caller, now);
        self.perform(actions);
    }

    /// A process of ours stands beside the hook of this call.
    pub(crate) fn guard(&mut self, guard: Guard, way: GuardWay) {
        let now = Instant::now();
        let Guard { processes, call } = guard;
        let Some((session, _)) = self.sessions.of_process(&processes) else {
            let _ = way.send(Guarded::Elsewhere);
            return;
        };
        self.signal(&session, Signal::IsGuarded(call, way), now);
    }

    /// Lets the calls go on that were decided, once their hooks have the answers.
    pub(super) fn release_guards(&mut self) {
        let diffs = &self.diffs;
        let agents = &mut self.agents;
        let decided = agents.decided_calls(|session, proposal| diffs.has(session, proposal));
        for (session, effect) in decided {
            self.carry_out(&session, effect, Instant::now());
        }
    }

    pub(super) fn release(&self, session: &SessionId, way: GuardWay) {
        let Some(outbox) = self.sessions.outbox(session) else {
            return;
        };
        tasks::spawn(async move {
            outbox.delivered().await;
            let _ = way.send(Guarded::Answered);
        });
    }
}
