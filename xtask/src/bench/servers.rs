//! The servers that are compared, each a process of its own in a home of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use pillion_discovery::socket::Address;
use pillion_discovery::{Environment, state};
use pillion_protocol::IdeInfo;
use pillion_view::hub::wire::{Attach, FromView};
use pillion_view::{Options, Shows};
use serde_json::{Value, json};

/// The time limit for the start of a server.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The time limit for the end of Pillion's hub.
const END_TIMEOUT: Duration = Duration::from_secs(5);

const TOKEN: &str = "benchmark";

/// The servers that are compared: pillion with the least that is possible and with what is usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pillion,
    Floor,
    Reference,
    /// Pillion's companion with a front end that decides at once.
    Decider,
}

impl Kind {
    /// Those that are compared in the table of the companion.
    pub const ALL: [Self; 3] = [Self::Pillion, Self::Floor, Self::Reference];

    /// Its name in tables and for the client.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pillion => "pillion",
            Self::Floor => "floor",
            Self::Reference => "reference",
            Self::Decider => "decider",
        }
    }
}

/// The programs to compare, and a folder for what they write.
#[derive(Debug)]
pub struct Programs {
    pub pillion: PathBuf,
    /// This one, which has the floor and the decider in it.
    pub xtask: PathBuf,
    pub node: PathBuf,
    /// The reference's source, beside the packages that it imports.
    pub reference: PathBuf,
    pub scratch: PathBuf,
}

/// A running server. Dropping it kills the process.
#[derive(Debug)]
pub struct Server {
    pub kind: Kind,
    /// From before the process was made until it reports that it listens.
    pub ready: Duration,
    child: Child,
    /// The process that hosts Pillion's companion.
    hub: Option<u32>,
    target: Value,
}

impl Programs {
    /// The program whose size counts.
    pub fn executable(&self, kind: Kind) -> &Path {
        match kind {
            Kind::Pillion => &self.pillion,
            Kind::Floor | Kind::Decider => &self.xtask,
            Kind::Reference => &self.node,
        }
    }

    /// The workspace, and a file in it.
    pub fn workspace(&self) -> (PathBuf, PathBuf) {
        let workspace = self.scratch.join("workspace");
        let file = workspace.join("settings.ts");
        (workspace, file)
    }

    /// Creates the servers' folders, empty.
    pub fn prepare(&self) -> Result<()> {
        let _ = fs::remove_dir_all(&self.scratch);
        let (workspace, file) = self.workspace();
        for folder in [&workspace, &self.home(), &self.runtime()] {
            fs::create_dir_all(folder).context("cannot make the folders of a benchmark")?;
        }
        fs::write(file, "export {};\n").context("cannot write a file to change")
    }

    /// Starts a server and waits until it listens.
    pub fn start(&self, kind: Kind) -> Result<Server> {
        let mut command = self.command(kind);
        let start = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("{} did not start", kind.name()))?;
        let line = first_line(&mut child);
        let ready = start.elapsed();
        let mut server = Server {
            kind,
            ready,
            child,
            hub: None,
            target: Value::Null,
        };
        let ready = line.with_context(|| format!("{} did not get ready", kind.name()))?;
        let companion = match kind {
            Kind::Pillion => state::list(&self.environment()).pop(),
            _ => None,
        };
        server.hub = companion.as_ref().map(|it| it.pid);
        let address = companion.and_then(|companion| companion.address);
        server.target = self.target(&server, &ready, address)?;
        Ok(server)
    }

    fn command(&self, kind: Kind) -> Command {
        let mut command = Command::new(self.executable(kind));
        match kind {
            Kind::Pillion => command.arg("serve"),
            Kind::Floor => command.arg("bench-floor"),
            Kind::Decider => command.arg("bench-decider"),
            Kind::Reference => command.arg(&self.reference),
        };
        command
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", self.home())
            .env("XDG_RUNTIME_DIR", self.runtime())
            .env("TOKEN", TOKEN)
            .current_dir(self.workspace().0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if matches!(kind, Kind::Floor | Kind::Decider) {
            // As pillion sets it for itself: no page faults for every large request.
            for name in ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"] {
                command.env(name, (16 * 1024 * 1024).to_string());
            }
        }
        command
    }

    /// The facts that the client needs to call a server that printed `ready`.
    fn target(&self, server: &Server, ready: &Value, hub: Option<Address>) -> Result<Value> {
        let port = &ready["port"];
        let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
        let token = match server.kind {
            Kind::Pillion | Kind::Decider => {
                let discovery = ready["files"][0].as_str().context("no discovery file")?;
                field(Path::new(discovery), "authToken")?
            }
            _ => TOKEN.to_owned(),
        };
        let is_floor = server.kind == Kind::Floor;
        let socket = match server.kind {
            Kind::Decider => Some((port, self.lock_token(port)?)),
            Kind::Floor => Some((&ready["websocket"], TOKEN.to_owned())),
            Kind::Pillion | Kind::Reference => None,
        };
        let socket = socket.map(|(port, token)| json!({"url": format!("ws://127.0.0.1:{port}/"), "token": token, "isSized": is_floor}));
        Ok(json!({
            "name": server.kind.name(),
            "url": url("/mcp"),
            "close": is_floor.then(|| url("/close/")),
            "decide": is_floor.then(|| url("/decide/")),
            "socket": socket,
            "token": token,
            "focus": {"url": url("/control/focus"), "token": TOKEN},
            "view": hub.map(|hub| self.view(&hub)).transpose()?,
            "silent": is_floor,
        }))
    }

    /// The message by which the client attaches as one more editor, and the socket for it.
    fn view(&self, hub: &Address) -> Result<Value> {
        let attach = FromView::Attach(Attach::from(Options {
            environment: self.environment(),
            editor_pid: std::process::id(),
            ide: IdeInfo::new("bench", "Benchmark"),
            roots: vec![self.workspace().0],
            shows: Shows::Never,
        }));
        Ok(json!({"socket": hub.path(), "attach": serde_json::to_string(&attach)?}))
    }

    /// The token for Claude Code.
    fn lock_token(&self, port: &Value) -> Result<String> {
        let lock = self.home().join(format!(".claude/ide/{port}.lock"));
        field(&lock, "authToken")
    }

    fn home(&self) -> PathBuf {
        self.scratch.join("home")
    }

    fn runtime(&self) -> PathBuf {
        self.scratch.join("run")
    }

    fn environment(&self) -> Environment {
        Environment::from_pairs([
            ("HOME", self.home()),
            ("TMPDIR", self.home()),
            ("XDG_RUNTIME_DIR", self.runtime()),
        ])
    }
}

impl Server {
    /// Its processes: of Pillion, the view and the hub.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        [self.child.id()].into_iter().chain(self.hub)
    }

    /// The facts by which the client reaches it.
    pub fn target(&self) -> &Value {
        &self.target
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Either fails only when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // It ends with its last view.
        let start = Instant::now();
        while self.hub.is_some_and(pillion_system::process::is_alive)
            && start.elapsed() < END_TIMEOUT
        {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The JSON that a process prints first.
fn first_line(child: &mut Child) -> Result<Value> {
    let out = child.stdout.take().context("no pipe to read from")?;
    let (sender, line) = crossbeam_channel::unbounded();
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(out).read_line(&mut line);
        let _ = sender.send(read.map(|_| line));
    });
    let line = line
        .recv_timeout(START_TIMEOUT)
        .map_err(|_| anyhow!("it printed nothing for {START_TIMEOUT:?}"))??;
    serde_json::from_str(&line).with_context(|| format!("it printed {line:?}"))
}

/// A text in a JSON file.
fn field(path: &Path, name: &str) -> Result<String> {
    let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let content: Value = serde_json::from_slice(&content)?;
    let value = content[name].as_str();
    value
        .map(str::to_owned)
        .with_context(|| format!("no {name}"))
}
