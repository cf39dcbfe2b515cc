//! How Pillion's own commands find a running companion: a private file per companion, with the
//! tokens of its control endpoint and of scripts, which no agent ever sees.
//!
//! The file is searched for in two places, `$XDG_RUNTIME_DIR/pillion` and a folder in the temporary directory, because
//! `sudo` and `su` leave a stale `XDG_RUNTIME_DIR` behind.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pillion_protocol::dialect::Base;
use pillion_protocol::discovery::Namespaces;
use pillion_protocol::{IdeInfo, Token};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::liveness;
use crate::private_file::{FileError, Folder};
use crate::publication::MAX_FILE;
use pillion_system::process;

/// What a companion reports to Pillion's own commands.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompanionState {
    /// The companion's process.
    pub pid: u32,
    /// The version of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its loopback port.
    pub port: u16,
    /// What opens its control endpoint.
    pub control_token: Token,
    /// What commands present that call it as agents do: it opens `/mcp`.
    pub script_token: Token,
    /// Its workspace roots.
    pub roots: Vec<PathBuf>,
    /// The editor after which agents call it.
    pub ide: IdeInfo,
    /// The processes of the editors that are attached to it.
    #[serde(default)]
    pub editors: Vec<u32>,
    /// When it started, in Unix milliseconds.
    pub started_at_ms: u64,
    /// Where it keeps the discovery files that lie in the temporary directory: it may have been
    /// started with another one than who looks for it. None if JSON cannot hold the path.
    #[serde(default)]
    pub tmpdir: Option<PathBuf>,
    /// Where its process id and port mean something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Namespaces>,
}

impl CompanionState {
    /// What [`tmpdir`](Self::tmpdir) is of a companion that is started in this environment.
    pub fn tmpdir_in(environment: &Environment) -> Option<PathBuf> {
        let tmpdir = environment.base(Base::TmpDir);
        tmpdir.to_str().is_some().then_some(tmpdir)
    }
}

/// Why a companion cannot be found by Pillion's own commands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// JSON cannot hold a root.
    #[error("cannot record workspace root {0:?}: it is not valid Unicode")]
    NotUnicode(PathBuf),
    /// No directory could be used; this is what was wrong with the last.
    #[error("cannot save this companion's state")]
    File(#[source] FileError),
}

impl StateError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotUnicode(_) => None,
            Self::File(error) => Some(error.hint()),
        }
    }
}

/// The state file of a running companion. Dropping it removes the file.
#[derive(Debug)]
pub struct StateFile {
    state: CompanionState,
    /// The directory that could be used.
    directory: PathBuf,
    name: String,
}

impl StateFile {
    /// Writes the state into the first directory of [`Environment::state_dirs`] that can be used.
    ///
    /// # Errors
    /// When a root is not Unicode, or when no directory can be used.
    pub fn publish(environment: &Environment, state: CompanionState) -> Result<Self, StateError> {
        let name = file_name(state.pid, state.port);
        let placed = place(environment, &name, &content(&state)?);
        Ok(Self {
            directory: placed.map_err(StateError::File)?,
            state,
            name,
        })
    }

    /// Where the file is.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// Rewrites the file after a change of anything but the process and the port, which are its name.
    ///
    /// # Errors
    /// As for [`publish`](Self::publish). A root that is not Unicode changes nothing; what could not be written,
    /// [`restore`](Self::restore) tries again.
    pub fn update(&mut self, change: impl FnOnce(&mut CompanionState)) -> Result<(), StateError> {
        let mut state = self.state.clone();
        change(&mut state);
        let content = content(&state)?;
        self.state = state;
        write(&self.directory, &self.name, &content).map_err(StateError::File)
    }

    /// Puts the file back if a cleaner deleted it, or it became readable for others. Returns
    /// whether it had to.
    ///
    /// # Errors
    /// As for [`publish`](Self::publish).
    pub fn restore(&mut self) -> Result<bool, StateError> {
        let wanted = content(&self.state)?;
        let is_private = || open(&self.directory).is_some_and(|it| it.is_private(&self.name));
        if self.read().is_some_and(|found| found == wanted) && is_private() {
            return Ok(false);
        }
        write(&self.directory, &self.name, &wanted).map_err(StateError::File)?;
        Ok(true)
    }

    fn read(&self) -> Option<Vec<u8>> {
        open(&self.directory)?.read(&self.name, MAX_FILE).ok()?
    }
}

impl Drop for StateFile {
    fn drop(&mut self) {
        let found = self.read().and_then(|content| parse(&self.name, &content));
        let own = &self.state.control_token;
        let is_ours =
            found.is_some_and(|state| own.matches(state.control_token.expose().as_bytes()));
        if let Some(folder) = open(&self.directory).filter(|_| is_ours) {
            let _ = folder.remove(&self.name);
        }
    }
}

/// The companions of this user that run, in no particular order. A file that is another user's, a
/// link, or not what it should be counts for nothing.
pub fn list(environment: &Environment) -> Vec<CompanionState> {
    let states = of_living_processes(environment);
    let refusing = liveness::refusing(states.iter().map(|state| state.port));
    running(states, &refusing)
}

/// The states whose process lives; whether something listens on their ports is not asked.
pub(crate) fn of_living_processes(environment: &Environment) -> Vec<CompanionState> {
    let mut states = Vec::new();
    for directory in environment.state_dirs() {
        let Some(folder) = open(&directory) else {
            continue;
        };
        for name in folder.names().unwrap_or_default() {
            let content = folder.read(&name, MAX_FILE).ok().flatten();
            let state = content.and_then(|content| parse(&name, &content));
            states.extend(state.filter(|state| process::is_alive(state.pid)));
        }
    }
    states
}

/// Those on whose port something listens, each once: it may have left files in several directories.
pub(crate) fn running(
    mut states: Vec<CompanionState>,
    refusing: &HashSet<u16>,
) -> Vec<CompanionState> {
    let mut seen = HashSet::new();
    states.retain(|state| !refusing.contains(&state.port) && seen.insert((state.pid, state.port)));
    states
}

/// The state in the file `name`, if that is what it is.
pub(crate) fn parse(name: &str, content: &[u8]) -> Option<CompanionState> {
    let state: CompanionState = serde_json::from_slice(content).ok()?;
    (file_name(state.pid, state.port) == name).then_some(state)
}

/// A state directory as a folder of ours below a base that is the system's.
pub(crate) fn split(directory: &Path) -> Option<(&Path, &str)> {
    Some((directory.parent()?, directory.file_name()?.to_str()?))
}

pub(crate) fn open(directory: &Path) -> Option<Folder> {
    let (base, part) = split(directory)?;
    Folder::open(base, &[part]).ok()?
}

/// Writes a file into the first state directory that can be used, and returns that.
///
/// # Errors
/// When none can; this is what was wrong with the last.
pub(crate) fn place(
    environment: &Environment,
    name: &str,
    content: &[u8],
) -> Result<PathBuf, FileError> {
    let mut placed = Err(FileError::NotAFolder(PathBuf::new()));
    for directory in environment.state_dirs() {
        placed = write(&directory, name, content).map(|()| directory);
        if placed.is_ok() {
            break;
        }
    }
    placed
}

pub(crate) fn write(directory: &Path, name: &str, content: &[u8]) -> Result<(), FileError> {
    create(directory)?.write(name, content)
}

/// A state directory, which is made if it is missing.
pub(crate) fn create(directory: &Path) -> Result<Folder, FileError> {
    let Some((base, part)) = split(directory) else {
        return Err(FileError::NotAFolder(directory.to_owned()));
    };
    Folder::create(base, &[part])
}

/// One process may have several companions.
fn file_name(pid: u32, port: u16) -> String {
    format!("{pid}-{port}.json")
}

fn content(state: &CompanionState) -> Result<Vec<u8>, StateError> {
    if let Some(root) = state.roots.iter().find(|root| root.to_str().is_none()) {
        return Err(StateError::NotUnicode(root.clone()));
    }
    Ok(serde_json::to_vec(state).expect("strings, numbers and Unicode paths only"))
}
