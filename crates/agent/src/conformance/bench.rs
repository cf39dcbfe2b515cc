//! What every check has at hand: the line to the companion, who helps, names for new files, and what
//! was seen once for all.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::line::{Line, Patience};
use super::probe::{Answer, NoAnswer, Probe};
use super::rule::{Problem, unchecked};
use super::seen::Seen;
use super::session::Session;
use super::target::Target;
use super::watch::{Changes, Watch};

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
    /// The same moves by several commands at the same time, in whatever order. Nobody is asked for
    /// it.
    Burst {
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
    pub(super) line: Line,
    helper: Box<dyn Helper>,
    names: AtomicU32,
    /// Whether a person was asked for something and did not do it.
    is_alone: AtomicBool,
    started: SystemTime,
    answers: OnceCell<Result<(), String>>,
    /// How the first handshake ended.
    handshake: OnceCell<Result<(), String>>,
    views: OnceCell<Result<(), Problem>>,
    pub(super) seen: Seen,
    watch: Watch,
}

impl Bench {
    pub(super) fn new(target: Target, patience: Patience, helper: Box<dyn Helper>) -> Self {
        let watch = Watch::start(target.files());
        Self {
            line: Line::new(target, patience),
            helper,
            names: AtomicU32::new(0),
            is_alone: AtomicBool::new(false),
            started: SystemTime::now(),
            answers: OnceCell::new(),
            handshake: OnceCell::new(),
            views: OnceCell::new(),
            seen: Seen::default(),
            watch,
        }
    }

    /// Whether somebody listens on the port at all.
    pub(super) async fn answers(&self) -> Result<(), String> {
        let connect = || async {
            let address = ("127.0.0.1", self.line.target.port());
            match timeout(self.line.patience.answer, TcpStream::connect(address)).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("no answer".to_owned()),
            }
        };
        self.answers.get_or_init(connect).await.clone()
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
        let opened = Session::open(&self.line).await;
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

    /// Opens a view of a new file.
    pub(super) async fn open_view(
        &self,
        session: &Session<'_>,
        text: &str,
    ) -> Result<String, Problem> {
        self.has_views(session).await?;
        let path = self.new_path();
        let reply = session.open_diff(&path, text).await;
        let reply = reply.map_err(|NoAnswer(why)| Problem::Broken(why))?;
        if reply.is_error() {
            return unchecked(format!("openDiff refuses it: {}", reply.shown()));
        }
        Ok(path)
    }

    /// Sends a probe; no answer at all breaks the rule that asked.
    pub(super) async fn sent(&self, probe: Probe) -> Result<Answer, Problem> {
        let sent = self.line.send(probe, self.line.patience.answer).await;
        sent.map_err(|NoAnswer(why)| Problem::Broken(why))
    }

    /// What became of the discovery files so far.
    pub(super) fn watched(&self) -> Changes {
        self.watch.changes()
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
            Help::Done => Ok((self.line.patience.answer, true)),
            Help::Asked => Ok((self.line.patience.help, false)),
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
        let mut roots = self.line.target.roots().into_iter();
        let root = roots.find(|root| root.is_absolute() && root.is_dir());
        let root = root.unwrap_or_else(|| self.line.target.environment().tmpdir());
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
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench")
            .field("target", &self.line.target)
            .finish_non_exhaustive()
    }
}
