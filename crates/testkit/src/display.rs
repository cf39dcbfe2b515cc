//! A display of the person's that shows nothing. Who is connected to it has a window there: what tells a person's programs from
//! those that an agent has left behind, although a test starts both.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::io;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tempfile::TempDir;

struct Display {
    listener: UnixListener,
    folder: TempDir,
    /// Its ends of the connections are on their way through these, and held by no process: a test's own may be an agent.
    away: Mutex<Vec<(UnixStream, UnixStream)>>,
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
        away: Mutex::default(),
    }
});

/// A connection to it, to be inherited by the program that has the window, and held by nobody else.
pub(crate) fn window() -> OwnedFd {
    let window = UnixStream::connect(DISPLAY.folder.path().join(SOCKET));
    let window = window.expect("the display listens");
    let (accepted, _) = DISPLAY.listener.accept().expect("one has connected");
    let mut away = DISPLAY.away.lock().unwrap_or_else(PoisonError::into_inner);
    let is_sent = away
        .last()
        .is_some_and(|(way, _)| send(way, &accepted).is_ok());
    if !is_sent {
        // There is room for some hundred in one.
        let pair = UnixStream::pair().expect("sockets can be made");
        send(&pair.0, &accepted).expect("a descriptor can be sent");
        away.push(pair);
    }
    window.into()
}

fn send(way: &UnixStream, descriptor: &UnixStream) -> io::Result<usize> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    assert!(rights.push(SendAncillaryMessage::ScmRights(&descriptors)));
    sendmsg(way, &[IoSlice::new(b"x")], &mut rights, SendFlags::DONTWAIT)
}
