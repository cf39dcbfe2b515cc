//! The way to a Kakoune session: `kak -p`, one script after the other, from a thread of its own. A Kakoune that is
//! busy delays nothing else.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::Sender;
use pillion_system::{Worker, lock};

use crate::disk::Done;

/// The time limit for the last scripts at the end.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// A session. Dropping it waits until it has every script, but not long.
#[derive(Debug)]
pub struct Session {
    name: Arc<Mutex<String>>,
    scripts: Worker<Script>,
}

#[derive(Debug)]
struct Script {
    text: String,
    /// The report when the session has it, or does not take it.
    then: Option<Done>,
    /// The report when it does not take it.
    or: Option<Done>,
}

impl Session {
    /// The session of this name. `done` is notified when it is gone.
    pub fn new(name: &str, done: Sender<Done>) -> io::Result<Self> {
        let name = Arc::new(Mutex::new(name.to_owned()));
        let current = Arc::clone(&name);
        let run = move |Script { text, then, or }| {
            let name = lock(&current).clone();
            let sent = send(&name, &text);
            if let Err(error) = &sent {
                tracing::warn!(%error, "the session does not accept commands");
            }
            let or = or.filter(|_| sent.is_err());
            for report in then.into_iter().chain(or) {
                let _ = done.send(report);
            }
        };
        let scripts = Worker::start("kak -p", FINISH_TIMEOUT, run)?;
        Ok(Self { name, scripts })
    }

    /// Runs commands there, after those of before.
    pub fn run(&self, script: String) {
        self.order(script, None, None);
    }

    /// The same; `then` comes when the session has them, or does not take them.
    pub fn run_then(&self, script: String, then: Done) {
        self.order(script, Some(then), None);
    }

    /// Runs commands there; if the session does not take them, it is gone, which comes as [`Done::Gone`].
    pub fn probe(&self, script: String) {
        self.order(script, None, Some(Done::Gone));
    }

    /// It may be renamed.
    pub fn rename(&self, name: &str) {
        let mut current = lock(&self.name);
        if *current != name {
            name.clone_into(&mut current);
        }
    }

    pub fn name(&self) -> String {
        lock(&self.name).clone()
    }

    fn order(&self, text: String, then: Option<Done>, or: Option<Done>) {
        self.scripts.order(Script { text, then, or });
    }
}

/// Waits as long as the session takes it: a script that was given up might run all the same, and those after it rely
/// on it. What an agent or the person waits for has limits of its own.
fn send(session: &str, script: &str) -> io::Result<()> {
    let mut child = Command::new("kak")
        .args(["-p", session])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes())?;
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("kak -p: {status}")));
    }
    Ok(())
}
