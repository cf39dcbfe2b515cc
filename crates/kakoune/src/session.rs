//! The way to a Kakoune session: `kak -p`, one script after the other, from a thread of its own. A Kakoune that is
//! busy keeps nobody else waiting.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, thread};

use crossbeam_channel::{Sender, unbounded};

/// A session. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Session {
    name: Arc<Mutex<String>>,
    scripts: Sender<String>,
}

impl Session {
    /// The session of this name.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn new(name: &str) -> io::Result<Self> {
        let name = Arc::new(Mutex::new(name.to_owned()));
        let (scripts, received) = unbounded::<String>();
        let current = Arc::clone(&name);
        thread::Builder::new()
            .name("kak -p".to_owned())
            .spawn(move || {
                for script in received {
                    let name = lock(&current).clone();
                    if let Err(error) = send(&name, &script) {
                        tracing::warn!(%error, "the session took no commands");
                    }
                }
            })?;
        Ok(Self { name, scripts })
    }

    /// Runs commands there, after those of before.
    pub fn run(&self, script: String) {
        let _ = self.scripts.send(script);
    }

    /// It may be renamed.
    pub fn rename(&self, name: &str) {
        let mut current = lock(&self.name);
        if *current != name {
            name.clone_into(&mut current);
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        lock(&self.name).clone()
    }

    /// Whether it is there. Waits for it.
    pub fn is_there(&self) -> bool {
        send(&self.name(), "nop").is_ok()
    }
}

fn lock(name: &Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    name.lock().unwrap_or_else(PoisonError::into_inner)
}

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
