//! The socket of a companion that runs in its front end's own process: it serves programs there, and no other
//! front ends.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pillion_discovery::lines::Lines;
use pillion_discovery::private_file::Stream;
use pillion_discovery::{Environment, FileError, Socket};
use pillion_view::hub::wire::Attach;

use super::Host;
use crate::acceptor::{Acceptor, Serve};
use crate::commands::Commands;
use crate::door;

/// The number of connections that are served at once.
const MAX_CONNECTIONS: usize = 64;

/// Serves programs until it is dropped.
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
            companion: Arc::new(Own { commands, port }),
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
    companion: Arc<Own>,
    connections: AtomicUsize,
}

/// The companion.
struct Own {
    commands: Commands,
    port: u16,
}

impl Host for Own {
    fn companions(&self) -> Vec<Commands> {
        vec![self.commands.clone()]
    }

    fn companion(&self, port: u16) -> Option<Commands> {
        (port == self.port).then(|| self.commands.clone())
    }

    fn serve_view(self: Arc<Self>, _attach: Attach, stream: Stream, _lines: Lines) {
        door::refuse(stream, "no other front end is served here");
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

    fn serve(&self, stream: Stream) {
        door::serve(&self.companion, stream);
    }

    fn refuse(&self, stream: Stream) {
        door::refuse(stream, "there are too many requests");
    }
}
