//! The loop's work for what people say to agents: it waits in the store until the agent has it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_changes::WaitingNote;
use pillion_protocol::Dialect;
use pillion_protocol::remarks::FileRemark;
use pillion_view::ProposalKey;
use pillion_view::changes::Hearing;

use super::MainLoop;
use crate::acting::Told;
use crate::agent::Agent;
use crate::remark::Remark;
use crate::sessions::SessionId;
use crate::tasks;

/// The time that an agent has to act on a decision: text that comes into its prompt before that hides its question, and
/// the answer is lost.
const MENTION_DELAY: Duration = Duration::from_secs(1);

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
            self.push_context(session, context);
            self.report_status();
        }
        is_told
    }

    /// The person has decided about this proposal: their notes go with that.
    pub(super) fn forget_notes(&self, key: ProposalKey) {
        if let Some((agent, path)) = self.diffs.whose(key) {
            self.kept_notes.keep_on(agent.name(), &path, Vec::new());
        }
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
            false => self.push_context(session, context),
        }
        if let Some((outbox, mention)) = self.sessions.outbox(session).zip(mention) {
            tasks::spawn(async move {
                tokio::time::sleep(MENTION_DELAY).await;
                outbox.push_mention(mention);
            });
        }
    }

    /// A hook of the agent has got this as its answer.
    pub(super) fn handed(&mut self, session: &SessionId, remark: Remark) {
        if let Some((agent, remark)) = self.keep(session, remark, true) {
            agent.notes.add_handed(remark);
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
        let remark = remark.to(agent.kind, agent.process(), &roots, is_for_hook);
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
            return self.tell_unhooked(&session, kind, &told.remarks);
        }
        self.remark(&session, Remark::written(kind, &told.remarks), true);
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
    fn tell_unhooked(
        &mut self,
        session: &SessionId,
        agent: Dialect,
        told: &[FileRemark],
    ) -> Hearing {
        if told.is_empty() {
            return Hearing::Nothing;
        }
        let (mut remark, mut is_cut) = Remark::written_in_short(agent, told);
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
}
