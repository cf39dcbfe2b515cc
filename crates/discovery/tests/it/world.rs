//! A world of its own for each test: directories, companions that listen, companions that died.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pillion_discovery::socket::Address;
use pillion_discovery::{
    CompanionState, DiscoveryFiles, DiscoveryInfo, Environment, Seat, Socket, Tokens,
};
use pillion_protocol::ask::{Answered, ToProgram};
use pillion_protocol::claude::LockFile;
use pillion_protocol::{DiscoveryFile, IdeInfo};
use pillion_system::process;
use rustix::net::{self, AddressFamily, SocketType};
use tempfile::TempDir;

/// Temporary directory, home and runtime directory.
pub struct World {
    root: TempDir,
}

impl World {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["tmp", "home", "run"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub fn environment(&self) -> Environment {
        Environment::from_pairs([
            ("TMPDIR", self.path("tmp")),
            ("HOME", self.path("home")),
            ("XDG_RUNTIME_DIR", self.path("run")),
        ])
    }

    /// Every file in it, relative to it, without those that are in a folder that leads elsewhere.
    pub fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    found.insert(self.relative(&entry.path()));
                }
            }
        }
        found
    }

    pub fn relative(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.root.path()).unwrap();
        below.to_str().unwrap().to_owned()
    }
}

/// A port with a listener, as long as this lives.
pub struct Listener(TcpListener);

impl Listener {
    pub fn new() -> Self {
        Self(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
    }

    pub fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }
}

impl Listener {
    /// The number of dials since this was asked last.
    pub fn dials(&self) -> usize {
        // Comes after all of them.
        let last = TcpStream::connect(self.0.local_addr().unwrap()).unwrap();
        let last = last.local_addr().unwrap();
        let dialled = (0..).take_while(|_| self.0.accept().unwrap().1 != last);
        dialled.count()
    }
}

/// A port with a listener that accepts no connection: as many wait there as may.
pub struct Deaf {
    listener: OwnedFd,
    _waiting: Vec<TcpStream>,
}

impl Deaf {
    pub fn new() -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        net::bind(&listener, &any).unwrap();
        net::listen(&listener, 0).unwrap();
        let mut deaf = Self {
            listener,
            _waiting: Vec::new(),
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, deaf.port()));
        let knock = || TcpStream::connect_timeout(&address, Duration::from_millis(100));
        while let Ok(waiting) = knock() {
            deaf._waiting.push(waiting);
        }
        deaf
    }

    pub fn port(&self) -> u16 {
        let address = net::getsockname(&self.listener).unwrap();
        SocketAddr::try_from(address).unwrap().port()
    }
}

/// Companions that say what they are at a socket, as long as this lives.
pub struct Answering {
    pub address: Address,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Socket>>,
}

impl Answering {
    pub fn start(environment: &Environment, companions: Vec<CompanionState>) -> Self {
        let answer = ToProgram::Answer(Answered {
            request: 1,
            result: Ok(serde_json::to_value(&companions).unwrap()),
        });
        Self::with(environment, serde_json::to_string(&answer).unwrap())
    }

    /// With this line.
    pub fn with(environment: &Environment, answer: String) -> Self {
        let socket = Socket::of_companion(environment).unwrap();
        let address = socket.address().clone();
        let is_over: Arc<AtomicBool> = Arc::default();
        let ends = Arc::clone(&is_over);
        let run = move || {
            loop {
                let mut stream = socket.listener().accept().unwrap();
                if ends.load(Ordering::SeqCst) {
                    return socket;
                }
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                // Who asked may be gone.
                let _ = writeln!(stream, "{answer}");
            }
        };
        Self {
            address,
            is_over,
            thread: Some(thread::spawn(run)),
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if self.address.connect().is_ok() {
            drop(self.thread.take().unwrap().join().unwrap());
        }
    }
}

/// A port that nobody listens on.
pub fn dead_port() -> u16 {
    Listener::new().port()
}

/// The pid of a process that is gone.
pub fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// The announcement of a companion on `port`.
pub fn discovery_info(port: u16) -> DiscoveryInfo {
    DiscoveryInfo {
        companion_pid: std::process::id(),
        port,
        socket: None,
        roots: vec!["/work/a".into(), "/work/b c".into()],
        ide: IdeInfo::new("neovim", "Neovim"),
        tokens: Tokens::generate().unwrap(),
    }
}

/// This test as an editor.
pub fn seats(environment: &Environment) -> Vec<Seat> {
    vec![seat(environment, std::process::id())]
}

pub fn seat(environment: &Environment, editor_pid: u32) -> Seat {
    Seat {
        environment: environment.clone(),
        editor_pid,
    }
}

/// A process, as long as this lives.
pub struct Process(Child);

impl Process {
    pub fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The editor's pid and its ancestors'.
pub fn pids() -> Vec<u32> {
    let own = std::process::id();
    let pids = [vec![own], process::ancestors(own)].concat();
    assert!(pids.len() > 1, "this test needs a parent process");
    pids
}

pub fn publish(world: &World, port: u16) -> DiscoveryFiles {
    publish_in(&world.environment(), port)
}

pub fn publish_in(environment: &Environment, port: u16) -> DiscoveryFiles {
    DiscoveryFiles::publish(seats(environment), discovery_info(port)).unwrap()
}

pub fn read(path: impl AsRef<Path>) -> DiscoveryFile {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The lock file in which Claude Code and opencode look for the companion on this port.
pub fn claude_lock(world: &World, port: u16) -> PathBuf {
    world.path(&format!("home/.claude/ide/{port}.lock"))
}

pub fn is_claudes(path: &Path) -> bool {
    path.to_str().unwrap().contains("/.claude/")
}

pub fn read_lock(path: impl AsRef<Path>) -> LockFile {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

pub fn warnings(discovery_files: &DiscoveryFiles) -> Vec<String> {
    discovery_files
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Returns true if this is root; says what is skipped otherwise.
pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("skipped: only root can make another user's files, and mount");
    }
    is_root
}

/// Runs one test of this binary again, in a shell that first does `prelude`.
pub fn again(test: &str, prelude: &str, variables: &[(&str, &Path)]) {
    let script = format!("{prelude}\nexec \"$0\" --exact {test} --include-ignored --nocapture");
    let mut shell = Command::new("sh");
    if prelude.contains("mount ") {
        // What is mounted there is mounted nowhere else, and gone afterwards.
        shell = Command::new("unshare");
        shell.args(["--mount", "sh"]);
    }
    let output = shell
        .args(["-ec", &script])
        .arg(std::env::current_exe().unwrap())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{script}\n{out}\n{err}");
    assert!(out.contains("1 passed"), "{script}\n{out}\n{err}");
}
