//! The runtime of a command's talk with a companion: one thread, its own.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime on the calling thread, with sockets and clocks.
///
/// # Errors
/// When the system refuses.
pub fn runtime() -> io::Result<Runtime> {
    let started = Builder::new_current_thread().enable_all().build();
    started.map_err(|error| {
        let kind = error.kind();
        io::Error::new(kind, format!("cannot start the runtime: {error}"))
    })
}
