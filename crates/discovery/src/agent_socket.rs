//! The socket on which agents reach a companion that dial no port: in the first state directory that can be used and whose
//! path is short enough. Only this user's processes can connect.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use pillion_system::process;

use crate::environment::Environment;
use crate::namespaces;
use crate::private_file::{FileError, Folder};
use crate::state;

/// The longest path of a socket on every system: macOS has 104 bytes for it, with the one that ends it.
const MAX_PATH: usize = 103;

/// A socket that is listened on. Dropping it removes it.
#[derive(Debug)]
pub struct AgentSocket {
    folder: Folder,
    name: String,
    listener: UnixListener,
}

impl AgentSocket {
    /// Listens for the agents of this process's companion on this port.
    ///
    /// # Errors
    /// When no state directory can be used: what was wrong with the last.
    pub fn listen(environment: &Environment, port: u16) -> Result<Self, FileError> {
        let name = format!("{}{}-{port}.sock", start(), std::process::id());
        let mut listening = Err(FileError::NotAFolder(PathBuf::new()));
        for directory in environment.state_dirs() {
            listening = Self::listen_in(&directory, &name);
            if listening.is_ok() {
                break;
            }
        }
        listening
    }

    fn listen_in(directory: &Path, name: &str) -> Result<Self, FileError> {
        let path = directory.join(name);
        if path.as_os_str().len() > MAX_PATH || path.to_str().is_none() {
            let text = format!("its path has more than {MAX_PATH} bytes, or is not Unicode");
            let source = io::Error::new(io::ErrorKind::InvalidFilename, text);
            return Err(FileError::io("listen on", &path, source));
        }
        let folder = state::create(directory)?;
        let listener = folder.listen(name)?;
        Ok(Self {
            folder,
            name: name.to_owned(),
            listener,
        })
    }

    /// Where agents find it.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Where they come in.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for AgentSocket {
    fn drop(&mut self) {
        let _ = self.folder.remove(&self.name);
    }
}

/// How the names of those begin whose process ids mean something here.
fn start() -> String {
    namespaces::here().map_or_else(String::new, |here| format!("{}-{}-", here.pid, here.net))
}

/// Removes the sockets of processes that have ended from a state directory, and returns them.
pub(crate) fn sweep(directory: &Path) -> Vec<PathBuf> {
    let Some(folder) = state::open(directory) else {
        return Vec::new();
    };
    let start = start();
    let is_left = |name: &String| owner(name, &start).is_some_and(|pid| !process::is_alive(pid));
    let names = folder.names().unwrap_or_default().into_iter();
    let removed = names.filter(is_left).filter(|name| {
        // Nothing else is removed by such a name.
        folder.is_socket(name) && folder.remove(name).is_ok()
    });
    removed.map(|name| folder.path().join(name)).collect()
}

/// The process whose socket has this name.
fn owner(name: &str, start: &str) -> Option<u32> {
    let numbers = name.strip_prefix(start)?.strip_suffix(".sock")?;
    let (pid, port) = numbers.split_once('-')?;
    port.parse::<u16>().ok()?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;

    fn world() -> (tempfile::TempDir, Environment) {
        let base = tempfile::Builder::new().prefix("s").tempdir_in("/tmp");
        let base = base.unwrap();
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        (base, environment)
    }

    #[test]
    fn a_socket_is_private_and_gone_when_it_is_dropped() {
        let (_base, environment) = world();
        let socket = AgentSocket::listen(&environment, 4242).unwrap();
        let path = socket.path();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        UnixStream::connect(&path).unwrap();
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_whose_path_is_too_long_is_not_used() {
        let (base, environment) = world();
        let long = base.path().join("x".repeat(MAX_PATH));
        std::fs::create_dir(&long).unwrap();
        let only = environment.clone().with_tmpdir(&long);
        let error = AgentSocket::listen(&only, 1).unwrap_err();
        assert!(error.to_string().contains("listen on"), "{error}");
        let environment = environment.with("XDG_RUNTIME_DIR", Some(&long));
        let socket = AgentSocket::listen(&environment, 1).unwrap();
        assert!(!socket.path().starts_with(&long));
    }

    #[test]
    fn only_sockets_of_processes_that_ended_are_swept() {
        let (_base, environment) = world();
        let living = AgentSocket::listen(&environment, 1).unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let directory = &environment.state_dirs()[0];
        let folder = state::open(directory).unwrap();
        let dead = format!("{}{}-1.sock", start(), child.id());
        let file = format!("{}{}-2.sock", start(), child.id());
        let elsewhere = format!("1-2-{}-1.sock", child.id());
        let listeners = [&dead, &elsewhere].map(|name| folder.listen(name).unwrap());
        folder.write(&file, b"kept").unwrap();
        drop(listeners);
        assert_eq!(sweep(directory), [folder.path().join(&dead)]);
        assert!(living.path().exists());
        for kept in [file, elsewhere] {
            assert!(folder.path().join(&kept).exists(), "{kept}");
        }
    }
}
