//! What every check has at hand: the connection to the companion, who helps, names for new files, and what
//! was seen once for all.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::claude_observation;
use crate::connection::{Connection, Timeouts};
use crate::message::ACCEPTED;
use crate::names::Names;
use crate::observation::Observations;
use crate::probe::{Answer, NoAnswer, Probe};
use crate::rule::{Problem, blocked, broken, unchecked};
use crate::session::{Session, ToolReply};
use crate::target::Target;
use crate::watch::{Changes, Watch};

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
    /// Accept one more diff, with another text. No person is asked for it.
    AcceptAgain {
        /// The file, as it was proposed.
        file: String,
    },
    /// Close the view of this file without a decision.
    Close {
        /// The file, as it was proposed.
        file: String,
    },
    /// Mention these lines to the agent. No person is asked for it.
    Mention {
        /// A file that exists.
        file: String,
        /// The first line and the last, counted from 1.
        lines: (u32, u32),
    },
    /// Focus this file and move the cursor about in it, quickly.
    Move {
        /// A file that exists.
        file: String,
        /// Over how many lines, from the first.
        lines: u32,
    },
    /// Move the cursor to these lines, each so long after the one before, whether or not that is
    /// done already. No person is asked for it.
    Burst {
        /// A file that exists.
        file: String,
        /// The lines.
        lines: Vec<u32>,
        /// The time from one to the next.
        pace: Duration,
    },
    /// Focus these files, one after the other. No person is asked for it.
    Visit {
        /// Files that exist.
        files: Vec<String>,
    },
    /// Stop the companion as its editor would.
    Stop,
}

/// What became of a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Help {
    /// It was done: its effect must show at once.
    Done,
    /// A person or command was asked, and has [`Timeouts::help`] to do it.
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

/// Why a view is gone that nobody closed.
const ACCEPTS_ITSELF: &str = "the editor accepts diffs automatically: turn that off during the run";

/// Everything that a check has at hand.
pub struct TestContext {
    pub(super) connection: Connection,
    helper: Box<dyn Helper>,
    pub(super) names: Names,
    /// Whether a person was asked for something and did not do it.
    is_alone: AtomicBool,
    answers: OnceCell<Result<(), String>>,
    /// How the first handshake ended.
    handshake: OnceCell<Result<(), String>>,
    views: OnceCell<Result<(), Problem>>,
    /// Whether diffs are accepted without anybody's help.
    accepts_itself: OnceCell<bool>,
    pub(super) observations: Observations,
    pub(super) claude: claude_observation::Observations,
    watch: Watch,
}

impl TestContext {
    pub(super) fn new(target: Target, timeouts: Timeouts, helper: Box<dyn Helper>) -> Self {
        let watch = Watch::start(target.files());
        Self {
            names: Names::in_folder(folder(&target)),
            connection: Connection::new(target, timeouts),
            helper,
            is_alone: AtomicBool::new(false),
            answers: OnceCell::new(),
            handshake: OnceCell::new(),
            views: OnceCell::new(),
            accepts_itself: OnceCell::new(),
            observations: Observations::default(),
            claude: claude_observation::Observations::default(),
            watch,
        }
    }

    /// Whether something listens on the port at all.
    pub(super) async fn answers(&self) -> Result<(), String> {
        let connect = || async {
            let address = ("127.0.0.1", self.connection.target.port());
            match timeout(self.connection.timeouts.answer, TcpStream::connect(address)).await {
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
            Err(NoAnswer { why, .. }) => {
                blocked(&["C1.1-stream"], format!("there is no event stream: {why}"))
            }
        }
    }

    /// A session without an event stream.
    pub(super) async fn deaf_session(&self) -> Result<Session<'_>, Problem> {
        let missing = |why: &str| Problem::Blocked {
            by: (&["C1.1-initialize"]).into(),
            why: format!("there is no session: {why}"),
        };
        // Who never answers is not waited for again and again.
        if let Some(Err(why)) = self.handshake.get() {
            return Err(missing(why));
        }
        let opened = Session::open(&self.connection).await;
        if self.has_shaken_hands() {
            return opened.or_else(|NoAnswer { why, .. }| {
                let why = format!("no second session can be opened: {why}");
                blocked(&["C1.4-two"], why)
            });
        }
        let first = opened.as_ref().map(|_| ());
        let _ = self
            .handshake
            .set(first.map_err(|NoAnswer { why, .. }| why.clone()));
        opened.map_err(|NoAnswer { why, .. }| missing(&why))
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
        let no_view = |why: &str| blocked(&["C5.2-open"], format!("openDiff opens no view: {why}"));
        let try_one = || async {
            let path = self.names.path();
            match session.open_diff(&path, "text\n").await {
                Ok(reply) if !reply.is_error() => {
                    session.close_diff(&path, true).await.ok();
                    Ok(())
                }
                Ok(reply) => no_view(&reply.shown()),
                Err(NoAnswer { why, .. }) => no_view(&why),
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
        let path = self.names.path();
        let reply = session.open_diff(&path, text).await?;
        if reply.is_error() {
            return broken(format!("openDiff refuses it: {}", reply.shown()));
        }
        Ok(path)
    }

    /// Closes a view that was opened: the answer, if it is not a failure. A view that the editor
    /// accepts by itself is gone before it can be closed, and that is not a fault.
    pub(super) async fn close(
        &self,
        session: &Session<'_>,
        path: &str,
        suppress: bool,
    ) -> Result<ToolReply, Problem> {
        let reply = session.close_diff(path, suppress).await;
        let reply =
            reply.map_err(|NoAnswer { why, .. }| Problem::Broken(format!("closeDiff: {why}")))?;
        if !reply.is_error() {
            return Ok(reply);
        }
        if self.accepts_itself().await {
            return unchecked(ACCEPTS_ITSELF);
        }
        let by: &[&str] = match suppress {
            true => &["C5.2-open", "C5.4-suppress", "C5.5-shape"],
            false => &["C5.2-open", "C5.5-shape"],
        };
        blocked(
            by,
            format!("closeDiff of {path:?} fails: {}", reply.shown()),
        )
    }

    /// Closes a view that was opened: the text that was in it (C5.5).
    pub(super) async fn closed_text(
        &self,
        session: &Session<'_>,
        path: &str,
    ) -> Result<String, Problem> {
        let reply = self.close(session, path, true).await?;
        let text = reply.closed_content();
        text.or_else(|why| blocked(&["C5.5-shape"], format!("closeDiff of {path:?}: {why}")))
    }

    /// Whether the editor accepts diffs without anybody's help. Looked at once, when a view is gone
    /// that nobody closed.
    pub(super) async fn accepts_itself(&self) -> bool {
        let try_one = || async {
            let Ok(mut session) = self.session().await else {
                return false;
            };
            let path = self.names.path();
            if session.open_diff(&path, "text\n").await.is_err() {
                return false;
            }
            let is_it = |it: &Value| it["method"] == ACCEPTED && it["params"]["filePath"] == *path;
            let accepted = session
                .wait_for(self.connection.timeouts.answer, is_it)
                .await;
            session.leave().await;
            accepted.is_some()
        };
        *self.accepts_itself.get_or_init(try_one).await
    }

    /// Sends a probe; no answer at all breaks the rule that asked.
    pub(super) async fn sent(&self, probe: Probe) -> Result<Answer, Problem> {
        let sent = self
            .connection
            .send(probe, self.connection.timeouts.answer)
            .await;
        Ok(sent?)
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
            return unchecked("an earlier request to a person was not fulfilled");
        }
        match self.helper.help(step).await {
            Help::Done => Ok((self.connection.timeouts.answer, true)),
            Help::Asked => Ok((self.connection.timeouts.help, false)),
            Help::Nobody(why) => Err(Problem::Unchecked(why)),
            Help::Failed(why) => Err(Problem::Broken(format!("it could not be checked: {why}"))),
        }
    }

    /// The request was not fulfilled: it is not repeated.
    pub(super) fn nobody_came(&self) {
        self.is_alone.store(true, Ordering::Relaxed);
    }

    /// Closes what is open there because of us, and removes what was written. False when the
    /// companion did not answer: a view may be open still.
    pub(super) async fn clean_up(&self) -> bool {
        let is_clean = self.connection.clean_up().await;
        self.names.sweep();
        is_clean
    }
}

/// The first workspace root that there is, or the temporary directory: where proposed files would
/// lie.
fn folder(target: &Target) -> PathBuf {
    let mut roots = target.roots().into_iter();
    let root = roots.find(|root| root.is_absolute() && root.is_dir());
    root.unwrap_or_else(|| target.environment().tmpdir())
}

impl std::fmt::Debug for TestContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestContext")
            .field("target", &self.connection.target)
            .finish_non_exhaustive()
    }
}
