//! The words for agents that are gone, or were when the companion before this one ended. They wait for the same process to come back,
//! or, once it has ended, for the next agent of its kind.

use std::time::Instant;

use pillion_changes::{WaitingNote, WriteOutcome};
use pillion_protocol::{AgentProcess, Dialect, IdeContext};
use pillion_text::counted;
use pillion_view::DiffId;

use super::{Agent, Agents};
use crate::remark::Remark;
use crate::sessions::SessionId;

impl Agents {
    /// These wait in the store.
    pub(crate) fn found_notes(&mut self, notes: Vec<(String, WaitingNote)>) {
        for (name, note) in notes {
            if !self.knows_note(&name) {
                self.left_notes.extend(Remark::of_waiting(name, note));
            }
        }
    }

    fn knows_note(&self, name: &str) -> bool {
        let waiting = self.agents.values().flat_map(|it| it.notes.unread());
        self.left_notes
            .iter()
            .chain(waiting)
            .any(|it| it.name() == name)
    }

    /// The agent of this session may not come back: what it is told waits for whoever takes its place.
    pub(crate) fn leave_notes(&mut self, session: &SessionId) {
        if let Some(agent) = self.agents.get_mut(session) {
            let remarks = agent.notes.take_remarks().unwrap_or_default();
            let left = remarks.into_iter().map(|it| it.left_by(agent.process));
            self.left_notes.extend(left);
        }
    }

    /// This came of the acceptance of a diff. Returns the notes that say so from now on.
    pub(crate) fn came_of(&mut self, id: DiffId, outcome: &WriteOutcome) -> Vec<&Remark> {
        let agents = self.agents.values_mut();
        let remarks = agents.flat_map(|agent| agent.notes.all_mut());
        let mut about: Vec<_> = remarks.chain(&mut self.left_notes).collect();
        about.retain_mut(|it| it.came_of(id, outcome));
        about.into_iter().map(|it| &*it).collect()
    }

    /// Commands in its hooks tell of this agent. What hooks are to take waits for them, if the one that has it cannot be given it: a
    /// connection without hooks, and a session of the same process whose place this one has taken.
    fn leave_what_others_cannot_take(&mut self, session: &SessionId) {
        let Some(own) = self.get(session).filter(|it| it.is_by_hooks) else {
            return;
        };
        let (kind, process, is_new) = (own.kind, own.process, own.turn.is_first());
        let is_over = |agent: &Agent| match agent.is_by_hooks {
            // One that was stopped does not say so.
            true => agent.process == process && (is_new || !agent.turn.is_open()),
            false => !agent.mode.is_hooked(),
        };
        let cannot = |(other, agent): &(&SessionId, &Agent)| {
            let is_its = *other != session && agent.kind == kind && is_over(agent);
            is_its && agent.notes.are_for_hook() && agent.notes.wait()
        };
        let others = self.agents.iter().filter(cannot);
        let others: Vec<_> = others.map(|(session, _)| session.clone()).collect();
        for other in others {
            self.leave_notes(&other);
        }
    }

    /// An agent is here: it is told what waits for it, or for an agent whose place it takes, because that process has ended. Returns
    /// true if there is something.
    pub(crate) fn give_notes(
        &mut self,
        session: &SessionId,
        context: &IdeContext,
        now: Instant,
        lives: impl Fn(AgentProcess) -> bool,
    ) -> bool {
        self.leave_what_others_cannot_take(session);
        let Some(agent) = self.agents.get_mut(session) else {
            return false;
        };
        let (kind, process) = (agent.kind, agent.process);
        let is_its = |remark: &mut Remark| {
            let whose = remark.note.process;
            let is_over = whose.is_none_or(|process| !lives(process));
            remark.kind() == Some(kind) && (is_over || whose == process)
        };
        let mut has_some = false;
        for remark in self.left_notes.extract_if(.., is_its) {
            has_some = true;
            agent.notes.add(remark, context, now);
        }
        has_some
    }

    pub(crate) fn of_process(&self, process: AgentProcess) -> Vec<SessionId> {
        let agents = self.agents.iter();
        let its = agents.filter(|(_, agent)| agent.process == Some(process));
        its.map(|(session, _)| session.clone()).collect()
    }

    /// Nobody is told anything about these turns any more.
    pub(crate) fn forget_notes_of_turns(&mut self, turns: &[u64]) {
        let is_it = |it: &mut Remark| it.note.is_about(turns);
        let left = self.left_notes.extract_if(.., is_it);
        self.told.extend(left.map(|it| it.name().to_owned()));
        for agent in self.agents.values_mut() {
            agent.notes.forget_turns(turns);
        }
    }

    /// Takes the names of the notes that agents have by now.
    pub(crate) fn take_told(&mut self) -> Vec<String> {
        let agents = self.agents.values_mut();
        let told = agents.flat_map(|agent| agent.notes.take_told());
        let told: Vec<_> = self.told.drain(..).chain(told).collect();
        told
    }

    /// Returns for whom notes wait that is gone, of these agents or all, in words.
    pub(crate) fn say_left(&self, kind: Option<Dialect>) -> Option<String> {
        let left = self.left_notes.iter().filter_map(Remark::kind);
        let left: Vec<_> = left
            .filter(|it| kind.is_none_or(|kind| kind == *it))
            .collect();
        let first = left.first()?;
        let whom = match left.iter().all(|it| it == first) {
            true => first.display_name(),
            false => "agents",
        };
        let verb = if left.len() == 1 { "waits" } else { "wait" };
        let count = counted(left.len(), "note");
        Some(format!("{count} {verb} for {whom} to come back"))
    }

    /// The notes that wait, each as a sentence for people.
    pub(crate) fn waiting_notes(&self) -> Vec<String> {
        let mut agents: Vec<_> = self.agents.values().collect();
        agents.sort_by_key(|agent| agent.kind.name());
        let here = agents.into_iter().flat_map(|agent| {
            let waiting = agent.notes.untold();
            waiting.map(|it| format!("{} has not read yet: {}", agent.kind, it.text()))
        });
        let left = self.left_notes.iter().filter_map(|it| {
            let agent = it.kind()?;
            Some(format!(
                "{agent} is not here and has yet to read: {}",
                it.text()
            ))
        });
        here.chain(left).collect()
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::remarks::FileRemark;

    use super::*;

    fn process(pid: u32) -> AgentProcess {
        AgentProcess { pid, started_at: 1 }
    }

    fn remark(kind: Dialect, text: &str) -> Remark {
        let told = FileRemark::new("/a".to_owned(), text.to_owned(), &[], false);
        Remark::written(kind, &[told]).named(text.to_owned())
    }

    fn comes(agents: &mut Agents, session: &str, kind: Dialect, pid: Option<u32>) -> SessionId {
        let session: SessionId = session.into();
        agents.connected(&session, kind);
        if let Some(pid) = pid {
            agents.identified(&session, process(pid));
        }
        session
    }

    /// The process 1 was told `no`, and is gone; these others live.
    fn gone(living: &[u32]) -> (Agents, impl Fn(AgentProcess) -> bool) {
        let mut agents = Agents::default();
        let session = comes(&mut agents, "first", Dialect::ClaudeCode, Some(1));
        agents
            .get_mut(&session)
            .unwrap()
            .notes
            .add_for_hook(remark(Dialect::ClaudeCode, "no"));
        agents.remove(&session, Instant::now());
        (agents, move |it: AgentProcess| living.contains(&it.pid))
    }

    #[test]
    fn what_was_said_waits_for_the_process_or_for_the_one_after_it() {
        let claude = Dialect::ClaudeCode;
        for (living, kind, pid, is_given) in [
            (&[1][..], claude, Some(1), true),
            (&[1], claude, Some(2), false),
            (&[1], claude, None, false),
            (&[], claude, Some(2), true),
            (&[], claude, None, true),
            (&[], Dialect::OpenCode, None, false),
        ] {
            let (mut agents, lives) = gone(living);
            assert_eq!(
                agents.waiting_notes(),
                ["Claude Code is not here and has yet to read: no"]
            );
            let next = comes(&mut agents, "next", kind, pid);
            let given = agents.give_notes(&next, &IdeContext::default(), Instant::now(), lives);
            assert_eq!(given, is_given, "{living:?} {kind} {pid:?}");
            let notes = &mut agents.get_mut(&next).unwrap().notes;
            let told = notes.take();
            notes.goes_on();
            assert_eq!(told.as_deref(), is_given.then_some("no"));
            let names: &[&str] = if is_given { &["no"] } else { &[] };
            assert_eq!(agents.take_told(), names);
            assert_eq!(agents.waiting_notes().is_empty(), is_given);
        }
    }

    #[test]
    fn what_the_store_has_is_given_once() {
        let mut agents = Agents::default();
        let note = |agent: &str| WaitingNote {
            agent: agent.to_owned(),
            process: None,
            roots: Vec::new(),
            at: 1,
            file_path: "/a".to_owned(),
            lines: None,
            text: "from the store".to_owned(),
            is_there: true,
            is_for_hook: true,
            ..WaitingNote::default()
        };
        let found = || {
            vec![
                ("1".to_owned(), note("claude")),
                ("2".to_owned(), note("none")),
            ]
        };
        agents.found_notes(found());
        agents.found_notes(found());
        let session = comes(&mut agents, "s", Dialect::ClaudeCode, Some(1));
        assert!(agents.give_notes(&session, &IdeContext::default(), Instant::now(), |_| true));
        agents.found_notes(found());
        assert!(!agents.give_notes(&session, &IdeContext::default(), Instant::now(), |_| true));
        let notes = &mut agents.get_mut(&session).unwrap().notes;
        assert_eq!(notes.take().as_deref(), Some("from the store"));
        notes.goes_on();
        assert_eq!(agents.take_told(), ["1"]);
    }

    /// A reason, or a note with an acceptance, that went into the answer of a hook.
    #[test]
    fn what_an_answer_says_is_told_again_only_if_the_agent_ends_before_it_goes_on() {
        use pillion_protocol::{Note, Outcome};
        use pillion_view::ask::{ToolCall, WorkStep};
        let begins = |is_shown| {
            WorkStep::CallBegins(ToolCall {
                is_shown,
                ..ToolCall::default()
            })
        };
        let ends = || WorkStep::CallEnds("1".to_owned());
        let (written, differently) = (WriteOutcome::Written, WriteOutcome::WrittenDifferently);
        let not_written = WriteOutcome::NotWritten {
            why: "x".to_owned(),
        };
        let accepted = "The user accepted your change to /a";
        let plain = format!("{accepted} and says: no");
        let not_known = format!(
            "{accepted} (it is not known whether that was written: read the file) and says: no"
        );
        let nothing = format!("{accepted} (nothing of it was written) and says: no");
        let reject = "The user rejected your change to /a and says: no";
        let id = DiffId(7);
        for (steps, has_it) in [
            (vec![], false),
            (vec![begins(true)], false),
            (vec![begins(true), ends()], false),
            (vec![WorkStep::CallFails("1".to_owned())], false),
            (vec![begins(false)], true),
            (vec![ends(), WorkStep::TurnEnds], true),
            (vec![WorkStep::TurnBegins("go".to_owned())], true),
        ] {
            for (outcome, came_of, told) in [
                (Outcome::Rejected, None, reject),
                (Outcome::accepted("x"), None, &*not_known),
                (Outcome::accepted("x"), Some(&written), &plain),
                (Outcome::accepted("x"), Some(&differently), &plain),
                (Outcome::accepted("x"), Some(&not_written), &nothing),
            ] {
                for is_known_before in [true, false] {
                    let case = format!("{steps:?} {outcome:?} {came_of:?} {is_known_before}");
                    let (mut agents, now) = (Agents::default(), Instant::now());
                    let comes = |agents: &mut Agents, name, pid| {
                        let (session, _) = agents.by_hooks(Dialect::CodexCli, name).unwrap();
                        agents.get_mut(&session).unwrap().process = Some(process(pid));
                        agents.give_notes(&session, &IdeContext::default(), now, |it| it.pid != 1);
                        session
                    };
                    let first = comes(&mut agents, "first", 1);
                    let notes = [Note::on_all("no")];
                    let for_hook = pillion_protocol::Proposer::For(Dialect::CodexCli);
                    let mut remark = Remark::new(for_hook, "/a", &outcome, "x", true, &notes)
                        .unwrap()
                        .about(id)
                        .named("note".to_owned());
                    remark.note.is_for_hook = true;
                    let its = agents.get_mut(&first).unwrap();
                    its.notes.add_answered(&"hook".into(), remark);
                    assert_eq!(agents.waiting_notes(), [""; 0], "it is on its way");
                    for step in &steps {
                        agents.step(&first, super::super::Signal::Takes(step, false), now);
                    }
                    let knows = |agents: &mut Agents| {
                        let about = came_of.map_or(0, |it| agents.came_of(id, it).len());
                        let is_about = came_of.is_some() && !has_it && outcome != Outcome::Rejected;
                        assert_eq!(about, usize::from(is_about), "{case}");
                    };
                    if is_known_before {
                        knows(&mut agents);
                    }
                    // To the one that lives it is never said twice.
                    let its = &mut agents.get_mut(&first).unwrap().notes;
                    assert_eq!((its.take(), its.wait()), (None, !has_it), "{case}");
                    agents.remove(&first, now);
                    assert_eq!(agents.waiting_notes().len(), usize::from(!has_it), "{case}");
                    let next = comes(&mut agents, "next", 2);
                    if !is_known_before {
                        knows(&mut agents);
                    }
                    let its = &mut agents.get_mut(&next).unwrap().notes;
                    let expected = (!has_it).then_some(told);
                    assert_eq!(its.take().as_deref(), expected, "{case}");
                    its.goes_on();
                    assert_eq!(agents.take_told(), ["note"], "{case}");
                    agents.remove(&next, now);
                    let last = comes(&mut agents, "last", 3);
                    assert_eq!(agents.get_mut(&last).unwrap().notes.take(), None, "{case}");
                }
            }
        }
    }

    /// The person has cleared the conversation of an agent whose hooks tell of it: its process begins another session. Two sessions
    /// that go on in one process have notes of their own.
    #[test]
    fn what_a_session_is_told_goes_to_the_next_one_of_its_process() {
        let now = Instant::now();
        for (is_stopped, pid, is_given) in [(false, 1, true), (true, 1, true), (false, 2, false)] {
            let mut agents = Agents::default();
            let begins = |agents: &mut Agents, name, pid| {
                let (session, _) = agents.by_hooks(Dialect::QwenCode, name).unwrap();
                agents.get_mut(&session).unwrap().process = Some(process(pid));
                agents.give_notes(&session, &IdeContext::default(), Instant::now(), |_| true);
                let agent = agents.get_mut(&session).unwrap();
                agent.turn.begins_and_ends_are_told(now);
                (agent.notes.take(), session)
            };
            let (_, first) = begins(&mut agents, "first", 1);
            let agent = agents.get_mut(&first).unwrap();
            if !is_stopped {
                agent.turn.ends(false, now);
            }
            agent.notes.add_for_hook(remark(Dialect::QwenCode, "no"));
            let (told, next) = begins(&mut agents, "next", pid);
            assert_eq!(
                told.as_deref(),
                is_given.then_some("no"),
                "{is_stopped} {pid}"
            );
            // What is said of the former turns later, too, but not while the other one is at work.
            for (ends, expected) in [(false, None), (true, is_given.then_some("again"))] {
                let agent = agents.get_mut(&first).unwrap();
                if ends {
                    agent.turn.ends(false, now);
                } else {
                    agent.turn.begins(now);
                    agent.notes.goes_on();
                    agent.notes.add_for_hook(remark(Dialect::QwenCode, "again"));
                }
                let (told, again) = begins(&mut agents, "next", pid);
                assert_eq!((told.as_deref(), again), (expected, next.clone()));
            }
        }
    }

    /// An agent that is connected, and of which commands in its hooks tell: these take what is for hooks.
    #[test]
    fn what_hooks_are_to_take_does_not_stay_with_a_connection_that_has_none() {
        let (mut agents, lives) = gone(&[2]);
        let connected = comes(&mut agents, "next", Dialect::ClaudeCode, Some(2));
        assert!(agents.give_notes(&connected, &IdeContext::default(), Instant::now(), &lives));
        let (by_hooks, _) = agents.by_hooks(Dialect::ClaudeCode, "a").unwrap();
        let its = agents.get_mut(&by_hooks).unwrap();
        its.process = Some(process(2));
        assert!(agents.give_notes(&by_hooks, &IdeContext::default(), Instant::now(), &lives));
        assert!(!agents.get(&connected).unwrap().notes.wait());
        let told = agents.get_mut(&by_hooks).unwrap().notes.take();
        assert_eq!(told.as_deref(), Some("no"));
    }

    #[test]
    fn what_a_session_is_told_goes_to_the_one_that_takes_its_place() {
        let mut agents = Agents::default();
        let first = comes(&mut agents, "first", Dialect::GeminiCli, None);
        let context = IdeContext::default();
        agents.get_mut(&first).unwrap().notes.add(
            remark(Dialect::GeminiCli, "no"),
            &context,
            Instant::now(),
        );
        let next = comes(&mut agents, "next", Dialect::GeminiCli, None);
        assert!(!agents.give_notes(&next, &context, Instant::now(), |_| true));
        agents.leave_notes(&first);
        assert!(agents.give_notes(&next, &context, Instant::now(), |_| true));
        assert!(!agents.get(&first).unwrap().notes.wait());
        assert!(agents.get_mut(&next).unwrap().notes.turn_begins());
        assert_eq!(agents.take_told(), ["no"]);
    }
}
