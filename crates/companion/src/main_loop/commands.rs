//! The loop's work for commands.

use std::path::Path;
use std::time::Instant;

use pillion_discovery::{CompanionState, ViewState};
use pillion_protocol::Dialect;
#[cfg(unix)]
use pillion_protocol::ProcessChoice;
use pillion_view::ask::{AgentOfHook, DiffRef, Hook, Mention, PendingDiff, Recount, Refused};
use pillion_view::changes::ChangesAct;
use pillion_view::{Answering, Options, ProposalKey, Reply};
use tokio::sync::oneshot;

use super::MainLoop;
use crate::acting::Acted;
use crate::event::Listing;
use crate::outbox;
use crate::who::Asker;

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

    /// Points the agent to a file that was last active, of those whose prompt can name one.
    pub(crate) fn point_to(&mut self, Mention { path, lines }: Mention) -> Option<Dialect> {
        let path = path.to_str()?.to_owned();
        let lines = lines.map(|it| (it.first, it.last));
        let (session, agent) = self.sessions.latest(Dialect::knows_mentions)?;
        let outbox = self.sessions.outbox(&session)?;
        outbox.push_mention(outbox::Mention { path, lines });
        Some(agent)
    }

    /// What the person has chosen for agents.
    #[cfg(unix)]
    pub(crate) fn choices(&self) -> Vec<ProcessChoice> {
        self.agents.choices().to_vec()
    }

    /// The person has chosen this for agents elsewhere.
    #[cfg(unix)]
    pub(crate) fn adopt(&mut self, choices: Vec<ProcessChoice>) {
        self.agents.adopt(choices);
        let choices = self.choices();
        self.discovery.order(|it| it.choices = Some(choices));
    }

    /// Answers with the diffs that are pending.
    pub(super) fn list_pending(&self, listing: Listing) {
        // A command that does not wait any more needs no answer.
        let _ = listing.send(self.diffs.pending().collect());
    }

    /// A person has done something with what an agent had written: the agent hears of it, and the person what came of it.
    pub(super) fn acted(&mut self, acted: Acted, reply: Answering<ChangesAct>) {
        self.judged();
        self.forget_notes_of_turns(&acted.forgotten);
        reply.done(acted.tell(|told| self.tell_judged(told)));
    }

    /// A person has judged elsewhere what agents had written, and may have said something to them.
    pub(crate) fn recount(&mut self, _: Recount) {
        self.kept_notes.find();
        self.judged();
    }

    /// What is shown may be over, whatever is counted: that may have been nothing before as well. And what was taken back may have been
    /// a file that agents are told of.
    fn judged(&mut self) {
        self.context.recheck(Instant::now());
        self.recording.count();
        self.lists.send_modify(|_| {});
    }

    /// Whoever asks waits until it is known what agents have changed by now.
    pub(crate) fn catch_up(&self, done: oneshot::Sender<bool>) {
        self.recording.tell_when_done(done);
    }

    /// Returns the agent of a hook that is a command. Changes that the person accepted there were shown.
    pub(crate) fn hook(&mut self, call: &Hook, asker: &Asker) -> Option<AgentOfHook> {
        let (session, agent) = self.sessions.of_process(&call.processes)?;
        let [accepted, unchanged] =
            [&call.accepted, &call.unchanged].map(|it| it.iter().filter_map(|path| path.to_str()));
        let its = self.agents.get_mut(&session);
        if let Some(its) = its.filter(|_| !call.unchanged.is_empty())
            && its.has_called(asker)
        {
            unchanged.for_each(|path| its.mode.proposed(path));
        }
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
    pub(crate) fn may_be_left(&self) -> bool {
        // What waits for an agent, and what it waits for, is its session's: words, outcomes, guards and questions.
        let has_agents =
            !self.sessions.ids().is_empty() || self.agents.all_by_hooks().next().is_some();
        let is_open = !self.diffs.is_empty() || self.views.show_any() || !self.weighing.is_empty();
        let is_awaited = !self.written.is_empty() || !self.losses.is_empty();
        let is_busy = self.judging.is_busy() || !self.focusing.is_empty();
        !has_agents && !is_open && !is_awaited && !is_busy
    }

    pub(crate) fn state(&self) -> CompanionState {
        // JSON cannot hold every path.
        let files = self.discovery.files().iter();
        let files = files.filter(|path| path.to_str().is_some());
        let state_dir = { self.recording.state_dir() }.filter(|path| path.to_str().is_some());
        let agents = self.diffs.with_those_of_hooks(self.sessions.connected());
        CompanionState {
            roots: self.roots.to_vec(),
            ide: self.views.ide().unwrap_or(&self.state.ide).clone(),
            views: self.views.options().map(view_state).collect(),
            files: files.cloned().collect(),
            agents: agents.iter().map(|agent| agent.name().to_owned()).collect(),
            pending_diffs: self.diffs.pending().count(),
            hides_diffs: !self.views.shows_diffs(),
            review: self
                .agents
                .review(&self.sessions.listening())
                .map(|it| it.label),
            unrecorded: self.unrecorded(),
            state_dir: state_dir.map(Path::to_owned),
            changes_limit: self.judging.store().map(|it| it.limit()),
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
