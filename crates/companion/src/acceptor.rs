//! Connections at a socket of ours: each is served on a thread of its own, and the socket is kept where it is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pillion_discovery::Socket;
use pillion_discovery::private_file::{Listener, Stream};
use pillion_system::spawn;

/// The pause in accepting when the system cannot: too many files are open, perhaps.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Served,
    /// There are too many: it is closed.
    Closed,
    /// This process ends. It is closed when it has ended, so that whoever waits then finds another one, or none.
    Waits,
}

pub(crate) trait Serve: Send + Sync + 'static {
    /// One more has come.
    fn opens(&self) -> Fate;

    /// One that has come is over.
    fn closed(&self);

    /// Serves one of this user's, until it is over.
    fn serve(&self, stream: Stream);
}

/// Accepts connections. Dropping it ends that and removes the socket; those that are served go on.
#[derive(derive_more::Debug)]
#[debug("Acceptor")]
pub(crate) struct Acceptor {
    socket: Socket,
    server: Arc<dyn Serve>,
    is_over: Arc<AtomicBool>,
}

impl Acceptor {
    /// Begins.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(crate) fn start(socket: Socket, server: Arc<dyn Serve>) -> io::Result<Self> {
        let acceptor = Self {
            socket,
            server,
            is_over: Arc::default(),
        };
        acceptor.accept()?;
        Ok(acceptor)
    }

    fn accept(&self) -> io::Result<()> {
        let listener = Arc::new(self.socket.listener().try_clone()?);
        let (server, is_over) = (Arc::clone(&self.server), Arc::clone(&self.is_over));
        spawn("acceptor", move || accept(&listener, &server, &is_over))
    }

    /// Returns true if the socket's file is the one that this process has made.
    #[cfg(unix)]
    pub(crate) fn is_in_place(&self) -> bool {
        self.socket.is_in_place()
    }

    /// Puts the socket back if it was deleted. Returns true if it had to; none if it could not. Waits for the disk.
    pub(crate) fn restore(&mut self) -> Option<bool> {
        let restored = self.socket.restore();
        match &restored {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!("the socket is put back");
                if let Err(error) = self.accept() {
                    tracing::warn!(%error, "cannot start a thread");
                }
            }
            Err(error) => tracing::warn!(%error, "the socket cannot be put back"),
        }
        restored.ok()
    }

    /// The file that leads to it.
    pub(crate) fn path(&self) -> PathBuf {
        self.socket.path()
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread. One whose socket was deleted stays until this process ends.
        drop(self.socket.address().connect());
    }
}

fn accept(listener: &Arc<Listener>, server: &Arc<dyn Serve>, is_over: &AtomicBool) {
    let mut waiting = Vec::new();
    loop {
        let accepted = listener.accept();
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = accepted else {
            thread::sleep(EXHAUSTED_PAUSE);
            continue;
        };
        match server.opens() {
            Fate::Served => {}
            Fate::Closed => continue,
            Fate::Waits => {
                waiting.push(stream);
                continue;
            }
        }
        let (open, listener) = (Open(Arc::clone(server)), Arc::clone(listener));
        let serve = move || {
            let is_admitted = listener.admits(&stream);
            // Whoever waits to be accepted learns of the end once nobody holds it any more.
            drop(listener);
            if is_admitted {
                open.0.serve(stream);
            }
        };
        if let Err(error) = spawn("connection", serve) {
            tracing::warn!(%error, "cannot serve a connection");
        }
    }
}

/// A connection, as long as it is there.
struct Open(Arc<dyn Serve>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.closed();
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::sync::atomic::AtomicUsize;

    use pillion_discovery::Environment;

    use super::*;

    /// One that ends, and counts who has come.
    #[derive(Default)]
    struct Ending(AtomicUsize);

    impl Serve for Ending {
        fn opens(&self) -> Fate {
            self.0.fetch_add(1, Ordering::SeqCst);
            Fate::Waits
        }

        fn closed(&self) {}

        fn serve(&self, _stream: Stream) {}
    }

    #[test]
    fn who_meets_one_that_ends_waits_until_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("XDG_RUNTIME_DIR", folder.path())]);
        let socket = Socket::of_hub(&environment).unwrap().unwrap();
        let (address, server) = (socket.address().clone(), Arc::new(Ending::default()));
        let known: Arc<dyn Serve> = Arc::clone(&server) as Arc<dyn Serve>;
        let acceptor = Acceptor::start(socket, known).unwrap();
        let mut streams = [(); 2].map(|()| address.connect().unwrap());
        while server.0.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        let first = &mut streams[0];
        first.set_nonblocking(true).unwrap();
        let kind = first.read(&mut [0]).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::WouldBlock);
        first.set_nonblocking(false).unwrap();
        drop(acceptor);
        assert_eq!(first.read(&mut [0]).unwrap(), 0);
        assert!(address.connect().is_err());
    }
}
