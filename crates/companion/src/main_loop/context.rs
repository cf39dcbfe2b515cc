//! The loop's work for what agents are told of what the person sees.

#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pillion_protocol::{File, IdeContext};
use pillion_view::Answering;
use pillion_view::ask::{Focus, ShownContext};
use tokio::sync::watch;

use super::MainLoop;
use crate::event::By;
use crate::sessions::SessionId;

impl MainLoop {
    pub(super) fn elapse_context(&mut self, now: Instant) {
        let steps = self.context.elapse(now);
        for path in steps.check {
            self.checks.check_file(path);
        }
        if let Some(context) = steps.send {
            self.send_context(&context);
        }
        self.answer_focusing();
    }

    /// A file was saved: the person works on it, unless an agent wrote it.
    pub(super) fn saved(&mut self, file: File, now: Instant) {
        if self.agents.are_at_work(now) {
            return tracing::debug!(path = file.path, "written in a turn");
        }
        let accepted = self.recording.accepted_texts.clone();
        self.once_running_known(move |it| {
            // Nobody knows when such an agent works.
            if it.unconnected().next().is_some() {
                return tracing::debug!(path = file.path, "an agent is not connected");
            }
            it.checks.check_saved(file, accepted, it.judging.store());
        });
    }

    fn send_context(&mut self, context: &Arc<IdeContext>) {
        self.contexts_sent.send_modify(|sent| *sent += 1);
        for session in self.sessions.ids() {
            self.push_context(&session, Arc::clone(context));
        }
        self.report_status();
    }

    pub(super) fn push_context(&mut self, session: &SessionId, context: Arc<IdeContext>) {
        if let Some(outbox) = self.sessions.outbox(session) {
            let agent = self.agents.get_mut(session);
            let context = match agent {
                Some(agent) => agent.notes.with_context(context),
                None => context,
            };
            outbox.push_context(context);
        }
    }

    /// Tells an agent again which file the person sees, if there is one.
    pub(super) fn repeat_context(&mut self, session: &SessionId) {
        let current = self.context.current();
        if current.active_file().is_some() {
            self.push_context(session, current);
        }
    }

    /// Answered when it was sent to agents, or would have been.
    pub(crate) fn focus(&mut self, Focus(file): Focus, _: By, sent: Answering<Focus>) {
        self.context.focus(file.into(), Instant::now());
        self.focusing.push(sent);
    }

    pub(crate) fn contexts_sent(&self) -> watch::Receiver<u64> {
        self.contexts_sent.subscribe()
    }

    pub(crate) fn shown_context(&self) -> ShownContext {
        ShownContext {
            number: *self.contexts_sent.borrow(),
            context: (*self.context.current()).clone(),
        }
    }

    /// The context that agents are shown, if a root holds this folder: with the number of components of the deepest such root.
    #[cfg(unix)]
    pub(crate) fn context_of(&self, folder: &Path) -> Option<(usize, Arc<IdeContext>)> {
        let holding = self.roots.iter().filter(|root| folder.starts_with(root));
        let depth = holding.map(|root| root.components().count()).max()?;
        Some((depth, self.context.current()))
    }

    /// Answers the commands whose file agents have received, or would have: an agent that
    /// connects from now on receives it first.
    fn answer_focusing(&mut self) {
        if self.context.is_settled() {
            for sent in self.focusing.drain(..) {
                sent.done(());
            }
        }
    }
}
