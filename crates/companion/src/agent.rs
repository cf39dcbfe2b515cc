//! Owns the agents that work here, one value each: those that are connected, by their sessions, and those of which only commands
//! in their hooks tell, by what they call their sessions. An agent that goes is removed, and all that was known of it. Without
//! I/O: what happens comes in, and time.

mod before;
mod calls;
mod choices;
mod guards;
mod left;
mod looks;
mod mode;
mod notes;
mod questions;
mod step;
mod turn;
mod wake;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::{AgentProcess, Dialect};
use serde_json::Value;

use self::calls::Calls;
use self::choices::Choices;
use self::guards::Guards;
use self::looks::{Found, Looks};
use self::mode::Mode;
use self::notes::Notes;
use self::questions::Questions;
use self::turn::{LATE, Turn};
use self::wake::{Handed, Waker};
use crate::agents::hooks;
use crate::event::{Caller, GuardWay};
use crate::prompts::Prompts;
use crate::remark::Remark;
use crate::sessions::SessionId;
use crate::who::Asker;

pub(crate) use self::before::{Before, Does, HeldHook};
pub(crate) use self::guards::Held;
pub(crate) use self::looks::{Look, Record};
pub(crate) use self::step::{Asking, Effect, Signal};

/// More sessions of which only hooks tell are not told apart from agents that do not say anything.
const MAX_BY_HOOKS: usize = 256;

/// An agent calls no session by a longer name.
const MAX_NAME: usize = 256;

#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) kind: Dialect,
    /// Its process, once that is known.
    pub(crate) process: Option<AgentProcess>,
    pub(crate) turn: Turn,
    pub(crate) mode: Mode,
    pub(crate) notes: Notes,
    pub(crate) questions: Questions<AskedBeside>,
    /// The processes of ours that stand beside its calls.
    pub(crate) guards: Guards<GuardWay, HeldHook>,
    waker: Option<Waker>,
    /// The look-out for its prompts, while it is shown notes and does not say when it has sent one.
    pub(crate) prompts: Option<Prompts>,
    pub(crate) calls: Calls,
    /// True if it is not connected: commands in its hooks tell of it.
    is_by_hooks: bool,
    /// True if what it changes is recorded.
    is_recorded: bool,
    /// True once it has opened a diff, or closed all as it does with each prompt. Where its model began to answer before it was connected
    /// it opens none.
    opens_diffs: bool,
    found: Found,
}

/// A question that waits: who asks, and the whole input of the tool that is asked about.
#[derive(Debug)]
pub(crate) struct AskedBeside {
    pub(crate) caller: Caller,
    pub(crate) input: Value,
}

/// The id of the session that this agent calls by this name, if it may have that; no session of a connected agent has such an id.
fn id_by_hooks(kind: Dialect, name: &str) -> Option<SessionId> {
    let is_name = name.len() <= MAX_NAME;
    is_name.then(|| format!("hooks of {}: {name}", kind.name()).into())
}

#[derive(Debug, Default)]
pub(crate) struct Agents {
    agents: HashMap<SessionId, Agent>,
    choices: Choices,
    looks: Looks,
    handed: Handed,
    /// What agents that are gone have not read.
    left_notes: Vec<Remark>,
    /// The names of the notes that agents have which are gone.
    told: Vec<String>,
    /// The time at which an agent went while it was at work.
    left: Option<Instant>,
}

impl Agent {
    fn new(kind: Dialect, is_by_hooks: bool, is_recorded: bool) -> Self {
        Self {
            kind,
            process: None,
            turn: Turn::of(kind),
            mode: Mode::default(),
            notes: Notes::default(),
            questions: Questions::default(),
            guards: Guards::default(),
            waker: None,
            prompts: None,
            calls: Calls::default(),
            is_by_hooks,
            is_recorded,
            opens_diffs: false,
            found: Found::default(),
        }
    }

    /// Returns true if it is told by this session what a person made of its changes: by hooks of its own, or in place of the selection.
    pub(crate) fn takes_notes(&self) -> bool {
        self.is_by_hooks || self.is_looked_for() || self.mode.is_hooked()
    }

    /// Returns true if it has called this hook itself, as far as is known: no command that it runs has.
    pub(crate) fn has_called(&mut self, hook: &Asker) -> bool {
        let way = |process| self.calls.believes(hook.way_from(process).as_deref());
        self.process.is_none_or(way)
    }

    /// Returns true if the question of this call is all that is heard of the change: nothing is proposed beside it.
    pub(crate) fn only_asks(&self, call: &hooks::Call) -> bool {
        call.is_subagent() || !self.opens_diffs
    }

    pub(crate) fn can_wake(&self) -> bool {
        self.waker.is_some()
    }
}

impl Agents {
    /// The agent of this kind that is connected with this session.
    pub(crate) fn connected(&mut self, session: &SessionId, kind: Dialect) -> &mut Agent {
        let agent = self.agents.entry(session.clone());
        agent.or_insert_with(|| Agent::new(kind, false, self.choices.records))
    }

    /// The session of this agent that it calls by this name, and whether it is new; none if there are too many.
    pub(crate) fn by_hooks(&mut self, kind: Dialect, name: &str) -> Option<(SessionId, bool)> {
        let id = id_by_hooks(kind, name)?;
        let is_new = !self.agents.contains_key(&id);
        if is_new && self.all_by_hooks().count() >= MAX_BY_HOOKS {
            return None;
        }
        let agent = self.agents.entry(id.clone());
        agent.or_insert_with(|| Agent::new(kind, true, self.choices.records));
        Some((id, is_new))
    }

    /// The session with which the agent is connected of which hooks tell in this one; none if another of its kind works here, too.
    pub(crate) fn connected_as(&self, by_hooks: &SessionId) -> Option<SessionId> {
        let agent = self.get(by_hooks).filter(|it| it.process.is_some())?;
        let of_kind = self.agents.iter().filter(|(_, it)| it.kind == agent.kind);
        let (mut hooked, connected): (Vec<_>, Vec<_>) = of_kind.partition(|(_, it)| it.is_by_hooks);
        hooked.retain(|(_, it)| it.process != agent.process);
        match &connected[..] {
            [(session, _)] if hooked.is_empty() => Some(Arc::clone(session)),
            _ => None,
        }
    }

    /// Returns true if a hook of such a session is called by a command that the agent runs at this time, and not by the agent.
    pub(crate) fn is_faked(&mut self, kind: Dialect, name: &str, asker: &Asker) -> bool {
        let agent = id_by_hooks(kind, name).and_then(|id| self.get_mut(&id));
        agent.is_some_and(|it| !it.has_called(asker))
    }

    pub(crate) fn get(&self, session: &SessionId) -> Option<&Agent> {
        self.agents.get(session)
    }

    pub(crate) fn get_mut(&mut self, session: &SessionId) -> Option<&mut Agent> {
        self.agents.get_mut(session)
    }

    /// All of them have what they were handed.
    pub(crate) fn all_go_on(&mut self) {
        for agent in self.agents.values_mut() {
            agent.notes.goes_on();
        }
    }

    /// Returns true if its hooks call the companion.
    pub(crate) fn is_hooked(&self, session: &SessionId) -> bool {
        self.get(session).is_some_and(|it| it.mode.is_hooked())
    }

    /// Those of which only hooks tell.
    pub(crate) fn all_by_hooks(&self) -> impl Iterator<Item = (&SessionId, &Agent)> {
        self.agents.iter().filter(|(_, agent)| agent.is_by_hooks)
    }

    /// Of those of which only hooks tell: the kinds that are at work, each once.
    pub(crate) fn working(&self) -> Vec<Dialect> {
        let working = self.all_by_hooks().filter(|(_, it)| it.turn.is_open());
        let mut kinds: Vec<_> = working.map(|(_, agent)| agent.kind).collect();
        kinds.sort_unstable_by_key(|kind| kind.name());
        kinds.dedup();
        kinds
    }

    /// Returns true if what was written a moment ago counts as an agent's.
    pub(crate) fn are_at_work(&self, now: Instant) -> bool {
        let is_at_work = |it: &Agent| it.turn.is_at_work(now) || it.may_always_be_at_work();
        self.left.is_some_and(|at| now < at + LATE) || self.agents.values().any(is_at_work)
    }

    /// Returns true if one of this kind runs a call, in its turn, that may write this file.
    pub(crate) fn may_write(&self, kind: Dialect, file: &Path, now: Instant) -> bool {
        let mut of_kind = self.agents.values().filter(|it| it.kind == kind);
        of_kind.any(|it| it.turn.is_at_work(now) && it.calls.may_write(file))
    }

    /// Lets the processes go on beside calls that wait for the person no more, of which `waits` knows by the proposal.
    pub(crate) fn decided_calls(
        &mut self,
        waits: impl Fn(&SessionId, &str) -> bool,
    ) -> Vec<(SessionId, Effect)> {
        self.each(|session, agent| {
            let ways = agent.guards.decided(|proposal| waits(session, proposal));
            ways.into_iter().map(Effect::Release).collect()
        })
    }

    /// Shows the calls that have waited for their process in vain.
    pub(crate) fn late_calls(&mut self, now: Instant) -> Vec<(SessionId, Effect)> {
        self.each(|_, agent| {
            agent
                .guards
                .late(now)
                .into_iter()
                .map(Effect::Hold)
                .collect()
        })
    }

    fn each(
        &mut self,
        effects: impl Fn(&SessionId, &mut Agent) -> Vec<Effect>,
    ) -> Vec<(SessionId, Effect)> {
        let each = self.agents.iter_mut().flat_map(|(session, agent)| {
            let effects = effects(session, agent).into_iter();
            effects.map(|effect| (session.clone(), effect))
        });
        each.collect()
    }

    /// Returns the time at which [`next_look`](Self::next_look) and [`late_calls`](Self::late_calls) want to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        let guards = self.agents.values().filter_map(|it| it.guards.due());
        guards.chain(self.look_due()).min()
    }

    /// An agent is gone. Returns what was known of it.
    pub(crate) fn remove(&mut self, session: &SessionId, now: Instant) -> Option<Agent> {
        self.leave_notes(session);
        let mut agent = self.agents.remove(session)?;
        self.told.append(&mut agent.notes.take_told());
        if agent.turn.is_at_work(now) {
            self.left = Some(now);
        }
        Some(agent)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_name_of_each_agent_is_a_session_until_it_ends() {
        let (mut agents, now) = (Agents::default(), Instant::now());
        let (first, is_new) = agents.by_hooks(Dialect::CodexCli, "a").unwrap();
        assert!(is_new);
        let again = agents.by_hooks(Dialect::CodexCli, "a");
        assert_eq!(again, Some((first.clone(), false)));
        let (other, is_new) = agents.by_hooks(Dialect::GeminiCli, "a").unwrap();
        assert!(is_new && other != first);
        assert_eq!(agents.get(&other).unwrap().kind, Dialect::GeminiCli);
        agents.connected(&"a".into(), Dialect::GeminiCli);
        assert_eq!(agents.all_by_hooks().count(), 2);
        assert!(agents.remove(&first, now).is_some() && agents.remove(&first, now).is_none());
        assert_eq!(agents.all_by_hooks().count(), 1);
    }

    #[test]
    fn each_kind_whose_turn_goes_on_is_named_once() {
        let (mut agents, now) = (Agents::default(), Instant::now());
        let mut named = |agent, name| {
            let (session, _) = agents.by_hooks(agent, name).unwrap();
            agents.get_mut(&session).unwrap().turn.works(false, now);
            session
        };
        let first = named(Dialect::CodexCli, "a");
        let second = named(Dialect::CodexCli, "b");
        let other = named(Dialect::GeminiCli, "a");
        assert_eq!(agents.working(), [Dialect::CodexCli, Dialect::GeminiCli]);
        agents.get_mut(&other).unwrap().turn.ends(false, now);
        assert!(agents.remove(&first, now).is_some());
        assert_eq!(agents.working(), [Dialect::CodexCli]);
        assert!(agents.remove(&second, now).is_some());
        assert_eq!(agents.working(), []);
    }

    /// Hooks do not tell with which session their agent is connected.
    #[test]
    fn hooks_and_a_connection_are_one_agents_if_no_other_of_its_kind_works_here() {
        let process = |pid| {
            let started_at = 1;
            Some(AgentProcess { pid, started_at })
        };
        let kind = Dialect::QwenCode;
        for (of_hooks, others, connected, expected) in [
            (process(7), &[][..], &["own"][..], Some("own")),
            // It has begun another session.
            (process(7), &[process(7)], &["own"], Some("own")),
            (process(7), &[process(8)], &["own"], None),
            (process(7), &[], &["own", "another"], None),
            (process(7), &[], &[], None),
            (None, &[], &["own"], None),
        ] {
            let mut agents = Agents::default();
            let mut hooked = |process, name: &str| {
                let (session, _) = agents.by_hooks(kind, name).unwrap();
                agents.get_mut(&session).unwrap().process = process;
                session
            };
            let session = hooked(of_hooks, "asks");
            for (number, process) in others.iter().enumerate() {
                hooked(*process, &number.to_string());
            }
            for name in connected {
                agents.connected(&(*name).into(), kind);
            }
            agents.connected(&"gemini".into(), Dialect::GeminiCli);
            let found = agents.connected_as(&session);
            assert_eq!(
                found.as_deref(),
                expected,
                "{of_hooks:?} {others:?} {connected:?}"
            );
        }
    }

    #[test]
    fn one_that_invents_names_fills_no_memory() {
        let mut agents = Agents::default();
        let long = "x".repeat(MAX_NAME + 1);
        assert_eq!(agents.by_hooks(Dialect::CodexCli, &long), None);
        let kept = (0..2 * MAX_BY_HOOKS).filter(|number| {
            let name = number.to_string();
            agents.by_hooks(Dialect::CodexCli, &name).is_some()
        });
        assert_eq!(kept.count(), MAX_BY_HOOKS);
        let known = agents.by_hooks(Dialect::CodexCli, "0");
        assert!(known.is_some(), "it is known");
    }

    #[test]
    fn an_agent_that_tells_nothing_may_always_be_at_work() {
        for (kind, expected) in [(Dialect::OpenCode, true), (Dialect::GeminiCli, false)] {
            let (mut agents, now) = (Agents::default(), Instant::now());
            agents.connected(&"a".into(), kind);
            assert_eq!(agents.are_at_work(now), expected, "{kind}");
        }
    }

    #[test]
    fn one_agent_at_work_is_enough_and_one_that_is_gone_is_not_waited_for() {
        let (mut agents, start) = (Agents::default(), Instant::now());
        let moment = Duration::from_millis(1);
        for session in ["a", "b"] {
            let agent = agents.connected(&session.into(), Dialect::ClaudeCode);
            agent.turn.begins(start);
        }
        let agent = agents.get_mut(&"a".into()).unwrap();
        agent.turn.ends(false, start);
        // A subagent works on when the turn of the agent is over.
        agent.turn.works(true, start);
        agents.remove(&"b".into(), start);
        assert!(agents.are_at_work(start + LATE));
        agents.remove(&"a".into(), start + LATE);
        assert!(agents.are_at_work(start + LATE + LATE - moment));
        assert!(!agents.are_at_work(start + LATE + LATE));
    }
}
