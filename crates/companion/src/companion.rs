//! Starting and stopping: the companion runs as a task, front ends hold a [`Handle`].

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::{io, process};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use pillion_discovery::counter;
use pillion_discovery::version::VERSION;
use pillion_discovery::{CompanionState, DiscoveryInfo, Seat, Tokens, kept_text};
use pillion_protocol::Address;
use pillion_system::{Signals, now_ms, signals};
use pillion_view::hub::wire::Attached;
use pillion_view::{Editor, Handle, Leaving, Options, Reply, StartError, Tell};
use tokio::sync::{mpsc, watch};

use crate::commands::Commands;
#[cfg(unix)]
use crate::context_keeper::Keeper;
use crate::discovery::{DiscoveryThread, OpenSocket, PublishError};
use crate::door;
use crate::endpoint::{self, Guard, Listener};
use crate::event::{Event, Events, NewView, ViewWay};
use crate::ids::ViewId;
use crate::looking;
use crate::lost::Losses;
use crate::main_loop::{MainLoop, Parts, Unanswered};
use crate::mcp::Mcp;
use crate::numbers::Numbers;
use crate::runtime::Runtime;
use crate::sessions::Sessions;
use crate::socket::Socket;
use crate::succession::{self, Inheritance};
use crate::views::Views;
use crate::who::{Asker, Who};

/// Starts a companion of this process alone: where there can be no hub.
///
/// # Errors
/// As [`Companion::start`].
pub fn start_own(
    options: Options,
    editor: Box<dyn Editor>,
) -> Result<Box<dyn pillion_view::Companion>, StartError> {
    Ok(Box::new(Companion::own(options, editor)?))
}

impl pillion_view::Companion for Companion {
    fn attached(&self) -> Attached {
        Attached::here(self.port(), self.files().to_vec())
    }

    fn handle(&self) -> Handle {
        Self::handle(self)
    }

    fn wait(self: Box<Self>) {
        Self::wait(*self);
    }
}

fn unpublished(error: PublishError) -> StartError {
    match error {
        PublishError::Roots(error) => StartError::Roots(error),
        PublishError::System(error) => system("publish the workspace")(error),
    }
}

/// A running companion. Dropping it stops it.
#[derive(Debug)]
pub struct Companion {
    started: Started,
    /// The handle of the first front end, if that is in this process.
    handle: OnceLock<Handle>,
    asker: Asker,
    events: Events,
    /// The number of front ends that there have been.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    views: AtomicU32,
    /// Its other end is dropped when it has stopped.
    stopped: Receiver<Infallible>,
    /// It goes on for as long as it is needed.
    _runtime: Runtime,
}

impl Companion {
    /// Starts a companion; returns when agents can find it.
    ///
    /// # Errors
    /// When the system has no port, no thread or no random bytes, or the roots cannot be published.
    pub fn start(options: Options, editor: impl Editor) -> Result<Self, StartError> {
        Self::own(options, Box::new(editor))
    }

    /// One that is the whole program: a signal ends that, and it listens for commands itself.
    fn own(options: Options, editor: Box<dyn Editor>) -> Result<Self, StartError> {
        let runtime = Runtime::start().map_err(system("start the runtime"))?;
        Self::open(options, editor, true, &Who::default(), runtime)
    }

    /// Starts one on this runtime, and says whether it is the whole program.
    pub(crate) fn open(
        options: Options,
        editor: Box<dyn Editor>,
        is_program: bool,
        who: &Who,
        runtime: Runtime,
    ) -> Result<Self, StartError> {
        let (events, inbox) = mpsc::unbounded_channel();
        let (ready, started) = unbounded();
        let (running, stopped) = bounded(0);
        let (sender, who) = (events.clone(), who.clone());
        let asker = Asker::this_process(&options.environment).with_editor(options.editor_pid);
        runtime.spawn(async move {
            run(options, editor, is_program, who, sender, inbox, &ready).await;
            drop::<Sender<Infallible>>(running);
        });
        match started.recv() {
            Ok(Ok(started)) => Ok(Self {
                started,
                handle: OnceLock::new(),
                asker,
                events,
                views: AtomicU32::new(1),
                stopped,
                _runtime: runtime,
            }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(system("start")(io::Error::other("its task ended"))),
        }
    }

    /// The port of the endpoint.
    pub fn port(&self) -> u16 {
        self.started.port
    }

    /// The discovery files.
    pub fn files(&self) -> &[PathBuf] {
        &self.started.files
    }

    /// Attaches one more front end. `published` gets the discovery files once agents find the companion by its process,
    /// too; never, if the companion is about to stop.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    pub(crate) fn attach(
        &self,
        options: Options,
        editor: Box<dyn Editor>,
        published: Reply<Vec<PathBuf>>,
    ) -> ViewWay {
        let id = ViewId(self.views.fetch_add(1, Ordering::Relaxed));
        let _ = self.events.send(Event::Attached(NewView {
            id,
            options,
            editor,
            published,
        }));
        self.way_of(id)
    }

    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    pub(crate) fn first_view(&self) -> ViewWay {
        self.way_of(ViewId::FIRST)
    }

    fn way_of(&self, id: ViewId) -> ViewWay {
        let events = self.events.clone();
        ViewWay { id, events }
    }

    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    pub(crate) fn commands(&self) -> &Commands {
        &self.started.commands
    }

    /// Stops, whatever front ends there are: those of the hub will have another one. Returns before it has stopped.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    pub(crate) fn stop_under_views(&self) {
        let _ = self.events.send(Event::Stop(true));
    }

    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// A handle for the first front end, in this process.
    pub fn handle(&self) -> Handle {
        let handle = || {
            let Started { port, commands, .. } = &self.started;
            let way = self.way_of(ViewId::FIRST);
            door::own_handle(commands.clone(), *port, way, self.asker.clone())
        };
        self.handle.get_or_init(handle).clone()
    }

    /// Waits until the companion has stopped: because of a signal, or because the front end leaves.
    pub fn wait(self) {
        self.join();
    }

    fn join(&self) {
        // A panic there has been reported by its own hook.
        let _ = self.stopped.recv();
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        match self.handle.get() {
            // After what was said before.
            Some(handle) => handle.tell(Tell::Leave(Leaving::now())),
            None => drop(self.events.send(Event::Stop(false))),
        }
        self.join();
    }
}

/// The state that agents can find it in.
#[derive(Debug)]
struct Started {
    port: u16,
    files: Vec<PathBuf>,
    commands: Commands,
}

async fn run(
    options: Options,
    editor: Box<dyn Editor>,
    is_program: bool,
    who: Who,
    events: Events,
    inbox: mpsc::UnboundedReceiver<Event>,
    ready: &Sender<Result<Started, StartError>>,
) {
    match prepare(options, editor, is_program, who, events).await {
        Ok(prepared) => {
            let _ = ready.send(Ok(Started {
                port: prepared.parts.state.port,
                files: prepared.parts.discovery.files().to_vec(),
                commands: prepared.commands.clone(),
            }));
            // Until here: what was not answered counts as failed when its connection has ended.
            drop(prepared.serve(inbox).await);
        }
        Err(error) => drop(ready.send(Err(error))),
    }
}

/// A companion that agents can find, but that does not serve yet.
struct Prepared {
    parts: Parts,
    commands: Commands,
    listeners: Vec<(Listener, Guard)>,
    mcp: Mcp,
    socket: Socket,
    signals: Signals,
    #[cfg(unix)]
    context_keeper: Option<Keeper>,
}

async fn prepare(
    options: Options,
    editor: Box<dyn Editor>,
    is_program: bool,
    who: Who,
    events: Events,
) -> Result<Prepared, StartError> {
    // First of all: a signal after publishing must find its handler.
    let mut signals = match is_program {
        true => {
            signals::note_terminal();
            Signals::install().map_err(system("catch signals"))?
        }
        false => Signals::none(),
    };
    let diff_numbers = Numbers::of(&options.environment, counter::DIFFS);
    let agent_numbers = Numbers::of(&options.environment, counter::AGENTS);
    let numbers_taken = (diff_numbers.taken(), agent_numbers.taken());
    let tokens = Tokens::generate()?;
    let inheritance = succession::inheritance(options.environment.clone(), options.roots.clone());
    let listening = async {
        let inherited = inheritance.await;
        let choices = inherited.as_ref().map(Inheritance::choices);
        let listening = succession::listen(inherited, tokens).await;
        listening.map(|listening| (listening, choices.unwrap_or_default()))
    };
    let ((listener, port, tokens), choices) = tokio::select! {
        biased;
        listening = listening => listening.map_err(system("listen on loopback"))?,
        _ = signals.next() => return Err(StartError::Interrupted),
    };
    let socket = Socket::listen(&options.environment, port).await;
    let info = DiscoveryInfo {
        companion_pid: process::id(),
        port,
        socket: socket.path(),
        roots: options.roots.clone(),
        ide: options.ide.clone(),
        tokens: tokens.clone(),
    };
    let who = who.at(&options.environment);
    let losses = Losses::new(kept_text::places(&options.environment));
    let seat = Seat {
        environment: options.environment.clone(),
        editor_pid: options.editor_pid,
    };
    let sessions = Sessions::new(agent_numbers);
    let commands = Commands::new(events.clone(), who.clone());
    let own = is_program.then(|| commands.clone());
    let own_view = is_program.then(|| {
        Arc::new(
            who.seat(Asker::this_process(&options.environment).with_editor(options.editor_pid)),
        )
    });
    #[cfg(unix)]
    let context_keeper = own.clone().and_then(|commands| {
        let keeper = Keeper::start(&options.environment, commands);
        keeper
            .inspect_err(|error| tracing::warn!(%error, "cannot start a thread"))
            .ok()
    });
    let environment = options.environment.clone();
    let open =
        own.map(|own| -> OpenSocket { Box::new(move || door::open_own(&environment, port, own)) });
    let publishing = DiscoveryThread::publish(vec![seat], info, open, events.clone());
    let discovery = tokio::select! {
        biased;
        discovery = publishing => discovery.map_err(unpublished)?,
        // Ctrl-C does not wait for a disk.
        _ = signals.next() => return Err(StartError::Interrupted),
    };
    discovery.order(|it| it.choices = Some(choices.clone()));
    tokio::join!(numbers_taken.0, numbers_taken.1);
    let guard = |address: &Address| Guard::new(address, tokens.clone());
    let tcp = guard(&Address::Tcp(port));
    let unix = socket.listener();
    let unix = unix.map(|(listener, address)| (listener, guard(&address)));
    let listeners = [(Listener::Tcp(listener), tcp)].into_iter().chain(unix);
    Ok(Prepared {
        listeners: listeners.collect(),
        mcp: Mcp::new(sessions.clone(), events.clone(), who),
        parts: Parts {
            state: CompanionState {
                pid: process::id(),
                version: VERSION.to_owned(),
                port,
                ide: options.ide.clone(),
                started_at_ms: now_ms(),
                ..CompanionState::default()
            },
            views: Views::new(options, editor, events.clone()),
            events,
            sessions,
            discovery,
            losses,
            diff_numbers,
            looks: looking::start,
            choices,
            own_view,
        },
        commands,
        socket,
        signals,
        #[cfg(unix)]
        context_keeper,
    })
}

impl Prepared {
    async fn serve(self, inbox: mpsc::UnboundedReceiver<Event>) -> Option<Unanswered> {
        let (sessions, own_view) = (self.parts.sessions.clone(), self.parts.own_view.clone());
        let (stop, stopping) = watch::channel(());
        let server = tokio::spawn(endpoint::serve(self.listeners, self.mcp, stopping));
        let main_loop = MainLoop::new(self.parts);
        // As a task like the others: to wake what the runtime itself runs takes a system call.
        let unanswered = tokio::spawn(main_loop.run(inbox, self.signals)).await;
        #[cfg(unix)]
        drop(self.context_keeper);
        drop(stop);
        let _ = server.await;
        sessions.give_numbers_back();
        drop((self.socket, own_view));
        unanswered.ok()
    }
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::System { what, source }
}
