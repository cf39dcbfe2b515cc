//! Owns one companion for whoever asks it something: the work beside its loop, and the table of all that can be asked.

#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};
use pillion_discovery::{CompanionState, state};
use pillion_protocol::Dialect;
#[cfg(unix)]
use pillion_protocol::{IdeContext, ProcessChoice};
use pillion_view::ask::{
    AgentOfHook, AwaitNotes, ContextAsker, DiffRef, DiffSummary, DiffText, Diffs, Focus, GetReview,
    Guard, Guarded, Hook, Judged, Lost, Mention, PassedOn, Refused, SendNotes, SetReview, Settle,
    Settled, Speak, State, Work,
};
use pillion_view::{DiffId, Failure, ProposalKey, Refusal, Reply};
use tokio::sync::oneshot;

#[cfg(unix)]
use crate::agents::context_sockets;
use crate::diffs::{Answer, PendingDiff, SettleRequest};
use crate::disk::DiskThreads;
use crate::door::{Caller, Host, Table};
use crate::event::{Event, Events, Task};
use crate::main_loop::MainLoop;
use crate::on_disk::{self, Looked, OnDisk};
use crate::sessions::Sessions;
use crate::speaker::{self, Origins, Speaker};

/// All that can be asked, and who does it.
pub(crate) fn table() -> Table {
    Table::default()
        .host::<State>(states)
        .beside::<Diffs, _>(Commands::diffs)
        .beside::<DiffRef, _>(Commands::diff)
        .beside::<Settle, _>(Commands::settle)
        .beside::<Speak, _>(Commands::speak)
        .beside::<Guard, _>(Commands::guard)
        .beside::<AwaitNotes, _>(Commands::await_notes)
        .beside::<PassedOn, _>(Commands::passed_on)
        .beside::<ContextAsker, _>(Commands::context_asker)
        .beside::<Hook, _>(Commands::hook)
        .beside::<Work, _>(Commands::work)
        .later::<Focus>(MainLoop::focus)
        .later::<SendNotes>(MainLoop::send_notes)
        .on::<Mention>(MainLoop::point_to)
        .on::<SetReview>(MainLoop::set_review)
        .on::<GetReview>(MainLoop::get_review)
        .on::<Judged>(MainLoop::judged)
        .on::<Lost>(MainLoop::lost)
}

/// The time limit for the editor to tell what stands in a view.
const TEXT_TIMEOUT: Duration = Duration::from_secs(2);

/// One companion, for whoever has a command for it. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Commands {
    runtime: tokio::runtime::Handle,
    events: Events,
    sessions: Sessions,
    origins: Origins,
    /// For commands that check files.
    checks: DiskThreads,
    #[cfg(unix)]
    context_askers: context_sockets::Started,
}

impl Commands {
    /// Those of the companion whose loop gets these events. From within its runtime.
    pub(crate) fn new(events: Events, sessions: Sessions, origins: Origins) -> Self {
        Self {
            runtime: tokio::runtime::Handle::current(),
            events,
            sessions,
            origins,
            checks: DiskThreads::new(on_disk::MAX_CHECKS),
            #[cfg(unix)]
            context_askers: context_sockets::Started::default(),
        }
    }

    /// Asks the companion for what it says of itself.
    pub(crate) fn ask_state(&self) -> Receiver<CompanionState> {
        let (told, state) = unbounded();
        let reply = Reply::new(move |state: Result<_, String>| {
            if let Ok(state) = state {
                let _ = told.send(state);
            }
        });
        self.send(Task::new("state", |it, _| reply.done(it.state())));
        state
    }

    /// Has the companion keep these of its roots from agents, which find another companion there.
    #[cfg(unix)]
    pub(crate) fn withhold(&self, roots: Vec<PathBuf>) {
        let _ = self.events.send(Event::Withhold(roots));
    }

    /// Asks whether front ends may leave the companion, because nothing there is lost with them.
    #[cfg(unix)]
    pub(crate) fn ask_to_leave(&self) -> Receiver<bool> {
        let (told, answer) = unbounded();
        let reply = Reply::new(move |choices: Result<_, String>| {
            let _ = told.send(choices.is_ok());
        });
        let _ = self.events.send(Event::LetGo(reply));
        answer
    }

    /// Has front ends leave the companion if they still may: `leave` runs in its loop, so that nothing comes in between. It gets
    /// what the person has chosen for agents.
    #[cfg(unix)]
    pub(crate) fn let_go(&self, leave: impl FnOnce(Vec<ProcessChoice>) + Send + 'static) {
        let reply = Reply::new(move |choices: Result<_, String>| {
            if let Ok(choices) = choices {
                leave(choices);
            }
        });
        let _ = self.events.send(Event::LetGo(reply));
    }

    /// Has the companion know what the person has chosen for agents elsewhere.
    #[cfg(unix)]
    pub(crate) fn choose(&self, choices: Vec<ProcessChoice>) {
        let _ = self.events.send(Event::Choices(choices));
    }

    /// Asks the companion for what agents are shown, if it serves this folder, and how deep its root is.
    #[cfg(unix)]
    pub(crate) fn ask_context(&self, folder: &Path) -> Receiver<(usize, Arc<IdeContext>)> {
        let (told, context) = unbounded();
        let folder = folder.to_owned();
        self.send(Task::new("context", move |it, _| {
            if let Some(found) = it.context_of(&folder) {
                let _ = told.send(found);
            }
        }));
        context
    }

    /// Returns the places where agents ask what is open that were started for this companion.
    #[cfg(unix)]
    pub(crate) fn context_places(&self) -> Vec<context_sockets::Place> {
        self.context_askers.places()
    }

    /// The agent that whoever speaks here was started by, if there is one. Waits for the system.
    pub(crate) fn agent_behind(&self, speaker: &Speaker) -> Option<Dialect> {
        speaker::agent_behind(speaker, &self.sessions.processes(), &self.origins)
    }

    /// Returns a number that is another one once [`Commands::agent_behind`] may answer otherwise.
    pub(crate) fn known_agents(&self) -> (u64, u64) {
        (self.sessions.version(), self.origins.version())
    }

    /// The runtime of the companion.
    pub(crate) fn runtime(&self) -> &tokio::runtime::Handle {
        &self.runtime
    }

    /// An agent has called a hook: what its process starts does not speak for the person, from now on and in the store.
    fn note_hooked(&self, agent: Dialect, pid: Option<u32>) {
        if let Some(process) = pid.and_then(|pid| self.sessions.note_hooked(agent, pid)) {
            self.send(Task::new("agent's process", move |it, _| {
                it.note_agent(agent, process);
            }));
        }
    }

    async fn diffs(self, _: Diffs, _: Arc<Caller>) -> Result<Vec<DiffSummary>, Refused> {
        let pending = self.ask("diffs", |it, listing| it.list(listing)).await?;
        let on_disk = self.check(&pending).await;
        let summaries = pending.iter().zip(&on_disk);
        Ok(summaries
            .map(|(diff, on_disk)| summary(diff, on_disk.as_ref()))
            .collect())
    }

    async fn diff(self, diff: DiffRef, _: Arc<Caller>) -> Result<DiffText, Refused> {
        let found = [self.find(diff).await?];
        let on_disk = self.check(&found).await.into_iter().next().flatten();
        let [found] = found;
        let (id, revision) = (found.id, found.revision);
        let key = ProposalKey { id, revision };
        let told = self.ask("text", move |it, told| it.ask_text(key, told));
        let told = tokio::time::timeout(TEXT_TIMEOUT, told).await;
        let told = told.ok().and_then(Result::ok).flatten();
        Ok(DiffText {
            summary: summary(&found, on_disk.as_ref()),
            is_text_known: told.is_some(),
            edited: told.filter(|text| **text != *found.proposed),
            proposed: found.proposed.to_string(),
        })
    }

    /// A diff that is pending, in the revision that is named.
    async fn find(&self, diff: DiffRef) -> Result<PendingDiff, Refused> {
        let found = self.ask("diff", move |it, answer| {
            drop(answer.send(it.find_pending(diff)));
        });
        found.await?
    }

    async fn settle(self, settle: Settle, _: Arc<Caller>) -> Result<Settled, Refused> {
        let Settle {
            id,
            revision,
            mut verdict,
            despite_change,
        } = settle;
        if let Err(bytes) = verdict.tidy_notes() {
            return Err(Refused::because(Refusal::too_long(bytes).message));
        }
        let found = self.find(DiffRef::exactly(id, revision)).await?;
        let id = DiffId(id);
        let request = SettleRequest {
            key: ProposalKey { id, revision },
            verdict,
            despite_change,
            looked: self.look(found).await,
        };
        let (caller, answer) = oneshot::channel();
        let admitted = self.ask("settle", move |it, admitted| {
            it.settle_named(request, admitted, caller);
        });
        admitted.await??;
        match answer.await.map_err(|_| stopping())? {
            Ok(Answer::Settled(settlement)) => Ok(Settled {
                edited: settlement.is_edited,
                told: settlement.told,
            }),
            Ok(_) => Ok(Settled::default()),
            Err(reason) => Err(reason.into()),
        }
    }

    async fn speak(self, _: Speak, _: Arc<Caller>) -> Result<(), Refused> {
        // The door has let it in.
        Ok(())
    }

    async fn guard(self, guard: Guard, _: Arc<Caller>) -> Result<Guarded, Refused> {
        let guarded = self.ask("guard", move |it, way| it.guard(guard, way));
        Ok(guarded.await.unwrap_or(Guarded::Unanswered))
    }

    async fn await_notes(
        self,
        wait: AwaitNotes,
        caller: Arc<Caller>,
    ) -> Result<Option<String>, Refused> {
        let (way, notes) = oneshot::channel();
        let own = self.clone();
        let waits = self.ask("wait", move |it, waits| {
            let Some(number) = it.wait_beside(&wait.processes, way) else {
                return drop(waits);
            };
            caller.at_end(move |is_passed_on| {
                own.send(Task::new("waiter's end", move |it, _| {
                    it.waiter_ended(number, is_passed_on);
                }));
            });
            let _ = waits.send(());
        });
        // Its agent may not be connected here.
        if waits.await.is_err() {
            return Ok(None);
        }
        Ok(notes.await.ok())
    }

    async fn passed_on(self, _: PassedOn, caller: Arc<Caller>) -> Result<(), Refused> {
        caller.end(true);
        Ok(())
    }

    async fn context_asker(self, asker: ContextAsker, caller: Arc<Caller>) -> Result<(), Refused> {
        // Elsewhere it asks nowhere.
        #[cfg(unix)]
        if let Some(process) = caller.pid() {
            let place = context_sockets::Place::new(asker.home, asker.tmpdir);
            self.context_askers.add(process, place);
        }
        #[cfg(not(unix))]
        drop((asker, caller));
        Ok(())
    }

    async fn hook(self, hook: Hook, _: Arc<Caller>) -> Result<Option<AgentOfHook>, Refused> {
        self.note_hooked(hook.agent, hook.process);
        self.ask("hook", move |it, answer| drop(answer.send(it.hook(&hook))))
            .await
    }

    async fn work(self, work: Work, _: Arc<Caller>) -> Result<Option<String>, Refused> {
        self.note_hooked(work.agent, work.process);
        self.ask("work", move |it, answer| it.worked(work, answer))
            .await
    }

    /// Looks up where the paths of these diffs lead, one by one.
    async fn check(&self, diffs: &[PendingDiff]) -> Vec<Option<OnDisk>> {
        let paths = diffs.iter().map(|diff| diff.file_path.clone());
        match on_disk::check(&self.checks, paths.collect()).await {
            Some(checked) => checked.into_iter().map(Some).collect(),
            None => vec![None; diffs.len()],
        }
    }

    /// Looks at the file of a diff as it is now.
    async fn look(&self, diff: PendingDiff) -> Option<Looked> {
        on_disk::look(&self.checks, diff.opened?, diff.file_path).await
    }

    /// Has the loop do something that has an answer.
    async fn ask<T: Send + 'static>(
        &self,
        name: &'static str,
        question: impl FnOnce(&mut MainLoop, oneshot::Sender<T>) + Send + 'static,
    ) -> Result<T, Refused> {
        let (answer, answered) = oneshot::channel();
        self.send(Task::new(name, move |it, _| question(it, answer)));
        answered.await.map_err(|_| stopping())
    }

    /// Has the loop do something.
    pub(crate) fn send(&self, task: Task) {
        // One that stops drops it, which is an answer.
        let _ = self.events.send(Event::Asked(task));
    }
}

fn stopping() -> Refused {
    Refused::UNANSWERED.into()
}

/// What the companions here say of themselves, as far as they do in time. If none does, there is no answer: whoever asks
/// knows then that they hang.
fn states(host: &dyn Host, _: State) -> Result<Vec<CompanionState>, Refused> {
    let companions = host.companions();
    let asked: Vec<_> = companions.iter().map(Commands::ask_state).collect();
    let deadline = Instant::now() + state::STATE_WITHIN;
    let left = || deadline.saturating_duration_since(Instant::now());
    let told = { asked.iter() }.filter_map(|state| state.recv_timeout(left()).ok());
    let told: Vec<_> = told.collect();
    match told.is_empty() && !asked.is_empty() {
        true => Err("the companion does not answer".into()),
        false => Ok(told),
    }
}

fn summary(diff: &PendingDiff, on_disk: Option<&OnDisk>) -> DiffSummary {
    DiffSummary {
        id: diff.id.0,
        revision: diff.revision,
        agent: diff.agent.name().to_owned(),
        path: diff.file_path.clone(),
        leads_to: on_disk.and_then(|on_disk| on_disk.elsewhere(&diff.file_path)),
        set: diff.set,
    }
}
