//! The real program in a terminal, and what it dials.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pillion_agent::find::{Dial, Transport};
use pillion_testkit::{ClaudeNpm, ClaudeRelease, Env, Model, kill_tree, pause};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

use super::machine::Machine;

/// The number of times that it reads the folder before it is clear that it takes none: twice to clean up, then once in
/// each second.
const LOOKS: usize = 7;

/// A busy machine starts it slowly; it looks for half a minute.
const TIMEOUT: Duration = Duration::from_secs(180);

/// An attempt to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialled {
    pub port: u16,
    pub path: String,
    pub token: Option<String>,
}

impl Dialled {
    /// The dial that `find` expects, in the form of one that was seen.
    pub fn of(dial: &Dial) -> Self {
        let is_websocket = dial.transport == Transport::WebSocket;
        Self {
            port: dial.port,
            path: if is_websocket { "/" } else { "/sse" }.to_owned(),
            token: dial.token.as_ref().map(|token| token.expose().to_owned()),
        }
    }
}

/// Runs the program and returns its first dials, if it dials at all.
pub fn dials(release: ClaudeRelease, machine: &Machine, model: &Model) -> Vec<Dialled> {
    let looks = Looks::at(&machine.lock_folders());
    let _program = Program::start(release, machine, model);
    let started = Instant::now();
    let mut seen = BTreeMap::new();
    loop {
        let dialled = machine.dialled();
        if !dialled.is_empty() {
            return dialled;
        }
        looks.count(&mut seen);
        if seen.values().any(|count| *count >= LOOKS) {
            return machine.dialled();
        }
        assert!(
            started.elapsed() < TIMEOUT,
            "it neither dials nor looks: {seen:?}\n{}",
            machine.listing()
        );
        pause(started);
    }
}

/// Ends with the value.
struct Program(Child);

impl Program {
    fn start(release: ClaudeRelease, machine: &Machine, model: &Model) -> Self {
        let mut base = Env::default().with("PATH", "/usr/local/bin:/usr/bin:/bin");
        for (name, value) in machine.variables() {
            base.set(name, value);
        }
        let env = release
            .env(base, model)
            .with("TERM", "xterm-256color")
            .with("LANG", "C.UTF-8")
            .with("SHELL", "/bin/sh");
        let claude = ClaudeNpm::from_env().bin(release).join("claude");
        let command = format!(
            "exec '{}' --ide --permission-mode default",
            claude.display()
        );
        // A terminal whose program is a descendant of this process.
        let child = Command::new("script")
            .args(["-qfc", &command, "/dev/null"])
            .current_dir(machine.folder())
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is `script`");
        Self(child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        kill_tree(self.0.id());
        let _ = self.0.wait();
    }
}

/// The watches that count how often folders are read.
struct Looks(OwnedFd);

impl Looks {
    fn at(folders: &[impl AsRef<Path>]) -> Self {
        let queue = inotify::init(CreateFlags::NONBLOCK).unwrap();
        for folder in folders {
            inotify::add_watch(&queue, folder.as_ref(), WatchFlags::ACCESS).unwrap();
        }
        Self(queue)
    }

    /// Counts how often each folder itself was read.
    fn count(&self, seen: &mut BTreeMap<i32, usize>) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.0, &mut buffer);
        while let Ok(event) = reader.next() {
            if event.events().contains(ReadFlags::ISDIR) {
                *seen.entry(event.wd()).or_default() += 1;
            }
        }
    }
}
