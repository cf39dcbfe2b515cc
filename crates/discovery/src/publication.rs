//! The discovery files of one companion: published, maintained and removed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use pillion_protocol::claude::LockFile;
use pillion_protocol::dialect::{Base, FileName, Place, Protocol};
use pillion_protocol::discovery::{Publisher, RootError, join_roots};
use pillion_protocol::{Dialect, DiscoveryFile, IdeInfo};

use crate::environment::Environment;
use crate::liveness;
use crate::namespaces;
use crate::private_file::{FileError, Folder};
use crate::real_path::real_path;
use crate::tokens::Tokens;
use crate::warning::Warning;
use pillion_system::process;

/// No discovery file of anybody's is as long. Longer ones are not read.
pub(crate) const MAX_FILE: u64 = 64 * 1024;

/// What is published to agents.
#[derive(Debug, Clone)]
pub struct Announcement {
    /// The editor: the process that the companion serves, and whose ancestors agents look for. It
    /// must live and be this user's, or Qwen Code deletes its lock file.
    pub editor_pid: u32,
    /// The companion itself, which may be the editor's child or the editor.
    pub companion_pid: u32,
    /// Where the companion listens already (C6.1).
    pub port: u16,
    /// The workspace roots, absolute (C2.5).
    pub roots: Vec<PathBuf>,
    /// The editor's identity.
    pub ide: IdeInfo,
    /// A token per dialect (C3.1).
    pub tokens: Tokens,
}

/// The discovery files of one companion. Dropping it removes them (C6.2).
#[derive(Debug)]
pub struct Publication {
    announcement: Announcement,
    workspace_path: String,
    /// The roots with links resolved: once, because their disks may stop answering.
    real_roots: Vec<PathBuf>,
    dirs: Vec<AgentDir>,
    /// The files that agents find now.
    files: Vec<PathBuf>,
    warnings: Vec<Warning>,
}

/// One directory that agents look at.
#[derive(Debug, Clone)]
struct AgentDir {
    base: PathBuf,
    folder: &'static [&'static str],
    directory: PathBuf,
    /// What a person sets to move it elsewhere.
    variable: Option<&'static str>,
    /// The agents that look there.
    agents: Vec<Dialect>,
    files: Vec<Entry>,
}

/// One file in such a directory.
#[derive(Debug, Clone)]
struct Entry {
    dialect: Dialect,
    name: String,
    /// The process in its name.
    pid: Option<u32>,
}

impl Publication {
    /// Writes the files of every dialect, in every place, for the editor and every ancestor of it
    /// above process 1 (C2.1 to C2.5). A place that cannot be served becomes a warning.
    ///
    /// # Errors
    /// When a root cannot be written into a discovery file. Then nothing was written.
    pub fn publish(
        environment: &Environment,
        announcement: Announcement,
    ) -> Result<Self, RootError> {
        let workspace_path = join_roots(&announcement.roots)?;
        let mut publication = Self {
            dirs: agent_dirs(environment, &announcement),
            real_roots: resolved(&announcement.roots),
            announcement,
            workspace_path,
            files: Vec::new(),
            warnings: Vec::new(),
        };
        publication.restore();
        Ok(publication)
    }

    /// The files that agents find now.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// The places that could not be served, one warning per directory.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The announcement as it stands.
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// Rewrites every file for other workspace roots (C2.5).
    ///
    /// # Errors
    /// When a root cannot be written into a discovery file. Then everything stays as it was.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) -> Result<(), RootError> {
        self.workspace_path = join_roots(&roots)?;
        self.real_roots = resolved(&roots);
        self.announcement.roots = roots;
        self.restore();
        Ok(())
    }

    /// Publishes under another process of the editor and its ancestors: its first one may end, and others go on.
    pub fn set_editor(&mut self, environment: &Environment, pid: u32) {
        self.announcement.editor_pid = pid;
        let wanted = agent_dirs(environment, &self.announcement);
        let mut others = std::mem::replace(&mut self.dirs, wanted);
        for dir in &mut others {
            let own = self.dirs.iter();
            let own = own.filter(|it| it.directory == dir.directory);
            let kept: Vec<&String> = own.flat_map(|it| &it.files).map(|it| &it.name).collect();
            dir.files.retain(|entry| !kept.contains(&&entry.name));
        }
        remove(&others, &self.announcement);
        self.restore();
    }

    /// Removes the files and returns them: those that are still ours, not one that a successor put
    /// in their place. Directories stay, for others may use them.
    pub fn remove(self) -> Vec<PathBuf> {
        remove(&self.dirs, &self.announcement)
    }

    /// Makes everything as it should be: puts back what an agent or a cleaner deleted, changed or made readable for others,
    /// tries again what failed before, and takes names that another companion has given up. Returns the files that had to
    /// be written.
    pub fn restore(&mut self) -> Vec<PathBuf> {
        self.forget_ended();
        self.files.clear();
        self.warnings.clear();
        let mut written = Vec::new();
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
                let content = self.content(entry);
                let path = dir.directory.join(&entry.name);
                match entry.settle(&folder, &content, &self.announcement, &mut listens) {
                    Ok(Settled::AsItWas) => self.files.push(path),
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

    /// Takes away the files under ancestors of the editor that have ended, such as the shell that started it: their
    /// numbers may become others'.
    fn forget_ended(&mut self) {
        let editor = self.announcement.editor_pid;
        let has_ended = |entry: &mut Entry| {
            let pid = entry.pid.filter(|pid| *pid != editor);
            pid.is_some_and(|pid| !process::is_alive(pid))
        };
        let ended = self.dirs.iter_mut().filter_map(|dir| {
            let files: Vec<Entry> = dir.files.extract_if(.., has_ended).collect();
            let is_any = !files.is_empty();
            is_any.then(|| AgentDir {
                files,
                ..dir.clone()
            })
        });
        let ended: Vec<AgentDir> = ended.collect();
        remove(&ended, &self.announcement);
    }

    /// The bytes of a file.
    fn content(&self, entry: &Entry) -> Vec<u8> {
        let announcement = &self.announcement;
        match entry.dialect.protocol() {
            Protocol::Companion => announcement.discovery_file(entry.dialect, &self.workspace_path),
            Protocol::Claude => announcement.lock_file(entry.dialect, &self.real_roots),
        }
    }
}

/// Removes those of the files that are still ours.
fn remove(dirs: &[AgentDir], announcement: &Announcement) -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for dir in dirs {
        let Ok(Some(folder)) = Folder::open(&dir.base, dir.folder) else {
            continue;
        };
        for entry in &dir.files {
            let found = folder.read(&entry.name, MAX_FILE).ok().flatten();
            let is_ours = found
                .and_then(|content| parse(entry.dialect, &entry.name, &content))
                .is_some_and(|file| announcement.wrote(&file, entry.dialect));
            if is_ours && folder.remove(&entry.name).is_ok() {
                removed.push(folder.path().join(&entry.name));
            }
        }
    }
    removed
}

impl Drop for Publication {
    fn drop(&mut self) {
        remove(&self.dirs, &self.announcement);
    }
}

impl Announcement {
    /// The bytes of a dialect's files (C2.4).
    fn discovery_file(&self, dialect: Dialect, workspace_path: &str) -> Vec<u8> {
        let file = DiscoveryFile {
            port: self.port,
            workspace_path: workspace_path.to_owned(),
            auth_token: Some(self.tokens.get(dialect).clone()),
            ide_info: Some(self.ide.clone()),
            ppid: Some(self.editor_pid),
            ide_name: Some(self.ide.display_name.clone()),
            pillion: Some(self.publisher()),
        };
        serde_json::to_vec(&file).expect("a discovery file holds strings and numbers only")
    }

    /// The bytes of Claude Code's lock files: it compares resolved folders only.
    fn lock_file(&self, dialect: Dialect, real_roots: &[PathBuf]) -> Vec<u8> {
        let (folders, name) = (real_roots.to_vec(), &self.ide.display_name);
        let token = self.tokens.get(dialect).clone();
        let mut file = LockFile::new(self.editor_pid, folders, name, token);
        file.pillion = Some(self.publisher());
        serde_json::to_vec(&file).expect("strings, numbers and Unicode paths only")
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

/// What became of a file.
enum Settled {
    AsItWas,
    Written,
    /// Another companion that lives has the name: two may have one parent.
    LeftAlone,
}

impl Entry {
    fn settle(
        &self,
        folder: &Folder,
        content: &[u8],
        announcement: &Announcement,
        mut listens: impl FnMut(u16) -> bool,
    ) -> Result<Settled, FileError> {
        let found = match folder.read(&self.name, MAX_FILE) {
            // No discovery file: replaced below, if it may be.
            Err(FileError::TooLong { .. } | FileError::NotAFile(_)) => None,
            found => found?,
        };
        if let Some(found) = found {
            if found == content && folder.is_private(&self.name) {
                return Ok(Settled::AsItWas);
            }
            let other = parse(self.dialect, &self.name, &found);
            let other = other.filter(|file| file.port != announcement.port);
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

/// What a file of this name says to a dialect.
pub(crate) fn parse(dialect: Dialect, name: &str, content: &[u8]) -> Option<DiscoveryFile> {
    match dialect.protocol() {
        Protocol::Companion => serde_json::from_slice(content).ok(),
        Protocol::Claude => {
            let port = FileName::PortLock.port_in(name)?;
            let file: LockFile = serde_json::from_slice(content).ok()?;
            Some(file.into_discovery_file(port))
        }
    }
}

/// Every file that some release of some agent may look for, by directory.
fn agent_dirs(environment: &Environment, announcement: &Announcement) -> Vec<AgentDir> {
    let mut pids = vec![announcement.editor_pid];
    pids.extend(process::ancestors(announcement.editor_pid));
    let mut dirs: Vec<AgentDir> = Vec::new();
    // A pid may equal a port, and `PREFIX-PID` then `PREFIX-PORT`.
    let mut seen = HashSet::new();
    for dialect in Dialect::ALL {
        for place in dialect.places() {
            if is_second(environment, place) {
                continue;
            }
            let directory = environment.directory(place);
            let known = dirs.iter().position(|dir| dir.directory == directory);
            let at = known.unwrap_or_else(|| {
                dirs.push(AgentDir {
                    base: environment.base(place.base),
                    folder: place.folder,
                    directory: directory.clone(),
                    variable: Environment::variable(place.base),
                    agents: Vec::new(),
                    files: Vec::new(),
                });
                dirs.len() - 1
            });
            let readers = Dialect::ALL.into_iter();
            let readers = readers.filter(|it| it.discovery() == dialect && it.reads(place));
            dirs[at].agents.extend(readers);
            dirs[at].agents.sort_unstable();
            dirs[at].agents.dedup();
            let names = names(place, &pids, announcement.port).into_iter();
            let names = names.filter(|(name, _)| seen.insert(directory.join(name)));
            let entries = names.map(|(name, pid)| Entry { dialect, name, pid });
            dirs[at].files.extend(entries);
        }
    }
    dirs
}

/// Returns true if a file there would be the second of this companion in Claude Code's eyes. Newer
/// releases look in both folders, take two files of one port for two companions, and then connect to
/// neither; older ones look only where `CLAUDE_CONFIG_DIR` says.
fn is_second(environment: &Environment, place: &Place) -> bool {
    place.base == Base::ClaudeHome
        && environment.base(Base::ClaudeConfig) != environment.base(place.base)
}

/// The names of the files, each with the process in it.
fn names(place: &Place, pids: &[u32], port: u16) -> Vec<(String, Option<u32>)> {
    let pids = if place.name.holds_pid() {
        pids
    } else {
        &pids[..1]
    };
    let named = |pid: &u32| {
        let own = place.name.holds_pid().then_some(*pid);
        (place.name.of(*pid, port), own)
    };
    pids.iter().map(named).collect()
}
