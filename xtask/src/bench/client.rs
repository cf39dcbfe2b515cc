//! The client: one Node process that speaks to all servers, which gets commands line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The time limit for one command; the longest takes a fifth of it on a slow machine.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(300);

/// The client's process. Dropping it kills it.
#[derive(Debug)]
pub struct Client {
    child: Child,
    to: ChildStdin,
    from: crossbeam_channel::Receiver<String>,
}

impl Client {
    pub fn start(node: &Path) -> Result<Self> {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/client.mjs");
        let mut child = Command::new(node)
            .arg(source)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the client did not start")?;
        let to = child.stdin.take().context("no pipe to the client")?;
        let out = child.stdout.take().context("no pipe from the client")?;
        let (sender, from) = crossbeam_channel::unbounded();
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, to, from })
    }

    /// Has the client do something, and reads what came out.
    pub fn ask<T: DeserializeOwned>(&mut self, command: &Value) -> Result<T> {
        let doing = || format!("the client, at {}", command["do"]);
        writeln!(self.to, "{command}").with_context(doing)?;
        let line = self.from.recv_timeout(CLIENT_TIMEOUT).map_err(|_| {
            anyhow!("it ended, or did not answer for {CLIENT_TIMEOUT:?}").context(doing())
        })?;
        serde_json::from_str(&line).with_context(doing)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Either fails only when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
