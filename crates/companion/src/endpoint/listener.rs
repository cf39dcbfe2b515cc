//! The listeners for connections, and what is known of the other end of one.

use std::io;

use pillion_system::peer::Connection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use crate::wire::Wire;

/// One of the two kinds.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

/// A connection that was accepted, of either kind. HTTP is compiled once for both.
pub(super) type Accepted = Box<dyn Stream>;

/// What a kind of connection tells beside its bytes.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    /// Returns what is known of it; none if it is not served at all.
    fn wire(&self) -> Option<Wire>;

    /// Returns the error that it had and nobody has been told.
    fn take_error(&self) -> io::Result<Option<io::Error>>;

    /// Returns the number of bytes that were sent and the other end has not taken, as far as the system tells.
    fn outstanding(&self) -> u64;
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // An answer is one small packet: waiting for more of it costs 40 ms.
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Self::Unix(listener) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

impl Stream for TcpStream {
    fn wire(&self) -> Option<Wire> {
        let ends = || {
            Ok::<_, io::Error>(Connection {
                peer: self.peer_addr()?,
                local: self.local_addr()?,
            })
        };
        Some(Wire::new(ends().ok()))
    }

    fn take_error(&self) -> io::Result<Option<io::Error>> {
        Self::take_error(self)
    }

    fn outstanding(&self) -> u64 {
        outstanding(self)
    }
}

#[cfg(unix)]
impl Stream for UnixStream {
    /// Whose folder it is in decides who can connect; this is the second lock.
    fn wire(&self) -> Option<Wire> {
        let peer = self.peer_cred().ok()?;
        let process = peer.pid().and_then(|pid| pid.try_into().ok());
        let is_ours = peer.uid() == rustix::process::geteuid().as_raw();
        is_ours.then(|| Wire::of_process(process))
    }

    fn take_error(&self) -> io::Result<Option<io::Error>> {
        Self::take_error(self)
    }

    fn outstanding(&self) -> u64 {
        outstanding(self)
    }
}

/// One that closes, having read everything, leaves nothing.
#[cfg(target_os = "linux")]
fn outstanding(stream: &impl std::os::fd::AsFd) -> u64 {
    use rustix::ioctl::{Getter, Opcode, ioctl};
    const TIOCOUTQ: Opcode = 0x5411;
    // The kernel writes an int there, on every kind of socket.
    let outstanding = unsafe { ioctl(stream, Getter::<TIOCOUTQ, i32>::new()) };
    // A connection of which nothing is known has not failed to deliver anything.
    outstanding.map_or(0, |bytes| u64::try_from(bytes).unwrap_or_default())
}

#[cfg(not(target_os = "linux"))]
fn outstanding<S>(_: &S) -> u64 {
    0
}
