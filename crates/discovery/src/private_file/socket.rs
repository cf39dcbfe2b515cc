//! Sockets in a private folder: only this user can connect to one, and only to one of this user's.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, chmodat, statat};
use rustix::io::Errno;

use super::{Folder, PRIVATE_FILE, file_type, foreign, is_ours};
use crate::private_file::FileError;

pub use std::os::unix::net::UnixStream as Stream;

/// A socket that is listened on.
#[derive(Debug)]
pub struct Listener(UnixListener);

impl Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// When the system refuses, as when too many files are open.
    pub fn accept(&self) -> io::Result<Stream> {
        self.0.accept().map(|(stream, _)| stream)
    }

    /// Returns true if the other end is this user's. Where the system does not tell, the folder of the socket keeps
    /// others away.
    pub fn admits(&self, stream: &Stream) -> bool {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return rustix::net::sockopt::socket_peercred(stream)
            .is_ok_and(|peer| peer.uid == rustix::process::geteuid());
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            let _ = stream;
            true
        }
    }

    /// The system's own.
    pub fn as_unix(&self) -> &UnixListener {
        &self.0
    }

    /// A second handle for the same socket.
    ///
    /// # Errors
    /// When too many files are open.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

impl Folder {
    /// Listens on a new socket `name`, 0600, in place of one of ours that nothing listens on any more.
    ///
    /// # Errors
    /// When something else has that name, or when the system refuses.
    pub fn listen(&self, name: &str) -> Result<Listener, FileError> {
        let path = self.path.join(name);
        match self.check_socket(name) {
            Ok(()) => self.remove(name)?,
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listener = UnixListener::bind(self.address(name))
            .map_err(|error| FileError::io("listen on", &path, error))?;
        // Until then the folder keeps others away.
        chmodat(&self.fd, name, PRIVATE_FILE, AtFlags::empty())
            .map_err(|errno| FileError::io("listen on", &path, errno))?;
        Ok(Listener(listener))
    }

    /// Connects to the socket `name`. May wait for the listener.
    ///
    /// # Errors
    /// When it is a link, another user's or no socket, or when nothing listens on it.
    pub fn connect(&self, name: &str) -> Result<Stream, FileError> {
        self.check_socket(name)?;
        Stream::connect(self.address(name))
            .map_err(|error| FileError::io("connect to", &self.path.join(name), error))
    }

    /// Returns true if the socket `name` is there, and ours.
    pub fn has_socket(&self, name: &str) -> bool {
        self.check_socket(name).is_ok()
    }

    /// The file that the socket `name` is, as device and inode, if it is there, and ours.
    pub fn socket_id(&self, name: &str) -> Option<(u64, u64)> {
        self.check_socket(name).ok()?;
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        #[allow(
            clippy::unnecessary_cast,
            reason = "the types are others on other systems"
        )]
        Some((stat.st_dev as u64, stat.st_ino as u64))
    }

    fn check_socket(&self, name: &str) -> Result<(), FileError> {
        let path = self.path.join(name);
        let stat = match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(errno @ Errno::NOENT) => return Err(FileError::io("find", &path, errno)),
            Err(errno) => return Err(FileError::io("look at", &path, errno)),
        };
        match file_type(&stat) {
            FileType::Symlink => Err(FileError::Link(path)),
            FileType::Socket if is_ours(&stat) => Ok(()),
            FileType::Socket => Err(foreign(&stat, &path)),
            _ => Err(FileError::NotASocket(path)),
        }
    }

    /// The socket by the folder that was checked, where the system has names for open folders: nobody can
    /// replace it, and it is short. The system cuts no name of a socket; it refuses one over some 100 bytes.
    fn address(&self, name: &str) -> PathBuf {
        let open = PathBuf::from(format!("/proc/self/fd/{}", self.fd.as_raw_fd()));
        let is_named = cfg!(target_os = "linux") && open.exists();
        if is_named {
            open.join(name)
        } else {
            self.path.join(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_socket_is_private_and_leads_to_its_listener() {
        let base = tempfile::tempdir().unwrap();
        let long = "x".repeat(200);
        let folder = Folder::create(base.path(), &[&long]).unwrap();
        let listener = folder.listen("s").unwrap();
        let mode = folder.path().join("s").metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        let mut here = folder.connect("s").unwrap();
        let mut there = listener.accept().unwrap();
        assert!(listener.admits(&there));
        here.write_all(b"a").unwrap();
        let mut byte = [0];
        there.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"a");
    }

    #[test]
    fn one_without_a_listener_is_replaced() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a"]).unwrap();
        drop(folder.listen("s").unwrap());
        assert!(folder.connect("s").is_err());
        let _listener = folder.listen("s").unwrap();
        folder.connect("s").unwrap();
    }

    #[test]
    fn what_is_no_socket_of_ours_is_neither_replaced_nor_connected_to() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a"]).unwrap();
        let _listener = folder.listen("real").unwrap();
        let link = folder.path().join("link");
        symlink("real", &link).unwrap();
        folder.write("file", b"kept").unwrap();
        assert!(matches!(folder.connect("link"), Err(FileError::Link(_))));
        assert!(matches!(folder.listen("link"), Err(FileError::Link(_))));
        assert!(matches!(
            folder.connect("file"),
            Err(FileError::NotASocket(_))
        ));
        assert!(matches!(
            folder.listen("file"),
            Err(FileError::NotASocket(_))
        ));
        assert!(link.is_symlink());
        assert_eq!(
            folder.read("file", 9).unwrap().as_deref(),
            Some(&b"kept"[..])
        );
        assert!(folder.connect("missing").is_err());
    }
}
