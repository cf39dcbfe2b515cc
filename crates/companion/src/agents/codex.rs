//! Owns the sockets at which Codex CLI asks what an editor shows: in its own directory, or else in the temporary one, which all
//! programs of this user that serve it share. Whoever has a socket keeps it; it is taken when nobody has it, and put back
//! when it was deleted.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use pillion_discovery::private_file::Stream;
use pillion_discovery::socket::Address;
use pillion_discovery::{Environment, Socket, real_path};
use pillion_protocol::IdeContext;
use pillion_protocol::codex::{self, Question};
use pillion_protocol::dialect::Base;
use pillion_system::{lock, process, time_limit};

use crate::acceptor::{Acceptor, Fate, Serve};

/// The interval at which it is checked that the sockets are there.
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);

/// The time limit for companions to answer: Codex waits for five seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// The time limit for the rest of a question, and for reading the answer.
const FRAME_WITHIN: Duration = Duration::from_secs(2);

/// The time limit at the end until they are gone.
const END_WITHIN: Duration = Duration::from_secs(1);

/// The most Codexes that were started for a companion and are known.
const MAX_STARTED: usize = 64;

/// The most questions at a time.
const MAX_CONNECTIONS: usize = 32;

/// The contexts of the companions of which a root holds a folder, each with the depth of that root. Others send nothing.
pub(crate) type Told = Receiver<(usize, Arc<IdeContext>)>;

/// The companions of this process.
pub(crate) trait Companions: Send + Sync + 'static {
    /// Asks each of them what it shows in this folder.
    fn ask(&self, folder: &Path) -> Vec<Told>;
}

/// The places where a Codex asks: its own directory, and its temporary one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    home: PathBuf,
    tmpdir: PathBuf,
}

/// The sockets that are this process's.
#[derive(Default)]
pub(crate) struct Sockets(Mutex<HashMap<Address, Acceptor>>);

impl Place {
    pub(crate) fn new(home: PathBuf, tmpdir: PathBuf) -> Self {
        Self { home, tmpdir }
    }

    /// That of a Codex with these variables.
    pub(crate) fn of(environment: &Environment) -> Self {
        Self::new(environment.codex_home(), environment.base(Base::TmpDir))
    }
}

/// Codexes that were started for a companion, each with its process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Started(Arc<Mutex<Vec<(u32, Place)>>>);

impl Started {
    /// One is about to start as this process.
    pub(crate) fn add(&self, process: u32, place: Place) {
        let mut known = self.living();
        known.truncate(MAX_STARTED - 1);
        known.insert(0, (process, place));
    }

    /// Returns the places where those ask that still run.
    pub(crate) fn places(&self) -> Vec<Place> {
        let known = self.living();
        known.iter().map(|(_, place)| place.clone()).collect()
    }

    fn living(&self) -> MutexGuard<'_, Vec<(u32, Place)>> {
        let mut known = lock(&self.0);
        known.retain(|(process, _)| process::is_alive(*process));
        known
    }
}

impl Sockets {
    /// Serves these places as far as nobody else does, and no others. Returns false, and does nothing, once it is over.
    /// Waits for disks.
    pub(crate) fn serve(
        &self,
        places: &[Place],
        companions: &Arc<impl Companions>,
        is_over: impl Fn() -> bool,
    ) -> bool {
        let places = places.iter();
        let places = places.flat_map(|it| Address::for_codex(&it.home, &it.tmpdir));
        let places: Vec<_> = places.collect();
        let mut serving = lock(&self.0);
        if is_over() {
            return false;
        }
        serving.retain(|address, socket| places.contains(address) && socket.is_in_place());
        for address in places {
            if !serving.contains_key(&address)
                && let Some(socket) = start(address.clone(), companions)
            {
                serving.insert(address, socket);
            }
        }
        true
    }

    /// Ends all of them, but waits for no disk that hangs.
    pub(crate) fn end(self: Arc<Self>) {
        // That they are gone has to be told to a folder, and their own thread may be waiting for one.
        let _ = time_limit::run(END_WITHIN, move || lock(&self.0).clear());
    }
}

fn start(address: Address, companions: &Arc<impl Companions>) -> Option<Acceptor> {
    let failed = |error: &dyn std::fmt::Display| {
        tracing::debug!(%error, "Codex CLI cannot ask what is open here");
    };
    let socket = Socket::for_codex(address).inspect_err(|error| failed(error));
    let server = Arc::new(Server {
        companions: Arc::clone(companions),
        connections: AtomicUsize::new(0),
    });
    let acceptor = Acceptor::start(socket.ok()??, server);
    acceptor.inspect_err(|error| failed(error)).ok()
}

struct Server<C> {
    companions: Arc<C>,
    connections: AtomicUsize,
}

impl<C: Companions> Serve for Server<C> {
    fn opens(&self) -> Fate {
        let more = |open| (open < MAX_CONNECTIONS).then_some(open + 1);
        let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
        match self.connections.fetch_update(set, fetch, more) {
            Ok(_) => Fate::Served,
            Err(_) => Fate::Closed,
        }
    }

    fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::SeqCst);
    }

    fn serve(&self, stream: Stream) {
        // One that is broken off is not worth a word: Codex does so when it has waited for too long.
        let _ = answer(&*self.companions, stream);
    }
}

/// Answers the one question that comes on a connection.
fn answer(companions: &impl Companions, mut stream: Stream) -> io::Result<()> {
    stream.set_read_timeout(Some(FRAME_WITHIN))?;
    stream.set_write_timeout(Some(FRAME_WITHIN))?;
    let mut start = [0; 4];
    stream.read_exact(&mut start)?;
    let too_long = || io::Error::new(io::ErrorKind::InvalidData, "the question is too long");
    let mut question = vec![0; codex::length(start).ok_or_else(too_long)?];
    stream.read_exact(&mut question)?;
    let Some(question) = Question::read(&question) else {
        return Ok(());
    };
    let folder = question.folder.as_deref();
    let context = folder.and_then(|folder| context(companions, folder));
    stream.write_all(&question.answer(context.as_deref()))
}

fn context(companions: &impl Companions, folder: &Path) -> Option<Arc<IdeContext>> {
    of_deepest(companions.ask(folder)).or_else(|| {
        let real = real_path(folder);
        let is_other = real != folder;
        is_other
            .then(|| of_deepest(companions.ask(&real)))
            .flatten()
    })
}

/// Of several answers, that of the deepest root.
fn of_deepest(asked: Vec<Told>) -> Option<Arc<IdeContext>> {
    let deadline = Instant::now() + ANSWER_WITHIN;
    let left = || deadline.saturating_duration_since(Instant::now());
    let told = asked.iter();
    let told = told.filter_map(|context| context.recv_timeout(left()).ok());
    told.max_by_key(|(depth, _)| *depth)
        .map(|(_, context)| context)
}
