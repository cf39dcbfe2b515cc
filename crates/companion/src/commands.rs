//! Owns one companion for whoever asks it something: the way into its loop, and the work beside that.

#[cfg(unix)]
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::time::Instant;

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
use crate::event::Events;
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
        self.ask_for("state", |it| Some(it.state()))
    }

    /// Has the companion keep these of its roots from agents, which find another companion there.
    #[cfg(unix)]
    pub(crate) fn withhold(&self, roots: Vec<PathBuf>) {
        self.send("withhold", |it, _| it.withhold(roots));
    }

    /// Asks whether front ends may leave the companion, because nothing there is lost with them.
    #[cfg(unix)]
    pub(crate) fn ask_to_leave(&self) -> Receiver<bool> {
        self.ask_for("may be left", |it| Some(it.may_be_left()))
    }

    /// Has front ends leave the companion if they still may: `leave` runs in its loop, so that nothing comes in between. It gets
    /// what the person has chosen for agents.
    #[cfg(unix)]
    pub(crate) fn let_go(&self, leave: impl FnOnce(Vec<ProcessChoice>) + Send + 'static) {
        self.send("leave", move |it, _| {
            if it.may_be_left() {
                leave(it.choices());
            }
        });
    }

    /// Has the companion know what the person has chosen for agents elsewhere.
    #[cfg(unix)]
    pub(crate) fn choose(&self, choices: Vec<ProcessChoice>) {
        self.send("choices", |it, _| it.adopt(choices));
    }

    /// Asks the companion for what agents are shown, if it serves this folder, and how deep its root is.
    #[cfg(unix)]
    pub(crate) fn ask_context(&self, folder: &Path) -> Receiver<(usize, Arc<IdeContext>)> {
        let folder = folder.to_owned();
        self.ask_for("context", move |it| it.context_of(&folder))
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

    /// An agent has called a hook, and is one of these processes: what it starts does not speak for the person, from now on and in the
    /// store.
    pub(crate) async fn hooked(&self, agent: Dialect, hook: &Asker, processes: &[u32]) {
        let (who, hook, processes) = (self.who.clone(), hook.clone(), processes.to_vec());
        // It looks at the disk.
        let _ = tasks::spawn_blocking(move || who.hooked(agent, &hook, &processes)).await;
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
        self.send(name, move |it, _| question(it, answer));
        answered.await.map_err(|_| stopping())
    }

    /// Has the loop tell this.
    pub(crate) async fn get<T: Send + 'static>(
        &self,
        name: &'static str,
        find: impl FnOnce(&mut MainLoop) -> T + Send + 'static,
    ) -> Result<T, Refused> {
        self.ask(name, |it, told| drop(told.send(find(it)))).await
    }

    /// The same for a thread that waits. What is not found is not told.
    fn ask_for<T: Send + 'static>(
        &self,
        name: &'static str,
        find: impl FnOnce(&mut MainLoop) -> Option<T> + Send + 'static,
    ) -> Receiver<T> {
        let (told, found) = unbounded();
        self.send(name, move |it, _| {
            let _ = find(it).map(|it| told.send(it));
        });
        found
    }

    /// Has the loop do something.
    pub(crate) fn send(
        &self,
        name: &'static str,
        run: impl FnOnce(&mut MainLoop, Instant) + Send + 'static,
    ) {
        MainLoop::send(&self.0, name, run);
    }
}

pub(crate) fn stopping() -> Refused {
    Refused::UNANSWERED.into()
}
