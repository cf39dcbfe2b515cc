//! The hub: the one process of a user that hosts companions, each for the front ends whose folders overlap. They attach to it
//! over a private socket (`pillion_view::hub`).
//!
//! It ends when it has neither a front end nor a companion any more. One whose connection ends has left.

mod connection;
mod guests;
mod kept_socket;
mod remote_view;
mod together;
mod workspaces;

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use pillion_discovery::lines::Lines;
use pillion_discovery::private_file::Stream;
use pillion_discovery::{Environment, FileError, Socket};
use pillion_system::{descriptors, lock, spawn, time_limit};
use pillion_view::{Leaving, Options, Reply, Shows, StartError, Tell};

use self::guests::Guests;
use self::kept_socket::KEEP_INTERVAL;
use self::remote_view::RemoteView;
use self::workspaces::{Place, ViewId, WorkspaceId, Workspaces};
use crate::acceptor::{Acceptor, Fate, Serve};
use crate::agents::context_sockets;
use crate::commands::Commands;
use crate::companion::Companion;
use crate::door::{self, Host};
use crate::event::ViewWay;
use crate::numbers;
use crate::places::{self, Places};
use crate::runtime::Runtime;
use crate::who::Who;
use pillion_view::hub::link::Link;
use pillion_view::hub::wire::{self, Attach, FromHub, Refused};

/// The time limit for its wait for the first front end.
const FIRST_WITHIN: Duration = Duration::from_secs(10);

const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit for what was said last to be read then, and for the socket to be removed.
const FAREWELL: Duration = Duration::from_secs(1);

/// The time for which what a front end shows waits for the next one, if that may come at once.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// Without so many descriptors left no companion starts: those that run, their agents and commands need some at any time.
const SPARE_DESCRIPTORS: usize = 64;

const NO_ROOM: &str = "the system lets Pillion open no more files for one more project: close an editor or a review elsewhere, or \
                       raise the limit (`ulimit -n`) and close all of them once";

/// A hub that listens, and does not serve yet.
#[derive(Debug)]
pub struct Hub {
    socket: Socket,
    shared: Arc<Shared>,
}

/// Ends a hub from elsewhere.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Shared>);

#[derive(Default, derive_more::Debug)]
#[debug("Shared")]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    places: Arc<Places>,
    who: Who,
    environment: Environment,
}

#[derive(Default)]
struct State {
    workspaces: Workspaces,
    /// That of all companions, once there was one.
    runtime: Option<Runtime>,
    companions: HashMap<WorkspaceId, Companion>,
    views: HashMap<ViewId, Attached>,
    guests: Guests,
    /// The front ends that may come again, by another connection.
    kept: HashSet<ViewId>,
    /// The roots that each companion was told to keep from agents.
    withheld: HashMap<WorkspaceId, Vec<PathBuf>>,
    /// The front end that came last, or whose roots changed last.
    came: Option<ViewId>,
    /// The number of times that front ends came, left or changed their roots.
    changes: u64,
    last_view: u64,
    connections: usize,
    programs: usize,
    /// True once a front end has come.
    had_view: bool,
    /// That of the first front end of the person's.
    persons: Option<Environment>,
    is_over: bool,
}

/// A front end, and the companion that serves it.
#[derive(Clone)]
struct Attached {
    way: ViewWay,
    commands: Commands,
    /// The place where an agent asks what is open that has the variables of the front end.
    context_place: context_sockets::Place,
    link: Weak<Link<FromHub>>,
    /// True if it has told others its port for as long as it runs.
    is_fixed: bool,
}

impl Attached {
    fn new(
        way: ViewWay,
        companion: &Companion,
        options: &Options,
        link: &Arc<Link<FromHub>>,
    ) -> Self {
        Self {
            way,
            commands: companion.commands().clone(),
            context_place: context_sockets::Place::of(&options.environment),
            link: Arc::downgrade(link),
            is_fixed: options.shows == Shows::Alone,
        }
    }
}

impl context_sockets::Companions for Shared {
    fn ask(&self, folder: &Path) -> Vec<context_sockets::Told> {
        let state = self.lock();
        let companions = state.companions.values();
        companions
            .map(|it| it.commands().ask_context(folder))
            .collect()
    }
}

/// A front end has no companion.
enum Unattached {
    Refused(Refused),
    /// This process ends: another hub serves it.
    Ends,
}

impl Hub {
    /// Listens; none if another process is the hub.
    ///
    /// # Errors
    /// When no state directory can be used.
    pub fn listen(environment: &Environment) -> Result<Option<Self>, FileError> {
        let socket = Socket::of_hub(environment)?;
        Ok(socket.map(|socket| Self {
            socket,
            shared: Arc::new(Shared {
                environment: environment.clone(),
                ..Shared::default()
            }),
        }))
    }

    /// Returns a handle that ends it: every companion stops, and [`Hub::serve`] returns.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Serves front ends until the last has left, or it is stopped.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn serve(self) -> io::Result<()> {
        let server = Server(Arc::clone(&self.shared));
        let acceptor = Acceptor::start(self.socket, Arc::new(server))?;
        let acceptor = Arc::new(Mutex::new(Some(acceptor)));
        let (kept, shared) = (Arc::clone(&acceptor), Arc::clone(&self.shared));
        spawn("hub's socket", move || {
            kept_socket::keep(&kept, &shared, KEEP_INTERVAL)
        })?;
        let own_sockets = Arc::new(context_sockets::Sockets::default());
        let (sockets, shared) = (Arc::clone(&own_sockets), Arc::clone(&self.shared));
        let own = context_sockets::Place::of(&self.shared.environment);
        spawn("context sockets", move || {
            let is_over = || shared.lock().is_over;
            loop {
                let seen = shared.lock().front_ends();
                if !sockets.serve(&shared.context_places(&own), &shared, is_over) {
                    return;
                }
                let until = Instant::now() + context_sockets::INTERVAL;
                shared.wait_while(until, |state| !state.is_over && state.front_ends() == seen);
            }
        })?;
        let shared = Arc::clone(&self.shared);
        spawn("workspaces", move || shared.keep_together())?;
        self.shared.wait_for_end();
        tracing::info!("the hub ends");
        own_sockets.end();
        self.shared.stop_companions();
        // Only now, and only once: whoever finds the socket gone starts another hub. If its disk hangs, it stays, and the
        // system releases its lock.
        let _ = time_limit::run(FAREWELL, move || drop(lock(&acceptor).take()));
        Ok(())
    }
}

impl Stopper {
    /// Ends it. Returns at once.
    pub fn stop(&self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// Serves connections: those of front ends, and those of commands.
struct Server(Arc<Shared>);

impl Serve for Server {
    fn opens(&self) -> Fate {
        let mut state = self.0.lock();
        if state.is_over {
            return Fate::Waits;
        }
        state.connections += 1;
        Fate::Served
    }

    fn closed(&self) {
        self.0.lock().connections -= 1;
        self.0.changed.notify_all();
    }

    fn serve(&self, stream: Stream) {
        door::serve(&self.0, stream);
    }
}

impl Host for Shared {
    fn count_programs(&self, change: isize) {
        let mut state = self.lock();
        state.programs = state.programs.saturating_add_signed(change);
        drop(state);
        self.changed.notify_all();
    }

    fn places(&self) -> &Arc<Places> {
        &self.places
    }

    fn companions(&self) -> Vec<Commands> {
        let state = self.lock();
        let companions = state.companions.values();
        companions.map(|it| it.commands().clone()).collect()
    }

    fn companion(&self, port: u16) -> Option<Commands> {
        let state = self.lock();
        let mut companions = state.companions.values();
        let companion = companions.find(|it| it.port() == port)?;
        Some(companion.commands().clone())
    }

    fn serve_view(
        self: Arc<Self>,
        attach: Attach,
        stream: Stream,
        lines: Lines,
        place: places::Place,
    ) {
        connection::serve(&self, attach, stream, lines, place);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while it is so, but not past the deadline.
    fn wait_while(&self, deadline: Instant, is_so: impl Fn(&State) -> bool) {
        let mut state = self.lock();
        while is_so(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until there is nothing to do any more, or it is stopped. Anybody who comes then is served by another hub.
    fn wait_for_end(&self) {
        let first = Instant::now() + FIRST_WITHIN;
        self.wait_while(first, |state| !state.had_view && !state.is_over);
        let mut state = self.lock();
        while !state.is_over && !state.is_idle() {
            state = self.wait(state);
        }
        state.is_over = true;
    }

    fn stop_companions(self: &Arc<Self>) {
        let mut state = self.lock();
        let running: Vec<_> = state.companions.drain().collect();
        for (workspace, companion) in running {
            companion.stop_under_views();
            state.workspaces.stops(workspace);
            self.await_end(&mut state, workspace, companion, None);
        }
        drop(state);
        // Also who waits for a workspace.
        self.changed.notify_all();
        let deadline = Instant::now() + STOP_TIMEOUT;
        self.wait_while(deadline, |state| !state.workspaces.is_empty());
        let deadline = Instant::now() + FAREWELL;
        self.wait_while(deadline, |state| state.connections > 0);
    }

    /// The environment of a front end as a companion is configured by it: one that is not shown to be the person's says nothing of
    /// settings, and of places neither, or what agents change would be kept where no command of the person's looks.
    fn configured(&self, own: Environment, is_agents: bool) -> Environment {
        let mut state = self.lock();
        match is_agents {
            true => own.in_places_of(state.persons.as_ref().unwrap_or(&self.environment)),
            false => {
                state.persons.get_or_insert_with(|| own.clone());
                own
            }
        }
    }

    /// A front end is served, by the companion of its folders. Waits for disks, and for companions that start or stop.
    fn attach(
        self: &Arc<Self>,
        attach: Attach,
        link: &Arc<Link<FromHub>>,
    ) -> Result<ViewId, Unattached> {
        let Attach {
            process,
            options,
            former_hub,
            ..
        } = attach;
        if former_hub.is_some_and(|pid| pid != std::process::id()) {
            numbers::were_given(&options.environment);
        }
        self.lock().had_view = true;
        self.changed.notify_all();
        if let Shows::Only { host, .. } = options.shows {
            return self.attach_guest(host, options, link);
        }
        let editor_pid = options.editor_pid;
        let view = self.attach_host(options, link)?;
        let mut state = self.lock();
        state.guests.add_host(view, process, editor_pid);
        state.has_changed(Some(view));
        drop(state);
        self.changed.notify_all();
        Ok(view)
    }

    fn attach_host(
        self: &Arc<Self>,
        options: Options,
        link: &Arc<Link<FromHub>>,
    ) -> Result<ViewId, Unattached> {
        let mut state = self.lock();
        let view = state.next_view();
        loop {
            if state.is_over {
                return Err(Unattached::Ends);
            }
            match state.workspaces.place(view, &options.roots) {
                Place::Waits => state = self.wait(state),
                Place::Joins(workspace) => {
                    if state.join(workspace, view, &options, link) {
                        return Ok(view);
                    }
                    // It has ended by itself.
                    state.workspaces.left(view);
                    state.workspaces.stops(workspace);
                    if let Some(companion) = state.companions.remove(&workspace) {
                        self.await_end(&mut state, workspace, companion, None);
                    }
                }
                Place::Starts(workspace) => {
                    drop(state);
                    return self.start(workspace, view, options, link);
                }
            }
        }
    }

    fn start(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        view: ViewId,
        options: Options,
        link: &Arc<Link<FromHub>>,
    ) -> Result<ViewId, Unattached> {
        let editor = Box::new(RemoteView::new(Arc::clone(link)));
        let runtime = match descriptors::has_room(SPARE_DESCRIPTORS) {
            true => self.lock().runtime(),
            false => Err(StartError::Refused(NO_ROOM.to_owned())),
        };
        let started =
            runtime.and_then(|it| Companion::open(options.clone(), editor, false, &self.who, it));
        let mut state = self.lock();
        let result = match started {
            Ok(companion) => {
                let files = companion.files().to_vec();
                let attached = wire::Attached::here(companion.port(), files);
                link.send(FromHub::Attached(attached));
                let attached = Attached::new(companion.first_view(), &companion, &options, link);
                state.views.insert(view, attached);
                state.workspaces.started(workspace);
                if state.is_over {
                    companion.stop_under_views();
                    state.workspaces.stops(workspace);
                    self.await_end(&mut state, workspace, companion, None);
                } else {
                    state.companions.insert(workspace, companion);
                }
                Ok(view)
            }
            Err(error) => {
                state.workspaces.ended(workspace);
                Err(Unattached::Refused(cannot_start(&error)))
            }
        };
        self.changed.notify_all();
        result
    }

    /// The places where agents ask what is open that have this hub's variables, those of a front end, or were started for a
    /// companion.
    fn context_places(&self, own: &context_sockets::Place) -> Vec<context_sockets::Place> {
        let state = self.lock();
        let views = state.views.values().map(|view| view.context_place.clone());
        let companions = state.companions.values();
        let started = companions.flat_map(|it| it.commands().context_places());
        [own.clone()]
            .into_iter()
            .chain(views)
            .chain(started)
            .collect()
    }

    fn change_roots(&self, view: ViewId, roots: Vec<PathBuf>) {
        let mut state = self.lock();
        state.workspaces.change_roots(view, roots);
        state.has_changed(Some(view));
        drop(state);
        self.changed.notify_all();
    }

    /// A front end leaves that may come again: what it shows waits for the next one of its workspace.
    fn keep(self: &Arc<Self>, view: ViewId, link: Arc<Link<FromHub>>) {
        self.lock().kept.insert(view);
        link.close();
        let shared = Arc::clone(self);
        let wait = move || {
            let until = Instant::now() + KEPT_FOR;
            shared.wait_while(until, |it| !it.is_over && it.workspaces.is_alone(view));
            shared.lock().kept.remove(&view);
            shared.left(view, Some((Leaving::Kept, link)));
        };
        if let Err(error) = spawn("kept view", wait) {
            tracing::warn!(%error, "cannot start a thread");
            self.lock().kept.remove(&view);
        }
    }

    /// A front end leaves, or is gone, without a `link`. That stays open until the companion has ended, if it was the last.
    fn left(self: &Arc<Self>, view: ViewId, leaves: Option<(Leaving, Arc<Link<FromHub>>)>) {
        let mut state = self.lock();
        if state.kept.contains(&view) {
            return;
        }
        let Some(attached) = state.views.remove(&view) else {
            return;
        };
        for guest in state.guests.left(view) {
            if let Some(guest) = state.views.remove(&guest) {
                guest.way.tell(Tell::Leave(Leaving::Closed));
            }
        }
        let (why, link) = leaves.unzip();
        match why {
            Some(why) => attached.way.tell(Tell::Leave(why)),
            None => attached.way.gone(),
        }
        let stops = state.workspaces.left(view);
        state.has_changed(None);
        let companion = stops.and_then(|workspace| state.companions.remove(&workspace));
        if let Some((workspace, companion)) = stops.zip(companion) {
            self.await_end(&mut state, workspace, companion, link);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn await_end(
        self: &Arc<Self>,
        state: &mut State,
        workspace: WorkspaceId,
        companion: Companion,
        link: Option<Arc<Link<FromHub>>>,
    ) {
        let shared = Arc::clone(self);
        let wait = move || {
            companion.wait();
            shared.lock().workspaces.ended(workspace);
            shared.changed.notify_all();
            drop(link);
        };
        if let Err(error) = spawn("companion's end", wait) {
            // Then it has been waited for here.
            tracing::warn!(%error, "cannot start a thread");
            state.workspaces.ended(workspace);
        }
    }
}

impl State {
    fn runtime(&mut self) -> Result<Runtime, StartError> {
        if let Some(runtime) = &self.runtime {
            return Ok(runtime.clone());
        }
        let started = Runtime::start().map_err(|source| StartError::System {
            what: "start the runtime",
            source,
        })?;
        Ok(self.runtime.insert(started).clone())
    }

    fn next_view(&mut self) -> ViewId {
        self.last_view += 1;
        ViewId(self.last_view)
    }

    /// Returns a value that is another one when a front end has come or left.
    fn front_ends(&self) -> (u64, usize) {
        (self.last_view, self.views.len())
    }

    fn has_changed(&mut self, came: Option<ViewId>) {
        self.changes += 1;
        self.came = came.or(self.came);
    }

    fn is_idle(&self) -> bool {
        self.connections <= self.programs && self.workspaces.is_empty()
    }

    /// One more front end for a companion. False if that has ended.
    fn join(
        &mut self,
        workspace: WorkspaceId,
        view: ViewId,
        options: &Options,
        link: &Arc<Link<FromHub>>,
    ) -> bool {
        let companion = self.companions.get(&workspace);
        let Some(companion) = companion.filter(|it| !it.is_stopped()) else {
            return false;
        };
        let port = companion.port();
        let attached = attach_to(companion, options, link, move |files, link| {
            // Without files it is about to end, and the connection with it.
            if let Ok(files) = files {
                link.send(FromHub::Attached(wire::Attached::here(port, files)));
            }
        });
        self.views.insert(view, attached);
        true
    }
}

/// Has a companion serve one more front end, which is told when agents find it by that.
fn attach_to(
    companion: &Companion,
    options: &Options,
    link: &Arc<Link<FromHub>>,
    published: impl FnOnce(Result<Vec<PathBuf>, String>, &Link<FromHub>) + Send + 'static,
) -> Attached {
    let to = Arc::clone(link);
    let published = Reply::new(move |files| published(files, &to));
    let editor = Box::new(RemoteView::new(Arc::clone(link)));
    let way = companion.attach(options.clone(), editor, published);
    Attached::new(way, companion, options, link)
}

fn cannot_start(error: &StartError) -> Refused {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    Refused::cannot_start(reason)
}
