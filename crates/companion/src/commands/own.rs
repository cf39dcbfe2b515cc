//! The socket of a companion that runs in its front end's own process: it serves commands there, and no front ends.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pillion_discovery::lines::Lines;
use pillion_discovery::private_file::Stream;
use pillion_discovery::{Environment, FileError, Socket, state};
use pillion_view::commands::{Answer, Command, Refused};

use super::{Commands, NO_SUCH, write};
use crate::acceptor::{Acceptor, Serve};

/// The number of commands that are served at once.
const MAX_CONNECTIONS: usize = 64;

/// The time limit for a command to say what it wants, and the longest that it may be.
const SAID_WITHIN: Duration = Duration::from_secs(10);
const MAX_COMMAND: usize = 1 << 30;

/// Serves commands until it is dropped.
pub(crate) struct OwnSocket(Acceptor);

impl fmt::Debug for OwnSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnSocket")
    }
}

impl OwnSocket {
    /// Listens. Waits for the disk.
    ///
    /// # Errors
    /// When no state directory can be used, or the system has no thread.
    pub(crate) fn open(
        environment: &Environment,
        port: u16,
        commands: Commands,
    ) -> Result<Self, FileError> {
        let socket = Socket::of_companion(environment)?;
        let failed = socket.path();
        let server = Arc::new(Server {
            commands,
            port,
            connections: AtomicUsize::new(0),
        });
        let started = Acceptor::start(socket, server);
        started.map(Self).map_err(|source| FileError::Io {
            action: "listen on",
            path: failed,
            source,
        })
    }

    /// Puts it back if it was deleted. Waits for the disk.
    pub(crate) fn restore(&mut self) {
        self.0.restore();
    }
}

struct Server {
    commands: Commands,
    /// Its port.
    port: u16,
    connections: AtomicUsize,
}

impl Server {
    fn mine(&self, command: Command) -> Result<Command, String> {
        match command.companion == self.port {
            true => Ok(command),
            false => Err(NO_SUCH.to_owned()),
        }
    }
}

impl Serve for Server {
    fn opens(&self) -> bool {
        let before = self.connections.fetch_add(1, Ordering::SeqCst);
        if before >= MAX_CONNECTIONS {
            self.closed();
        }
        before < MAX_CONNECTIONS
    }

    fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::SeqCst);
    }

    fn serve(&self, mut stream: Stream) {
        let Ok(own) = stream.try_clone() else {
            return;
        };
        let mut lines = Lines::new(own, Some(Instant::now() + SAID_WITHIN));
        let Ok(Some(line)) = lines.next(MAX_COMMAND) else {
            return;
        };
        if line == state::QUESTION {
            // Without an answer whoever asks knows that it hangs.
            if let Ok(state) = self.commands.ask_state().recv_timeout(state::STATE_WITHIN) {
                write(&mut stream, &[state]);
            }
            return;
        }
        let Some(command) = Command::read(&line) else {
            return tracing::warn!("no command, and no front end is served here");
        };
        match command.and_then(|command| self.mine(command)) {
            Ok(command) => self.commands.serve(&stream, lines, command),
            Err(reason) => write(&mut stream, &Answer::Err(Refused::Failed(reason))),
        }
    }

    fn refuse(&self, _stream: Stream) {
        tracing::warn!("there are too many commands");
    }
}
