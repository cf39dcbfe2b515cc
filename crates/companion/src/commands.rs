//! Owns one companion for whoever asks it something: the way into its loop, and the work beside that.

#[cfg(unix)]
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;

use crossbeam_channel::{Receiver, unbounded};
use pillion_discovery::CompanionState;
use pillion_protocol::Dialect;
#[cfg(unix)]
use pillion_protocol::{IdeContext, ProcessChoice};
use pillion_view::Failure;
use pillion_view::ask::{PendingDiff, Refused};
use tokio::sync::oneshot;

#[cfg(unix)]
use crate::agents::context_sockets;
use crate::disk::DiskThreads;
use crate::event::{Event, Events, Task};
use crate::main_loop::MainLoop;
use crate::on_disk;
use crate::tasks;
use crate::who::{Asker, Who};

/// The way into the loop for what is to be done there. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ToLoop(pub(crate) Events);

/// One companion, for whoever has a command for it. Cheap to clone.
#[derive(Debug, Clone, derive_more::Deref)]
pub(crate) struct Commands {
    runtime: tokio::runtime::Handle,
    #[deref]
    to_loop: ToLoop,
    who: Who,
    /// For commands that check files.
    checks: DiskThreads,
    #[cfg(unix)]
    context_askers: context_sockets::Started,
}

impl Commands {
    /// Those of the companion whose loop gets these events. From within its runtime.
    pub(crate) fn new(events: Events, who: Who) -> Self {
        Self {
            runtime: tokio::runtime::Handle::current(),
            to_loop: ToLoop(events),
            who,
            checks: DiskThreads::new(on_disk::MAX_CHECKS),
            #[cfg(unix)]
            context_askers: context_sockets::Started::default(),
        }
    }

    /// Asks the companion for what it says of itself.
    pub(crate) fn ask_state(&self) -> Receiver<CompanionState> {
        let (told, state) = unbounded();
        self.send(MainLoop::task("state", move |it, _| {
            let _ = told.send(it.state());
        }));
        state
    }

    /// Has the companion keep these of its roots from agents, which find another companion there.
    #[cfg(unix)]
    pub(crate) fn withhold(&self, roots: Vec<PathBuf>) {
        self.send(MainLoop::task("withhold", |it, _| it.withhold(roots)));
    }

    /// Asks whether front ends may leave the companion, because nothing there is lost with them.
    #[cfg(unix)]
    pub(crate) fn ask_to_leave(&self) -> Receiver<bool> {
        let (told, answer) = unbounded();
        self.send(MainLoop::task("may be left", move |it, _| {
            let _ = told.send(it.may_be_left());
        }));
        answer
    }

    /// Has front ends leave the companion if they still may: `leave` runs in its loop, so that nothing comes in between. It gets
    /// what the person has chosen for agents.
    #[cfg(unix)]
    pub(crate) fn let_go(&self, leave: impl FnOnce(Vec<ProcessChoice>) + Send + 'static) {
        self.send(MainLoop::task("leave", move |it, _| {
            if it.may_be_left() {
                leave(it.choices());
            }
        }));
    }

    /// Has the companion know what the person has chosen for agents elsewhere.
    #[cfg(unix)]
    pub(crate) fn choose(&self, choices: Vec<ProcessChoice>) {
        self.send(MainLoop::task("choices", |it, _| it.adopt(choices)));
    }

    /// Asks the companion for what agents are shown, if it serves this folder, and how deep its root is.
    #[cfg(unix)]
    pub(crate) fn ask_context(&self, folder: &Path) -> Receiver<(usize, Arc<IdeContext>)> {
        let (told, context) = unbounded();
        let folder = folder.to_owned();
        self.send(MainLoop::task("context", move |it, _| {
            if let Some(found) = it.context_of(&folder) {
                let _ = told.send(found);
            }
        }));
        context
    }

    /// An agent starts as this process, and will ask there what is open.
    #[cfg(unix)]
    pub(crate) fn add_context_asker(&self, process: u32, place: context_sockets::Place) {
        self.context_askers.add(process, place);
    }

    /// Returns the places where agents ask what is open that were started for this companion.
    #[cfg(unix)]
    pub(crate) fn context_places(&self) -> Vec<context_sockets::Place> {
        self.context_askers.places()
    }

    /// What is known of who asks.
    pub(crate) fn who(&self) -> &Who {
        &self.who
    }

    pub(crate) fn runtime(&self) -> &tokio::runtime::Handle {
        &self.runtime
    }

    /// An agent has called a hook: what its process starts does not speak for the person, from now on and in the store.
    pub(crate) async fn hooked(&self, agent: Dialect, hook: &Asker) {
        let (who, hook) = (self.who.clone(), hook.clone());
        // It looks at the disk.
        let _ = tasks::spawn_blocking(move || who.hooked(agent, &hook)).await;
    }

    /// Looks up where the paths of these diffs lead.
    pub(crate) async fn look_up(&self, diffs: &mut [PendingDiff]) {
        let paths = diffs.iter().map(|diff| diff.path.clone()).collect();
        let checked = on_disk::check(&self.checks, paths).await;
        for (diff, on_disk) in diffs.iter_mut().zip(checked.into_iter().flatten()) {
            diff.leads_to = on_disk.elsewhere(&diff.path);
        }
    }

    pub(crate) fn to_loop(&self) -> &ToLoop {
        &self.to_loop
    }
}

impl ToLoop {
    /// Has the loop do something that has an answer.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        name: &'static str,
        question: impl FnOnce(&mut MainLoop, oneshot::Sender<T>) + Send + 'static,
    ) -> Result<T, Refused> {
        let (answer, answered) = oneshot::channel();
        self.send(MainLoop::task(name, move |it, _| question(it, answer)));
        answered.await.map_err(|_| stopping())
    }

    /// Has the loop do something.
    pub(crate) fn send(&self, task: Task) {
        // One that stops drops it, which is an answer.
        let _ = self.0.send(Event::Asked(task));
    }
}

pub(crate) fn stopping() -> Refused {
    Refused::UNANSWERED.into()
}
