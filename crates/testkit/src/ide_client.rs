//! The agents' own companion client (`IdeClient` of Gemini CLI's library) without a screen or a
//! model: what it sends and receives, to the byte. Driven through `npm/ide-client.mjs`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use serde_json::{Value, json};

use crate::{Env, Home, Npm, SOON};

/// The real client in a Node of its own. Killed on drop.
#[derive(Debug)]
pub struct IdeClient {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    /// Came while something else was waited for.
    kept: VecDeque<Value>,
    next_id: u64,
}

/// A diff that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffHandle(u64);

/// The outcome of a diff, as the agent sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted with this text; none if the agent settled it itself and was given none back.
    Accepted(Option<String>),
    /// Rejected.
    Rejected,
    /// `openDiff` itself failed, for this reason.
    Failed(String),
}

impl IdeClient {
    /// Starts it in `cwd` with `home`'s environment and waits until it has connected.
    ///
    /// # Panics
    /// If it cannot connect; the reason is the client's own.
    pub fn start(home: &Home, cwd: &Path) -> IdeClient {
        let mut client = IdeClient::start_unconnected(home, cwd, &Env::default());
        let status = client.connect();
        assert_eq!(
            status["status"], "connected",
            "the client could not connect: {status}"
        );
        assert_eq!(
            status["diffing"], true,
            "the client found no diff tools: {status}"
        );
        client
    }

    /// Starts it without connecting, with `more` environment variables.
    pub fn start_unconnected(home: &Home, cwd: &Path, more: &Env) -> IdeClient {
        // In a container it would dial another host than this one.
        let mut env = home.env().with("REMOTE_CONTAINERS", "1");
        for (name, value) in more.iter() {
            env.set(name, value);
        }
        IdeClient::start_with(cwd, env)
    }

    /// Starts it without connecting, with this environment and its PATH.
    pub fn start_with(cwd: &Path, mut env: Env) -> IdeClient {
        let npm = Npm::from_env();
        npm.add_to(&mut env);
        let mut child = Command::new(npm.node())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/ide-client.mjs"))
            .arg(npm.package("@google/gemini-cli-core"))
            .current_dir(cwd)
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the pinned node runs");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = child.stdout.take().expect("it is piped");
        let (sender, messages) = unbounded();
        std::thread::spawn(move || read(stdout, &sender));
        IdeClient {
            child,
            stdin,
            messages,
            kept: VecDeque::new(),
            next_id: 1,
        }
    }

    /// Connects, or connects again. `{status, details, diffing}`: what the client says of itself.
    pub fn connect(&mut self) -> Value {
        self.send(&json!({ "do": "connect" }));
        self.wait("an answer to connect", SOON, |m| m["is"] == "connected")
    }

    /// Asks for a diff and does not wait: a second one waits in the client for the first one's
    /// outcome.
    pub fn open_diff(&mut self, path: impl AsRef<Path>, text: &str) -> DiffHandle {
        let diff = self.id();
        let path = path.as_ref();
        self.send(&json!({ "do": "open", "diff": diff, "path": path, "text": text }));
        DiffHandle(diff)
    }

    /// Waits for what became of a diff.
    ///
    /// # Panics
    /// With all that the client printed instead, when `timeout` has passed.
    pub fn outcome(&mut self, diff: DiffHandle, timeout: Duration) -> Outcome {
        let what = format!("the outcome of diff {}", diff.0);
        let mut told = self.wait(&what, timeout, |m| {
            m["is"] == "outcome" && m["diff"] == diff.0
        });
        let text = text(told["text"].take());
        match told["outcome"].as_str() {
            Some("accepted") => Outcome::Accepted(text),
            Some("rejected") => Outcome::Rejected,
            _ => Outcome::Failed(text.unwrap_or_default()),
        }
    }

    /// Calls `closeDiff`; the text it gave back, if it gave one. `quiet` is the flag
    /// `suppressNotification`.
    pub fn close_diff(
        &mut self,
        path: impl AsRef<Path>,
        quiet: bool,
        timeout: Duration,
    ) -> Option<String> {
        let call = self.id();
        let path = path.as_ref();
        self.send(&json!({ "do": "close", "call": call, "path": path, "quiet": quiet }));
        self.closed(call, timeout)
    }

    /// Settles a diff as the agents do when the person answers in the agent's own window. The
    /// outcome is then its [`IdeClient::outcome`].
    pub fn resolve(&mut self, path: impl AsRef<Path>, accepted: bool, timeout: Duration) {
        let call = self.id();
        let path = path.as_ref();
        self.send(&json!({ "do": "resolve", "call": call, "path": path, "accepted": accepted }));
        self.closed(call, timeout);
    }

    /// The next context that arrived: the params of `ide/contextUpdate` after the client's own
    /// rules (C4.8); null when the connection was lost.
    pub fn next_context(&mut self, timeout: Duration) -> Value {
        let mut told = self.wait("a context", timeout, |m| m["is"] == "context");
        told["context"].take()
    }

    /// The next change of the connection: `{status, details}`.
    pub fn next_status(&mut self, timeout: Duration) -> Value {
        self.wait("a change of status", timeout, |m| m["is"] == "status")
    }

    /// Leaves as `/ide disable` and `/quit` do.
    pub fn disconnect(&mut self) {
        self.send(&json!({ "do": "disconnect" }));
    }

    fn closed(&mut self, call: u64, timeout: Duration) -> Option<String> {
        let mut told = self.wait("an answer to closeDiff", timeout, |m| {
            m["is"] == "closed" && m["call"] == call
        });
        text(told["text"].take())
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.stdin
            .write_all(line.as_bytes())
            .expect("the client reads its input");
    }

    fn wait(&mut self, what: &str, timeout: Duration, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + timeout;
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at).expect("it was found there");
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.kept.push_back(message),
                Err(RecvTimeoutError::Timeout) => {
                    panic!(
                        "expected {what} within {timeout:?}; what came instead: {}",
                        self.heard()
                    )
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!(
                        "expected {what}, but the client ended; it had said: {}",
                        self.heard()
                    )
                }
            }
        }
    }

    /// The messages that were printed and not waited for, each cut to fit a line.
    fn heard(&self) -> String {
        let lines = self.kept.iter().map(|message| {
            let cut: String = message.to_string().chars().take(200).collect();
            format!("\n  {cut}")
        });
        lines.collect()
    }
}

impl Drop for IdeClient {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone after the wait.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(stdout: ChildStdout, sender: &Sender<Value>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    while stdout.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let message = serde_json::from_slice(&line).expect("the driver writes JSON lines");
        if sender.send(message).is_err() {
            return;
        }
        line.clear();
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
