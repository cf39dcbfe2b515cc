//! Sockets by which front ends and commands reach this user's companions: one in a state directory for the hub, the process
//! that hosts them, and one for each companion that runs in its front end's own process. Agents that dial no port reach
//! each companion at one more.
//!
//! A container that shares the directory has sockets of its own: its processes, or its ports, are not seen from here.

use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pillion_system::peer;

use crate::environment::Environment;
use crate::namespaces;
#[cfg(unix)]
use crate::private_file::Lock;
use crate::private_file::{FileError, Folder, Listener, Stream};
use crate::state_dir;

const SUFFIX: &str = ".sock";

/// The longest path of a socket on every system: macOS has 104 bytes for it, with the one that ends it.
#[cfg(unix)]
const MAX_PATH: usize = 103;

/// The prefixes of the names of sockets that one process listens on: for commands, and for agents.
const OWN: &str = "own-";
const AGENTS: &str = "agents-";

/// The places where Codex CLI asks, below its own directory, and if nothing is there, below the temporary directory.
#[cfg(unix)]
const CODEX_FOLDER: &str = "ipc";
#[cfg(unix)]
const CODEX: &str = "ipc.sock";
#[cfg(unix)]
const CODEX_TMP_FOLDER: &str = "codex-ipc";

/// True if whoever answers at a socket of ours has to be Pillion's own process.
static IS_OUR_PROGRAM_EXPECTED: AtomicBool = AtomicBool::new(false);

/// From now on, whoever answers at a socket of ours has to be the process whose place it is, and run the program of this one, or another
/// copy of it, as far as the system tells: an agent can have another program listen there, and answer beside ours.
pub fn expect_our_program() {
    IS_OUR_PROGRAM_EXPECTED.store(true, Ordering::Relaxed);
}

/// Why nobody is asked where another program answers in our place; none if none does.
pub fn taken(environment: &Environment) -> Option<FileError> {
    let failed = addresses(environment).into_iter();
    let mut failed = failed.filter_map(|address| address.connect().err());
    failed.find(|it| matches!(it, FileError::AnotherProgram { .. }))
}

/// A socket that this process listens on. Dropping it removes it.
#[derive(Debug)]
pub struct Socket {
    folder: Folder,
    address: Address,
    listener: Listener,
    /// Of the hub: the right to be it.
    #[cfg(unix)]
    lock: Option<(Lock, String)>,
    /// The file that it is, of one whose place others may take. The hub, whose place it is, takes it back.
    #[cfg(unix)]
    shared: Option<(u64, u64)>,
}

/// The path of a socket, by directory and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    directory: PathBuf,
    name: String,
}

impl Socket {
    /// Listens as the hub; none if another process does.
    ///
    /// # Errors
    /// When no state directory can be used: what was wrong with the last.
    #[cfg(unix)]
    pub fn of_hub(environment: &Environment) -> Result<Option<Self>, FileError> {
        state_dir::first_usable(environment, |directory| {
            let folder = state_dir::create(directory)?;
            let lock_name = format!("{}.lock", hub());
            let Some(lock) = folder.lock(&lock_name)? else {
                return Ok(None);
            };
            let mut socket = Self::listen(folder, Address::of_hub(directory))?;
            socket.lock = Some((lock, lock_name));
            socket.shared = socket.folder.socket_id(&socket.address.name);
            Ok(Some(socket))
        })
    }

    /// Listens for one companion, in whose process there is no hub.
    ///
    /// # Errors
    /// As [`of_hub`](Self::of_hub).
    pub fn of_companion(environment: &Environment) -> Result<Self, FileError> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("{OWN}{}-{number}{}{SUFFIX}", process::id(), part());
        state_dir::first_usable(environment, |directory| {
            let folder = state_dir::create(directory)?;
            Self::listen(folder, Address::new(directory, name.clone()))
        })
    }

    /// Listens for the agents that dial no port, of the companion on this one. They get the path, which must not be too
    /// long for them.
    ///
    /// # Errors
    /// As [`of_hub`](Self::of_hub).
    #[cfg(unix)]
    pub fn for_agents(environment: &Environment, port: u16) -> Result<Self, FileError> {
        let name = format!("{AGENTS}{}-{port}{}{SUFFIX}", process::id(), part());
        state_dir::first_usable(environment, |directory| {
            let address = Address::new(directory, name.clone());
            let path = address.path();
            if path.as_os_str().len() > MAX_PATH || path.to_str().is_none() {
                let text = format!("its path has more than {MAX_PATH} bytes, or is not Unicode");
                let source = std::io::Error::new(std::io::ErrorKind::InvalidFilename, text);
                return Err(FileError::io("listen on", &path, source));
            }
            Self::listen(state_dir::create(directory)?, address)
        })
    }

    /// Listens at one of the places where Codex CLI asks for what an editor shows; none if another process does. All
    /// programs of this user that serve it share the place.
    ///
    /// # Errors
    /// When the folder or the socket is a link or another user's, or when the system refuses.
    #[cfg(unix)]
    pub fn for_codex(address: Address) -> Result<Option<Self>, FileError> {
        let folder = state_dir::create(&address.directory)?;
        if folder.connect(&address.name).is_ok() {
            return Ok(None);
        }
        let mut socket = Self::listen(folder, address)?;
        socket.shared = socket.folder.socket_id(&socket.address.name);
        Ok(Some(socket))
    }

    /// Returns true if its file is the one that this process has made: others may delete it, or put theirs there.
    #[cfg(unix)]
    pub fn is_in_place(&self) -> bool {
        let folder = state_dir::open(&self.address.directory);
        let there = folder.and_then(|folder| folder.socket_id(&self.address.name));
        there.is_some() && there == self.shared
    }

    fn listen(folder: Folder, address: Address) -> Result<Self, FileError> {
        Ok(Self {
            listener: folder.listen(&address.name)?,
            folder,
            address,
            #[cfg(unix)]
            lock: None,
            #[cfg(unix)]
            shared: None,
        })
    }

    /// The listener on which connections come in.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// The address of the socket.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The file that leads there.
    pub fn path(&self) -> PathBuf {
        self.address.path()
    }

    /// Puts it back if a cleaner has deleted it, perhaps with its folder. Returns true if it had to: then connections
    /// come in at another [`listener`](Self::listener).
    ///
    /// # Errors
    /// When the folder cannot be used, or, for the hub, if another process has become it meanwhile.
    pub fn restore(&mut self) -> Result<bool, FileError> {
        let folder = state_dir::open(&self.address.directory);
        let is_there =
            folder.is_some_and(|it| it.has_socket(&self.address.name) && self.is_locked(&it));
        #[cfg(unix)]
        let is_there = is_there && (self.shared.is_none() || self.is_in_place());
        if is_there {
            return Ok(false);
        }
        let folder = state_dir::create(&self.address.directory)?;
        #[cfg(unix)]
        if let Some((lock, name)) = &mut self.lock
            && !folder.holds(name, lock)
        {
            let anothers = || FileError::Taken(folder.path().join(&*name));
            *lock = folder.lock(name)?.ok_or_else(anothers)?;
        }
        self.listener = folder.listen(&self.address.name)?;
        #[cfg(unix)]
        if self.shared.is_some() {
            self.shared = folder.socket_id(&self.address.name);
        }
        self.folder = folder;
        Ok(true)
    }

    /// Returns true if nobody else can become the hub in its place, of which this is the folder.
    #[cfg(unix)]
    fn is_locked(&self, folder: &Folder) -> bool {
        { self.lock.as_ref() }.is_none_or(|(lock, name)| folder.holds(name, lock))
    }

    #[cfg(not(unix))]
    fn is_locked(&self, _: &Folder) -> bool {
        true
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        #[cfg(unix)]
        let is_anothers = self.shared.is_some() && !self.is_in_place();
        #[cfg(not(unix))]
        let is_anothers = false;
        if !is_anothers {
            let _ = self.folder.remove(&self.address.name);
        }
        // While the lock is held nobody else has put another there.
        #[cfg(unix)]
        if let Some((_, name)) = &self.lock {
            let _ = self.folder.remove(name);
        }
    }
}

impl Address {
    fn new(directory: impl Into<PathBuf>, name: String) -> Self {
        let directory = directory.into();
        Self { directory, name }
    }

    #[cfg(unix)]
    fn of_hub(directory: impl Into<PathBuf>) -> Self {
        Self::new(directory, hub_socket())
    }

    /// The sockets at which Codex CLI asks for an editor's context: below its own directory, then below the temporary directory.
    #[cfg(unix)]
    pub fn of_codex(home: &std::path::Path, tmpdir: &std::path::Path) -> [Self; 2] {
        let uid = rustix::process::geteuid().as_raw();
        [
            Self::new(home.join(CODEX_FOLDER), CODEX.to_owned()),
            Self::new(tmpdir.join(CODEX_TMP_FOLDER), format!("ipc-{uid}.sock")),
        ]
    }

    /// Those of these places where somebody may listen: the first if Codex has run there, the second if its folder would
    /// not be in the way of other users. Waits for the disk.
    #[cfg(unix)]
    pub fn for_codex(home: &std::path::Path, tmpdir: &std::path::Path) -> Vec<Self> {
        use std::os::unix::fs::MetadataExt;
        let [own, shared] = Self::of_codex(home, tmpdir);
        let own = home.is_dir().then_some(own);
        let is_private = |metadata: std::fs::Metadata| {
            metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
        };
        let is_there = shared.directory.is_dir();
        let shared = (is_there || tmpdir.metadata().is_ok_and(is_private)).then_some(shared);
        own.into_iter().chain(shared).collect()
    }

    /// The file that leads there.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// Connects to who listens there. May wait for them.
    ///
    /// # Errors
    /// When nobody does, or when it is not a socket of this user's.
    pub fn connect(&self) -> Result<Stream, FileError> {
        let folder = state_dir::open(&self.directory)
            .ok_or_else(|| FileError::NotAFolder(self.directory.clone()))?;
        let stream = folder.connect(&self.name)?;
        if !IS_OUR_PROGRAM_EXPECTED.load(Ordering::Relaxed) {
            return Ok(stream);
        }
        let path = self.path();
        if let Some(program) = peer::unexpected(&stream, self.listener(&folder)) {
            return Err(FileError::AnotherProgram { path, program });
        }
        let expected = peer::expect_peer(&stream);
        expected.map_err(|error| FileError::io("connect to", &path, error))?;
        Ok(stream)
    }

    /// The process that is to listen there, if that is known: the socket's name says it, or the lock of whoever is the hub.
    fn listener(&self, folder: &Folder) -> Option<u32> {
        #[cfg(unix)]
        if self.name == hub_socket() {
            return folder.lock_holder(&format!("{}.lock", hub()));
        }
        let _ = folder;
        process_of(&self.name)
    }
}

/// Connects to the hub; none if there is none.
#[cfg(unix)]
pub fn connect_to_hub(environment: &Environment) -> Option<Stream> {
    let mut addresses = environment.state_dirs().into_iter().map(Address::of_hub);
    addresses.find_map(|address| address.connect().ok())
}

/// The sockets of this user's companions in this part of the machine. Nobody may listen there any more.
pub(crate) fn addresses(environment: &Environment) -> Vec<Address> {
    let ends_here = format!("{}{SUFFIX}", part());
    let mut addresses = Vec::new();
    for directory in environment.state_dirs() {
        let Some(folder) = state_dir::open(&directory) else {
            continue;
        };
        let names = folder.names().unwrap_or_default().into_iter();
        let names = names.filter(|name| {
            let is_own = name.starts_with(OWN) && process_of(name).is_some();
            (is_own && name.ends_with(&ends_here)) || *name == hub_socket()
        });
        addresses.extend(names.map(|name| Address::new(&directory, name)));
    }
    addresses
}

/// The process that listened at the socket `name`, if it is one of this part of the machine, and not the hub's.
pub(crate) fn owner_here(name: &str) -> Option<u32> {
    let ends_here = format!("{}{SUFFIX}", part());
    process_of(name).filter(|_| name.ends_with(&ends_here))
}

fn hub_socket() -> String {
    format!("{}{SUFFIX}", hub())
}

fn process_of(name: &str) -> Option<u32> {
    let name = name.strip_prefix(OWN).or(name.strip_prefix(AGENTS))?;
    let (pid, _) = name.split_once('-')?;
    pid.parse().ok()
}

fn hub() -> String {
    format!("hub{}", part())
}

/// The end of the names of sockets in this part of the machine.
fn part() -> String {
    namespaces::here().map_or_else(String::new, |here| format!("-{}-{}", here.pid, here.net))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, Environment) {
        let base = tempfile::tempdir().expect("a folder for the test");
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        (base, environment)
    }

    #[test]
    fn codexs_socket_is_shared_with_whoever_else_serves_it() {
        use std::os::unix::net::UnixListener;
        let base = tempfile::tempdir().expect("a folder for the test");
        let home = base.path().join("codex");
        let tmpdir = base.path().join("shared");
        let places = || Address::for_codex(&home, &tmpdir);
        std::fs::create_dir(&tmpdir).unwrap();
        let chmod = |path: &std::path::Path, mode| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        // Where it has never run, and other users' Codex may.
        chmod(&tmpdir, 0o1777);
        assert_eq!(places(), []);
        std::fs::create_dir(&home).unwrap();
        assert_eq!(places().len(), 1);
        // Other users' folder is not in their way, nor is one where they have none.
        std::fs::create_dir(tmpdir.join("codex-ipc")).unwrap();
        assert_eq!(places().len(), 2);
        std::fs::remove_dir(tmpdir.join("codex-ipc")).unwrap();
        chmod(&tmpdir, 0o755);
        assert_eq!(places().len(), 2);
        let [own, shared] = Address::of_codex(&home, &tmpdir);
        let uid = rustix::process::geteuid().as_raw();
        let socket = Socket::for_codex(shared).unwrap().unwrap();
        assert_eq!(
            socket.path(),
            tmpdir.join(format!("codex-ipc/ipc-{uid}.sock"))
        );
        drop(socket);
        let listen = || Socket::for_codex(own.clone());
        let path = home.join("ipc/ipc.sock");
        let ours = listen().unwrap().unwrap();
        assert_eq!(ours.path(), path);
        assert!(ours.is_in_place());
        assert!(listen().unwrap().is_none());
        // Another takes the place, and keeps it when this one goes.
        std::fs::remove_file(&path).unwrap();
        assert!(!ours.is_in_place());
        let others = UnixListener::bind(&path).unwrap();
        assert!(!ours.is_in_place());
        drop(ours);
        assert!(path.exists());
        assert!(listen().unwrap().is_none());
        // It is gone, and has left its file.
        drop(others);
        let ours = listen().unwrap().unwrap();
        drop(ours);
        assert!(!path.exists());
        // Nothing through a link.
        std::fs::remove_dir(home.join("ipc")).unwrap();
        std::os::unix::fs::symlink(base.path(), home.join("ipc")).unwrap();
        assert!(listen().is_err());
    }

    #[test]
    fn one_process_is_the_hub_and_leaves_nothing_behind() {
        let (_base, environment) = world();
        assert!(connect_to_hub(&environment).is_none());
        let socket = Socket::of_hub(&environment).unwrap().unwrap();
        assert!(Socket::of_hub(&environment).unwrap().is_none());
        connect_to_hub(&environment).unwrap();
        drop(socket);
        assert!(connect_to_hub(&environment).is_none());
        let mut left = std::fs::read_dir(&environment.state_dirs()[0]).unwrap();
        assert!(left.next().is_none());
        let _next = Socket::of_hub(&environment).unwrap().unwrap();
    }

    #[test]
    fn the_next_directory_is_used_where_the_first_cannot_be() {
        let base = tempfile::tempdir().unwrap();
        let run = base.path().join("run");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("pillion"), "in the way").unwrap();
        let pairs = [("TMPDIR", base.path()), ("XDG_RUNTIME_DIR", &run)];
        let environment = Environment::from_pairs(pairs);
        let _socket = Socket::of_hub(&environment).unwrap().unwrap();
        connect_to_hub(&environment).unwrap();
    }

    #[test]
    fn every_socket_of_this_part_of_the_machine_is_found() {
        let (_base, environment) = world();
        let hub = Socket::of_hub(&environment).unwrap().unwrap();
        let own = [(); 2].map(|()| Socket::of_companion(&environment).unwrap());
        let folder = state_dir::open(&environment.state_dirs()[0]).unwrap();
        for other in [
            "own-7-0-1-1.sock",
            "own-x-0.sock",
            "hub-1-1.sock",
            "hub.lock",
            "a.json",
        ] {
            folder.write(other, b"").unwrap();
        }
        let mut found = addresses(&environment);
        found.sort_by(|one, other| one.name.cmp(&other.name));
        let expected = [&hub, &own[0], &own[1]].map(|socket| socket.address().clone());
        assert_eq!(found, expected);
        assert!(found.iter().all(|address| address.connect().is_ok()));
        let [first, second] = own;
        drop((first, hub));
        assert_eq!(addresses(&environment), [second.address().clone()]);
        assert_eq!(owner_here(&second.address().name), Some(process::id()));
        assert_eq!(owner_here("hub.sock"), None);
    }

    #[test]
    fn agents_get_a_path_that_is_not_too_long() {
        let base = tempfile::Builder::new()
            .prefix("s")
            .tempdir_in("/tmp")
            .unwrap();
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        let long = base.path().join("x".repeat(MAX_PATH));
        std::fs::create_dir(&long).unwrap();
        let only = environment.clone().with_tmpdir(&long);
        let error = Socket::for_agents(&only, 1).unwrap_err();
        assert!(error.to_string().contains("listen on"), "{error}");
        let environment = environment.with("XDG_RUNTIME_DIR", Some(&long));
        let socket = Socket::for_agents(&environment, 1).unwrap();
        assert!(!socket.path().starts_with(&long));
        std::os::unix::net::UnixStream::connect(socket.path()).unwrap();
        assert!(addresses(&environment).is_empty(), "nothing is asked there");
        let name = socket.path();
        let name = name.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(owner_here(&name), Some(process::id()));
        drop(socket);
        assert!(!environment.state_dirs()[1].join(name).exists());
    }

    #[test]
    fn what_a_cleaner_deleted_comes_back() {
        let (_base, environment) = world();
        let mut hub = Socket::of_hub(&environment).unwrap().unwrap();
        let mut own = Socket::of_companion(&environment).unwrap();
        let directory = environment.state_dirs().remove(0);
        let is_reached = |socket: &Socket| socket.address().connect().is_ok();
        assert!(
            !hub.restore().unwrap() && !own.restore().unwrap(),
            "they are there"
        );
        for socket in [&mut hub, &mut own] {
            std::fs::remove_file(directory.join(&socket.address.name)).unwrap();
            assert!(
                socket.restore().unwrap() && is_reached(socket),
                "the socket alone"
            );
        }
        std::fs::remove_file(directory.join(&hub.lock.as_ref().unwrap().1)).unwrap();
        assert!(hub.restore().unwrap() && is_reached(&hub), "its lock alone");
        std::fs::remove_file(hub.path()).unwrap();
        let others = std::os::unix::net::UnixListener::bind(hub.path()).unwrap();
        assert!(hub.restore().unwrap() && hub.is_in_place(), "another's");
        assert!(!hub.restore().unwrap());
        drop(others);
        assert!(Socket::of_hub(&environment).unwrap().is_none());
        std::fs::remove_dir_all(&directory).unwrap();
        for socket in [&mut hub, &mut own] {
            assert!(
                socket.restore().unwrap() && is_reached(socket),
                "the whole folder"
            );
        }
        assert!(Socket::of_hub(&environment).unwrap().is_none());
        std::fs::remove_dir_all(&directory).unwrap();
        let _other = Socket::of_hub(&environment).unwrap().unwrap();
        std::fs::remove_file(directory.join(&hub.address.name)).unwrap();
        assert!(hub.restore().is_err(), "another process is the hub now");
    }
}
