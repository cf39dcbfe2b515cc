//! Being found: the discovery files for agents (C2) and, without a hub, the socket for commands, kept for as
//! long as the companion runs. One thread writes them, in the order that was asked for: a disk that
//! hangs delays only callers that wait for them, with a time limit.
//!
//! Files that are deleted meanwhile come back within 20 s.

mod orders;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use pillion_discovery::handover::REFRESH_INTERVAL;
use pillion_discovery::unended::{Ended, Unended};
use pillion_discovery::{DiscoveryFiles, DiscoveryInfo, Environment, FileError, Handover, Seat};
use pillion_protocol::Dialect;
use pillion_protocol::discovery::RootError;
use pillion_view::Reply;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::orders::{Ordered, Orders};
use crate::acceptor::Acceptor;
use crate::event::{Event, Events};
use crate::tasks;
use pillion_system::now_ms;

/// The time limit for the disk to take the first files.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit for their removal: the companion goes on taking leave then.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// The way to the files. Never waits for a disk, except where documented. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct DiscoveryThread {
    orders: Arc<Orders>,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
}

/// The reason why a companion cannot be found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishError {
    #[error(transparent)]
    Roots(#[from] RootError),
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Begins to listen for programs, without a hub.
pub(crate) type OpenSocket = Box<dyn FnOnce() -> Result<Acceptor, FileError> + Send>;

impl DiscoveryThread {
    /// Sweeps what dead companions left, then publishes. The endpoint must be there already (C6.1). With `commands`, which
    /// no hub serves, it listens for them. Those and a successor find the companion where the first editor's environment
    /// says, also when that editor has left.
    /// Later changes of the files come as [`Event::DiscoveryFilesChanged`].
    ///
    /// # Errors
    /// When a root cannot be published, when there is no thread, or when the disk does not answer.
    /// Then nothing stays behind.
    pub(crate) async fn publish(
        seats: Vec<Seat>,
        info: DiscoveryInfo,
        open: Option<OpenSocket>,
        events: Events,
    ) -> Result<Self, PublishError> {
        let first = seats.first().map(|seat| seat.environment.clone());
        let environment = first.unwrap_or_default();
        let orders = Arc::new(Orders::default());
        // Removes what is published too late.
        let mut discovery = Self {
            orders: Arc::clone(&orders),
            files: Vec::new(),
            warnings: Vec::new(),
        };
        let (published, first) = oneshot::channel();
        let worker = orders.worker();
        let run = move || {
            match Files::publish(&environment, seats, info, open) {
                Ok(files) => {
                    let _ = published.send(Ok((files.paths(), files.warnings())));
                    files.keep(&orders, &events);
                }
                Err(error) => drop(published.send(Err(error))),
            }
            drop(worker);
        };
        let thread = thread::Builder::new().name("discovery".to_owned());
        thread.spawn(run)?;
        let first = timeout(PUBLISH_TIMEOUT, first).await;
        let silent = || {
            let text = format!("the disk did not respond within {PUBLISH_TIMEOUT:?}");
            io::Error::new(io::ErrorKind::TimedOut, text)
        };
        let ended = |_| io::Error::other("the thread ended");
        let (files, warnings) = first.map_err(|_| silent())?.map_err(ended)??;
        discovery.files = files;
        discovery.warnings = warnings;
        Ok(discovery)
    }

    /// The discovery files that agents find.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The places that could not be served, each as one sentence for people.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Takes in what agents find, and what could not be served the last time; whether that is news.
    pub(crate) fn note(&mut self, files: Vec<PathBuf>, warnings: Vec<String>) -> bool {
        self.files = files;
        let is_news = self.warnings != warnings;
        self.warnings = warnings;
        is_news
    }

    /// Tells where agents find the companion, once everything that was ordered before is done.
    pub(crate) fn tell_files(&self, files: Reply<Vec<PathBuf>>) {
        self.order(|it| it.asking.push(files));
    }

    /// Has something done about the files.
    pub(crate) fn order(&self, order: impl FnOnce(&mut Ordered)) {
        self.orders.give(order);
    }

    /// Takes the files away (C6.2). Waits for the disk, but not longer than [`REMOVE_TIMEOUT`].
    pub(crate) async fn remove(&self, ended: Ended) {
        self.order(|it| it.remove = Some(ended));
        let orders = Arc::clone(&self.orders);
        let waiting = tasks::spawn_blocking(move || orders.wait_done(REMOVE_TIMEOUT));
        let _ = timeout(REMOVE_TIMEOUT, waiting).await;
    }
}

impl Drop for DiscoveryThread {
    fn drop(&mut self) {
        self.order(|it| {
            it.remove.get_or_insert(Ended::ByPerson);
        });
        // The process may be about to exit when this is dropped.
        self.orders.wait_done(REMOVE_TIMEOUT);
    }
}

/// The files themselves, on the thread that owns them.
#[derive(Debug)]
struct Files {
    discovery_files: DiscoveryFiles,
    /// Of a companion that no hub hosts.
    socket: Option<Acceptor>,
    /// For the companion that comes after this one.
    handover: Option<Handover>,
    /// For those who do not find this one.
    unended: Option<Unended>,
    /// The reason why agents do not find this companion in its new roots.
    refused_roots: Option<String>,
    /// The reason why commands do not find it.
    unreachable: Option<String>,
}

impl Files {
    fn publish(
        environment: &Environment,
        seats: Vec<Seat>,
        info: DiscoveryInfo,
        open: Option<OpenSocket>,
    ) -> Result<Self, RootError> {
        let port = info.port;
        let roots = info.roots.clone();
        // Before what is left of one that was killed is swept.
        let unended = Unended::note(environment, &roots, port);
        let unended = unended.inspect_err(not_noted).ok();
        sweep(&seats, &[]);
        let claude_token = info.tokens.get(Dialect::ClaudeCode).clone();
        let discovery_files = match DiscoveryFiles::publish(seats, info) {
            Ok(discovery_files) => discovery_files,
            Err(error) => {
                if let Some(unended) = unended {
                    unended.end(Ended::ByStranger);
                }
                return Err(error);
            }
        };
        let (socket, unreachable) = match open.map(|open| open()) {
            Some(Ok(socket)) => (Some(socket), None),
            Some(Err(error)) => (None, Some(unreachable(&error))),
            None => (None, None),
        };
        let recorded = Handover::record(environment, &roots, port, claude_token, now_ms());
        Ok(Self {
            discovery_files,
            socket,
            // The socket next to it reports that to people.
            handover: recorded.inspect_err(not_recorded).ok(),
            unended,
            refused_roots: None,
            unreachable,
        })
    }

    /// Carries out orders, one after the other, until the files are to be removed.
    fn keep(mut self, orders: &Orders, events: &Events) {
        let mut reported = (self.paths(), self.warnings());
        loop {
            match orders.next(REFRESH_INTERVAL) {
                Some(ordered) => {
                    if let Some(ended) = ordered.remove {
                        return self.end(ended);
                    }
                    self.carry_out(ordered);
                }
                // Nothing was ordered for a while.
                None => self.restore(),
            }
            let now = (self.paths(), self.warnings());
            if now != reported {
                let (files, warnings) = now.clone();
                reported = now;
                let _ = events.send(Event::DiscoveryFilesChanged { files, warnings });
            }
        }
    }

    fn carry_out(&mut self, ordered: Ordered) {
        if let Some(roots) = ordered.roots {
            self.set_roots(roots);
        }
        if let Some(seats) = ordered.seats {
            sweep(&seats, self.discovery_files.seats());
            self.discovery_files.set_seats(seats);
        }
        if let Some(ide) = ordered.ide {
            self.discovery_files.set_ide(ide);
        }
        if let Some(choices) = ordered.choices {
            noted(self.handover.as_mut(), |it| it.set_choices(choices));
        }
        for files in ordered.asking {
            files.done(self.paths());
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.discovery_files.files()
    }

    fn warnings(&self) -> Vec<String> {
        let places = self.discovery_files.warnings().iter();
        places
            .map(ToString::to_string)
            .chain(self.refused_roots.clone())
            .chain(self.unreachable.clone())
            .collect()
    }

    fn end(self, ended: Ended) {
        drop((self.discovery_files, self.socket));
        // A successor's files may have the same names and tokens, so that ours must be gone first.
        if let Some(handover) = self.handover {
            handover.end(now_ms());
        }
        if let Some(unended) = self.unended {
            unended.end(ended);
        }
    }

    fn set_roots(&mut self, roots: Vec<PathBuf>) {
        let published = self.discovery_files.set_roots(roots.clone());
        let complain = |error| format!("agents cannot find the new workspace folders: {error}");
        self.refused_roots = published.err().map(complain);
        if self.refused_roots.is_some() {
            return;
        }
        noted(self.handover.as_mut(), |it| it.set_roots(&roots));
        if let Some(Err(error)) = self.unended.as_mut().map(|it| it.set_roots(&roots)) {
            not_noted(&error);
        }
    }

    fn restore(&mut self) {
        for file in self.discovery_files.restore() {
            tracing::info!(?file, "put back");
        }
        if let Some(socket) = &mut self.socket {
            socket.restore();
        }
        noted(self.handover.as_mut(), |it| it.refresh(now_ms()));
    }
}

/// Clears away what dead companions left for agents of these editors. Where those of the known ones look, that is done.
fn sweep(seats: &[Seat], known: &[Seat]) {
    let mut swept: Vec<_> = known.iter().map(|seat| &seat.environment).collect();
    for environment in seats.iter().map(|seat| &seat.environment) {
        if swept.contains(&environment) {
            continue;
        }
        swept.push(environment);
        for file in pillion_discovery::sweep(environment) {
            tracing::info!(?file, "swept");
        }
    }
}

/// Notes something for a successor.
fn noted(
    handover: Option<&mut Handover>,
    note: impl FnOnce(&mut Handover) -> Result<(), FileError>,
) {
    if let Some(Err(error)) = handover.map(note) {
        not_recorded(&error);
    }
}

fn not_recorded(error: &FileError) {
    tracing::info!(%error, "a successor would not be found by Claude Code");
}

fn not_noted(error: &FileError) {
    tracing::info!(%error, "hooks would not know that this companion was killed");
}

fn unreachable(error: &FileError) -> String {
    let hint = error.hint();
    format!("commands such as `pillion focus` cannot find this companion: {error}; {hint}")
}
