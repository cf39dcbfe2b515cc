//! The loop's work when agents tell what they do, over their connections or by commands in their hooks: each fact is a signal to the
//! agent, and each step of its work is recorded. Most of those with command hooks are not connected, so that each of their sessions has
//! one here. Of those whose hooks tell nothing the changes are found by looking.

use std::sync::Arc;
use std::time::Instant;

use pillion_changes::recorder::{Call, Coverage, Glance};
use pillion_protocol::{AgentProcess, Dialect};
use pillion_system::{process, spawn};
use pillion_view::ask::{Work, WorkStep};
use tokio::sync::oneshot;

use super::MainLoop;
use super::calls::answer;
use crate::agent::{Agent, Effect, Record, Signal};
use crate::diffs::Answer;
use crate::event::Event;
use crate::sessions::SessionId;
use crate::subagents;
use crate::who::Asker;

impl MainLoop {
    pub(super) fn agent(&mut self, session: &SessionId) -> Option<&mut Agent> {
        match self.sessions.agent(session) {
            Some(kind) => Some(self.agents.connected(session, kind)),
            None => self.agents.get_mut(session),
        }
    }

    /// This is so of the agent of a session: what follows is done.
    pub(super) fn signal(&mut self, session: &SessionId, signal: Signal<'_>, now: Instant) {
        self.agent(session);
        for effect in self.agents.step(session, signal, now) {
            self.carry_out(session, effect, now);
        }
    }

    pub(super) fn carry_out(&mut self, session: &SessionId, effect: Effect, now: Instant) {
        match effect {
            Effect::Report => self.report_status(),
            Effect::PushContext { is_told: true } => {
                self.push_context(session, self.context.current());
            }
            Effect::PushContext { is_told: false } => self.repeat_context(session),
            Effect::Record(record) => self.record(session, record),
            Effect::Hold(hook) => self.hold(session, hook, now),
            Effect::Answer(caller, text) => answer(caller, Ok(Answer::Text(text))),
            Effect::Release(way) => self.release(session, way),
        }
    }

    pub(super) fn record(&mut self, session: &SessionId, record: Record) {
        let kind = self.agents.get(session).map_or("", |it| it.kind.name());
        self.recording.heard(session, kind, record);
    }

    /// A hook of an agent tells a step of its work, or of a subagent's. `resume` comes when the texts before it are kept, or at
    /// once if it is over. `whole` is the hook's call, if that writes a whole text.
    pub(super) fn take_step(
        &mut self,
        session: &SessionId,
        agent: Dialect,
        (step, subagent): (WorkStep, Option<String>),
        whole: Option<pillion_hooks::Call>,
        resume: impl FnOnce(Coverage) -> Event + Send + 'static,
        now: Instant,
    ) {
        self.signal(session, Signal::Takes(&step, subagent.is_some()), now);
        let agents = self.agents.get(session);
        let process = agents.and_then(|it| Some(it.process?.pid));
        let recording = &mut self.recording;
        match (step, subagent) {
            (WorkStep::TurnBegins(prompt), _) => {
                self.diffs.forget_answers();
                return recording.begin(session, agent.name(), prompt, resume);
            }
            (WorkStep::CallBegins(call), subagent) => {
                let call = Call {
                    id: call.id,
                    tool: call.tool,
                    path: call.path,
                    subagent,
                };
                let is_nothing =
                    move || whole.is_some_and(|it| subagents::changes(agent, &it).is_nothing());
                return recording.before(session, agent.name(), call, is_nothing, resume);
            }
            (WorkStep::CallEnds(id), _) => recording.after(session, id),
            (WorkStep::CallFails(id), _) => recording.failed(session, id),
            (WorkStep::TurnEnds, Some(subagent)) => recording.subagent_ended(session, subagent),
            (WorkStep::TurnEnds, None) => {
                self.written.call_ended(now);
                return self.recording.end(session, process, resume);
            }
        }
        self.written.call_ended(now);
        self.handle(resume(Coverage::NotKept));
    }

    /// A command in its hooks tells what an agent is about to do, or has done.
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
        self.note_command_hook(work.agent, &work.processes, begins, now);
        let Some(session) = self.hooked_turn(work.agent, &work.session, work.process) else {
            return drop(answer.send(None));
        };
        if let Some(agent) = self.agents.get_mut(&session) {
            // In this way it has its hooks called.
            agent.has_called(asker);
        }
        if begins {
            self.give_notes(&session);
        }
        let subagent = match &work.step {
            WorkStep::CallBegins(call) => call.subagent.clone(),
            _ => None,
        };
        let (stepped, takes_context) = (Arc::clone(&session), work.takes_context);
        let resume = move |_| {
            Event::Asked(Self::task("step", move |it, _| {
                it.stepped(&stepped, takes_context, answer);
            }))
        };
        let working = self.agents.working();
        self.take_step(
            &session,
            work.agent,
            (work.step, subagent),
            None,
            resume,
            now,
        );
        if working != self.agents.working() {
            self.report_status();
        }
    }

    /// The session of which hooks tell that its agent calls by this name; of a new one, the end of its process is waited for.
    pub(crate) fn hooked_turn(
        &mut self,
        agent: Dialect,
        name: &str,
        process: Option<u32>,
    ) -> Option<SessionId> {
        let (session, is_new) = self.agents.by_hooks(agent, name)?;
        if !is_new {
            return Some(session);
        }
        if let Some(pid) = process {
            self.await_end(&session, pid);
            if let Some(agent) = self.agents.get_mut(&session) {
                let started_at = process::started_at(pid);
                agent.process = started_at.map(|started_at| AgentProcess { pid, started_at });
            }
        }
        self.give_notes(&session);
        Some(session)
    }

    /// Everything before a step is kept: the agent goes on, and its model is told what waits for it.
    fn stepped(
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

    fn hooked_agent_ended(&mut self, session: &SessionId, now: Instant) {
        if self.agents.remove(session, now).is_some() {
            self.record(session, Record::Left);
            self.report_status();
        }
    }

    /// An agent that is killed says nothing.
    fn await_end(&self, session: &SessionId, agent: u32) {
        let session = session.clone();
        self.at_end(agent, move |it, now| it.hooked_agent_ended(&session, now));
    }

    /// Does this when a process has ended.
    pub(super) fn at_end(&self, pid: u32, then: impl FnOnce(&mut Self, Instant) + Send + 'static) {
        let events = self.events.clone();
        let wait = move || {
            if process::wait_for_end(pid) {
                Self::send(&events, "an agent's end", then);
            }
        };
        if let Err(error) = spawn("agent", wait) {
            tracing::warn!(%error, "nobody notices if an agent ends");
        }
    }

    /// A hook that is a command tells what this agent does: it, or one of these processes, is recorded by that. `begins` if it
    /// tells that a turn begins.
    fn note_command_hook(&mut self, agent: Dialect, processes: &[u32], begins: bool, now: Instant) {
        // Hooks are in the person's settings, so that all of a kind run them whose process is not known.
        let is_its = |session: &SessionId| match self.sessions.process(session) {
            Some(process) => processes.contains(&process),
            None => true,
        };
        let mut sessions = self.agents.looked_for_of(agent);
        sessions.retain(is_its);
        for session in sessions {
            self.signal(&session, Signal::IsHooked(begins), now);
        }
    }

    pub(super) fn glanced(&mut self, glance: &Glance, now: Instant) {
        let numbers = glance.sessions.iter();
        let sessions = numbers.filter_map(|number| self.recording.session(*number));
        let sessions: Vec<_> = sessions.collect();
        self.agents.looked(glance, &sessions, now);
    }
}
