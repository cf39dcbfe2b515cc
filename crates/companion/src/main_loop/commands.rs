//! The loop's work for commands.

#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::sync::Arc;
use std::time::Instant;

use pillion_discovery::{CompanionState, ViewState};
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;
#[cfg(unix)]
use pillion_protocol::{IdeContext, ProcessChoice};
use pillion_view::ask::{
    AgentOfHook, DiffRef, Focus, GetReview, Hook, Lost, Mention, PendingDiff, Recount, Refused,
    SetReview, ShownContext,
};
use pillion_view::changes::{ChangesAct, Hearing};
use pillion_view::{Answering, Chosen, Options, ProposalKey, Reply};
use tokio::sync::{oneshot, watch};

use super::MainLoop;
use crate::acting::{Acted, Told};
use crate::agent::Agent;
#[cfg(unix)]
use crate::discovery::Order;
use crate::event::{By, Listing};
use crate::remark::Remark;
use crate::sessions::SessionId;
use crate::written;

impl MainLoop {
    /// The diffs that are pending, once every acceptance that has begun is decided or refused.
    pub(crate) fn list(&mut self, listing: Listing) {
        if let Some(listing) = self.weighing.wait(listing) {
            self.list_pending(listing);
        }
    }

    pub(crate) fn find_pending(&self, diff: DiffRef) -> Result<PendingDiff, Refused> {
        self.diffs.find_pending(diff)
    }

    /// The text that stands in the view of a proposal; nothing if the editor does not tell.
    pub(crate) fn ask_text(&mut self, key: ProposalKey, told: oneshot::Sender<Option<String>>) {
        let told = Reply::new(|text: Result<String, String>| drop(told.send(text.ok())));
        self.views.ask_text(key, told);
    }

    /// The person was shown this text of a proposal.
    pub(crate) fn note_printed(&mut self, key: ProposalKey, text: &str) {
        self.diffs.note_printed(key, text);
    }

    /// Answered when it was sent to agents, or would have been.
    pub(crate) fn focus(&mut self, Focus(file): Focus, _: By, sent: Answering<Focus>) {
        self.context.focus(file.into(), Instant::now());
        self.focusing.push(sent);
    }

    /// The number of contexts that agents were sent.
    pub(crate) fn contexts_sent(&self) -> watch::Receiver<u64> {
        self.contexts_sent.subscribe()
    }

    /// What agents are shown.
    pub(crate) fn shown_context(&self) -> ShownContext {
        ShownContext {
            number: *self.contexts_sent.borrow(),
            context: (*self.context.current()).clone(),
        }
    }

    pub(crate) fn point_to(&mut self, mention: Mention) -> Option<Dialect> {
        self.mention(&mention.path, mention.lines.map(|it| (it.first, it.last)))
    }

    pub(crate) fn set_review(&mut self, set: SetReview) -> Chosen {
        self.choose(Some(set.choice), set.number)
    }

    pub(crate) fn get_review(&mut self, get: GetReview) -> Chosen {
        self.choose(None, get.number)
    }

    /// An accepted text is not written after all: the person is told.
    pub(crate) fn lost(&mut self, Lost(lost): Lost) {
        for id in self.written.withdraw_all(&lost.path) {
            let outcome = written::outcome_of(lost.how, lost.proposer);
            self.note_outcome(id, outcome);
        }
        self.views.send_lost(None, lost);
    }

    /// The context that agents are shown, if a root holds this folder: with the number of components of the deepest such root.
    #[cfg(unix)]
    pub(crate) fn context_of(&self, folder: &Path) -> Option<(usize, Arc<IdeContext>)> {
        let holding = self.roots.iter().filter(|root| folder.starts_with(root));
        let depth = holding.map(|root| root.components().count()).max()?;
        Some((depth, self.context.current()))
    }

    /// What the person has chosen for agents, if nothing here is lost with the front ends.
    #[cfg(unix)]
    pub(super) fn let_go(&self, answer: Reply<Vec<ProcessChoice>>) {
        match self.may_be_left() {
            true => answer.done(self.agents.choices().to_vec()),
            false => answer.failed("agents work here, or something is open"),
        }
    }

    /// The person has chosen this for agents elsewhere.
    #[cfg(unix)]
    pub(super) fn adopt(&mut self, choices: Vec<ProcessChoice>) {
        self.agents.adopt(choices);
        let choices = self.agents.choices().to_vec();
        self.discovery.order(Order::SetChoices(choices));
    }

    /// Answers with the diffs that are pending.
    pub(super) fn list_pending(&self, listing: Listing) {
        // A command that does not wait any more needs no answer.
        let _ = listing.send(self.diffs.pending().collect());
    }

    /// Answers the commands whose file agents have received, or would have: an agent that
    /// connects from now on receives it first.
    pub(super) fn answer_focusing(&mut self) {
        if self.context.is_settled() {
            for sent in self.focusing.drain(..) {
                sent.done(());
            }
        }
    }

    /// A person has done something with what an agent had written: the agent hears of it, and the person what came of it.
    pub(super) fn acted(&mut self, acted: Acted, reply: Answering<ChangesAct>) {
        self.recording.count();
        reply.done(acted.tell(|told| self.tell_judged(told)));
    }

    /// A person has judged elsewhere what agents had written, and may have said something to them.
    pub(crate) fn recount(&mut self, _: Recount) {
        self.kept_notes.find();
        self.recording.count();
    }

    /// Whoever asks waits until it is known what agents have changed by now.
    pub(crate) fn catch_up(&self, done: oneshot::Sender<bool>) {
        self.recording.tell_when_done(done);
    }

    /// A person has judged what an agent had written. Returns how much of it the agent is told.
    fn tell_judged(&mut self, told: Told) -> Hearing {
        let session = self.recording.session(told.session);
        let is_here = told.watcher == std::process::id();
        let Some(session) = session.filter(|_| is_here) else {
            return self.tell_later(&told);
        };
        let connected = self.sessions.agent(&session);
        if let Some(agent) = connected.filter(|_| self.agents.is_looked_for(&session)) {
            return self.tell_unhooked(&session, agent, &told.remarks);
        }
        let connected = connected.filter(|_| self.agents.is_hooked(&session));
        let Some(agent) = connected.or_else(|| self.agents.kind_by_hooks(&session)) else {
            return self.tell_later(&told);
        };
        self.remark(&session, Remark::written(agent, &told.remarks), true);
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

    /// Returns the agent of a hook that is a command. Changes that the person accepted there were shown.
    pub(crate) fn hook(&mut self, call: &Hook) -> Option<AgentOfHook> {
        let (session, agent) = self.sessions.of_process(&call.processes)?;
        let accepted = call.accepted.iter().filter_map(|path| path.to_str());
        if self.agents.commanded(&session, accepted) {
            self.report_status();
        }
        Some(AgentOfHook {
            agent: agent.name().to_owned(),
            calls_companion: self.agents.is_hooked(&session),
        })
    }

    /// Returns true if no agent works here, connected or by hooks, and nothing is open or closing, or waits to be written or told.
    #[cfg(unix)]
    fn may_be_left(&self) -> bool {
        // What waits for an agent, and what it waits for, is its session's: words, outcomes, guards and questions.
        let has_agents =
            !self.sessions.ids().is_empty() || self.agents.all_by_hooks().next().is_some();
        let is_open = !self.diffs.is_empty() || self.views.show_any() || !self.weighing.is_empty();
        let is_awaited = !self.written.is_empty() || !self.losses.is_empty();
        let is_busy = self.judging.is_busy() || !self.focusing.is_empty();
        !has_agents && !is_open && !is_awaited && !is_busy
    }

    pub(crate) fn state(&self) -> CompanionState {
        let mut tmpdirs = Vec::new();
        for view in self.views.options() {
            let tmpdir = view.environment.base(Base::TmpDir);
            // JSON cannot hold every path.
            if tmpdir.to_str().is_some() && !tmpdirs.contains(&tmpdir) {
                tmpdirs.push(tmpdir);
            }
        }
        let agents = self.diffs.with_those_of_hooks(self.sessions.connected());
        CompanionState {
            roots: self.roots.to_vec(),
            ide: self.views.ide().unwrap_or(&self.state.ide).clone(),
            views: self.views.options().map(view_state).collect(),
            tmpdirs,
            agents: agents.iter().map(|agent| agent.name().to_owned()).collect(),
            pending_diffs: self.diffs.pending().count(),
            hides_diffs: !self.views.shows_diffs(),
            review: self
                .agents
                .review(&self.sessions.listening())
                .map(|it| it.label),
            unrecorded: self.unrecorded(),
            last_focused_ms: self.context.last_focused(),
            ..self.state.clone()
        }
    }
}

fn view_state(view: &Options) -> ViewState {
    ViewState {
        name: view.ide.name.clone(),
        display_name: view.ide.display_name.clone(),
        pid: view.editor_pid,
    }
}
