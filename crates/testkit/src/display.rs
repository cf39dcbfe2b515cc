//! A display of the person's that shows nothing. Who is connected to it has a window there: what tells a person's programs from
//! those that an agent has left behind, although a test starts both.

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{LazyLock, Mutex, PoisonError};

use tempfile::TempDir;

struct Display {
    listener: UnixListener,
    folder: TempDir,
    /// Its ends of the connections.
    accepted: Mutex<Vec<UnixStream>>,
}

/// The place of the first display in a folder for temporary files.
const SOCKET: &str = ".X11-unix/X0";

static DISPLAY: LazyLock<Display> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let socket = folder.path().join(SOCKET);
    std::fs::create_dir(socket.with_file_name("")).expect("it is empty");
    Display {
        listener: UnixListener::bind(&socket).expect("a socket can be made"),
        folder,
        accepted: Mutex::default(),
    }
});

/// A connection to it, to be inherited by the program that has the window, and held by nobody else.
pub(crate) fn window() -> OwnedFd {
    let mut accepted = DISPLAY
        .accepted
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let window = UnixStream::connect(DISPLAY.folder.path().join(SOCKET));
    let window = window.expect("the display listens");
    let (own, _) = DISPLAY.listener.accept().expect("one has connected");
    accepted.push(own);
    window.into()
}
