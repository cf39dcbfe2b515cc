//! The context of every check: the companion, the helper, names for new files, and what was seen once
//! for all.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_http::Method;
use pillion_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use pillion_protocol::{Address, MCP_PATH};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::claude_observation;
use crate::copilot_observation;
use crate::helper::{Help, Helper, Step};
use crate::names::Names;
use crate::observation::Observations;
use crate::probe::{Answer, NoAnswer, Probe};
use crate::protocol::SharedRows;
use crate::rule::{Problem, unchecked};
use crate::target::Target;
use crate::timeouts::Timeouts;
use crate::watch::Watch;

/// After so many unanswered requests, the companion gets less time for each.
const UNANSWERED: u32 = 4;

/// But so long, whatever happens.
const SHORTEST: Duration = Duration::from_secs(1);

/// Everything that a check has at hand.
#[derive(derive_more::Debug)]
#[debug("TestContext({target:?})")]
pub struct TestContext {
    pub(super) target: Target,
    pub(super) timeouts: Timeouts,
    helper: Box<dyn Helper>,
    pub(super) names: Names,
    /// True if a person was asked for something and did not do it.
    is_alone: Cell<bool>,
    answers: OnceCell<Result<(), String>>,
    /// The number of requests that got no answer in time.
    unanswered: Cell<u32>,
    pub(super) observations: Observations,
    pub(super) claude: claude_observation::Observations,
    pub(super) copilot: copilot_observation::Observations,
    pub(super) watch: Watch,
}

impl TestContext {
    pub(super) fn new(target: Target, timeouts: Timeouts, helper: Box<dyn Helper>) -> Self {
        Self {
            watch: Watch::start(target.files()),
            names: Names::in_folder(folder(&target)),
            target,
            timeouts,
            helper,
            is_alone: Cell::default(),
            answers: OnceCell::new(),
            unanswered: Cell::default(),
            observations: Observations::default(),
            claude: claude_observation::Observations::default(),
            copilot: copilot_observation::Observations::default(),
        }
    }

    /// Connects, and says nothing.
    pub(super) async fn connect(&self) -> io::Result<()> {
        match self.target.address() {
            Address::Tcp(port) => {
                tokio::net::TcpStream::connect(("127.0.0.1", *port)).await?;
            }
            #[cfg(unix)]
            Address::Unix(path) => {
                tokio::net::UnixStream::connect(path).await?;
            }
            #[cfg(not(unix))]
            Address::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(())
    }

    /// Checks that something listens there at all.
    pub(super) async fn answers(&self) -> Result<(), String> {
        let connect = || async {
            match timeout(self.timeouts.answer, self.connect()).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("no answer".to_owned()),
            }
        };
        self.answers.get_or_init(connect).await.clone()
    }

    /// The rows of its protocol that checks for both refer to.
    pub(super) fn rows(&self) -> SharedRows {
        SharedRows::of(self.target.protocol)
    }

    /// A request with the companion's token.
    pub(super) fn probe(&self, method: Method) -> Probe {
        let probe = self.stranger(method);
        match self.target.token() {
            Some(token) => probe.token(self.target.scheme(), token.expose()),
            None => probe,
        }
    }

    /// A request as a good client makes it, without a token.
    pub(super) fn stranger(&self, method: Method) -> Probe {
        let probe = Probe::new(method, self.target.address(), MCP_PATH)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        let others = self.target.headers().into_iter();
        let others = others.filter(|(name, _)| *name != AUTHORIZATION);
        others.fold(probe, |probe, (name, value)| probe.header(name, value))
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(&self, probe: Probe) -> Result<Answer, NoAnswer> {
        self.send_within(self.timeouts.answer, probe).await
    }

    /// The same with a limit of its own, and with less time for who never answers.
    pub(super) async fn send_within(
        &self,
        limit: Duration,
        probe: Probe,
    ) -> Result<Answer, NoAnswer> {
        let is_known = self.unanswered.get() >= UNANSWERED;
        let limit = if is_known { limit.min(SHORTEST) } else { limit };
        let started = Instant::now();
        let sent = probe.send(limit).await;
        if sent.is_err() && started.elapsed() >= limit {
            self.unanswered.update(|count| count + 1);
        }
        sent
    }

    /// Has a step done, and returns the time limit for its effect.
    pub(super) async fn help(&self, step: &Step) -> Result<Duration, Problem> {
        self.done_or_asked(step).await.map(|(time, _)| time)
    }

    /// The same, and true if it is done already.
    pub(super) async fn done_or_asked(&self, step: &Step) -> Result<(Duration, bool), Problem> {
        if self.is_alone.get() {
            return unchecked("an earlier request to a person was not fulfilled");
        }
        match self.helper.help(step).await {
            Help::Done => Ok((self.timeouts.answer, true)),
            Help::Asked => Ok((self.timeouts.help, false)),
            Help::Nobody(why) => Err(Problem::Unchecked(why)),
            Help::Failed(why) => Err(Problem::Broken(format!("it could not be checked: {why}"))),
        }
    }

    /// Closes what is open there because of us, and removes what was written. Returns false when the companion
    /// did not answer: a view may be open still.
    pub(super) async fn clean_up(&self) -> bool {
        let are_closed = [self.close_sessions().await, self.close_clients().await];
        self.names.sweep();
        are_closed == [true, true]
    }

    /// The request was not fulfilled: it is not repeated.
    pub(super) fn nobody_came(&self) {
        self.is_alone.set(true);
    }
}

/// The first workspace root that there is, or the temporary directory: where proposed files would
/// lie.
fn folder(target: &Target) -> PathBuf {
    let mut roots = target.roots().into_iter();
    let root = roots.find(|root| root.is_absolute() && root.is_dir());
    root.unwrap_or_else(|| target.environment.tmpdir())
}
