//! The loop's work for what people say to agents: it waits in the store until the agent has it, with the next prompt or because the
//! person sends it at once.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;
use pillion_changes::WaitingNote;
use pillion_protocol::record::Recorded;
use pillion_protocol::{Dialect, Note};
use pillion_view::ask::SendNotes;
use pillion_view::changes::Hearing;
use pillion_view::{Answering, Chosen, ProposalKey};

use super::MainLoop;
use crate::acting::Told;
use crate::agent::Agent;
use crate::agents;
use crate::event::{By, Waiter};
use crate::ids::ViewId;
use crate::prompts::Prompts;
use crate::remark::Remark;
use crate::sessions::{Listening, SessionId};
use crate::tasks;

/// The time that an agent has to act on a decision: text that comes into its prompt before that hides its question, and
/// the answer is lost.
const MENTION_DELAY: Duration = Duration::from_secs(1);

/// A request to send notes, until all that it is about is known.
#[derive(Debug)]
pub(super) struct Sending {
    /// The processes that have got notes, with the agents that they wake.
    open: Vec<(u64, String)>,
    sentences: Vec<String>,
    /// True if all notes are sent.
    is_done: bool,
    reply: Answering<SendNotes>,
}

impl MainLoop {
    /// These wait in the store: the agents that are here are told. Returns one that is.
    pub(super) fn found_notes(&mut self, notes: Vec<(String, WaitingNote)>) -> Option<SessionId> {
        self.agents.found_notes(notes);
        let by_hooks = self.agents.all_by_hooks();
        let by_hooks = by_hooks.map(|(session, _)| Arc::clone(session));
        let mut all: Vec<_> = by_hooks.collect();
        all.extend(self.sessions.ids());
        all.retain(|it| self.give_notes(it));
        self.report_status();
        all.pop()
    }

    /// An agent is told what waits for it, or for one whose place it takes. Returns true if there is something.
    pub(super) fn give_notes(&mut self, session: &SessionId) -> bool {
        let Some(kind) = self.agent(session).map(|agent| agent.kind) else {
            return false;
        };
        // An agent that leaves without a word stays for a while.
        for away in self.sessions.away(kind) {
            self.agents.leave_notes(&away);
        }
        let context = self.context.current();
        let agents = &mut self.agents;
        let is_told = agents.give_notes(
            session,
            &context,
            Instant::now(),
            pillion_changes::agent_lives,
        );
        if is_told {
            self.show_notes(session);
            self.report_status();
        }
        is_told
    }

    /// The person has decided about this proposal, in this view if it was in one, and these notes go with that. Returns what stands
    /// in other views.
    pub(super) fn forget_notes(
        &mut self,
        key: ProposalKey,
        view: Option<ViewId>,
        said: &[Note],
    ) -> Vec<Note> {
        let of = self.diffs.notes_of(key);
        of.map_or_else(Vec::new, |(of, path)| {
            self.kept_notes.forget_on(view, &of, path, said)
        })
    }

    /// Nobody decides about this proposal any more. Its agent reads the notes with the rejection; one whose hook asks hears nothing, and
    /// they are there again with its next proposal.
    pub(super) fn forget_told_notes(&mut self, key: ProposalKey) {
        let proposal = self.diffs.proposal(key);
        let is_told = proposal.is_some_and(|it| !it.proposer.is_for_agent());
        if let Some((of, path)) = self.diffs.notes_of(key).filter(|_| is_told) {
            self.kept_notes.forget_on(None, &of, path, &[]);
        }
    }

    /// The person has had these turns forgotten: so are the words about them that no agent has read.
    pub(super) fn forget_notes_of_turns(&mut self, turns: &[u64]) {
        self.agents.forget_notes_of_turns(turns);
        self.drop_told();
    }

    /// What agents have read by now is not kept any longer.
    pub(super) fn drop_told(&mut self) {
        let told = self.agents.take_told();
        if !told.is_empty() {
            self.kept_notes.drop_all(told);
            self.report_status();
        }
    }

    /// The person has something to say to an agent: its model reads that when it has written the file, or with the next
    /// prompt.
    pub(super) fn remark(&mut self, session: &SessionId, remark: Remark, is_hooked: bool) {
        let context = self.context.current();
        let Some((agent, remark)) = self.keep(session, remark, is_hooked) else {
            return;
        };
        let mention = remark.mention().filter(|_| !is_hooked);
        agent.notes.add(remark, &context, Instant::now());
        match is_hooked {
            true => self.report_status(),
            false => self.show_notes(session),
        }
        if let Some((outbox, mention)) = self.sessions.outbox(session).zip(mention) {
            tasks::spawn(async move {
                tokio::time::sleep(MENTION_DELAY).await;
                outbox.push_mention(mention);
            });
        }
    }

    /// An agent is shown what waits for it. Of one that does not say when it has sent a prompt, that is looked for from before on.
    fn show_notes(&mut self, session: &SessionId) {
        if !self.watch_prompts(session) {
            self.push_context(session, self.context.current());
        }
    }

    /// Returns true if its prompts are looked for from a moment on, and it is shown its notes then.
    fn watch_prompts(&mut self, session: &SessionId) -> bool {
        let wire = self.sessions.wire(session);
        let environment = { self.views.options().next() }.map(|it| it.environment.clone());
        let agent = self.agents.get_mut(session).filter(|it| {
            let is_shown = it.notes.shown() > 0;
            is_shown && it.prompts.is_none()
        });
        let Some(((agent, wire), environment)) = agent.zip(wire).zip(environment) else {
            return false;
        };
        let Some(folder) = agent.kind.records().map(|base| environment.base(base)) else {
            return false;
        };
        let (events, id) = (self.events.clone(), Arc::clone(session));
        let tell = move |recorded: Vec<Recorded>| {
            let id = Arc::clone(&id);
            let (taken, is_taken) = bounded::<Infallible>(0);
            Self::send(&events, "prompts", move |it, _| {
                it.prompts_sent(&id, &recorded);
                drop(taken);
            });
            let _ = is_taken.recv();
        };
        let protocol = agents::of(agent.kind);
        agent.prompts = Prompts::watch(protocol, folder, wire, tell).ok();
        agent.prompts.is_some()
    }

    /// An agent has recorded this, since it was looked for that.
    fn prompts_sent(&mut self, session: &SessionId, recorded: &[Recorded]) {
        let Some(agent) = self.agents.get_mut(session) else {
            return;
        };
        let told = recorded
            .iter()
            .filter(|it| agent.notes.recorded(it))
            .count();
        agent.prompts.take_if(|_| agent.notes.shown() == 0);
        if told > 0 || recorded.is_empty() {
            self.push_context(session, self.context.current());
        }
    }

    /// This is in the answer to a call of this session's, which is the agent's own or that of its hook.
    pub(super) fn answered(&mut self, agents: &SessionId, to: &SessionId, remark: Remark) {
        if let Some((agent, remark)) = self.keep(agents, remark, true) {
            agent.notes.add_answered(to, remark);
            self.report_status();
        }
    }

    /// Keeps in the store what this agent is told, until it has it.
    fn keep(
        &mut self,
        session: &SessionId,
        remark: Remark,
        is_for_hook: bool,
    ) -> Option<(&mut Agent, Remark)> {
        let roots = Arc::clone(&self.roots);
        let agent = self.agent(session)?;
        let remark = remark.to(agent.kind, agent.process, &roots, is_for_hook);
        let name = self.kept_notes.keep(remark.note.clone());
        let remark = remark.named(name);
        Some((self.agents.get_mut(session)?, remark))
    }

    /// A person has judged what an agent had written. Returns how much of it the agent is told.
    pub(super) fn tell_judged(&mut self, told: Told) -> Hearing {
        let session = self.recording.session(told.session);
        let is_here = told.watcher == std::process::id();
        let Some(session) = session.filter(|_| is_here) else {
            return self.tell_later(&told);
        };
        let Some(agent) = self.agents.get(&session).filter(|it| it.takes_notes()) else {
            return self.tell_later(&told);
        };
        let kind = agent.kind;
        if agent.is_looked_for() {
            return self.tell_unhooked(&session, kind, &told);
        }
        self.remark(&session, told.whole(kind), true);
        self.hears(&session)
    }

    /// When an agent gets what waits for it.
    fn hears(&self, session: &SessionId) -> Hearing {
        let agent = self.agents.get(session);
        match agent.is_some_and(Agent::can_wake) {
            true => Hearing::All,
            false if agent.is_some_and(|it| !it.notes.are_for_hook()) => Hearing::Shown,
            false => Hearing::Prompt,
        }
    }

    /// The session of the turn is over, or was one of an earlier companion: the agent is told that takes its place, here or later.
    fn tell_later(&mut self, told: &Told) -> Hearing {
        let Some(note) = told.to_waiting() else {
            return Hearing::Nothing;
        };
        let name = self.kept_notes.keep(note.clone());
        let given = self.found_notes(vec![(name, note)]);
        given.map_or(Hearing::Later, |session| self.hears(&session))
    }

    /// The person's judgement of written changes goes with the next prompt, as far as there is room for it.
    fn tell_unhooked(&mut self, session: &SessionId, agent: Dialect, told: &Told) -> Hearing {
        let (mut remark, mut is_cut) = told.in_short(agent);
        // It has to stand beside a file that is there.
        let current = self.context.current();
        if let Some(file) = current.active_file().filter(|_| !remark.is_taken(false)) {
            remark = remark.beside(&file.path);
        }
        if !remark.is_taken(false) {
            return Hearing::Nothing;
        }
        is_cut |= remark.is_cut();
        self.remark(session, remark, false);
        match is_cut {
            true => Hearing::Beginning,
            false => Hearing::Shown,
        }
    }

    /// A process of ours waits beside one of these, to wake it. Its number, if the agent is connected.
    pub(crate) fn wait_beside(&mut self, processes: &[u32], way: Waiter) -> Option<u64> {
        let (session, _) = self.sessions.of_process(processes)?;
        self.agent(&session)?;
        self.agents.wait_beside(&session, way)
    }

    /// The person sends what waits for all agents, or for those of this kind or number.
    pub(crate) fn send_notes(&mut self, send: SendNotes, _: By, reply: Answering<SendNotes>) {
        let SendNotes { agent, number } = send;
        let listening = self.sessions.listening();
        let is_meant = |it: &&Listening| {
            agent.is_none_or(|agent| agent == it.agent)
                && number.is_none_or(|number| number == it.number)
        };
        let meant: Vec<_> = listening.iter().filter(is_meant).collect();
        let unwoken = match number {
            None => self.not_to_be_woken(agent),
            Some(_) => BTreeSet::new(),
        };
        let left = self.agents.say_left(agent);
        if meant.is_empty() && unwoken.is_empty() {
            let which = agent.map_or("no agent", Dialect::display_name);
            let why = match (agent, number) {
                (None, None) => format!("{which} is connected"),
                (Some(_), None) => format!("{which} is not connected"),
                (_, Some(number)) => format!("no agent with the number {number} is connected"),
            };
            let left = left.map_or_else(String::new, |left| format!(": {left}"));
            return reply.done(Chosen::refused(why + &left));
        }
        let mut sending = Sending {
            open: Vec::new(),
            sentences: Vec::new(),
            is_done: true,
            reply,
        };
        for it in meant {
            let name = it.name(&listening);
            if !self
                .agents
                .get(&it.session)
                .is_some_and(|it| it.notes.wait())
            {
                continue;
            }
            match self.agents.hand_notes(&it.session) {
                Some(number) => sending.open.push((number, name)),
                None => sending.add(false, self.later(&it.session, &name)),
            }
        }
        for name in unwoken {
            sending.add(false, cannot_be_woken(name));
        }
        if sending.open.is_empty() && sending.sentences.is_empty() {
            let whom = match (agent, number) {
                (Some(agent), None) => agent.display_name(),
                _ => "an agent",
            };
            let none = || format!("no notes are waiting for {whom}");
            sending.add(false, left.unwrap_or_else(none));
        }
        self.sendings.push(sending);
        self.answer_sendings();
    }

    /// The agents of this kind, or all, for which notes wait that the hooks in their settings take: no process waits beside them.
    fn not_to_be_woken(&self, agent: Option<Dialect>) -> BTreeSet<&'static str> {
        let agents = self.agents.all_by_hooks().map(|(_, it)| it);
        let waiting =
            agents.filter(|it| agent.is_none_or(|agent| agent == it.kind) && it.notes.wait());
        waiting.map(|it| it.kind.display_name()).collect()
    }

    /// Returns the sentence that says when an agent gets its notes that cannot be woken.
    fn later(&self, session: &SessionId, name: &str) -> String {
        let agent = self.agents.get(session);
        match agent.filter(|it| !it.notes.are_for_hook()) {
            None => cannot_be_woken(name),
            Some(agent) => agent.notes.told().unwrap_or_default(),
        }
    }

    /// The process of this number has ended; before that it may have passed on what it got.
    pub(crate) fn waiter_ended(&mut self, number: u64, is_passed_on: bool) {
        let Some(session) = self.agents.waker_ended(number, is_passed_on) else {
            return;
        };
        tracing::info!(is_passed_on, "notes were sent");
        let is_there = self.agents.get(&session).is_some();
        let place = self.sendings.iter().enumerate().find_map(|(at, sending)| {
            let open = sending.open.iter().position(|(it, _)| *it == number)?;
            Some((at, open))
        });
        let Some((at, open)) = place else {
            return;
        };
        let (_, name) = self.sendings[at].open.remove(open);
        let sentence = match (is_passed_on, is_there) {
            (true, _) => format!("your notes were sent to {name}"),
            (false, true) => self.later(&session, &name),
            (false, false) => format!("{name} is gone: your notes wait until it is back"),
        };
        self.sendings[at].add(is_passed_on, sentence);
        self.answer_sendings();
    }

    fn answer_sendings(&mut self) {
        for sending in self.sendings.extract_if(.., |it| it.open.is_empty()) {
            let message = sending.sentences.join("; ");
            let done = sending.is_done;
            sending.reply.done(Chosen { done, message });
        }
    }
}

fn cannot_be_woken(name: &str) -> String {
    format!("{name} cannot be woken now: it gets your notes with your next prompt")
}

impl Sending {
    fn add(&mut self, is_done: bool, sentence: String) {
        self.is_done &= is_done;
        self.sentences.push(sentence);
    }
}
