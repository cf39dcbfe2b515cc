//! Files that hold secrets: readable by this user only, from the first byte on, and complete
//! whenever they are read.
//!
//! A [`Folder`] is a directory below a *base* such as the temporary directory. The base is taken
//! as the system or the user set it up: it may be a symbolic link, and root's, and shared if it has
//! the sticky bit. Below it nothing is trusted: a folder that is a link or another user's is
//! refused, one that we create is 0700, one of ours that others could write to is tightened. Within
//! a folder, a file is written under a name that nobody can guess and then renamed; a target that
//! is a link, another user's, a folder or a device is refused and left as it is.
//!
//! On Windows what lies in the user's profile inherits its access list, which lets in the user, the
//! system and administrators; that is relied on, and owners are not compared.

#[cfg(unix)]
#[path = "private_file/unix.rs"]
mod system;
#[cfg(not(unix))]
#[path = "private_file/windows.rs"]
mod system;

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub use system::Folder;
#[cfg(unix)]
pub use system::lock::Lock;
pub use system::socket::{Listener, Stream};

impl Folder {
    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file `name`: at every moment it is absent, as it was, or complete, and nobody else's.
    ///
    /// It is not synchronised to the disk: after a power cut its port would mean nothing.
    ///
    /// # Errors
    /// When there is something under that name that may not be replaced, or when the system
    /// refuses; then no part of the file is left.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        self.replace(name, content, |_| Ok(()))
    }

    /// The same for what must outlive a power cut: the content is on the disk before it takes the place of the former one.
    ///
    /// # Errors
    /// As for [`Folder::write`].
    pub fn write_durably(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        self.replace(name, content, File::sync_all)
    }

    /// The content of the file `name`, if it is there.
    ///
    /// # Errors
    /// When it is a link, another user's, no regular file or longer than `limit` bytes, or when the
    /// system refuses.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        let content = self.read_from(name, 0, limit.saturating_add(1))?;
        match content {
            Some(content) if content.len() as u64 > limit => Err(FileError::TooLong {
                path: self.path.join(name),
                limit,
            }),
            content => Ok(content),
        }
    }

    /// Takes the file `name` away and returns its content, if it is there: of several who want it, one
    /// gets it.
    ///
    /// # Errors
    /// As for [`read`](Self::read). Nobody gets it then.
    pub fn take(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        let failed = |error| FileError::io("take", &self.path().join(name), error);
        let own = unfinished_name().map_err(failed)?;
        match self.rename(name, &own) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let content = self.read(&own, limit);
        self.remove(&own)?;
        content
    }
}

/// Why a folder or file was not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A link stands where a folder or a file should be.
    #[error("{0:?} is a symbolic link")]
    Link(PathBuf),
    /// Other users decide what is in it.
    #[error("{path:?} belongs to user id {uid}")]
    Foreign {
        /// The folder or file.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// A file stands where a folder should be.
    #[error("{0:?} is not a folder")]
    NotAFolder(PathBuf),
    /// A folder, device or pipe stands where a file should be.
    #[error("{0:?} is not a regular file")]
    NotAFile(PathBuf),
    /// Another process has it.
    #[error("another process holds {0:?}")]
    Taken(PathBuf),
    /// Something else stands where a socket should be.
    #[error("{0:?} is not a socket")]
    NotASocket(PathBuf),
    /// Another program answers there.
    #[error("{program} answers at {path:?}, where Pillion's own process should")]
    AnotherProgram {
        /// The socket.
        path: PathBuf,
        /// The other one, with its process.
        program: String,
    },
    /// No file of ours is as long.
    #[error("{path:?} is longer than {limit} bytes")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The most that was to be read.
        limit: u64,
    },
    /// The system refused.
    #[error("cannot {action} {path:?}")]
    Io {
        /// The action that was tried: a verb.
        action: &'static str,
        /// The folder or file of the action.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl FileError {
    pub(crate) fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// The folder or file that is in the way.
    pub fn path(&self) -> &Path {
        match self {
            Self::Link(path)
            | Self::NotAFolder(path)
            | Self::NotAFile(path)
            | Self::Taken(path)
            | Self::NotASocket(path) => path,
            Self::Foreign { path, .. }
            | Self::AnotherProgram { path, .. }
            | Self::TooLong { path, .. }
            | Self::Io { path, .. } => path,
        }
    }

    /// The advice to a person, in the temporary directory.
    pub fn hint(&self) -> String {
        self.hint_naming(Some("TMPDIR"))
    }

    /// The same in a directory that this variable moves elsewhere, if one does.
    pub fn hint_naming(&self, variable: Option<&str>) -> String {
        let (remedy, other) = match self {
            Self::Link(_)
            | Self::NotAFolder(_)
            | Self::NotAFile(_)
            | Self::NotASocket(_)
            | Self::TooLong { .. } => ("remove it, or move it away", None),
            Self::Taken(_) | Self::AnotherProgram { .. } => ("end the other process", None),
            Self::Foreign { .. } => (
                "have its owner remove it",
                Some("a directory of your own for editor and agent"),
            ),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    ("free some space on that file system", None)
                }
                _ => (
                    "make that directory writable for you",
                    Some("one that is, for editor and agent"),
                ),
            },
        };
        match (variable, other) {
            (Some(variable), Some(other)) => format!("{remedy}, or set {variable} to {other}"),
            _ => remedy.to_owned(),
        }
    }
}

/// The prefix of the names of files that are still being written.
const UNFINISHED: &str = ".pillion-";

/// A name for a file that is still being written: it contains the writer's pid, and cannot be guessed.
fn unfinished_name() -> io::Result<String> {
    random_name::<16>(&format!("{UNFINISHED}{}-", std::process::id()))
}

/// A text that nobody can guess: `start`, and `BYTES` bytes of the system's random source in lowercase
/// hexadecimal.
pub fn random_name<const BYTES: usize>(start: &str) -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut name = start.to_owned();
    for byte in random {
        // Writing to a String cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}

/// Returns true if it is the name of a file that is still being written, or was never finished.
pub fn is_unfinished(name: &str) -> bool {
    unfinished_writer(name).is_some()
}

/// The writer of a file that is still being written.
pub(crate) fn unfinished_writer(name: &str) -> Option<u32> {
    let (pid, random) = name.strip_prefix(UNFINISHED)?.split_once('-')?;
    let fits = random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_unfinished_file_contains_its_writer_and_is_new_each_time() {
        let name = unfinished_name().unwrap();
        assert_eq!(unfinished_writer(&name), Some(std::process::id()));
        assert_ne!(name, unfinished_name().unwrap());
        for other in [
            ".pillion-",
            ".pillion-7-ab",
            "x.pillion-7-0",
            ".pillion-x-y",
            "",
        ] {
            assert_eq!(unfinished_writer(other), None, "{other:?}");
        }
    }

    #[test]
    fn errors_name_the_path_and_what_to_do() {
        let path = Path::new("/t/gemini");
        let full = io::Error::from(io::ErrorKind::StorageFull);
        for error in [
            FileError::Link(path.into()),
            FileError::Foreign {
                path: path.into(),
                uid: 7,
            },
            FileError::NotAFolder(path.into()),
            FileError::NotAFile(path.into()),
            FileError::NotASocket(path.into()),
            FileError::Taken(path.into()),
            FileError::TooLong {
                path: path.into(),
                limit: 1,
            },
            FileError::io("write", path, full),
        ] {
            assert_eq!(error.path(), path);
            assert!(error.to_string().contains("/t/gemini"), "{error}");
            assert!(!error.hint().is_empty());
        }
    }

    #[test]
    fn a_variable_is_named_where_setting_it_helps_and_where_there_is_one() {
        let path = Path::new("/h/.claude");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let foreign = FileError::Foreign {
            path: path.into(),
            uid: 7,
        };
        for (error, helps) in [
            (FileError::io("create", path, denied), true),
            (foreign, true),
            (FileError::io("write", path, full), false),
            (FileError::Link(path.into()), false),
        ] {
            let named = error.hint_naming(Some("CLAUDE_CONFIG_DIR"));
            assert_eq!(
                named.contains("set CLAUDE_CONFIG_DIR to "),
                helps,
                "{named}"
            );
            let unnamed = error.hint_naming(None);
            assert!(
                named.starts_with(&unnamed) && !unnamed.contains("set "),
                "{unnamed}"
            );
        }
    }
}
