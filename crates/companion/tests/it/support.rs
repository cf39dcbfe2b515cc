//! A companion of the test's own: hermetic, with a stand-in editor that the test answers for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pillion_companion::Companion;
use pillion_discovery::{CompanionState, Environment, state};
use pillion_protocol::claude::LockFile;
use pillion_protocol::copilot;
use pillion_protocol::dialect::Protocol;
use pillion_protocol::{Dialect, DiscoveryFile, IdeInfo, Outcome, Token, Verdict};
use pillion_system::lock;
use pillion_testkit::client::{Client, Update, Updates};
use pillion_view::ask::{Ask, DiffRef, Diffs, Focus, GetDiff, PendingDiff};
use pillion_view::{
    By, ClientError, CloseReason, Decide, Diff, DiffId, Editor, EditorEvent, Handle, OpenFile,
    Options, ProposalKey, Proposed, Reply, Ruling, Status,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::insisting::insist;

/// Longer than anything that is awaited here takes.
pub const SOON: Duration = Duration::from_secs(120);

/// A companion stops within a second where nothing else runs; nothing that it waits for takes so long.
pub const STOPS: Duration = Duration::from_secs(10);

pub struct TestCompanion {
    pub companion: Companion,
    pub handle: Handle,
    pub editor: StandIn,
    pub environment: Environment,
    pub folder: Arc<TempDir>,
}

/// The test's end of the stand-in editor.
pub struct StandIn {
    asked: mpsc::UnboundedReceiver<EditorEvent>,
    /// The text that stands in each view, if it was edited there; none if the editor does not tell.
    pub standing: Arc<Mutex<Option<String>>>,
    pub status: mpsc::UnboundedReceiver<Status>,
}

/// An editor that the test answers for.
pub fn stand_in() -> (impl Editor, StandIn) {
    let (asked_sender, asked) = mpsc::unbounded_channel();
    let (status_sender, status) = mpsc::unbounded_channel();
    let standing = Arc::<Mutex<Option<String>>>::default();
    let text = Arc::clone(&standing);
    let editor = move |event: EditorEvent| match event {
        EditorEvent::Status(status) => drop(status_sender.send(status)),
        EditorEvent::Text(_, told) => {
            if let Some(text) = &*lock(&text) {
                told.done(text.clone());
            }
        }
        // It shows nothing as a file.
        EditorEvent::Shared(_) | EditorEvent::Draft(..) | EditorEvent::Notes(..) => {}
        // Its attachment says the same.
        EditorEvent::Moved(_) => {}
        event => drop(asked_sender.send(event)),
    };
    let stand_in = StandIn {
        asked,
        standing,
        status,
    };
    (editor, stand_in)
}

impl StandIn {
    pub async fn next(&mut self) -> EditorEvent {
        self.next_in(SOON).await
    }

    pub async fn next_in(&mut self, time: Duration) -> EditorEvent {
        let asked = timeout(time, self.asked.recv()).await;
        asked.expect("the editor is asked something").unwrap()
    }

    /// The next proposal, shown.
    pub async fn show(&mut self) -> Diff {
        match self.next().await {
            EditorEvent::Open(diff, shown) => {
                shown.done(());
                diff
            }
            other => panic!("expected an open_diff, not {other:?}"),
        }
    }

    /// This stands in its views from now on.
    pub fn stands(&self, text: &str) {
        *lock(&self.standing) = Some(text.to_owned());
    }

    /// The next view to close, which holds `text`.
    pub async fn close(&mut self, text: &str) -> (DiffId, CloseReason) {
        match self.next().await {
            EditorEvent::Close(id, reason, closed) => {
                closed.done(text.to_owned());
                (id, reason)
            }
            other => panic!("expected a close_diff, not {other:?}"),
        }
    }

    pub fn is_idle(&mut self) -> bool {
        self.asked.try_recv().is_err()
    }
}

impl TestCompanion {
    pub fn start() -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()))
    }

    /// Starts in a folder that the test prepared: `tmp`, `home` and `run` are made in it.
    pub fn start_in(folder: Arc<TempDir>) -> Self {
        let root = folder.path().canonicalize().unwrap();
        Self::start_in_root(folder, root)
    }

    /// The same with this folder as its workspace.
    pub fn start_in_root(folder: Arc<TempDir>, root: PathBuf) -> Self {
        Self::start_with(folder, root, &[])
    }

    /// The same with these variables, too.
    pub fn start_with(folder: Arc<TempDir>, root: PathBuf, more: &[(&str, PathBuf)]) -> Self {
        let environment = environment_with(folder.path(), more);
        let options = Options {
            environment: environment.clone(),
            editor_pid: std::process::id(),
            ide: IdeInfo::new("test", "Test"),
            roots: vec![root],
            shows: Default::default(),
        };
        let (editor, stand_in) = stand_in();
        let companion = Companion::start(options, editor).unwrap();
        Self {
            handle: companion.handle(),
            companion,
            editor: stand_in,
            environment,
            folder,
        }
    }

    /// The person decides, as a view tells that cannot know what they saw, and the companion carries it out.
    pub async fn decide(&self, diff: &Diff, outcome: Outcome) {
        assert_eq!(self.ruling(diff, outcome).await, Ruling::Settled(None));
    }

    /// Returns the companion's ruling about a decision.
    pub async fn ruling(&self, diff: &Diff, outcome: Outcome) -> Ruling {
        self.rule(Decide::blind(diff.key(), outcome)).await
    }

    /// The same, of any.
    pub async fn rule(&self, decide: Decide) -> Ruling {
        let (sender, ruling) = oneshot::channel();
        insist(&self.handle, decide, |ruling| drop(sender.send(ruling)));
        timeout(SOON, ruling).await.expect("a ruling").unwrap()
    }

    /// The same the first time that it is asked.
    pub async fn first_ruling(&self, diff: &Diff, outcome: Outcome) -> Ruling {
        let (sender, ruling) = oneshot::channel();
        let reply = Reply::new(move |ruling: Result<_, _>| drop(sender.send(ruling.unwrap())));
        self.handle.ask(Decide::blind(diff.key(), outcome), reply);
        timeout(SOON, ruling).await.expect("a ruling").unwrap()
    }

    pub fn path(&self, name: &str) -> String {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        path.to_str().unwrap().to_owned()
    }

    /// A file on disk.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns the discovery file that an agent finds.
    pub fn discovery_file(&self, dialect: Dialect) -> DiscoveryFile {
        let place = dialect.places()[0];
        let name = place.name.of(std::process::id(), self.companion.port());
        let path = self.environment.directory(&place).join(&name);
        let content = fs::read(path).unwrap();
        match dialect.protocol() {
            Protocol::Companion => serde_json::from_slice(&content).unwrap(),
            Protocol::Claude => {
                let file: LockFile = serde_json::from_slice(&content).unwrap();
                file.into_discovery_file(place.name.port_in(&name).unwrap())
            }
            Protocol::Hooks => panic!("it has no file"),
            Protocol::Copilot => {
                let file: copilot::LockFile = serde_json::from_slice(&content).unwrap();
                file.into_discovery_file(place.name.port_in(&name).unwrap())
            }
        }
    }

    pub fn token(&self, dialect: Dialect) -> Token {
        let agent = match dialect {
            // It presents what it finds in Claude Code's files.
            Dialect::OpenCode => Dialect::ClaudeCode,
            agent => agent,
        };
        self.discovery_file(agent).auth_token.unwrap()
    }

    pub fn commands(&self) -> Commands {
        Commands(pillion_view::Client::new(&self.state()).unwrap())
    }

    pub fn state(&self) -> CompanionState {
        let port = self.companion.port();
        let mut running = state::list(&self.environment).into_iter();
        running.find(|state| state.port == port).unwrap()
    }

    pub async fn connect(&self, dialect: Dialect) -> (Client, Updates) {
        let token = self.token(dialect);
        Client::connect(self.companion.port(), token).await.unwrap()
    }

    /// A request to `/mcp` that would be served.
    pub fn request(&self, method: &str, body: &str) -> Request {
        let token = self.token(Dialect::GeminiCli);
        Request {
            port: self.companion.port(),
            line: format!("{method} /mcp"),
            headers: vec![
                ("Host", format!("127.0.0.1:{}", self.companion.port())),
                ("Authorization", format!("Bearer {}", token.expose())),
                ("Accept", "application/json, text/event-stream".to_owned()),
                ("Content-Type", "application/json".to_owned()),
            ],
            body: body.to_owned(),
        }
    }
}

pub fn environment(folder: &Path) -> Environment {
    environment_with(folder, &[])
}

fn environment_with(folder: &Path, more: &[(&str, PathBuf)]) -> Environment {
    let make = |name: &str| -> PathBuf {
        let path = folder.join(name);
        let _ = fs::create_dir(&path);
        path
    };
    let own = [
        ("TMPDIR", make("tmp")),
        ("HOME", make("home")),
        ("XDG_RUNTIME_DIR", make("run")),
    ];
    Environment::from_pairs(own.iter().chain(more).cloned())
}

/// The commands' client, for tests that must not wait for it on their own thread.
#[derive(Clone)]
pub struct Commands(pillion_view::Client);

impl Commands {
    pub async fn diffs(&self) -> Result<Vec<PendingDiff>, ClientError> {
        self.ask(Diffs).await
    }

    pub async fn diff(&self, diff: DiffRef) -> Result<PendingDiff, ClientError> {
        let is_printed = true;
        self.ask(GetDiff { diff, is_printed }).await
    }

    /// The person decides about a proposal by its name.
    pub async fn decide(&self, key: ProposalKey, verdict: Verdict) -> Result<Ruling, ClientError> {
        self.decide_by(key, verdict, false).await
    }

    pub async fn decide_by(
        &self,
        key: ProposalKey,
        verdict: Verdict,
        despite_change: bool,
    ) -> Result<Ruling, ClientError> {
        let (by, base) = (By::Named { despite_change }, None);
        self.ask(Decide {
            key,
            verdict,
            by,
            base,
        })
        .await
    }

    pub async fn focus(&self, file: &OpenFile) -> Result<(), ClientError> {
        self.ask(Focus(file.clone())).await
    }

    pub async fn ask<A: Ask>(&self, ask: A) -> Result<A::Answer, ClientError> {
        let client = self.0.clone();
        spawn_blocking(move || client.ask(ask)).await.unwrap()
    }
}

/// An HTTP request as it goes over the wire, so that it can be as wrong as a test wants.
pub struct Request {
    pub port: u16,
    pub line: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub text: String,
}

impl Request {
    pub fn line(mut self, line: &str) -> Self {
        self.line = line.to_owned();
        self
    }

    /// Sets a header, or takes it away when `value` is empty.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        if !value.is_empty() {
            self.headers.push((name, value.to_owned()));
        }
        self
    }

    pub fn bearer(self, token: &Token) -> Self {
        self.header("Authorization", &format!("Bearer {}", token.expose()))
    }

    pub async fn send(self) -> Response {
        let length = self.body.len().to_string();
        let request = self
            .header("Content-Length", &length)
            .header("Connection", "close");
        request.send_as_is().await
    }

    /// Without a `Content-Length` of its own making.
    pub async fn send_as_is(self) -> Response {
        let mut stream = self.open().await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        Response {
            status: status.unwrap_or_else(|| panic!("no HTTP answer: {answer:?}")),
            text: answer,
        }
    }

    /// Returns all that comes within a while.
    pub async fn read_for(self, time: Duration) -> String {
        let mut stream = self.open().await;
        let mut text = Vec::new();
        let _ = timeout(time, stream.read_to_end(&mut text)).await;
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The connection, with the request sent.
    pub async fn open(&self) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let mut text = format!("{} HTTP/1.1\r\n", self.line);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.write_all(self.body.as_bytes()).await;
        stream
    }
}

impl Response {
    /// A header's value, by its lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":
    {"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;

/// Opens a session by hand; its id.
pub async fn initialize(companion: &TestCompanion) -> String {
    let response = companion.request("POST", INITIALIZE).send().await;
    assert_eq!(response.status, 200, "{response:?}");
    response.header("mcp-session-id").unwrap().to_owned()
}

pub async fn next(updates: &mut Updates) -> Update {
    let update = timeout(SOON, updates.next()).await;
    update
        .expect("an update comes")
        .expect("the stream is open")
}

/// The next status that is wanted.
pub async fn status(test: &mut TestCompanion, wanted: impl Fn(&Status) -> bool) -> Status {
    let found = async {
        loop {
            let status = test.editor.status.recv().await.unwrap();
            if wanted(&status) {
                return status;
            }
        }
    };
    timeout(SOON, found).await.unwrap()
}

/// Skips the context that every stream starts with.
pub async fn next_outcome(updates: &mut Updates) -> Update {
    loop {
        match next(updates).await {
            Update::Context(_) => {}
            outcome => return outcome,
        }
    }
}

/// An event stream read by hand, so that it can be closed at any moment.
pub struct RawStream {
    pub connection: TcpStream,
    pub text: String,
}

impl RawStream {
    /// Opens it, and reads the context that it starts with.
    pub async fn open(companion: &TestCompanion, session: &str) -> Self {
        let request = companion.request("GET", "");
        let request = request.header("Mcp-Session-Id", session);
        let mut stream = Self {
            connection: request.header("Content-Length", "0").open().await,
            text: String::new(),
        };
        stream.read_until("ide/contextUpdate").await;
        stream
    }

    pub async fn read_until(&mut self, wanted: &str) {
        let reading = async {
            while !self.text.contains(wanted) {
                self.connection.readable().await.unwrap();
                assert!(self.read_what_is_there(), "{wanted}: {}", self.text);
            }
        };
        let read = timeout(SOON, reading).await;
        assert!(read.is_ok(), "no {wanted} came");
    }

    /// Returns true if the stream is still open.
    pub fn read_what_is_there(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match self.connection.try_read(&mut bytes) {
                Ok(0) => return false,
                Ok(read) => self.text += &String::from_utf8_lossy(&bytes[..read]),
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
    }
}

/// A process that is no agent, and waits.
pub struct Other(pub std::process::Child);

impl Other {
    pub fn start() -> Self {
        let mut command = std::process::Command::new("sleep");
        Self(command.arg("600").spawn().unwrap())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
