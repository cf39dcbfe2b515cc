//! Owns the commands for a companion, and what it says of itself to whoever asks at a socket. A command that a process of an
//! agent's has started decides nothing.

mod own;

use std::io::Write;
#[cfg(unix)]
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, unbounded};
use pillion_discovery::CompanionState;
use pillion_discovery::lines::{Lines, MAX_LINE};
use pillion_discovery::private_file::Stream;
use pillion_protocol::{Dialect, File};
#[cfg(unix)]
use pillion_protocol::{IdeContext, ProcessChoice};
use pillion_system::{peer, spawn};
#[cfg(unix)]
use pillion_view::commands::ContextAsker;
use pillion_view::commands::{
    Answer, Command, DiffError, DiffRef, DiffSummary, DiffText, Guarded, Mentioned, MentionedFile,
    Refused, Request, ReviewRequest, SendNotes, Settle, Settled,
};
use pillion_view::{Chosen, DiffId, ProposalKey, Refusal, Reply};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

pub(crate) use self::own::OwnSocket;
#[cfg(unix)]
use crate::agents::context_sockets;
use crate::diffs::{PendingDiff, SettleRequest, Settlement};
use crate::disk::DiskThreads;
use crate::event::{self, Event, Events};
use crate::on_disk::{self, Looked, OnDisk};
use crate::sessions::Sessions;
use crate::speaker::{self, Origins, Speaker};
use crate::tasks;

/// The time limit for the editor to tell what stands in a view.
const TEXT_TIMEOUT: Duration = Duration::from_secs(2);

/// The refusal of a command for a companion that is not here.
pub(crate) const NO_SUCH: &str = "there is no such companion any more";

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
        let _ = self.tell(event::Command::State(reply));
        state
    }

    /// Has the companion keep these of its roots from agents, which find another companion there.
    #[cfg(unix)]
    pub(crate) fn withhold(&self, roots: Vec<PathBuf>) {
        let _ = self.tell(event::Command::Withhold(roots));
    }

    /// Asks whether front ends may leave the companion, because nothing there is lost with them.
    #[cfg(unix)]
    pub(crate) fn ask_to_leave(&self) -> Receiver<bool> {
        let (told, answer) = unbounded();
        let reply = Reply::new(move |choices: Result<_, String>| {
            let _ = told.send(choices.is_ok());
        });
        let _ = self.tell(event::Command::LetGo(reply));
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
        let _ = self.tell(event::Command::LetGo(reply));
    }

    /// Has the companion know what the person has chosen for agents elsewhere.
    #[cfg(unix)]
    pub(crate) fn choose(&self, choices: Vec<ProcessChoice>) {
        let _ = self.tell(event::Command::Choices(choices));
    }

    /// Asks the companion for what agents are shown, if it serves this folder, and how deep its root is.
    #[cfg(unix)]
    pub(crate) fn ask_context(&self, folder: &Path) -> Receiver<(usize, Arc<IdeContext>)> {
        let (told, context) = unbounded();
        let answer = Reply::new(move |found: Result<_, String>| {
            if let Ok(Some(found)) = found {
                let _ = told.send(found);
            }
        });
        let folder = folder.to_owned();
        let _ = self.tell(event::Command::Context { folder, answer });
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

    /// Answers a command that came over this connection, unless its process goes away before.
    pub(crate) fn serve(&self, stream: &Stream, mut lines: Lines, command: Command) {
        let Ok(mut output) = stream.try_clone() else {
            return;
        };
        if let Request::Wait(call) = command.request {
            return self.serve_waiter(output, lines, call.processes);
        }
        let speaker = Speaker::of_command(&command, peer::process(stream));
        let (answered, answer) = unbounded();
        let own = self.clone();
        let running = self.runtime.spawn(async move {
            let _ = answered.send(own.answer(command.request, speaker).await);
        });
        let write = move || {
            let answer = answer.recv().unwrap_or_else(|_| Err(stopping()));
            write(&mut output, &answer);
        };
        if spawn("answer", write).is_err() {
            running.abort();
        }
        // Nothing more comes: this waits for the end.
        let _ = lines.wait_for_ever();
        while let Ok(Some(_)) = lines.next(MAX_LINE) {}
        running.abort();
    }

    /// Serves a process that waits to wake its agent, until one of the two ends it. It gets the person's notes, and says
    /// in a line of its own that it passes them on.
    fn serve_waiter(&self, mut output: Stream, mut lines: Lines, processes: Vec<u32>) {
        let (way, notes) = oneshot::channel();
        let (number, known) = oneshot::channel();
        let wait = event::Command::Wait {
            processes,
            way,
            number,
        };
        if self.tell(wait).is_err() {
            return;
        }
        // Its agent may not be connected here.
        let Ok(number) = known.blocking_recv() else {
            return;
        };
        let hand = move || {
            let handed = notes.blocking_recv().ok().and_then(|text| {
                let mut line = serde_json::to_vec(&Answer::Ok(text.into())).ok()?;
                line.push(b'\n');
                output.write_all(&line).ok()
            });
            if handed.is_none() {
                let _ = output.shutdown(std::net::Shutdown::Both);
            }
        };
        let mut is_passed_on = false;
        if spawn("waker", hand).is_ok() && lines.wait_for_ever().is_ok() {
            is_passed_on = matches!(lines.next(MAX_LINE), Ok(Some(_)));
        }
        let _ = self.tell(event::Command::WaiterEnded {
            number,
            is_passed_on,
        });
        lines.shut_down();
    }

    async fn answer(&self, request: Request, speaker: Speaker) -> Answer {
        match request {
            Request::Diffs => value(self.diffs().await?),
            Request::Diff(diff) => self.diff(diff).await,
            Request::Settle(settle) => {
                self.admit(speaker).await?;
                value(self.settle(settle).await?)
            }
            Request::Focus(file) => {
                self.admit(speaker).await?;
                let file = File::from(file);
                let (sent, answered) = oneshot::channel();
                self.tell(event::Command::Focus { file, sent })?;
                answered.await.map_err(|_| stopping())?;
                Ok(Value::Null)
            }
            Request::Review(ReviewRequest { choice, number }) => {
                if choice.is_some() {
                    self.admit(speaker).await?;
                }
                let ask = |reply| event::Command::Review {
                    choice,
                    number,
                    reply,
                };
                value(self.ask(ask).await?)
            }
            Request::Mention(MentionedFile { path, lines }) => {
                self.admit(speaker).await?;
                let ask = |reply| event::Command::Mention { path, lines, reply };
                let agent = self.ask(ask).await?;
                let agent = agent.map(|agent| agent.name().to_owned());
                value(Mentioned { agent })
            }
            Request::Judged(judged) => {
                self.admit(speaker).await?;
                let ask = |answer| event::Command::Judged { judged, answer };
                value(self.ask(ask).await?)
            }
            Request::Speak => {
                self.admit(speaker).await?;
                Ok(Value::Null)
            }
            Request::SendNotes(SendNotes { agent, number }) => {
                self.admit(speaker).await?;
                let ask = |answer: oneshot::Sender<Chosen>| event::Command::SendNotes {
                    agent,
                    number,
                    reply: Reply::new(|chosen: Result<_, String>| {
                        if let Ok(chosen) = chosen {
                            let _ = answer.send(chosen);
                        }
                    }),
                };
                value(self.ask(ask).await?)
            }
            Request::Guard(guard) => {
                let guarded = self.ask(|way| event::Command::Guard { guard, way });
                value(guarded.await.unwrap_or(Guarded::Unanswered))
            }
            // It has a connection of its own: see `serve`.
            Request::Wait(_) => Err(stopping()),
            #[cfg(unix)]
            Request::ContextAsker(ContextAsker { home, tmpdir }) => {
                if let Some(process) = speaker.pid {
                    let place = context_sockets::Place::new(home, tmpdir);
                    self.context_askers.add(process, place);
                }
                Ok(Value::Null)
            }
            // It asks nowhere there.
            #[cfg(not(unix))]
            Request::ContextAsker(_) => Ok(Value::Null),
            Request::Hook(call) => {
                self.note_hooked(call.agent, call.process);
                value(
                    self.ask(|answer| event::Command::Hook { call, answer })
                        .await?,
                )
            }
            Request::Work(work) => {
                self.note_hooked(work.agent, work.process);
                value(
                    self.ask(|answer| event::Command::Work { work, answer })
                        .await?,
                )
            }
            Request::Lost(lost) => {
                self.tell(event::Command::Lost(lost))?;
                Ok(Value::Null)
            }
        }
    }

    /// An agent has called a hook: what its process starts does not speak for the person, from now on and in the store.
    fn note_hooked(&self, agent: Dialect, pid: Option<u32>) {
        if let Some(process) = pid.and_then(|pid| self.sessions.note_hooked(agent, pid)) {
            let _ = self.tell(event::Command::AgentProcess { agent, process });
        }
    }

    /// Lets in what speaks for the person: from no agent it is heard.
    async fn admit(&self, speaker: Speaker) -> Result<(), Refused> {
        let own = self.clone();
        // It reads what processes have open.
        let judging = tasks::spawn_blocking(move || own.agent_behind(&speaker));
        match judging.await.map_err(|_| stopping())? {
            Some(agent) => {
                tracing::info!(%agent, "a command of an agent's process is refused");
                let agent = agent.display_name().to_owned();
                Err(Refused::Diff(DiffError::ByAgent { agent }))
            }
            None => Ok(()),
        }
    }

    async fn diffs(&self) -> Result<Vec<DiffSummary>, Refused> {
        let pending = self.ask(event::Command::Diffs).await?;
        let on_disk = self.check(&pending).await;
        let summaries = pending.iter().zip(&on_disk);
        Ok(summaries
            .map(|(diff, on_disk)| summary(diff, on_disk.as_ref()))
            .collect())
    }

    async fn diff(&self, diff: DiffRef) -> Answer {
        let found = self.ask(|answer| event::Command::Diff { diff, answer });
        let found = [found.await?.map_err(Refused::Diff)?];
        let on_disk = self.check(&found).await.into_iter().next().flatten();
        let [found] = found;
        let (id, revision) = (found.id, found.revision);
        let proposal = ProposalKey { id, revision };
        let (answer, told) = oneshot::channel();
        self.tell(event::Command::Text { proposal, answer })?;
        let told = tokio::time::timeout(TEXT_TIMEOUT, told).await;
        let told = told.ok().and_then(Result::ok).flatten();
        value(DiffText {
            summary: summary(&found, on_disk.as_ref()),
            is_text_known: told.is_some(),
            edited: told.filter(|text| **text != *found.proposed),
            proposed: found.proposed.to_string(),
        })
    }

    async fn settle(&self, settle: Settle) -> Result<Settled, Refused> {
        let Settle {
            id,
            revision,
            mut verdict,
            despite_change,
        } = settle;
        if let Err(bytes) = verdict.tidy_notes() {
            let reason = Refusal::too_long(bytes).message;
            return Err(Refused::Diff(DiffError::Failed { reason }));
        }
        let diff = DiffRef::exactly(id, revision);
        let found = self.ask(|answer| event::Command::Diff { diff, answer });
        let looked = self.look(found.await?.map_err(Refused::Diff)?).await;
        let id = DiffId(id);
        let request = SettleRequest {
            key: ProposalKey { id, revision },
            verdict,
            despite_change,
            looked,
        };
        let (admitted, judged) = oneshot::channel();
        let (caller, answer) = oneshot::channel();
        self.tell(event::Command::Settle {
            request,
            admitted,
            caller,
        })?;
        judged
            .await
            .map_err(|_| stopping())?
            .map_err(Refused::Diff)?;
        let answer = answer.await.map_err(|_| stopping())?;
        let settlement = match answer {
            Ok(crate::diffs::Answer::Settled(settlement)) => settlement,
            Ok(_) => Settlement::default(),
            Err(reason) => return Err(Refused::Diff(DiffError::Failed { reason })),
        };
        Ok(Settled {
            edited: settlement.is_edited,
            told: settlement.told,
        })
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

    /// Asks the loop for something.
    async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> event::Command,
    ) -> Result<T, Refused> {
        let (answer, answered) = oneshot::channel();
        self.tell(question(answer))?;
        answered.await.map_err(|_| stopping())
    }

    fn tell(&self, command: event::Command) -> Result<(), Refused> {
        let sent = self.events.send(Event::Command(command));
        sent.map_err(|_| stopping())
    }
}

/// Writes one line, and ends the connection. Waits for the other end.
pub(crate) fn write(output: &mut Stream, line: &impl Serialize) {
    let written = serde_json::to_vec(line).map(|mut line| {
        line.push(b'\n');
        output.write_all(&line)
    });
    if !matches!(written, Ok(Ok(()))) {
        tracing::info!("an answer was not taken");
    }
    let _ = output.shutdown(std::net::Shutdown::Both);
}

fn value(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| Refused::Failed(error.to_string()))
}

fn stopping() -> Refused {
    Refused::Failed("the companion is stopping".to_owned())
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
