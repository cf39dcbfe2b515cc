//! The loop's work when a person sends their notes at once, in place of with the next prompt.

use std::collections::BTreeSet;

use pillion_protocol::Dialect;
use pillion_view::ask::SendNotes;
use pillion_view::{Answering, Chosen};

use super::MainLoop;
use crate::event::{By, Waiter};
use crate::sessions::{Listening, SessionId};

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
            (true, _) => format!("{name} reads your notes now"),
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
