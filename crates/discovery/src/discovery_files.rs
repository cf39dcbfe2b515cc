//! The discovery files of one companion: published, maintained and removed.

mod places;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use pillion_protocol::claude::LockFile;
use pillion_protocol::copilot;
use pillion_protocol::dialect::{FileName, Protocol};
use pillion_protocol::discovery::{Publisher, RootError, join_roots};
use pillion_protocol::{Address, Dialect, DiscoveryFile, IdeInfo};

pub use self::places::Seat;
use self::places::{AgentDir, Entry, agent_dirs};
use crate::liveness;
use crate::namespaces;
use crate::private_file::{FileError, Folder};
use crate::real_path::real_path;
use crate::tokens::Tokens;
use crate::warning::Warning;
use pillion_system::{now_ms, process};

/// No discovery file of anybody's is as long. Longer ones are not read.
pub(crate) const MAX_FILE: u64 = 64 * 1024;

/// The information that is published to agents.
#[derive(Debug, Clone)]
pub struct DiscoveryInfo {
    /// The companion's process, which may be an editor's child, an editor, or neither.
    pub companion_pid: u32,
    /// The port on which the companion listens already (C6.1).
    pub port: u16,
    /// The socket on which it listens, too, for agents that dial no port. Without one their files are not written.
    pub socket: Option<PathBuf>,
    /// The workspace roots, absolute (C2.5).
    pub roots: Vec<PathBuf>,
    /// The identity of the editor after which agents call it.
    pub ide: IdeInfo,
    /// A token per dialect (C3.1).
    pub tokens: Tokens,
}

/// The discovery files of one companion. Dropping it removes them (C6.2).
#[derive(Debug)]
pub struct DiscoveryFiles {
    info: DiscoveryInfo,
    /// The editors for whose agents it is found.
    seats: Vec<Seat>,
    workspace_path: String,
    /// When it was published first, in Unix milliseconds.
    since_ms: u64,
    /// The roots with links resolved: once, because their disks may stop answering.
    real_roots: Vec<PathBuf>,
    dirs: Vec<AgentDir>,
    /// The files that agents find now.
    files: Vec<PathBuf>,
    warnings: Vec<Warning>,
    /// What was read of them last, with their marks: they are read again only once those are other ones.
    read: HashMap<PathBuf, (Vec<u8>, String)>,
}

impl DiscoveryFiles {
    /// Writes the files of every dialect, in every place, for every editor and every ancestor of one
    /// above process 1 (C2.1 to C2.5). A place that cannot be served becomes a warning. Of editors with a name in common
    /// the first that lives is in the file.
    ///
    /// # Errors
    /// When a root cannot be written into a discovery file. Then nothing was written.
    pub fn publish(seats: Vec<Seat>, info: DiscoveryInfo) -> Result<Self, RootError> {
        let workspace_path = join_roots(&info.roots)?;
        let mut discovery_files = Self {
            dirs: info.dirs(&seats),
            since_ms: now_ms(),
            seats,
            real_roots: resolved(&info.roots),
            info,
            workspace_path,
            files: Vec::new(),
            warnings: Vec::new(),
            read: HashMap::new(),
        };
        discovery_files.restore();
        Ok(discovery_files)
    }

    /// The files that agents find now.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// The places that could not be served, one warning per directory.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The content of the files now.
    pub fn info(&self) -> &DiscoveryInfo {
        &self.info
    }

    /// Rewrites every file for other workspace roots (C2.5).
    ///
    /// # Errors
    /// When a root cannot be written into a discovery file. Then everything stays as it was.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) -> Result<(), RootError> {
        self.workspace_path = join_roots(&roots)?;
        self.real_roots = resolved(&roots);
        self.info.roots = roots;
        self.restore();
        Ok(())
    }

    /// The editors for whose agents it is found.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// Publishes for these editors: the files that only others needed go.
    pub fn set_seats(&mut self, seats: Vec<Seat>) {
        self.seats = seats;
        let wanted = self.info.dirs(&self.seats);
        let mut others = std::mem::replace(&mut self.dirs, wanted);
        for dir in &mut others {
            let own = self.dirs.iter();
            let own = own.filter(|it| it.directory == dir.directory);
            let kept: Vec<&String> = own.flat_map(|it| &it.files).map(|it| &it.name).collect();
            dir.files.retain(|entry| !kept.contains(&&entry.name));
        }
        remove(&others, &self.info);
        self.restore();
    }

    /// Rewrites every file for another identity: the editor whose it was may have gone.
    pub fn set_ide(&mut self, ide: IdeInfo) {
        self.info.ide = ide;
        self.restore();
    }

    /// Makes everything as it should be: puts back what an agent or a cleaner deleted, changed or made readable for others,
    /// tries again what failed before, and takes names that another companion has given up. Returns the files that had to
    /// be written.
    pub fn restore(&mut self) -> Vec<PathBuf> {
        self.forget_ended();
        self.files.clear();
        self.warnings.clear();
        let mut written = Vec::new();
        let living = self.living_editors();
        // One dial for each port: a companion that does not answer may have all of our names.
        let mut listening = HashMap::new();
        let mut listens = |port| {
            *listening
                .entry(port)
                .or_insert_with(|| liveness::listens(port))
        };
        for dir in &self.dirs {
            let folder = match Folder::create(&dir.base, dir.folder) {
                Ok(folder) => folder,
                Err(error) => {
                    self.warnings.push(dir.warning(error));
                    continue;
                }
            };
            let mut failure = None;
            for entry in &dir.files {
                let content = self.content(entry, entry.editor(&living));
                let path = dir.directory.join(&entry.name);
                let mark = folder.mark(&entry.name);
                let known = self.read.get(&path).zip(mark.as_ref());
                if known.is_some_and(|((text, known), mark)| *text == content && known == mark) {
                    self.files.push(path);
                    continue;
                }
                match entry.settle(&folder, &content, &self.info, &mut listens) {
                    Ok(Settled::AsItWas) => {
                        self.files.push(path.clone());
                        self.read.extend(mark.map(|mark| (path, (content, mark))));
                    }
                    Ok(Settled::Written) => {
                        self.files.push(path.clone());
                        written.push(path);
                    }
                    Ok(Settled::LeftAlone) => {}
                    Err(error) => {
                        failure.get_or_insert(error);
                    }
                }
            }
            self.warnings.extend(failure.map(|it| dir.warning(it)));
        }
        written
    }

    fn living_editors(&self) -> HashSet<u32> {
        let pids = self.seats.iter().map(|seat| seat.editor_pid);
        pids.filter(|pid| process::is_alive(*pid)).collect()
    }

    /// Takes away the files under ancestors of editors that have ended, such as the shell that started one: their
    /// numbers may become others'.
    fn forget_ended(&mut self) {
        let seats = &self.seats;
        let is_editor = |pid: &u32| seats.iter().any(|seat| seat.editor_pid == *pid);
        // Each has a file in several places.
        let mut alive = HashMap::new();
        let mut is_alive = |pid| *alive.entry(pid).or_insert_with(|| process::is_alive(pid));
        let mut has_ended = |entry: &mut Entry| {
            let pid = entry.pid.filter(|pid| !is_editor(pid));
            pid.is_some_and(|pid| !is_alive(pid))
        };
        let ended = self.dirs.iter_mut().filter_map(|dir| {
            let files: Vec<Entry> = dir.files.extract_if(.., &mut has_ended).collect();
            let is_any = !files.is_empty();
            is_any.then(|| AgentDir {
                files,
                ..dir.clone()
            })
        });
        let ended: Vec<AgentDir> = ended.collect();
        remove(&ended, &self.info);
    }

    /// The bytes of a file that names this editor.
    fn content(&self, entry: &Entry, editor_pid: u32) -> Vec<u8> {
        let (info, dialect) = (&self.info, entry.dialect);
        match dialect.protocol() {
            Protocol::Companion => info.discovery_file(dialect, editor_pid, &self.workspace_path),
            Protocol::Claude => info.lock_file(dialect, editor_pid, &self.real_roots),
            Protocol::Copilot => info.socket_file(dialect, &self.real_roots, self.since_ms),
            Protocol::Hooks => Vec::new(),
        }
    }
}

/// Removes those of the files that are still ours, not one that a successor put in their place. Directories stay, for others
/// may use them.
fn remove(dirs: &[AgentDir], info: &DiscoveryInfo) {
    for dir in dirs {
        let Ok(Some(folder)) = Folder::open(&dir.base, dir.folder) else {
            continue;
        };
        for entry in &dir.files {
            let found = folder.read(&entry.name, MAX_FILE).ok().flatten();
            let is_ours = found
                .and_then(|content| parse(entry.dialect, &entry.name, &content))
                .is_some_and(|file| info.wrote(&file, entry.dialect));
            if is_ours {
                let _ = folder.remove(&entry.name);
            }
        }
    }
}

impl Drop for DiscoveryFiles {
    fn drop(&mut self) {
        remove(&self.dirs, &self.info);
    }
}

impl DiscoveryInfo {
    /// The bytes of a dialect's files (C2.4).
    fn discovery_file(&self, dialect: Dialect, editor_pid: u32, workspace_path: &str) -> Vec<u8> {
        let file = DiscoveryFile {
            port: self.port,
            workspace_path: workspace_path.to_owned(),
            auth_token: Some(self.tokens.get(dialect).clone()),
            ide_info: Some(self.ide.clone()),
            ppid: Some(editor_pid),
            ide_name: Some(self.ide.display_name.clone()),
            pillion: Some(self.publisher()),
        };
        serde_json::to_vec(&file).expect("a discovery file holds strings and numbers only")
    }

    /// The bytes of Claude Code's lock files: it compares resolved folders only.
    fn lock_file(&self, dialect: Dialect, editor_pid: u32, real_roots: &[PathBuf]) -> Vec<u8> {
        let (folders, name) = (real_roots.to_vec(), &self.ide.display_name);
        let token = self.tokens.get(dialect).clone();
        let mut file = LockFile::new(editor_pid, folders, name, token);
        file.pillion = Some(self.publisher());
        serde_json::to_vec(&file).expect("strings, numbers and Unicode paths only")
    }

    /// The bytes of Copilot CLI's lock files: it compares resolved folders only. Our own process is in them, so that one
    /// that is left over misleads nobody.
    fn socket_file(&self, dialect: Dialect, real_roots: &[PathBuf], since_ms: u64) -> Vec<u8> {
        let (token, name) = (self.tokens.get(dialect), &self.ide.display_name);
        let socket = self.socket.clone().unwrap_or_default();
        let mut file = copilot::LockFile::new(socket, token, name, self.companion_pid);
        file.timestamp = since_ms;
        file.workspace_folders = real_roots.to_vec();
        file.pillion = Some(self.publisher());
        serde_json::to_vec(&file).expect("strings, numbers and Unicode paths only")
    }

    /// The address at which this agent reaches the companion, if it can.
    pub fn address(&self, dialect: Dialect) -> Option<Address> {
        match dialect.protocol() {
            Protocol::Companion | Protocol::Claude => Some(Address::Tcp(self.port)),
            Protocol::Copilot => self.socket.clone().map(Address::Unix),
            Protocol::Hooks => None,
        }
    }

    fn dirs(&self, seats: &[Seat]) -> Vec<AgentDir> {
        agent_dirs(seats, self.port, |dialect| self.address(dialect).is_some())
    }

    fn publisher(&self) -> Publisher {
        Publisher {
            pid: self.companion_pid,
            namespaces: namespaces::here(),
        }
    }

    /// Returns true if `file` is one of ours. Nobody else knows the token.
    fn wrote(&self, file: &DiscoveryFile, dialect: Dialect) -> bool {
        let own = self.tokens.get(dialect);
        let presented = file.auth_token.as_ref();
        presented.is_some_and(|token| own.matches(token.expose().as_bytes()))
    }
}

impl AgentDir {
    fn warning(&self, error: FileError) -> Warning {
        Warning {
            directory: self.directory.clone(),
            variable: self.variable,
            agents: self.agents.clone(),
            error,
        }
    }
}

/// The outcome for a file.
enum Settled {
    AsItWas,
    Written,
    /// Another companion that lives has the name: two may have one parent.
    LeftAlone,
}

impl Entry {
    /// The editor that is in the file: agents delete a lock file whose process is dead.
    fn editor(&self, living: &HashSet<u32>) -> u32 {
        let mut editors = self.editors.iter();
        let first_living = editors.find(|pid| living.contains(pid));
        *first_living.unwrap_or(&self.editors[0])
    }

    fn settle(
        &self,
        folder: &Folder,
        content: &[u8],
        info: &DiscoveryInfo,
        mut listens: impl FnMut(u16) -> bool,
    ) -> Result<Settled, FileError> {
        let found = match folder.read(&self.name, MAX_FILE) {
            // No discovery file: replaced below, if it may be.
            Err(FileError::TooLong { .. } | FileError::NotAFile(_)) => None,
            found => found?,
        };
        if let Some(found) = found {
            if found == content && folder.mark(&self.name).is_some() {
                return Ok(Settled::AsItWas);
            }
            let other = parse(self.dialect, &self.name, &found);
            let other = other.filter(|file| file.port != info.port);
            if other.is_some_and(|file| listens(file.port)) {
                return Ok(Settled::LeftAlone);
            }
        }
        folder.write(&self.name, content)?;
        Ok(Settled::Written)
    }
}

/// The roots with links resolved. One that JSON cannot hold then stays as it is.
fn resolved(roots: &[PathBuf]) -> Vec<PathBuf> {
    let resolve = |root: &PathBuf| {
        let real = real_path(root);
        if real.to_str().is_some() {
            real
        } else {
            root.clone()
        }
    };
    roots.iter().map(resolve).collect()
}

/// The content of a file of this name, as a dialect reads it.
pub(crate) fn parse(dialect: Dialect, name: &str, content: &[u8]) -> Option<DiscoveryFile> {
    match dialect.protocol() {
        Protocol::Companion => serde_json::from_slice(content).ok(),
        Protocol::Claude => {
            let port = FileName::PortLock.port_in(name)?;
            let file: LockFile = serde_json::from_slice(content).ok()?;
            Some(file.into_discovery_file(port))
        }
        Protocol::Copilot => {
            let port = FileName::PortLock.port_in(name)?;
            let file: copilot::LockFile = serde_json::from_slice(content).ok()?;
            Some(file.into_discovery_file(port))
        }
        Protocol::Hooks => None,
    }
}
