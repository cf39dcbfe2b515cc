//! What Kakoune says beside its reports: it starts this program for it, which hands it to the one that serves the session. That
//! knows Kakoune by it: nobody else starts a process as a child of the session's server, and anybody can write files.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use crossbeam_channel::Sender;
use pillion_discovery::FileError;
use pillion_discovery::private_file::{Folder, Listener, Stream};
use pillion_system::{attended, lineage, peer, process, spawn};

use crate::files::INBOX;
use crate::inbox::{self, Received, What};
use crate::quote;

/// The socket's name, beside the reports.
const NAME: &str = "said";

/// Nobody says more at once.
const MAX_SAID: u64 = 1200 << 20;

/// The time limit for saying it, and for its being heard: Kakoune waits for that.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

const NOT_KAKOUNE: &str = "only the Kakoune of this session says what is typed in it";

/// The session's server. It may go on as another process, which has the sockets at which others connect to it.
#[derive(Debug)]
pub struct Server {
    pid: u32,
    started_at: Option<u64>,
    sockets: Vec<u64>,
}

impl Server {
    /// The server that is this process now.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            started_at: process::started_at(pid),
            sockets: attended::listening(pid),
        }
    }

    /// Returns false if it is gone, and nothing tells which process it is now.
    pub fn is_known(&self) -> bool {
        !peer::is_shown() || self.started_at.is_some()
    }

    /// Whether it has started what is at the other end of this connection, and nothing in between.
    fn has_started(&self, other: &Stream) -> bool {
        if !peer::is_shown() {
            return true;
        }
        let started = || {
            let parent = lineage::kin(peer::process(other)?)?.process.parent;
            let is_first = || parent == self.pid && process::started_at(parent) == self.started_at;
            Some(is_first() || attended::holds(parent, &self.sockets))
        };
        // Its number was its own until now, or what was found may be another's.
        started() == Some(true) && peer::is_there(other)
    }
}

/// Hears what is said, until nothing listens to it.
pub fn start(inbox: &Folder, server: Server, messages: Sender<Received>) -> Result<(), FileError> {
    let (listener, folder) = (inbox.listen(NAME)?, inbox.path().to_owned());
    let hear = move || hear_all(&listener, &folder, &server, &messages);
    spawn("what is said", hear).map_err(|error| FileError::Io {
        action: "listen on",
        path: inbox.path().join(NAME),
        source: error,
    })
}

fn hear_all(listener: &Listener, folder: &Path, server: &Server, messages: &Sender<Received>) {
    loop {
        let Ok(stream) = listener.accept() else {
            sleep(Duration::from_millis(50));
            continue;
        };
        if !listener.admits(&stream) || !server.has_started(&stream) {
            let _ = (&stream).write_all(NOT_KAKOUNE.as_bytes());
            continue;
        }
        let Some(received) = hear(&stream) else {
            continue;
        };
        if let What::ClientClosed(pid, _) = received.what {
            inbox::forget(folder, pid);
        }
        if messages.send(received).is_err() {
            return;
        }
    }
}

/// It was said when its process was started, however late that is heard.
fn hear(stream: &Stream) -> Option<Received> {
    let age = peer::process(stream).and_then(process::age);
    let at = SystemTime::now() - age.unwrap_or_default();
    stream.set_read_timeout(Some(HEARD_WITHIN)).ok()?;
    let mut said = Vec::new();
    stream.take(MAX_SAID).read_to_end(&mut said).ok()?;
    let what = inbox::understand(&said)?;
    Some(Received { what, at })
}

/// Says `name`, and what the input is, to the program whose folder this is, and waits until that was heard.
///
/// # Errors
/// When there is none, or when it does not take it from this process.
pub fn say(folder: &Path, name: &str) -> anyhow::Result<()> {
    let mut said = format!("{} ", quote::word(name)).into_bytes();
    io::stdin()
        .read_to_end(&mut said)
        .context("nothing to say")?;
    let inbox = Folder::open(folder, &[INBOX])?;
    let inbox = inbox.context("no session is served there")?;
    let mut stream = inbox.connect(NAME)?;
    for set in [Stream::set_read_timeout, Stream::set_write_timeout] {
        set(&stream, Some(HEARD_WITHIN))?;
    }
    // Who refuses does not read it.
    let sent = stream
        .write_all(&said)
        .and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    anyhow::ensure!(answer.is_empty(), answer);
    sent.context("it was not heard")
}
