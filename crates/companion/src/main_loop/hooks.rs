//! The loop's work for the hooks that ask before a call: they show it, hold it, and stand beside it.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pillion_changes::recorder::Coverage;
use pillion_protocol::OpenDiff;
use pillion_protocol::held::HeldCall;
use pillion_protocol::runs_code::Runner;
use pillion_view::ask::{Guard, Guarded};

use super::MainLoop;
use super::calls::answer;
use crate::agent::{Before, Does, HeldHook};
use crate::agents::hooks::{self, NO_DECISION};
use crate::diffs::{Answer, Proposal};
use crate::event::{Caller, GuardWay};
use crate::ids::RequestId;
use crate::sessions::SessionId;
use crate::stand_in::StandIn;
use crate::subagents::Question;
use crate::tasks;

impl MainLoop {
    pub(super) fn note_hook(&mut self, session: &SessionId, call: &hooks::Call) {
        // The recorder hears of the turn from the hook.
        let records = self.agents.are_recorded();
        let Some(agent) = self.agent(session) else {
            return;
        };
        let is_news = agent.mode.hooked(call, records);
        self.agents.note_hooks(session);
        if is_news {
            self.report_status();
        }
    }

    /// What the agent asks about this file is answered in another way, or not by us.
    pub(super) fn end_questions(&mut self, session: &SessionId, path: &str) {
        if let Some(agent) = self.agents.get_mut(session) {
            agent.questions.end(path);
        }
    }

    /// Returns what a hook holds with this call until the person has decided.
    fn held(
        &self,
        session: &SessionId,
        request: RequestId,
        held: HeldCall,
    ) -> Result<Proposal, String> {
        let name = format!("{} {request:?}", held.path());
        let open = OpenDiff {
            path: held.path().to_owned(),
            content: held.proposed().to_owned(),
            tab: Some(name),
        };
        let mut proposal = self.proposal(session, request, open)?;
        proposal.stand_in = Some(Arc::new(StandIn::Held(held)));
        if let Some(tab) = &mut proposal.tab {
            tab.drops_last_line_feed = false;
        }
        Ok(proposal)
    }

    /// Serves the hook before a call, of which the text before is known so.
    pub(super) fn before_write(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: hooks::Call,
        caller: Caller,
        coverage: Coverage,
        now: Instant,
    ) {
        self.note_hook(session, &call);
        if let Some(path) = &call.path {
            self.end_questions(session, path);
        }
        let path = call.path.as_deref().map(Path::new);
        let does = match path.and_then(Runner::of) {
            _ if call.is_command => Does::RunCommand,
            Some(_) => Does::ChangeCode(coverage),
            None => Does::Change(coverage),
        };
        let Some(agent) = self.agent(session) else {
            return;
        };
        agent.turn.works(call.is_subagent(), now);
        let before = agent.mode.before(does);
        let answer = match (before, call.held) {
            (Before::Show, Some(held)) => {
                let hook = HeldHook {
                    call: call.id,
                    request,
                    held,
                    caller,
                };
                let hook = match call.is_guarded {
                    true => {
                        let id = hook.call.clone();
                        agent.guards.guarded(&id, hook, now)
                    }
                    false => Some(hook),
                };
                if let Some(hook) = hook {
                    self.hold(session, hook, now);
                }
                return;
            }
            (Before::Show, None) => Ok(Answer::Text(hooks::ask().to_string())),
            (Before::Let, _) => Ok(Answer::Text(hooks::let_write().to_string())),
            (Before::Leave, _) => Ok(Answer::Text(NO_DECISION.to_owned())),
        };
        self.answer_hook(session, &call.id, caller, answer);
    }

    fn answer_hook(
        &mut self,
        session: &SessionId,
        call: &str,
        caller: Caller,
        found: Result<Answer, String>,
    ) {
        answer(caller, found);
        let Some(agent) = self.agents.get_mut(session) else {
            return;
        };
        for way in agent.guards.answered(call) {
            let _ = way.send(Guarded::Answered);
        }
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
            if let Some(agent) = self.agents.get_mut(session) {
                agent.guards.unanswered(&call);
            }
            return;
        }
        match self.held(session, request.clone(), held) {
            Ok(proposal) => {
                let name = proposal.name().to_owned();
                if let Some(agent) = self.agents.get_mut(session) {
                    agent.guards.held(call, request, name);
                }
                let actions = self.open(session, proposal, caller, now);
                self.perform(actions);
            }
            Err(reason) => self.answer_hook(session, &call, caller, Err(reason)),
        }
    }

    /// A subagent asks whether it may make a change, which is shown as its proposal. Without a question it proposes itself.
    pub(super) fn subagent_asks(
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
        let open = OpenDiff {
            path: question.path().to_owned(),
            content: question.proposed(),
            tab: Some(format!("{} {request:?}", question.path())),
        };
        // With an error it is left to the agent.
        let Ok(mut proposal) = self.proposal(session, request, open) else {
            return;
        };
        if let Some(tab) = &mut proposal.tab {
            tab.drops_last_line_feed = false;
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
        let Some(agent) = self.agent(&session) else {
            return;
        };
        let answered = agent.guards.wait(call.clone(), way, now);
        let hooks = agent.guards.take(&call);
        if let Some(way) = answered {
            self.release(&session, way);
        }
        for hook in hooks {
            self.hold(&session, hook, now);
        }
    }

    /// Lets the calls go on that were decided, once their hooks have the answers.
    pub(super) fn release_guards(&mut self) {
        let diffs = &self.diffs;
        let agents = &mut self.agents;
        let decided = agents.decided_calls(|session, proposal| diffs.has(session, proposal));
        for (session, way) in decided {
            self.release(&session, way);
        }
    }

    fn release(&self, session: &SessionId, way: GuardWay) {
        let Some(outbox) = self.sessions.outbox(session) else {
            return;
        };
        tasks::spawn(async move {
            outbox.delivered().await;
            let _ = way.send(Guarded::Answered);
        });
    }
}
