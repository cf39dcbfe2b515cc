//! An agent without a screen or a Node: the project's own client. For speed, beside the real ones.

use std::cell::RefCell;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::client::{Client, ClientError, Update, Updates};
use pillion_protocol::claude::LockFile;
use pillion_protocol::copilot;
use pillion_protocol::dialect::FileName;
use pillion_protocol::{Dialect, DiscoveryFile, IdeContext};
use tokio::runtime::Runtime;

use crate::barrier::{check_pending, reject};
use crate::{Home, SOON, pause};

/// A connected agent.
#[derive(Debug)]
pub struct TestAgent {
    runtime: Runtime,
    client: Arc<Client>,
    updates: Updates,
    /// The file of the last proposal.
    proposed: RefCell<PathBuf>,
}

/// A call of an agent that is under way, while the test answers as the editor.
#[derive(Debug)]
pub struct Call<T>(JoinHandle<Result<T, ClientError>>);

/// The result of waiting for an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// This came.
    Outcome(Update),
    /// Nothing came in time.
    Nothing,
    /// The companion has ended the event stream, or its process is gone.
    End,
}

impl TestAgent {
    /// Connects to the companion of a discovery file.
    pub fn connect(path: &Path) -> TestAgent {
        let file = discovery_file(path);
        let (port, token) = (file.port, file.auth_token);
        let token = token.expect("the file holds a token (C2.4)");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        let (client, updates) = runtime
            .block_on(Client::connect(port, token))
            .unwrap_or_else(|error| panic!("cannot connect to port {port}: {error}"));
        TestAgent {
            runtime,
            client: Arc::new(client),
            updates,
            proposed: RefCell::default(),
        }
    }

    /// Waits until a companion in this home has published itself to this agent, and connects.
    pub fn find(home: &Home, dialect: Dialect) -> TestAgent {
        let started = Instant::now();
        loop {
            if let Some(file) = discovery_files(home, dialect).first() {
                return TestAgent::connect(file);
            }
            assert!(started.elapsed() < SOON, "no companion was published");
            pause(started);
        }
    }

    /// Proposes a text for a file. Returns when the companion says that it is shown.
    pub fn propose(&self, path: impl AsRef<Path>, content: &str) {
        self.try_propose(path, content)
            .unwrap_or_else(|error| panic!("openDiff failed: {error}"));
    }

    /// The same, if it may fail.
    pub fn try_propose(&self, path: impl AsRef<Path>, content: &str) -> Result<(), ClientError> {
        self.proposed.replace(path.as_ref().to_owned());
        let path = path.as_ref().to_str().expect("agents send UTF-8 only");
        self.runtime.block_on(self.client.open_diff(path, content))
    }

    /// Closes the diff of a file, as agents do when the person answers in their own window. The
    /// text as it stood in the view.
    pub fn close(&self, path: impl AsRef<Path>) -> Result<String, ClientError> {
        let path = path.as_ref().to_str().expect("agents send UTF-8 only");
        self.runtime.block_on(self.client.close_diff(path))
    }

    /// Begins to propose a text for a file.
    pub fn proposing(&self, path: &str, content: &str) -> Call<()> {
        self.proposed.replace(path.into());
        let client = Arc::clone(&self.client);
        let (path, content) = (path.to_owned(), content.to_owned());
        Call::start(move || async move { client.open_diff(&path, &content).await })
    }

    /// Begins to close the diff of a file.
    pub fn closing(&self, path: &str) -> Call<String> {
        let (client, path) = (Arc::clone(&self.client), path.to_owned());
        Call::start(move || async move { client.close_diff(&path).await })
    }

    /// The next update that is not a context.
    pub fn outcome(&mut self) -> Update {
        self.next(|update| !matches!(update, Update::Context(_)))
    }

    /// The next update that is not a context, if one comes in time and the companion stays.
    pub fn hear(&mut self, during: Duration) -> Heard {
        let outcome = async {
            loop {
                match self.updates.next().await {
                    Some(Update::Context(_)) => {}
                    Some(outcome) => return Heard::Outcome(outcome),
                    None => return Heard::End,
                }
            }
        };
        let outcome = async { tokio::time::timeout(during, outcome).await };
        self.runtime.block_on(outcome).unwrap_or(Heard::Nothing)
    }

    /// The next context for which `wanted` holds; as the companion sent it.
    pub fn context(&mut self, wanted: impl Fn(&IdeContext) -> bool) -> IdeContext {
        let update = self.next(|update| matches!(update, Update::Context(it) if wanted(it)));
        let Update::Context(context) = update else {
            unreachable!("only a context was wanted")
        };
        context
    }

    /// The next update for which `wanted` holds.
    ///
    /// # Panics
    /// With what came instead, when none came soon.
    pub fn next(&mut self, wanted: impl Fn(&Update) -> bool) -> Update {
        let mut skipped = Vec::new();
        let next = async {
            loop {
                let update = self.updates.next().await.expect("the stream is open");
                if wanted(&update) {
                    return update;
                }
                skipped.push(update);
            }
        };
        let next = async { tokio::time::timeout(SOON, next).await };
        match self.runtime.block_on(next) {
            Ok(update) => update,
            Err(_) => panic!("the expected update did not come, but {skipped:#?}"),
        }
    }

    /// Checks that nothing was decided about the last proposal, now that everything which the person did before has been
    /// handled: it is pending, and nothing but contexts has come.
    ///
    /// # Errors
    /// What is pending, or what has come.
    #[track_caller]
    pub fn check_pending(&mut self, home: &Home) -> Result<(), String> {
        check_pending(home, &*self.proposed.borrow())?;
        match self.hear(Duration::ZERO) {
            Heard::Nothing => Ok(()),
            heard => Err(format!("this has come: {heard:?}")),
        }
    }

    /// Checks that no outcome is on its way which it has not taken: it proposes a text for another file, a command of this
    /// `pillion` rejects that, and the next outcome is this rejection.
    ///
    /// # Errors
    /// What came before.
    #[track_caller]
    pub fn check_heard_all(
        &mut self,
        home: &Home,
        pillion: impl AsRef<Path>,
    ) -> Result<(), String> {
        let other = home.workspace().join("proposed after everything else.txt");
        self.propose(&other, "after everything else\n");
        reject(home, pillion.as_ref(), &other);
        let path = other.display().to_string();
        match self.outcome() {
            Update::DiffRejected { path: rejected } if rejected == path => Ok(()),
            earlier => Err(format!("this came before: {earlier:?}")),
        }
    }

    /// Ends the session.
    pub fn disconnect(self) {
        let client = Arc::into_inner(self.client).expect("no call is under way");
        self.runtime
            .block_on(client.disconnect())
            .expect("the companion is there");
    }
}

impl<T: Send + 'static> Call<T> {
    pub(crate) fn start<F>(call: impl FnOnce() -> F + Send + 'static) -> Call<T>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        Call(thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be made");
            runtime.block_on(call())
        }))
    }

    /// Waits for the answer, but no longer than this, and returns true if it has come.
    pub fn is_answered_within(&self, time: Duration) -> bool {
        let started = Instant::now();
        while started.elapsed() < time {
            if self.0.is_finished() {
                return true;
            }
            pause(started);
        }
        false
    }

    /// Checks that nothing was decided about this call, which proposes a text for the file, now that everything which the
    /// person did before has been handled.
    ///
    /// # Errors
    /// What is pending instead, or that it has an answer.
    #[track_caller]
    pub fn check_pending(&self, home: &Home, path: &Path) -> Result<(), String> {
        check_pending(home, path)?;
        match self.0.is_finished() {
            true => Err("the call has an answer".to_owned()),
            false => Ok(()),
        }
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// The error that the agent gets.
    ///
    /// # Panics
    /// If there is none in time.
    #[track_caller]
    pub fn end(self) -> Result<T, String> {
        assert!(self.is_answered_within(SOON), "the call has no answer");
        let answer = self.0.join().expect("the call does not panic");
        answer.map_err(|error| error.to_string())
    }
}

/// The discovery files of this agent in this home, at the specified place (C2.2).
pub fn discovery_files(home: &Home, dialect: Dialect) -> Vec<PathBuf> {
    let folder = home.tmp().join(dialect.name()).join("ide");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            // Gemini's folder holds files for old releases of Qwen Code, too.
            name.is_some_and(|name| name.starts_with(dialect.name()) && name.ends_with(".json"))
        })
        .collect();
    files.sort();
    files
}

/// Reads a discovery file, be it Claude Code's lock file.
pub fn discovery_file(path: &Path) -> DiscoveryFile {
    let bytes = std::fs::read(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let file = serde_json::from_slice(&bytes).or_else(|error| {
        let name = path.file_name().and_then(|name| name.to_str());
        let port = FileName::PortLock.port_in(name.unwrap_or_default());
        // Claude Code's may lack every field.
        let read = |port| match serde_json::from_slice::<copilot::LockFile>(&bytes) {
            Ok(lock) => Ok(lock.into_discovery_file(port)),
            Err(_) => {
                let lock: LockFile = serde_json::from_slice(&bytes)?;
                Ok(lock.into_discovery_file(port))
            }
        };
        port.map_or(Err(error), read)
    });
    file.unwrap_or_else(|error| panic!("{} is no discovery file: {error}", path.display()))
}
