//! The socket of a companion that runs in its front end's own process: it serves programs there, and no other
//! front ends.

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

/// Listens. Waits for the disk.
///
/// # Errors
/// When no state directory can be used, or the system has no thread.
pub(crate) fn open_own(
    environment: &Environment,
    port: u16,
    commands: Commands,
) -> Result<Acceptor, FileError> {
    let socket = Socket::of_companion(environment)?;
    let failed = socket.path();
    let server = Arc::new(Server {
        companion: Arc::new(Own { commands, port }),
        connections: AtomicUsize::new(0),
    });
    Acceptor::start(socket, server).map_err(|source| FileError::Io {
        action: "listen on",
        path: failed,
        source,
    })
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
