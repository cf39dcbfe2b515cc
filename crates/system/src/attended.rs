//! Whether a person can see and use what processes show: as a window on their display, or because the same program is attached
//! in a terminal, as that of a multiplexer is: the program there has connected to the server, as that of zellij does, or the server
//! has opened that terminal, as those of tmux and GNU screen do. And who else is attached to an editor. Known on Linux only.

#[cfg(target_os = "linux")]
pub use linux::{attached, clients, displays, has_opened, holds, is_window_of, listening};

/// Nothing is known of displays.
#[cfg(not(target_os = "linux"))]
pub fn displays(_pids: &[u32]) -> Option<Vec<u32>> {
    None
}

/// Nothing is known of terminals.
#[cfg(not(target_os = "linux"))]
pub fn attached(_pids: &[u32]) -> Vec<u32> {
    Vec::new()
}

/// Nothing is known of terminals.
#[cfg(not(target_os = "linux"))]
pub fn has_opened(_pid: u32, _terminal: u64) -> bool {
    true
}

/// Nothing is known of sockets.
#[cfg(not(target_os = "linux"))]
pub fn clients(_pid: u32, _likely: &[u32]) -> Vec<u32> {
    Vec::new()
}

/// Nothing is known of sockets.
#[cfg(not(target_os = "linux"))]
pub fn listening(_pid: u32) -> Vec<u64> {
    Vec::new()
}

/// Nothing is known of sockets.
#[cfg(not(target_os = "linux"))]
pub fn holds(_pid: u32, _wanted: &[u64]) -> bool {
    false
}

/// Nothing is known of programs.
#[cfg(not(target_os = "linux"))]
pub fn is_window_of(_editor: u32, _client: u32) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::cell::LazyCell;
    use std::collections::{HashMap, HashSet};
    use std::fs;
    use std::os::linux::fs::MetadataExt;
    use std::path::PathBuf;

    use rustix::fs::{major, minor};
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send,
        socket_with,
    };

    use crate::process::{self, open_files, sockets};

    /// A message's header.
    const HEADER: usize = 16;
    /// What is told of a socket before its attributes.
    const FIXED: usize = 16;
    const UNIX_DIAG_NAME: u16 = 0;
    const UNIX_DIAG_PEER: u16 = 2;

    /// The processes that show windows of these: they hold the other end of a connection to a display. If none is seen to,
    /// those that may, because what they hold is not told; nobody, if it is held where other processes are shown than here. `None`
    /// of what is connected to no display.
    pub fn displays(pids: &[u32]) -> Option<Vec<u32>> {
        let own: Vec<u64> = pids.iter().flat_map(|pid| sockets(*pid)).collect();
        let table = sockets_of_this_network().unwrap_or_default();
        let mut wanted: HashSet<u64> = peers(&own, false, &table).collect();
        wanted.retain(|it| is_display(it, &table));
        if wanted.is_empty() {
            return None;
        }
        let (mut found, mut untold) = (Vec::new(), Vec::new());
        for pid in process::all() {
            match sockets(pid) {
                held if held.iter().any(|it| wanted.contains(it)) => found.push(pid),
                held if held.is_empty() && !process::tells_files(pid) => untold.push(pid),
                _ => {}
            }
        }
        Some(if found.is_empty() { untold } else { found })
    }

    fn is_display(socket: &u64, table: &HashMap<u64, Socket>) -> bool {
        let name = table.get(socket).and_then(|it| it.name.as_deref());
        name.is_some_and(is_displays)
    }

    /// `/tmp/.X11-unix/X0`, also without a file, and `/run/user/1000/wayland-0`.
    fn is_displays(name: &str) -> bool {
        let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit());
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_x = name.ends_with(&format!("/.X11-unix/{last}"));
        let is_x = is_x && last.strip_prefix('X').is_some_and(number);
        is_x || last.strip_prefix("wayland-").is_some_and(number)
    }

    #[derive(Debug, Default)]
    struct Socket {
        name: Option<String>,
        peer: Option<u64>,
    }

    /// Every local socket, by its number; none if the system does not tell.
    fn sockets_of_this_network() -> Option<HashMap<u64, Socket>> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::DGRAM);
        let protocol = Some(netlink::SOCK_DIAG);
        let asked = socket_with(family, kind, SocketFlags::CLOEXEC, protocol).ok()?;
        send(&asked, &question(), SendFlags::empty()).ok()?;
        let mut found = HashMap::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let (length, _) = recv(&asked, &mut buffer[..], RecvFlags::empty()).ok()?;
            let mut rest = buffer.get(..length)?;
            while let Some((kind, body, after)) = message(rest) {
                match kind {
                    // The end, and an error.
                    3 => return Some(found),
                    2 => return None,
                    _ => found.extend(socket(body)),
                }
                rest = after;
            }
            if length == 0 {
                return None;
            }
        }
    }

    /// Asks for all of the family, with names and peers.
    fn question() -> Vec<u8> {
        const BY_FAMILY: u16 = 20;
        const REQUEST_DUMP: u16 = 0x301;
        const NAME_AND_PEER: u32 = 1 | 4;
        let mut bytes = Vec::new();
        bytes.extend(40_u32.to_ne_bytes());
        bytes.extend(BY_FAMILY.to_ne_bytes());
        bytes.extend(REQUEST_DUMP.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(u32::MAX.to_ne_bytes());
        bytes.extend(0_u32.to_ne_bytes());
        bytes.extend(NAME_AND_PEER.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes
    }

    /// Its kind, its body, and what follows it.
    fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
        let length = usize::try_from(word(bytes, 0)?).ok()?;
        let body = bytes.get(HEADER..length)?;
        let after = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((half(bytes, 4)?, body, after))
    }

    fn socket(body: &[u8]) -> Option<(u64, Socket)> {
        let mut found = Socket::default();
        let mut rest = body.get(FIXED..)?;
        while let (Some(length), Some(kind)) = (half(rest, 0), half(rest, 2)) {
            let length = usize::from(length);
            let Some(value) = rest.get(4..length) else {
                break;
            };
            match kind {
                UNIX_DIAG_NAME => {
                    let name = String::from_utf8_lossy(value);
                    found.name = Some(name.trim_matches('\0').to_owned());
                }
                UNIX_DIAG_PEER => found.peer = word(value, 0).map(u64::from),
                _ => {}
            }
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Some((u64::from(word(body, 4)?), found))
    }

    fn word(bytes: &[u8], at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn half(bytes: &[u8], at: usize) -> Option<u16> {
        Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
    }

    /// The processes that are attached to one of these from terminals of their own, and run the same program: connected to a socket
    /// of its, or on a terminal that it has opened for them.
    pub fn attached(pids: &[u32]) -> Vec<u32> {
        let servers: Vec<_> = pids.iter().filter_map(|pid| server(*pid)).collect();
        let table = match servers.iter().any(|it| !it.sockets.is_empty()) {
            true => sockets_of_this_network().unwrap_or_default(),
            false => HashMap::new(),
        };
        let look = process::look();
        let is_one = |pid: &u32| {
            let program = program(*pid);
            let same = servers
                .iter()
                .filter(|it| Some(&it.program) == program.as_ref());
            let same: Vec<_> = same.collect();
            let terminal = || look(*pid)?.terminal;
            let Some(terminal) = (!same.is_empty()).then(terminal).flatten() else {
                return false;
            };
            let clients = LazyCell::new(|| sockets(*pid));
            same.iter().any(|it| {
                it.has_opened(terminal, &clients, &table) || it.has_accepted(&clients, &table)
            })
        };
        let all = process::all().into_iter();
        let others = all.filter(|pid| !pids.contains(pid));
        others.filter(is_one).collect()
    }

    /// Returns true if this process has opened a terminal for the programs there, as an emulator does, or may have because the system does
    /// not tell what it has open.
    pub fn has_opened(pid: u32, terminal: u64) -> bool {
        // Only those of emulators have another side, by which they are numbered.
        let number = (terminal & 0xff) | ((terminal >> 12) & 0xfff00);
        let tells = |(path, target): (PathBuf, PathBuf)| {
            let name = path.file_name()?.to_str()?.to_owned();
            let facts = target
                .ends_with("ptmx")
                .then(|| fs::read_to_string(format!("/proc/{pid}/fdinfo/{name}")).ok())??;
            let index = facts
                .lines()
                .find_map(|line| line.strip_prefix("tty-index:"))?;
            index.trim().parse::<u64>().ok()
        };
        !process::tells_files(pid) || open_files(pid).filter_map(tells).any(|it| it == number)
    }

    /// What others can attach to.
    struct Server {
        program: PathBuf,
        terminals: Vec<u64>,
        sockets: Vec<u64>,
    }

    impl Server {
        /// Returns true if it has opened this terminal for the program there, which has these sockets. That it is open says
        /// nothing by itself: what an agent leaves behind may hold a terminal in which a shell runs, and be the same shell. So
        /// they have to be connected; only the client of GNU screen does not stay so.
        fn has_opened(&self, terminal: u64, clients: &[u64], table: &HashMap<u64, Socket>) -> bool {
            let name = self.program.file_name().unwrap_or_default();
            let is_screen = || name.to_string_lossy().starts_with("screen");
            let peers = || self.sockets.iter().filter_map(|it| table.get(it)?.peer);
            self.terminals.contains(&terminal)
                && (is_screen() || peers().any(|peer| clients.contains(&peer)))
        }

        /// Returns true if one of these sockets is a client of one that has a name. Who connects to a client proves nothing.
        fn has_accepted(&self, clients: &[u64], table: &HashMap<u64, Socket>) -> bool {
            peers(&self.sockets, true, table).any(|peer| clients.contains(&peer))
        }
    }

    /// The other ends of those of these sockets that have a name, as what a server has accepted, or of those that have none.
    fn peers(
        sockets: &[u64],
        are_named: bool,
        table: &HashMap<u64, Socket>,
    ) -> impl Iterator<Item = u64> {
        let known = sockets.iter().filter_map(|it| table.get(it));
        let wanted = known.filter(move |it| it.name.is_some() == are_named);
        wanted.filter_map(|it| it.peer)
    }

    /// The processes that are connected to a socket with a name of this process, or of the server of the same program whose client
    /// it is, other than this one: what they send there may be typed in it. 0 stands for all that are not shown here. The others are looked
    /// at only if the `likely` ones are not all.
    pub fn clients(pid: u32, likely: &[u32]) -> Vec<u32> {
        let own = sockets(pid);
        let table = sockets_of_this_network().unwrap_or_default();
        let served = server_of(pid, &own, &table)
            .map(sockets)
            .unwrap_or_default();
        let all = [own, served].concat();
        let mut wanted: HashSet<u64> = peers(&all, true, &table).collect();
        wanted.retain(|it| !all.contains(it));
        let mut found = Vec::new();
        let others = std::iter::once_with(process::all).flatten();
        for pid in likely.iter().copied().chain(others) {
            if wanted.is_empty() {
                return found;
            }
            let held = sockets(pid);
            if held.iter().any(|it| wanted.remove(it)) {
                wanted.retain(|it| !held.contains(it));
                found.push(pid);
            }
        }
        let table = sockets_of_this_network().unwrap_or_default();
        let is_hidden = wanted.iter().any(|it| table.contains_key(it));
        found.extend(is_hidden.then_some(0));
        found
    }

    /// The sockets with a name of this process to which others can connect, as to a session of Kakoune.
    pub fn listening(pid: u32) -> Vec<u64> {
        let table = sockets_of_this_network().unwrap_or_default();
        let is_one = |it: &Socket| it.name.is_some() && it.peer.is_none();
        let mut all = sockets(pid);
        all.retain(|it| table.get(it).is_some_and(is_one));
        all
    }

    /// Returns true if this process has one of these sockets.
    pub fn holds(pid: u32, wanted: &[u64]) -> bool {
        sockets(pid).iter().any(|it| wanted.contains(it))
    }

    /// Returns true if what is connected to an editor may be a window of it, as far as their programs tell: the same program, such as
    /// `kak -c`, or its client, such as `emacsclient`; or if that is not told.
    pub fn is_window_of(editor: u32, client: u32) -> bool {
        let (Some(editor), Some(client)) = (program(editor), program(client)) else {
            return true;
        };
        let name = |path: &PathBuf| {
            path.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let (own, other) = (name(&editor), name(&client));
        let word = own
            .split(|it: char| !it.is_ascii_alphabetic())
            .next()
            .unwrap_or_default();
        editor == client || other.starts_with(&format!("{word}client"))
    }

    /// The process of the same program to which this one, that has these sockets, is connected.
    fn server_of(pid: u32, own: &[u64], table: &HashMap<u64, Socket>) -> Option<u32> {
        let is_servers = |it: &u64| {
            let name = table.get(it).and_then(|it| it.name.as_deref());
            name.is_some_and(|name| !is_displays(name))
        };
        let theirs: HashSet<u64> = peers(own, false, table).filter(is_servers).collect();
        let own = program(pid).filter(|_| !theirs.is_empty())?;
        process::all().into_iter().find(|other| {
            ![pid, std::process::id()].contains(other)
                && program(*other).as_ref() == Some(&own)
                && sockets(*other).iter().any(|it| theirs.contains(it))
        })
    }

    /// None if it holds neither a terminal nor a socket.
    fn server(pid: u32) -> Option<Server> {
        let (terminals, sockets) = (terminals(pid), sockets(pid));
        let program = program(pid).filter(|_| !(terminals.is_empty() && sockets.is_empty()))?;
        Some(Server {
            program,
            terminals,
            sockets,
        })
    }

    fn program(pid: u32) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{pid}/exe")).ok()
    }

    /// The terminals that a process has open, as processes' own are numbered.
    fn terminals(pid: u32) -> Vec<u64> {
        let device = |(path, target): (PathBuf, PathBuf)| {
            let is_terminal = target.starts_with("/dev/pts") || target.starts_with("/dev/tty");
            let device = fs::metadata(&path).ok().filter(|_| is_terminal)?.st_rdev();
            let (major, minor) = (u64::from(major(device)), u64::from(minor(device)));
            Some((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12))
        };
        open_files(pid).filter_map(device).collect()
    }

    #[cfg(test)]
    mod tests {
        use std::os::fd::{AsRawFd, OwnedFd};
        use std::os::unix::net::{UnixListener, UnixStream};

        use super::*;

        #[test]
        fn whoever_is_connected_to_a_display_has_one_and_its_server_is_known() {
            let own = [std::process::id()];
            let folder = tempfile::tempdir().unwrap();
            let connect = |name: &str| {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let listener = UnixListener::bind(&path).unwrap();
                (UnixStream::connect(&path).unwrap(), listener)
            };
            let _other = connect("bus");
            let _wrong = connect("X0");
            assert_eq!(displays(&own), None);
            for name in [".X11-unix/X0", "wayland-1"] {
                let (client, listener) = connect(name);
                let accepted = listener.accept().unwrap().0;
                assert_eq!(displays(&own), Some(own.to_vec()), "{name}");
                let mut cat = std::process::Command::new("cat");
                let mut server = cat.stdin(OwnedFd::from(accepted)).spawn().unwrap();
                drop(cat);
                assert_eq!(displays(&own), Some(vec![server.id()]), "{name}");
                drop(client);
                server.wait().unwrap();
            }
        }

        #[test]
        fn who_connects_to_a_socket_with_a_name_is_attached_and_not_the_other_way_round() {
            let folder = tempfile::tempdir().unwrap();
            let listener = UnixListener::bind(folder.path().join("server")).unwrap();
            let client = UnixStream::connect(folder.path().join("server")).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            let number = |fd: &dyn AsRawFd| {
                let link = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap();
                let link = link.into_os_string().into_string().unwrap();
                link["socket:[".len()..link.len() - 1].parse().unwrap()
            };
            let table = sockets_of_this_network().unwrap();
            let (client, accepted) = (number(&client), number(&accepted));
            let server = |own: u64| Server {
                program: PathBuf::new(),
                terminals: Vec::new(),
                sockets: vec![number(&listener), own],
            };
            assert!(server(accepted).has_accepted(&[client], &table));
            assert!(!server(client).has_accepted(&[accepted], &table));
            assert!(!server(accepted).has_accepted(&[], &table));
            // Of a terminal only the one that has opened it for a client.
            let on = |terminal, own| Server {
                terminals: vec![terminal],
                ..server(own)
            };
            assert!(on(7, accepted).has_opened(7, &[client], &table));
            assert!(!on(8, accepted).has_opened(7, &[client], &table));
            assert!(!on(7, accepted).has_opened(7, &[], &table));
        }

        #[test]
        fn whoever_holds_the_other_end_of_a_named_socket_is_a_client() {
            let folder = tempfile::tempdir().unwrap();
            let listener = UnixListener::bind(folder.path().join("server")).unwrap();
            let client = UnixStream::connect(folder.path().join("server")).unwrap();
            let (_accepted, _) = listener.accept().unwrap();
            let own = std::process::id();
            assert_eq!(clients(own, &[]), [], "this process itself");
            let mut cat = std::process::Command::new("cat");
            let mut child = cat.stdin(OwnedFd::from(client)).spawn().unwrap();
            // What `cat` was started with holds it, too.
            drop(cat);
            for likely in [&[][..], &[1], &[child.id()]] {
                assert_eq!(clients(own, likely), [child.id()], "{likely:?}");
            }
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(clients(own, &[child.id()]), []);
        }

        #[test]
        fn a_display_is_told_by_its_place() {
            for (name, expected) in [
                ("/tmp/.X11-unix/X0", true),
                ("/run/user/1000/wayland-0", true),
                ("/tmp/.X11-unix/Xa", false),
                ("/tmp/X0", false),
                ("/run/user/1000/wayland-", false),
                ("/run/user/1000/bus", false),
                ("", false),
            ] {
                assert_eq!(is_displays(name), expected, "{name}");
            }
        }
    }
}
