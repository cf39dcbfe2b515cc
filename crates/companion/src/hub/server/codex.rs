//! Where Codex CLI asks what an editor shows: one socket of this user, which all programs that serve it share. Whoever has
//! it keeps it; it is taken when nobody has it, and put back when it was deleted.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pillion_discovery::private_file::Stream;
use pillion_discovery::{Environment, Socket, real_path};
use pillion_protocol::IdeContext;
use pillion_protocol::codex::{self, Question};

use super::{Shared, lock};
use crate::acceptor::{Acceptor, Serve};

/// How often it is looked whether the socket is there.
const INTERVAL: Duration = Duration::from_secs(5);

/// How long companions may take to answer: Codex waits for five seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// How long the rest of a question may take, and reading the answer.
const FRAME_WITHIN: Duration = Duration::from_secs(2);

/// How many questions there are at most at a time.
const MAX_CONNECTIONS: usize = 32;

/// The socket, while it is this process's.
pub(super) type Place = Mutex<Option<Acceptor>>;

/// Serves it as far as nobody else does, until the hub ends. Waits for disks.
pub(super) fn keep(place: &Place, shared: &Arc<Shared>, environment: &Environment) {
    loop {
        let mut serving = lock(place);
        if shared.lock().is_over {
            return;
        }
        if !serving.as_ref().is_some_and(Acceptor::is_in_place) {
            *serving = None;
            *serving = start(shared, environment);
        }
        drop(serving);
        shared.wait_while(Instant::now() + INTERVAL, |state| !state.is_over);
    }
}

fn start(shared: &Arc<Shared>, environment: &Environment) -> Option<Acceptor> {
    let failed = |error: &dyn std::fmt::Display| {
        tracing::debug!(%error, "Codex CLI cannot ask what is open here");
    };
    let socket = Socket::for_codex(environment).inspect_err(|error| failed(error));
    let server = Arc::new(Server {
        shared: Arc::clone(shared),
        connections: AtomicUsize::new(0),
    });
    let acceptor = Acceptor::start(socket.ok()??, server);
    acceptor.inspect_err(|error| failed(error)).ok()
}

struct Server {
    shared: Arc<Shared>,
    connections: AtomicUsize,
}

impl Serve for Server {
    fn opens(&self) -> bool {
        let more = |open| (open < MAX_CONNECTIONS).then_some(open + 1);
        let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
        self.connections.fetch_update(set, fetch, more).is_ok()
    }

    fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::SeqCst);
    }

    fn serve(&self, stream: Stream) {
        // One that is broken off is not worth a word: Codex does so when it has waited for too long.
        let _ = answer(&self.shared, stream);
    }

    fn refuse(&self, _: Stream) {}
}

/// Answers the one question that comes on a connection.
fn answer(shared: &Shared, mut stream: Stream) -> io::Result<()> {
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
    let context = folder.and_then(|folder| context(shared, folder));
    stream.write_all(&question.answer(context.as_deref()))
}

/// What the companion of this folder shows.
fn context(shared: &Shared, folder: &Path) -> Option<Arc<IdeContext>> {
    shared.context(folder).or_else(|| {
        let real = real_path(folder);
        (real != folder).then(|| shared.context(&real)).flatten()
    })
}

impl Shared {
    /// What the companion shows whose root holds this folder; of several, the deepest root counts.
    fn context(&self, folder: &Path) -> Option<Arc<IdeContext>> {
        let state = self.lock();
        let companions = state.companions.values();
        let asked: Vec<_> = companions
            .map(|it| it.commands().ask_context(folder))
            .collect();
        drop(state);
        let deadline = Instant::now() + ANSWER_WITHIN;
        let left = || deadline.saturating_duration_since(Instant::now());
        let told = asked.iter();
        let told = told.filter_map(|context| context.recv_timeout(left()).ok());
        told.max_by_key(|(depth, _)| *depth)
            .map(|(_, context)| context)
    }
}
