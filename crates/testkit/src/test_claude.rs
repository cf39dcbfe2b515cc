//! Claude Code without a screen or its program: the project's own client of its protocol. For speed,
//! beside the real one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::client::claude::{Answer, Client, Mention, Selection, Update, Updates};
use crate::client::{Address, ClientError};
use pillion_protocol::FileDiagnostics;
use pillion_protocol::claude::LockFile;
use pillion_protocol::claude::tools::CLOSE_ALL_DIFF_TABS;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::test_agent::Call;
use crate::{Home, SOON, pause};

/// A connected agent.
#[derive(Debug)]
pub struct TestClaude {
    runtime: Arc<Runtime>,
    client: Arc<Client>,
    updates: Updates,
    /// Lets the thread end that reads the socket while the test does something else.
    _driven: oneshot::Sender<()>,
}

impl TestClaude {
    /// Waits until a companion in this home has published itself to Claude Code, and connects.
    pub fn find(home: &Home) -> TestClaude {
        let started = Instant::now();
        loop {
            if let Some(file) = lock_files(home).first() {
                return TestClaude::connect(file);
            }
            assert!(started.elapsed() < SOON, "no companion was published");
            pause(started);
        }
    }

    /// Connects to the companion of a lock file.
    pub fn connect(path: &Path) -> TestClaude {
        let bytes = std::fs::read(path).expect("the lock file can be read");
        let file: LockFile = serde_json::from_slice(&bytes).expect("it is a lock file");
        let name = path.file_stem().and_then(|name| name.to_str());
        let port = name.and_then(|name| name.parse::<u16>().ok());
        let address = Address::new(port.expect("its name is the port"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        let runtime = Arc::new(runtime);
        let (driven, is_over) = oneshot::channel::<()>();
        let driver = Arc::clone(&runtime);
        thread::spawn(move || driver.block_on(is_over).ok());
        let connecting = Client::connect_as(address.with_token(file.auth_token), "claude-code");
        let (client, updates) = runtime
            .block_on(connecting)
            .unwrap_or_else(|error| panic!("cannot connect to {}: {error}", path.display()));
        TestClaude {
            runtime,
            client: Arc::new(client),
            updates,
            _driven: driven,
        }
    }

    /// Begins to propose a text for a file, until the person has decided.
    pub fn proposing(&self, path: &Path, contents: &str, tab_name: &str) -> Call<Answer> {
        let client = Arc::clone(&self.client);
        let path = path.to_str().expect("agents send UTF-8 only").to_owned();
        let (contents, tab_name) = (contents.to_owned(), tab_name.to_owned());
        Call::start(move || async move { client.open_diff(&path, &contents, &tab_name).await })
    }

    /// Closes a view by its tab's name.
    ///
    /// # Errors
    /// The companion's reason.
    pub fn close_tab(&self, tab_name: &str) -> Result<(), ClientError> {
        self.runtime.block_on(self.client.close_tab(tab_name))
    }

    /// Closes all views of this connection.
    pub fn close_all(&self) -> String {
        let closed = self.client.call(CLOSE_ALL_DIFF_TABS, json!({}));
        let closed = self.runtime.block_on(closed);
        closed.expect("the companion closes what there is").concat()
    }

    /// The problems that the editor shows.
    pub fn diagnostics(&self, uri: Option<&str>) -> Vec<FileDiagnostics> {
        let found = self.runtime.block_on(self.client.get_diagnostics(uri));
        found.expect("there is always a list")
    }

    /// Begins to ask for them, while the test answers as the editor.
    pub fn asking_diagnostics(&self, uri: Option<&str>) -> Call<Vec<FileDiagnostics>> {
        let client = Arc::clone(&self.client);
        let uri = uri.map(str::to_owned);
        Call::start(move || async move { client.get_diagnostics(uri.as_deref()).await })
    }

    /// Waits for a selection as wanted.
    pub fn selection(&mut self, wanted: impl Fn(&Selection) -> bool) -> Selection {
        self.next(|update| match update {
            Update::Selection(selection) if wanted(&selection) => Ok(selection),
            other => Err(other),
        })
    }

    /// Waits for the next mention.
    pub fn mention(&mut self) -> Mention {
        self.next(|update| match update {
            Update::Mention(mention) => Ok(mention),
            other => Err(other),
        })
    }

    fn next<T>(&mut self, wanted: impl Fn(Update) -> Result<T, Update>) -> T {
        let mut passed = Vec::new();
        let next = async {
            loop {
                let update = self.updates.next().await.expect("the connection is open");
                match wanted(update) {
                    Ok(found) => return found,
                    Err(other) => passed.push(other),
                }
            }
        };
        let found = self
            .runtime
            .block_on(async { tokio::time::timeout(SOON, next).await });
        found.unwrap_or_else(|_| panic!("the expected update did not come, but {passed:#?}"))
    }
}

/// The lock files in this home, of every companion that serves Claude Code.
pub fn lock_files(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.home().join(".claude/ide"));
    let entries = entries.into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "lock"))
        .collect();
    files.sort();
    files
}
