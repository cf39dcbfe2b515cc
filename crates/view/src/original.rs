//! The user's file that a proposal is about: read without waiting for any other program that has
//! it open, and recognised later. Nothing here writes (C5.9).
//!
//! The companion passes the text to the front end with the proposal, so that no front end waits for a disk either.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pillion_discovery::exact;
use pillion_discovery::regular_file;
use pillion_text::Text;
use pillion_text::hunks::{self, Hunk};
use serde::{Deserialize, Serialize};

/// Bigger files are not read.
const MAX_FILE: u64 = 512 << 20;

/// A file as it was when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// Its bytes; `None` when it was not there, or not read.
    #[serde(with = "exact::bytes")]
    pub text: Option<Vec<u8>>,
    /// Its stamp on disk before the first byte was read; `None` when it was not there.
    pub stamp: Option<Stamp>,
}

/// The attributes that change whenever a file is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    len: u64,
    #[serde(with = "exact::time")]
    modified: Option<SystemTime>,
    file: u64,
}

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OriginalError {
    /// It is a folder.
    #[error("{0:?} is a folder")]
    Folder(PathBuf),
    /// A pipe, socket or device.
    #[error("{0:?} is not a regular file")]
    NotAFile(PathBuf),
    /// Nobody could review it.
    #[error("{0:?} is too big to review")]
    TooBig(PathBuf),
    /// Another program holds a lease on it, or the system has nothing to read yet.
    #[error("cannot read {0:?}: another program has it locked")]
    Busy(PathBuf),
    /// The system refused.
    #[error("cannot read {path:?}: {reason}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
}

impl Original {
    /// Reads the file before a change. One that is not there yet is fine, and so is a link that
    /// leads nowhere: the agent will create what it names.
    ///
    /// Waits for a disk, so it belongs on no loop, but never for another program.
    ///
    /// # Errors
    /// When it is not a regular file, too big, held by another program, or cannot be read.
    pub fn read(path: &Path) -> Result<Self, OriginalError> {
        let Some((file, metadata)) = open(path)? else {
            return Ok(Self::default());
        };
        if metadata.len() > MAX_FILE {
            return Err(OriginalError::TooBig(path.to_owned()));
        }
        // Room for all of it and for the end to be seen.
        let room = usize::try_from(metadata.len()).unwrap_or_default() + 64;
        let mut text = Vec::with_capacity(room);
        file.take(MAX_FILE + 1)
            .read_to_end(&mut text)
            .map_err(|error| failed(path, error))?;
        if text.len() as u64 > MAX_FILE {
            return Err(OriginalError::TooBig(path.to_owned()));
        }
        Ok(Self {
            text: Some(text),
            stamp: Some(Stamp::from(&metadata)),
        })
    }

    /// Returns where a text differs from it. Takes long for long texts, so it belongs on no loop.
    pub fn differences(&mut self, text: &str) -> Vec<Hunk> {
        let is_there = self.text.is_some();
        let original = Text::new(self.text.take().unwrap_or_default());
        let hunks = hunks::between(&original, &Text::new(text));
        self.text = is_there.then(|| original.into_bytes());
        hunks
    }

    /// Checks that [`read`](Self::read) would succeed, at the price of one byte. Returns no text that a
    /// proposal could be compared with.
    ///
    /// # Errors
    /// As [`read`](Self::read), except that no file is too big.
    pub fn probe(path: &Path) -> Result<Self, OriginalError> {
        let Some((mut file, metadata)) = open(path)? else {
            return Ok(Self::default());
        };
        file.read(&mut [0]).map_err(|error| failed(path, error))?;
        Ok(Self {
            text: None,
            stamp: Some(Stamp::from(&metadata)),
        })
    }
}

impl Stamp {
    /// Returns the stamp of the file as it is now; `None` when it is not there.
    pub fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::from)
    }

    /// The same of a symbolic link itself, if it is one.
    pub fn of_itself(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::from)
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            file: number(metadata),
        }
    }
}

/// The file, opened and seen to be a regular one; `None` when it is not there.
fn open(path: &Path) -> Result<Option<(File, Metadata)>, OriginalError> {
    match regular_file::open_regular(path) {
        Ok((_, metadata)) if metadata.is_dir() => Err(OriginalError::Folder(path.to_owned())),
        Ok((Some(file), metadata)) => Ok(Some((file, metadata))),
        Ok(_) => Err(OriginalError::NotAFile(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

fn failed(path: &Path, reason: io::Error) -> OriginalError {
    let path = path.to_owned();
    match reason.kind() {
        io::ErrorKind::WouldBlock => OriginalError::Busy(path),
        _ => OriginalError::Io { path, reason },
    }
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ino()
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_read_and_known_again_until_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let original = Original::read(&path).unwrap();
        assert_eq!(original.text.as_deref(), Some(&b"one"[..]));
        assert_eq!(original.stamp, Stamp::of(&path));
        fs::write(&path, "three").unwrap();
        assert_ne!(original.stamp, Stamp::of(&path));
    }

    #[test]
    fn what_is_not_a_readable_file_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        for missing in ["new.txt", "no/such/folder.txt"] {
            let original = Original::read(&folder.path().join(missing)).unwrap();
            assert!(original.text.is_none() && original.stamp.is_none());
        }
        let error = Original::read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("is a folder"), "{error}");
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let below = Original::read(&file.join("below"));
        if cfg!(windows) {
            // There it is no other than one that is missing.
            assert!(below.unwrap().text.is_none());
        } else {
            let error = below.unwrap_err().to_string();
            assert!(error.starts_with("cannot read "), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_took_the_place_of_a_file_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        let error = Original::read(&path).unwrap_err().to_string();
        assert!(error.ends_with("is not a regular file"), "{error}");
    }
}
