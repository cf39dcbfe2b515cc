//! The processes at the other end of a connection over loopback: known on Linux, where `/proc`
//! lists the sockets, and only for processes of this user and this network namespace. macOS and
//! Windows tell no program without special rights: there, nobody is found. The listeners on a port are known likewise.

use std::net::SocketAddr;

use crate::process;

/// The two ends of a connection, as the end that was accepted has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// Whoever dialled.
    pub peer: SocketAddr,
    /// Ours.
    pub local: SocketAddr,
}

/// The processes that hold the peer's end of a connection. If the `likely` one does, the others are not looked at.
#[cfg(target_os = "linux")]
pub fn holders(connection: Connection, likely: Option<u32>) -> Vec<u32> {
    let Some((_, socket)) = linux::socket(connection) else {
        return Vec::new();
    };
    let found = linux::holders(socket, likely);
    match found.is_empty() {
        true => linux::holders(socket, process::all()),
        false => found,
    }
}

/// The processes of this user that may hold it: those that do, or else those that let nobody see what they hold. Nobody is found if
/// another user dialled.
#[cfg(target_os = "linux")]
pub fn possible_holders(connection: Connection) -> Vec<u32> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    let user = linux::socket(connection).map(|(user, _)| user);
    if user != Some(process::own_uid()) {
        return Vec::new();
    }
    let found = holders(connection, None);
    if !found.is_empty() {
        return found;
    }
    // Their files are root's, and their own folder says whose they are.
    let is_hidden = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        let uid = uid.and_then(|it| it.split_ascii_whitespace().next()?.parse().ok());
        let folder = fs::metadata(format!("/proc/{pid}")).ok();
        uid == Some(process::own_uid()) && folder.is_some_and(|it| it.uid() != process::own_uid())
    };
    process::all().into_iter().filter(is_hidden).collect()
}

/// Nobody is found.
#[cfg(not(target_os = "linux"))]
pub fn possible_holders(_connection: Connection) -> Vec<u32> {
    Vec::new()
}

/// Nobody is found.
#[cfg(not(target_os = "linux"))]
pub fn holders(_connection: Connection, _likely: Option<u32>) -> Vec<u32> {
    Vec::new()
}

/// True if the system tells the process at the other end of a local socket: of what it does not tell, it is nobody's then.
pub const TELLS_PROCESSES: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// True if the system tells which process dials over loopback.
pub const TELLS_DIALLERS: bool = cfg!(target_os = "linux");

/// The process at the other end of a local socket, as it was when it connected or began to listen; none if the system
/// does not tell, or if that process cannot be seen from here.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn process(stream: impl std::os::fd::AsFd) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}

/// Nobody is found.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn process<S>(_stream: S) -> Option<u32> {
    None
}

/// The process that listens at the other end of a local socket, for people, if it is another one than `expected`, or its program is
/// called otherwise than this one, as no copy or release is. None as well if the system does not tell of this one.
#[cfg(target_os = "linux")]
pub fn unexpected(stream: impl std::os::fd::AsFd, expected: Option<u32>) -> Option<String> {
    let program = |process: &str| {
        let path = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
        let path = path.to_string_lossy().into_owned();
        // The file may have been replaced.
        Some(path.trim_end_matches(" (deleted)").to_owned())
    };
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let (own, listens) = (program("self")?, process(stream));
    let pid = listens.unwrap_or_default().to_string();
    let other = program(&pid).unwrap_or_default();
    let is_its = expected.is_none() || expected == listens;
    (!is_its || name(&own) != name(&other)).then(|| format!("{other:?} (process {pid})"))
}

/// Nothing is known.
#[cfg(not(target_os = "linux"))]
pub fn unexpected<S>(_stream: S, _expected: Option<u32>) -> Option<String> {
    None
}

/// True if the system tells which process connects, and shows it under that number.
pub fn is_shown() -> bool {
    TELLS_PROCESSES && process::own_shown() == Some(std::process::id())
}

/// From now on, [`read`] hears the process only that has connected to this local socket or listens at its other end, as far as the system
/// tells. What is accepted from a listener inherits it.
///
/// # Errors
/// When the system refuses.
#[cfg(target_os = "linux")]
pub fn expect_peer(stream: impl std::os::fd::AsFd) -> std::io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_passcred(stream, true)?)
}

/// Nothing is known.
#[cfg(not(target_os = "linux"))]
pub fn expect_peer<S>(_stream: S) -> std::io::Result<()> {
    Ok(())
}

/// Reads from a local socket.
///
/// # Errors
/// When another process says it than the one that is expected: it has the connection from that one, or has accepted it in its place.
#[cfg(target_os = "linux")]
pub fn read(stream: impl std::os::fd::AsFd, buffer: &mut [u8]) -> std::io::Result<usize> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt};

    let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut told = RecvAncillaryBuffer::new(&mut room);
    let mut pieces = [std::io::IoSliceMut::new(buffer)];
    let read = recvmsg(&stream, &mut pieces, &mut told, RecvFlags::CMSG_CLOEXEC)?.bytes;
    if read == 0 || !sockopt::socket_passcred(&stream)? {
        return Ok(read);
    }
    let peer = sockopt::socket_peercred(stream)?.pid;
    let is_its = |it| matches!(it, RecvAncillaryMessage::ScmCredentials(it) if it.pid == peer);
    match told.drain().any(is_its) {
        true => Ok(read),
        false => Err(std::io::ErrorKind::PermissionDenied.into()),
    }
}

/// Reads what comes.
///
/// # Errors
/// When the connection is broken.
#[cfg(not(target_os = "linux"))]
pub fn read(mut stream: impl std::io::Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    stream.read(buffer)
}

/// Returns false if that process has ended, as far as the system tells: another one may have its number by now, and what was found
/// under that number before this was asked may be of the other one. Linux tells since 6.5.
#[cfg(target_os = "linux")]
pub fn is_there(stream: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    match linux::peer_handle(stream.as_fd()) {
        // It is readable once the process has ended.
        Ok(handle) => {
            let mut ended = [PollFd::new(&handle, PollFlags::IN)];
            poll(&mut ended, Some(&Timespec::default())) == Ok(0)
        }
        Err(error) => error.raw_os_error() == Some(libc::ENOPROTOOPT),
    }
}

/// Nothing else is known.
#[cfg(not(target_os = "linux"))]
pub fn is_there<S>(_stream: S) -> bool {
    true
}

/// The user and the processes that listen on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The user.
    pub uid: u32,
    /// The processes, of those that can be looked at.
    pub pids: Vec<u32>,
}

/// The user and the processes that listen on this port of loopback; none if nobody does.
#[cfg(target_os = "linux")]
pub fn listener(port: u16) -> Option<Listener> {
    let (uid, socket) = linux::listening(port)?;
    let pids = linux::holders(socket, process::all());
    Some(Listener { uid, pids })
}

/// Nobody is found.
#[cfg(not(target_os = "linux"))]
pub fn listener(_port: u16) -> Option<Listener> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
    use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
    use std::{fs, io};

    use super::Connection;
    use crate::process::sockets;

    const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

    /// The user and the number of the socket at the peer's end of a connection. A program that speaks IPv6 dials IPv4 with a
    /// socket of the other table.
    pub(super) fn socket(connection: Connection) -> Option<(u32, u64)> {
        let texts = TABLES.map(|table| fs::read_to_string(table).unwrap_or_default());
        let mut rows = texts.iter().flat_map(|text| text.lines()).filter_map(row);
        rows.find_map(|(ends, user, socket)| (ends == connection).then_some((user, socket)))
    }

    /// A handle of the process at the other end of a local socket, which no other process gets with its number.
    pub(super) fn peer_handle(stream: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let mut handle: libc::c_int = -1;
        let mut length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the system writes no more than `length` bytes, which is the room that there is.
        let result = unsafe {
            libc::getsockopt(
                stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERPIDFD,
                (&raw mut handle).cast(),
                &raw mut length,
            )
        };
        match result {
            // SAFETY: the system has opened it for this call.
            0 => Ok(unsafe { OwnedFd::from_raw_fd(handle) }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The user and the number of the socket that takes what dials 127.0.0.1 at this port.
    pub(super) fn listening(port: u16) -> Option<(u32, u64)> {
        let texts = TABLES.map(|table| fs::read_to_string(table).unwrap_or_default());
        let rows = texts.iter().flat_map(|text| text.lines().skip(1));
        let found = rows.filter_map(|line| listening_row(line, port));
        // One for this address comes before one for all.
        let (_, uid, socket) = found.max_by_key(|(is_exact, ..)| *is_exact)?;
        Some((uid, socket))
    }

    /// Returns its user and its number, after true if it is for one address.
    fn listening_row(line: &str, port: u16) -> Option<(bool, u32, u64)> {
        const LISTENS: &str = "0A";
        let mut fields = line.split_ascii_whitespace().skip(1);
        let at = address(fields.next()?)?;
        let takes = at.ip() == Ipv4Addr::LOCALHOST || at.ip().is_unspecified();
        if at.port() != port || !takes || fields.nth(1)? != LISTENS {
            return None;
        }
        let uid = fields.nth(3)?.parse().ok()?;
        let socket = fields.nth(1)?.parse().ok()?;
        Some((!at.ip().is_unspecified(), uid, socket))
    }

    /// Those of these processes that hold a socket.
    pub(super) fn holders(socket: u64, processes: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let holds = |pid: &u32| sockets(*pid).contains(&socket);
        processes.into_iter().filter(holds).collect()
    }

    /// `SL: LOCAL:PORT REMOTE:PORT STATE … INODE …`: the connection of which this is the peer's end.
    fn row(line: &str) -> Option<(Connection, u32, u64)> {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let peer = address(fields.next()?)?;
        let local = address(fields.next()?)?;
        let user = fields.nth(4)?.parse().ok()?;
        let socket = fields.nth(1)?.parse().ok()?;
        (socket != 0).then_some((Connection { peer, local }, user, socket))
    }

    /// `0100007F:1F90`: words of 32 bits in the order of this machine, then the port.
    fn address(text: &str) -> Option<SocketAddr> {
        let (address, port) = text.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        let word = |at: usize| {
            let word = u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16);
            Some(word.ok()?.to_ne_bytes())
        };
        let ip: IpAddr = match address.len() {
            8 => Ipv4Addr::from(word(0)?).into(),
            32 => {
                let words = [word(0)?, word(1)?, word(2)?, word(3)?].concat();
                let bytes: [u8; 16] = words.try_into().ok()?;
                IpAddr::from(Ipv6Addr::from(bytes)).to_canonical()
            }
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_row_of_either_table_names_both_ends() {
            let expected = Connection {
                peer: "127.0.0.1:40000".parse().unwrap(),
                local: "127.0.0.1:8080".parse().unwrap(),
            };
            let rest =
                "01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 20 4 30 10 -1";
            let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
            let four = word([127, 0, 0, 1]);
            let six = ["0".repeat(16), word([0, 0, 255, 255]), four.clone()].concat();
            for address in [four, six] {
                let line = format!("   3: {address}:9C40 {address}:1F90 {rest}");
                assert_eq!(row(&line), Some((expected, 1000, 4711)));
            }
            for broken in ["", "3: 0100007F:9C40", "3: x:9C40 y:1F90 01 0 0 0 0 0 1"] {
                assert_eq!(row(broken), None, "{broken:?}");
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_listens_is_found_and_nobody_where_nobody_does() {
        let uid = rustix::process::getuid().as_raw();
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                // Not every machine has IPv6.
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let pids = vec![std::process::id()];
            assert_eq!(
                super::listener(port),
                Some(Listener { uid, pids }),
                "{address}"
            );
            drop(listener);
            assert_eq!(super::listener(port), None, "{address}");
        }
    }

    #[test]
    fn that_the_other_end_has_ended_is_known_where_the_system_tells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let mut sleep = Command::new("sleep");
        let dial = move || {
            let stream = UnixStream::connect(&path)?;
            rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::empty())?;
            std::mem::forget(stream);
            Ok(())
        };
        // SAFETY: it makes system calls only.
        let mut child = unsafe { sleep.arg("600").pre_exec(dial) }.spawn().unwrap();
        let (stream, _) = listener.accept().unwrap();
        assert_eq!(process(&stream), Some(child.id()));
        assert!(is_there(&stream));
        child.kill().unwrap();
        child.wait().unwrap();
        let (own, _other) = UnixStream::pair().unwrap();
        let tells = linux::peer_handle(own.as_fd()).is_ok();
        assert_eq!(is_there(&stream), !tells);
    }

    #[test]
    fn what_another_process_says_in_the_listeners_place_is_not_heard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let stream = UnixStream::connect(&path).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        let mut buffer = [0; 64];
        accepted.write_all(b"first").unwrap();
        assert_eq!(read(&stream, &mut buffer).unwrap(), 5);
        expect_peer(&stream).unwrap();
        accepted.write_all(b"own").unwrap();
        let mut echo = Command::new("echo");
        echo.stdout(Stdio::from(OwnedFd::from(accepted.try_clone().unwrap())));
        assert!(echo.arg("another's").status().unwrap().success());
        assert_eq!(read(&stream, &mut buffer).unwrap(), 3);
        let error = read(&stream, &mut buffer).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        drop((echo, accepted));
        assert_eq!(read(&stream, &mut buffer).unwrap(), 0, "its end");
    }

    #[test]
    fn whoever_dialled_is_found_also_a_program_that_was_started_with_the_socket() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, peer) = listener.accept().unwrap();
        let local = accepted.local_addr().unwrap();
        let connection = Connection { peer, local };
        let own = std::process::id();
        let unlikely = std::os::unix::process::parent_id();
        for likely in [None, Some(own), Some(unlikely)] {
            assert_eq!(holders(connection, likely), [own], "{likely:?}");
        }
        let mut heir = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::from(OwnedFd::from(dialled.try_clone().unwrap())))
            .spawn()
            .unwrap();
        let found = holders(connection, None);
        assert!(
            found.contains(&own) && found.contains(&heir.id()),
            "{found:?}"
        );
        drop(dialled);
        assert_eq!(holders(connection, Some(own)), [heir.id()]);
        heir.kill().unwrap();
        heir.wait().unwrap();
        assert_eq!(holders(connection, Some(own)), [0; 0], "it is over");
    }
}
