//! What every check has at hand: the companion, who helps, how long to wait, what is to be cleaned
//! up, and the stories that several rules are read from.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use ::http::Method;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::lifecycle::Stopped;
use super::probe::{NoAnswer, Probe};
use super::rule::{Problem, unchecked};
use super::session::{Record, Session};
use super::sessions;
use super::story::{Contexts, Story};
use super::target::Target;
use super::watch::{Seen, Watch};

/// How long to wait for what.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For an answer, or for what is to come at once.
    pub answer: Duration,
    /// For something that must not come.
    pub quiet: Duration,
    /// How long a silent event stream is watched.
    pub idle: Duration,
    /// After how much silence agents take a stream for dead.
    pub silence: Duration,
    /// For a person, or a command in a person's place.
    pub help: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(5),
            quiet: Duration::from_millis(500),
            idle: Duration::from_secs(1),
            // Node's fetch gives up on a body that is silent for so long.
            silence: Duration::from_secs(300),
            help: Duration::from_secs(60),
        }
    }
}

/// Something that only a person, or a command in a person's place, can do in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Accept the diff of this file as it stands.
    Accept {
        /// The file, as it was proposed.
        file: String,
    },
    /// Reject the diff of this file.
    Reject {
        /// The file, as it was proposed.
        file: String,
    },
    /// Focus this file and move the cursor about in it, quickly.
    Move {
        /// A file that exists.
        file: String,
        /// Over how many lines, from the first.
        lines: u32,
    },
    /// Stop the companion as its editor would.
    Stop,
}

/// What became of a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Help {
    /// It was done: its effect must show at once.
    Done,
    /// Somebody was asked, and has [`Patience::help`] to do it.
    Asked,
    /// Nobody can do it; this is why, and how that could be changed.
    Nobody(String),
    /// What was to do it failed.
    Failed(String),
}

/// Who does what only a person can do.
pub trait Helper {
    /// Has it done, or asks for it.
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>>;
}

/// Everything that a check has at hand.
pub struct Bench {
    pub(super) target: Target,
    pub(super) patience: Patience,
    helper: Box<dyn Helper>,
    names: AtomicU32,
    /// Whether a person was asked for something and did not do it.
    is_alone: AtomicBool,
    started: SystemTime,
    answers: OnceCell<Result<(), String>>,
    /// How the first handshake ended.
    handshake: OnceCell<Result<(), String>>,
    views: OnceCell<Result<(), Problem>>,
    /// Whether two sessions are served at once.
    together: OnceCell<Result<(), Problem>>,
    accepted: OnceCell<Result<Story, Problem>>,
    rejected: OnceCell<Result<Story, Problem>>,
    contexts: OnceCell<Result<Contexts, Problem>>,
    stopped: OnceCell<Result<Stopped, Problem>>,
    watch: Watch,
    /// Sessions and views that are to be closed whatever happens.
    left: Mutex<Vec<Record>>,
}

impl Bench {
    pub(super) fn new(target: Target, patience: Patience, helper: Box<dyn Helper>) -> Self {
        let watch = Watch::start(target.files());
        Self {
            target,
            patience,
            helper,
            names: AtomicU32::new(0),
            is_alone: AtomicBool::new(false),
            started: SystemTime::now(),
            answers: OnceCell::new(),
            handshake: OnceCell::new(),
            views: OnceCell::new(),
            together: OnceCell::new(),
            accepted: OnceCell::new(),
            rejected: OnceCell::new(),
            contexts: OnceCell::new(),
            stopped: OnceCell::new(),
            watch,
            left: Mutex::default(),
        }
    }

    /// Whether somebody listens on the port at all.
    pub(super) async fn answers(&self) -> Result<(), String> {
        let connect = || async {
            let address = ("127.0.0.1", self.target.port());
            match timeout(self.patience.answer, TcpStream::connect(address)).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("no answer".to_owned()),
            }
        };
        self.answers.get_or_init(connect).await.clone()
    }

    /// A request with the companion's token.
    pub(super) fn probe(&self, method: Method) -> Probe {
        let probe = self.stranger(method);
        match self.target.token() {
            Some(token) => probe.bearer(token.expose()),
            None => probe,
        }
    }

    /// A request without a token.
    pub(super) fn stranger(&self, method: Method) -> Probe {
        Probe::new(method, self.target.port())
    }

    /// A session with its event stream.
    pub(super) async fn session(&self) -> Result<Session<'_>, Problem> {
        let mut session = self.deaf_session().await?;
        match session.open_stream().await {
            Ok(()) => Ok(session),
            Err(NoAnswer(why)) => {
                unchecked(format!("there is no event stream: {why}; see C1.1-stream"))
            }
        }
    }

    /// A session without an event stream.
    pub(super) async fn deaf_session(&self) -> Result<Session<'_>, Problem> {
        let missing = |why: &str| {
            Problem::Unchecked(format!("there is no session: {why}; see C1.1-initialize"))
        };
        // Who never answers is not waited for again and again.
        if let Some(Err(why)) = self.handshake.get() {
            return Err(missing(why));
        }
        let opened = Session::open(self).await;
        if self.has_shaken_hands() {
            return opened.map_err(|NoAnswer(why)| {
                Problem::Unchecked(format!(
                    "there is no session after the first: {why}; see C1.4-two"
                ))
            });
        }
        let first = opened.as_ref().map(|_| ());
        let _ = self
            .handshake
            .set(first.map_err(|NoAnswer(why)| why.clone()));
        opened.map_err(|NoAnswer(why)| missing(&why))
    }

    /// Whether some session was opened already.
    pub(super) fn has_shaken_hands(&self) -> bool {
        matches!(self.handshake.get(), Some(Ok(())))
    }

    /// Whether sessions can be opened at all. None is left open.
    pub(super) async fn has_sessions(&self) -> Result<(), Problem> {
        if !self.has_shaken_hands() {
            self.deaf_session().await?.leave().await;
        }
        Ok(())
    }

    /// Whether two sessions are served at once, for the checks that need two.
    pub(super) async fn serves_two(&self) -> Result<(), Problem> {
        let together = self.together.get_or_init(|| sessions::together(self)).await;
        together.clone()
    }

    /// Whether a view can be opened at all, for the checks that need one. No session is opened for
    /// that: there are companions that a second one disturbs (C1.4).
    pub(super) async fn has_views(&self, session: &Session<'_>) -> Result<(), Problem> {
        let try_one = || async {
            let path = self.new_path();
            match session.open_diff(&path, "text\n").await {
                Ok(reply) if !reply.is_error() => {
                    session.close_diff(&path, true).await.ok();
                    Ok(())
                }
                Ok(reply) => unchecked(format!(
                    "openDiff opens no view: {}; see C5.2-open",
                    reply.shown()
                )),
                Err(NoAnswer(why)) => {
                    unchecked(format!("openDiff opens no view: {why}; see C5.2-open"))
                }
            }
        };
        self.views.get_or_init(try_one).await.clone()
    }

    pub(super) async fn accepted(&self) -> Result<&Story, Problem> {
        let told = self.accepted.get_or_init(|| Story::of_acceptance(self));
        told.await.as_ref().map_err(Clone::clone)
    }

    pub(super) async fn rejected(&self) -> Result<&Story, Problem> {
        let told = self.rejected.get_or_init(|| Story::of_rejection(self));
        told.await.as_ref().map_err(Clone::clone)
    }

    pub(super) async fn contexts(&self) -> Result<&Contexts, Problem> {
        let told = self.contexts.get_or_init(|| Contexts::gather(self));
        told.await.as_ref().map_err(Clone::clone)
    }

    /// Has the companion stopped; what is left of it.
    pub(super) async fn stopped(&self) -> Result<Stopped, Problem> {
        self.stopped
            .get_or_init(|| Stopped::see(self))
            .await
            .clone()
    }

    /// What became of the discovery files so far.
    pub(super) fn watched(&self) -> Seen {
        self.watch.seen()
    }

    /// Has a step done; how long to wait for its effect.
    pub(super) async fn help(&self, step: &Step) -> Result<Duration, Problem> {
        self.done_or_asked(step).await.map(|(time, _)| time)
    }

    /// The same, and whether it is done already.
    pub(super) async fn done_or_asked(&self, step: &Step) -> Result<(Duration, bool), Problem> {
        if self.is_alone.load(Ordering::Relaxed) {
            return unchecked("nobody did what was asked for before");
        }
        match self.helper.help(step).await {
            Help::Done => Ok((self.patience.answer, true)),
            Help::Asked => Ok((self.patience.help, false)),
            Help::Nobody(why) => Err(Problem::Unchecked(why)),
            Help::Failed(why) => Err(Problem::Broken(format!("it could not be checked: {why}"))),
        }
    }

    /// Nobody did what was asked for: nobody is asked again.
    pub(super) fn nobody_came(&self) {
        self.is_alone.store(true, Ordering::Relaxed);
    }

    /// The first workspace root that there is, or the temporary directory: where proposed files
    /// would lie.
    pub(super) fn folder(&self) -> String {
        let mut roots = self.target.roots().into_iter();
        let root = roots.find(|root| root.is_absolute() && root.is_dir());
        let root = root.unwrap_or_else(|| self.target.environment().tmpdir());
        root.to_string_lossy().into_owned()
    }

    /// The name of a file that does not exist, like no other.
    pub(super) fn new_name(&self) -> String {
        let since = self.started.duration_since(SystemTime::UNIX_EPOCH);
        let started = since.unwrap_or_default().as_micros();
        let number = self.names.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        format!("pillion-conformance-{process}-{started}-{number}.txt")
    }

    /// The path of a file that does not exist, below the first root. Nobody writes it (C5.9).
    pub(super) fn new_path(&self) -> String {
        let folder = self.folder();
        let folder = folder.trim_end_matches(std::path::MAIN_SEPARATOR);
        format!("{folder}{}{}", std::path::MAIN_SEPARATOR, self.new_name())
    }

    /// Notes a session that is to be ended.
    pub(super) fn opened(&self, record: Record) {
        self.lock().push(record);
    }

    /// Changes the note of a session.
    pub(super) fn note(&self, id: Option<&str>, change: impl FnOnce(&mut Record)) {
        if let Some(record) = self.lock().iter_mut().find(|it| it.id.as_deref() == id) {
            change(record);
        }
    }

    /// Forgets a session that was ended.
    pub(super) fn ended(&self, id: Option<&str>) {
        let mut left = self.lock();
        if let Some(at) = left.iter().position(|it| it.id.as_deref() == id) {
            left.remove(at);
        }
    }

    /// Closes every view and session that a check left open.
    pub(super) async fn clean_up(&self) {
        let left = std::mem::take(&mut *self.lock());
        for record in left {
            record.end(self).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Record>> {
        self.left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
