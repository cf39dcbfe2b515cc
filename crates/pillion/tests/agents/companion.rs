//! A headless companion (`pillion serve`), and the commands that steer any companion.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

pub use pillion_testkit::SOON;
use pillion_testkit::{Home, pause};
use serde_json::Value;

/// The command under test.
pub const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// A running `pillion serve` for the home's workspace. Killed on drop.
#[derive(Debug)]
pub struct Serve {
    child: Child,
    ready: Value,
    /// Open for as long as it runs.
    _stdin: ChildStdin,
}

/// A diff that waits for the reviewer.
#[derive(Debug, Clone)]
pub struct Pending {
    /// As `accept` takes it: `1.1`.
    pub name: String,
    pub path: String,
}

impl Serve {
    /// Starts it and waits until agents can find it.
    pub fn start(home: &Home) -> Serve {
        // In its own process, so that two in one folder are two, and one can be killed.
        let mut child = command(home, ["serve"])
            .env("PILLION_HUB", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command under test runs");
        let stdin = child.stdin.take().expect("it is piped");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped"))
            .read_line(&mut line)
            .expect("it says when it is ready");
        let ready = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("expected a JSON line, not {line:?}: {error}"));
        Serve {
            child,
            ready,
            _stdin: stdin,
        }
    }

    /// Ends it by a signal.
    pub fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        let ended = self.child.wait().expect("it runs");
        assert!(ended.success(), "{ended}");
    }

    /// Its port.
    pub fn port(&self) -> u64 {
        self.ready["port"].as_u64().expect("it is a number")
    }

    /// The diffs that wait at this one.
    pub fn pending(&self, home: &Home) -> Vec<Pending> {
        let port = self.port().to_string();
        pending_at(home, &["--port", &port])
    }

    /// The address that agents dial.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.ready["port"])
    }

    /// The token that Gemini CLI would use, from its discovery file.
    pub fn token(&self) -> String {
        let files = self.ready["files"].as_array().expect("it lists its files");
        let file = files
            .iter()
            .filter_map(Value::as_str)
            .find(|file| file.contains("gemini-ide-server-"))
            .expect("Gemini CLI has a file");
        let file = fs::read(file).expect("the file is there");
        let file: Value = serde_json::from_slice(&file).expect("it holds JSON (C2.4)");
        file["authToken"].as_str().expect("it has one").to_owned()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone after the wait.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `pillion` with these arguments, in the home's workspace.
pub fn command<S: AsRef<OsStr>>(home: &Home, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(PILLION);
    command
        .args(args)
        .current_dir(home.workspace())
        .env_clear()
        .envs(home.env().iter());
    command
}

/// Runs such a command to its end. Returns what it printed.
pub fn run<S: AsRef<OsStr>>(home: &Home, args: impl IntoIterator<Item = S>) -> Vec<u8> {
    let mut command = command(home, args);
    let output = command.output().expect("the command under test runs");
    assert!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// The bytes of all files below a folder.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is a folder") {
            let path = entry.expect("it is an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(all.insert(path.clone(), fs::read(path).expect("it is a file"))),
            }
        }
    }
    all
}

/// The diffs that wait, as `pillion diffs` lists them.
pub fn pending(home: &Home) -> Vec<Pending> {
    pending_at(home, &[])
}

/// The same at the companion that these options name.
pub fn pending_at(home: &Home, target: &[&str]) -> Vec<Pending> {
    let args = ["diffs", "--json"].iter().chain(target);
    let listed: Value = serde_json::from_slice(&run(home, args)).expect("it prints JSON");
    let text = |diff: &Value, name: &str| diff[name].as_str().expect("it is a text").to_owned();
    let diffs = listed.as_array().expect("it prints an array").iter();
    diffs
        .map(|diff| Pending {
            name: text(diff, "diff"),
            path: text(diff, "path"),
        })
        .collect()
}

/// The proposed text of a diff that waits, as `pillion diffs NAME` prints it.
pub fn proposed(home: &Home, name: &str) -> String {
    let text = run(home, ["diffs", name]);
    String::from_utf8(text).expect("it is text")
}

/// Waits until exactly one diff waits, for this path.
pub fn wait_pending(home: &Home, path: &Path) -> Pending {
    let diffs = wait_until("one pending diff", || {
        let diffs = pending(home);
        (diffs.len() == 1).then_some(diffs)
    });
    assert_eq!(Path::new(&diffs[0].path), path);
    diffs[0].clone()
}

/// Waits until no diff waits.
pub fn wait_none_pending(home: &Home) {
    wait_until("no pending diff", || pending(home).is_empty().then_some(()));
}

/// `pillion accept NAME`, with a text other than the one in the view if `content` is a file.
pub fn accept(home: &Home, name: &str, content: Option<&Path>) {
    let mut args = vec!["accept".to_owned(), name.to_owned()];
    if let Some(file) = content {
        args.extend(["--content-file".to_owned(), file.display().to_string()]);
    }
    let started = Instant::now();
    loop {
        let accepted = command(home, &args).output().expect("it runs");
        let said = String::from_utf8_lossy(&accepted.stderr);
        // As a person who is asked whether they mean it, and has read that.
        if !said.contains("accept again to go ahead") || started.elapsed() > SOON {
            assert!(accepted.status.success(), "{args:?}: {said}");
            return;
        }
    }
}

/// Waits until `look` finds something; `what` says in words what.
///
/// # Panics
/// When [`SOON`] has passed.
pub fn wait_until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < SOON, "expected {what} within {SOON:?}");
        pause(started);
    }
}
