//! Where the front ends of one user find the hub, the process that hosts their companions: a socket in the first state
//! directory that can be used. Only who holds the lock beside it listens there.
//!
//! A container that shares the directory has a hub of its own: its processes, or its ports, are not seen from here.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use crate::environment::Environment;
use crate::namespaces;
use crate::private_file::{FileError, Folder, Lock};
use crate::state;

/// The right to be the hub. Dropping it ends that, and removes the socket.
#[derive(Debug)]
pub struct HubSocket {
    folder: Folder,
    names: Names,
    listener: UnixListener,
    _lock: Lock,
}

#[derive(Debug)]
struct Names {
    socket: String,
    lock: String,
}

impl Names {
    fn here() -> Self {
        let name = match namespaces::here() {
            Some(here) => format!("hub-{}-{}", here.pid, here.net),
            None => "hub".to_owned(),
        };
        Self {
            socket: format!("{name}.sock"),
            lock: format!("{name}.lock"),
        }
    }
}

impl HubSocket {
    /// Listens; none if another process does.
    ///
    /// # Errors
    /// When no state directory can be used: what was wrong with the last.
    pub fn listen(environment: &Environment) -> Result<Option<Self>, FileError> {
        let mut listening = Err(FileError::NotAFolder(PathBuf::new()));
        for directory in environment.state_dirs() {
            listening = state::create(&directory).and_then(Self::listen_in);
            if listening.is_ok() {
                break;
            }
        }
        listening
    }

    fn listen_in(folder: Folder) -> Result<Option<Self>, FileError> {
        let names = Names::here();
        let Some(lock) = folder.lock(&names.lock)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            listener: folder.listen(&names.socket)?,
            folder,
            names,
            _lock: lock,
        }))
    }

    /// Where front ends come in.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for HubSocket {
    fn drop(&mut self) {
        // While the lock is held nobody else has put another there.
        for name in [&self.names.socket, &self.names.lock] {
            let _ = self.folder.remove(name);
        }
    }
}

/// Connects to the hub; none if there is none.
pub fn connect(environment: &Environment) -> Option<UnixStream> {
    let names = Names::here();
    let folders = environment.state_dirs().into_iter();
    let mut folders = folders.filter_map(|directory| state::open(&directory));
    folders.find_map(|folder| folder.connect(&names.socket).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_listens_and_leaves_nothing_behind() {
        let base = tempfile::tempdir().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", base.path())]);
        assert!(connect(&environment).is_none());
        let socket = HubSocket::listen(&environment).unwrap().unwrap();
        assert!(HubSocket::listen(&environment).unwrap().is_none());
        connect(&environment).unwrap();
        drop(socket);
        assert!(connect(&environment).is_none());
        let mut left = std::fs::read_dir(&environment.state_dirs()[0]).unwrap();
        assert!(left.next().is_none());
        let _next = HubSocket::listen(&environment).unwrap().unwrap();
    }

    #[test]
    fn the_next_directory_is_used_where_the_first_cannot_be() {
        let base = tempfile::tempdir().unwrap();
        let run = base.path().join("run");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("pillion"), "in the way").unwrap();
        let pairs = [("TMPDIR", base.path()), ("XDG_RUNTIME_DIR", &run)];
        let environment = Environment::from_pairs(pairs);
        let _socket = HubSocket::listen(&environment).unwrap().unwrap();
        connect(&environment).unwrap();
    }
}
