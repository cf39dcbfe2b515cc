//! Starting and stopping: the companion runs on a thread of its own, front ends hold a [`Handle`].

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io, process, thread};

use pillion_discovery::tokens::{RandomError, random_token};
use pillion_discovery::{Announcement, Environment, Seat, Tokens, kept_text};
use pillion_protocol::discovery::RootError;
use pillion_protocol::{Dialect, File, IdeInfo, Token};
use pillion_system::{Signal, Signals};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use crate::editor::{Editor, Reply, Report, Shows};
use crate::endpoint::{self, Guard};
use crate::event::{Event, Events, NewView};
use crate::gate::{Decide, Ruling};
use crate::lost::Losses;
use crate::main_loop::{MainLoop, Unanswered};
use crate::mcp::Mcp;
use crate::presence::{Presence, PublishError};
use crate::sessions::Sessions;
use crate::speaker::Origin;
use crate::succession;
use crate::views::{ViewId, Views};

/// How long connections may take to end when the companion stops: an agent may read slowly.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// What a companion needs to know of a front end.
#[derive(Debug, Clone)]
pub struct Options {
    /// The variables that determine where discovery files go.
    pub environment: Environment,
    /// The editor's process: agents look for it, or for one of its ancestors (C2.3).
    pub editor_pid: u32,
    /// Who the editor is.
    pub ide: IdeInfo,
    /// The workspace roots, absolute.
    pub roots: Vec<PathBuf>,
    /// When it is shown proposals.
    pub shows: Shows,
}

/// Why a companion could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No port on loopback, no thread, or no signal handler.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The system has no random bytes for the tokens.
    #[error("cannot make a token")]
    Random(#[from] RandomError),
    /// A workspace root that no discovery file can hold.
    #[error("cannot publish the workspace")]
    Roots(#[from] RootError),
    /// A signal came before it was ready.
    #[error("received a signal before it was ready")]
    Interrupted,
    /// The hub could not start it: its reason.
    #[error("{0}")]
    Refused(String),
}

impl From<PublishError> for StartError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Roots(error) => Self::Roots(error),
            PublishError::System(error) => system("publish the workspace")(error),
        }
    }
}

/// A running companion. Dropping it stops it.
#[derive(Debug)]
pub struct Companion {
    port: u16,
    files: Vec<PathBuf>,
    handle: Handle,
    events: Events,
    /// How many front ends there have been.
    views: AtomicU32,
    thread: Option<JoinHandle<()>>,
}

/// A front end's way to report to its companion. Cheap to clone; never blocks. When the
/// companion is gone, nothing happens.
#[derive(Clone)]
pub struct Handle {
    report: Arc<dyn Fn(Report) + Send + Sync>,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle")
    }
}

impl Companion {
    /// Starts a companion; returns when agents can find it.
    ///
    /// # Errors
    /// When the system has no port, no thread or no random bytes, or the roots cannot be published.
    pub fn start(options: Options, editor: impl Editor) -> Result<Self, StartError> {
        Self::open(options, Box::new(editor), true)
    }

    /// The same, and says whether it is the whole program, which a signal ends.
    pub(crate) fn open(
        options: Options,
        editor: Box<dyn Editor>,
        is_program: bool,
    ) -> Result<Self, StartError> {
        let (events, inbox) = mpsc::unbounded_channel();
        let (ready, started) = std_mpsc::channel();
        let sender = events.clone();
        let thread = thread::Builder::new()
            .name("companion".to_owned())
            .spawn(move || run(options, editor, is_program, sender, inbox, &ready))
            .map_err(system("start a thread"))?;
        match started.recv() {
            Ok(Ok(Started { port, files })) => Ok(Self {
                port,
                files,
                handle: Handle::of(ViewId::FIRST, events.clone()),
                events,
                views: AtomicU32::new(1),
                thread: Some(thread),
            }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(system("start")(io::Error::other("the thread ended"))),
        }
    }

    /// The port of the endpoint.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The discovery files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Attaches one more front end. `published` gets the discovery files once agents find the companion by its process,
    /// too; never, if the companion is about to stop.
    pub(crate) fn attach(
        &self,
        options: Options,
        editor: Box<dyn Editor>,
        published: Reply<Vec<PathBuf>>,
    ) -> Handle {
        let id = ViewId(self.views.fetch_add(1, Ordering::Relaxed));
        let _ = self.events.send(Event::Attached(NewView {
            id,
            options,
            editor,
            published,
        }));
        Handle::of(id, self.events.clone())
    }

    /// Stops, whatever front ends there are. Returns before it has stopped.
    pub(crate) fn stop(&self) {
        let _ = self.events.send(Event::Stop);
    }

    /// Returns true if it has stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// A handle for the first front end.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until the companion has stopped: because of a signal, or of [`Handle::leave`].
    pub fn wait(mut self) {
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by its own hook.
            let _ = thread.join();
        }
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}

impl Handle {
    /// One that hands each report to `report`, which returns at once.
    pub(crate) fn new(report: impl Fn(Report) + Send + Sync + 'static) -> Self {
        let report = Arc::new(report);
        Self { report }
    }

    fn of(view: ViewId, events: Events) -> Self {
        Self::new(move |report| drop(events.send(Event::Reported(view, report))))
    }

    /// Reports something.
    pub fn report(&self, report: Report) {
        (self.report)(report);
    }

    /// Reports the open files and what is focused: the whole list (C4.2).
    pub fn report_context(&self, files: Vec<File>, is_trusted: Option<bool>) {
        self.report(Report::Context { files, is_trusted });
    }

    /// The person decided about a proposal: the [gate](crate::gate) rules whether that counts. The view stays until it
    /// has answered. A decision that is taken before the front end leaves is carried out.
    pub fn decide(&self, decide: Decide, ruling: Reply<Ruling>) {
        self.report(Report::Decide(Box::new(decide), ruling));
    }

    /// One file was saved, by the person or by an agent: only the person's are the focus.
    pub fn saved(&self, file: File) {
        self.report(Report::Saved(file));
    }

    /// The person points agents to a file, or to its lines from the first to the last, from 0. `reply`
    /// gets the agent whose prompt names it now; none if no agent that is connected knows mentions.
    pub fn mention(&self, path: PathBuf, lines: Option<(u32, u32)>, reply: Reply<Option<Dialect>>) {
        self.report(Report::Mention { path, lines, reply });
    }

    /// The editor's workspace roots changed (C2.5).
    pub fn change_roots(&self, roots: Vec<PathBuf>) {
        self.report(Report::Roots(roots));
    }

    /// The editor's process is another one now: agents find the companion by it, and by its ancestors.
    pub fn change_editor(&self, pid: u32) {
        self.report(Report::Editor(pid));
    }

    /// The front end leaves; it gets [`EditorEvent::Stopped`](crate::EditorEvent::Stopped). The companion stops with the
    /// last one, and pending diffs count as rejected then (C5.7).
    pub fn leave(&self) {
        self.report(Report::Leave);
    }
}

/// The signals, if this is the whole program.
pub(crate) struct ProgramSignals(Option<Signals>);

impl ProgramSignals {
    pub(crate) async fn next(&mut self) -> Signal {
        match &mut self.0 {
            Some(signals) => signals.next().await,
            None => std::future::pending().await,
        }
    }
}

struct Started {
    port: u16,
    files: Vec<PathBuf>,
}

fn run(
    options: Options,
    editor: Box<dyn Editor>,
    is_program: bool,
    events: Events,
    inbox: mpsc::UnboundedReceiver<Event>,
    ready: &std_mpsc::Sender<Result<Started, StartError>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"));
    let result = runtime.and_then(|runtime| {
        let prepared = runtime.block_on(prepare(options, is_program, events.clone()))?;
        let _ = ready.send(Ok(Started {
            port: prepared.port,
            files: prepared.presence.files().to_vec(),
        }));
        let unanswered = runtime.block_on(prepared.serve(editor, events, inbox));
        // Connections that did not end by themselves end here.
        runtime.shutdown_background();
        drop(unanswered);
        Ok(())
    });
    if let Err(error) = result {
        let _ = ready.send(Err(error));
    }
}

/// A companion that agents can find, but that does not serve yet.
struct Prepared {
    listener: TcpListener,
    port: u16,
    tokens: Tokens,
    control_token: Token,
    signals: ProgramSignals,
    presence: Presence,
    losses: Losses,
    origin: Origin,
    options: Options,
}

async fn prepare(
    options: Options,
    is_program: bool,
    events: Events,
) -> Result<Prepared, StartError> {
    // First of all: a signal after publishing must find its handler.
    let signals = is_program.then(Signals::install).transpose();
    let mut signals = ProgramSignals(signals.map_err(system("catch signals"))?);
    let tokens = Tokens::generate()?;
    let control_token = random_token()?;
    let inheritance = succession::inheritance(options.environment.clone(), options.roots.clone());
    let listening = async { succession::listen(inheritance.await, tokens).await };
    let (listener, port, tokens) = tokio::select! {
        biased;
        listening = listening => listening.map_err(system("listen on loopback"))?,
        _ = signals.next() => return Err(StartError::Interrupted),
    };
    let announcement = Announcement {
        companion_pid: process::id(),
        port,
        roots: options.roots.clone(),
        ide: options.ide.clone(),
        tokens: tokens.clone(),
    };
    let origin = Origin {
        editor_pid: options.editor_pid,
        commanding: options.environment.commanding_agents(),
    };
    let losses = Losses::new(kept_text::places(&options.environment));
    let seat = Seat {
        environment: options.environment.clone(),
        editor_pid: options.editor_pid,
    };
    let publishing = Presence::publish(vec![seat], announcement, control_token.clone(), events);
    let presence = tokio::select! {
        biased;
        presence = publishing => presence?,
        // Ctrl-C does not wait for a disk.
        _ = signals.next() => return Err(StartError::Interrupted),
    };
    Ok(Prepared {
        listener,
        port,
        tokens,
        control_token,
        signals,
        presence,
        losses,
        origin,
        options,
    })
}

impl Prepared {
    async fn serve(
        self,
        editor: Box<dyn Editor>,
        events: Events,
        inbox: mpsc::UnboundedReceiver<Event>,
    ) -> Option<Unanswered> {
        let sessions = Sessions::default();
        let (stop, stopping) = oneshot::channel();
        let server = endpoint::serve(
            self.listener,
            Guard::new(self.port, self.tokens, self.control_token),
            Mcp::new(sessions.clone(), events.clone()),
            events.clone(),
            self.origin,
            stopping,
        );
        let server = tokio::spawn(server);
        let main_loop = MainLoop::new(
            Views::new(self.options, editor, events.clone()),
            events,
            sessions,
            self.presence,
            self.losses,
        );
        // As a task like the others: to wake what the runtime itself runs takes a system call.
        let unanswered = tokio::spawn(main_loop.run(inbox, self.signals)).await;
        let _ = stop.send(());
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, server).await;
        unanswered.ok()
    }
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::System { what, source }
}
