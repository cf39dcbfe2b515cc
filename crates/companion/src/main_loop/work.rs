//! The loop's work for agents that tell by command hooks what they change. Most of them are not connected, so that each of
//! their sessions has one here.

use std::time::Instant;

use pillion_changes::recorder::Call;
use pillion_protocol::AgentProcess;
use pillion_system::{process, spawn};
use pillion_view::ask::{ToolCall, Work, WorkStep};
use tokio::sync::oneshot;

use super::MainLoop;
use crate::event::Event;
use crate::sessions::SessionId;
use crate::who::Asker;

impl MainLoop {
    /// An agent is about to do something, or has done it.
    pub(crate) fn worked(
        &mut self,
        work: Work,
        asker: &Asker,
        answer: oneshot::Sender<Option<String>>,
    ) {
        if self.agents.is_faked(work.agent, &work.session, asker) {
            tracing::warn!(agent = %work.agent, "a command of the agent speaks for its hooks");
            return drop(answer.send(None));
        }
        let now = Instant::now();
        // One that calls hooks of the companion itself tells the same over its connection.
        let connected = self.sessions.of_process(&work.processes);
        if connected.is_some_and(|(session, _)| self.agents.is_hooked(&session)) {
            return drop(answer.send(None));
        }
        let begins = matches!(work.step, WorkStep::TurnBegins(_));
        self.note_command_hook(work.agent, &work.processes, begins);
        let Work {
            agent,
            session,
            process,
            step,
            takes_context,
            ..
        } = work;
        let known = self.agents.by_hooks(agent, &session);
        let (session, is_new) = match known {
            Some(known) => known,
            None => return drop(answer.send(None)),
        };
        if let (true, Some(pid)) = (is_new, process) {
            self.await_end(&session, pid);
            if let Some(agent) = self.agents.get_mut(&session) {
                let started_at = process::started_at(pid);
                agent.is_process(started_at.map(|started_at| AgentProcess { pid, started_at }));
            }
        }
        if is_new || begins {
            self.give_notes(&session);
        }
        let working = self.agents.working();
        if let Some(agent) = self.agents.get_mut(&session) {
            if shows_going_on(&step) {
                agent.notes.goes_on();
            }
            match &step {
                WorkStep::TurnBegins(_) => {
                    agent.turn.begins_and_ends_are_told(now);
                    agent.notes.hand_again();
                }
                WorkStep::CallBegins(call) => agent.turn.works(call.subagent.is_some(), now),
                WorkStep::CallEnds(_) | WorkStep::CallFails(_) => {
                    self.written.call_ended(now);
                    agent.turn.works(false, now);
                }
                WorkStep::TurnEnds => agent.turn.ends(false, now),
            }
            agent.commands.note(&step);
        }
        if working != self.agents.working() {
            self.report_status();
        }
        let resume = Event::Stepped {
            session: session.clone(),
            takes_context,
            answer,
        };
        match step {
            WorkStep::TurnBegins(prompt) => {
                self.recording
                    .begin(&session, agent.name(), prompt, |_| resume);
            }
            WorkStep::CallBegins(call) => {
                let ToolCall {
                    id,
                    tool,
                    path,
                    subagent,
                } = call;
                let call = Call {
                    id,
                    tool,
                    path,
                    subagent,
                };
                self.recording
                    .before(&session, agent.name(), call, |_| resume);
            }
            WorkStep::CallEnds(id) => {
                let accepted = self.accepted_texts.all();
                self.recording.after(&session, id, accepted);
                self.handle(resume);
            }
            WorkStep::CallFails(id) => {
                let accepted = self.accepted_texts.all();
                self.recording.failed(&session, id, accepted);
                self.handle(resume);
            }
            WorkStep::TurnEnds => {
                self.recording.end(&session);
                self.handle(resume);
            }
        }
    }

    /// Everything before a step is kept: the agent goes on, and its model is told what waits for it.
    pub(super) fn stepped(
        &mut self,
        session: &SessionId,
        takes_context: bool,
        answer: oneshot::Sender<Option<String>>,
    ) {
        // What is told to a hook that does not wait any more is lost.
        let told = (takes_context && !answer.is_closed())
            .then(|| self.agents.get_mut(session)?.notes.take())
            .flatten();
        let _ = answer.send(told);
    }

    pub(super) fn hooked_agent_ended(&mut self, session: &SessionId) {
        if self.agents.remove(session, Instant::now()).is_some() {
            self.recording.left(session);
            self.report_status();
        }
    }

    /// An agent that is killed says nothing.
    fn await_end(&self, session: &SessionId, agent: u32) {
        let (session, events) = (session.clone(), self.events.clone());
        let wait = move || {
            if process::wait_for_end(agent) {
                let _ = events.send(Event::HookedAgentEnded(session));
            }
        };
        if let Err(error) = spawn("agent", wait) {
            tracing::warn!(%error, "nobody notices if an agent ends");
        }
    }
}

/// Returns true if an agent takes this step only once its model has answered.
fn shows_going_on(step: &WorkStep) -> bool {
    match step {
        WorkStep::TurnBegins(_) => false,
        WorkStep::CallBegins(call) => call.subagent.is_none(),
        WorkStep::CallEnds(_) | WorkStep::CallFails(_) | WorkStep::TurnEnds => true,
    }
}
