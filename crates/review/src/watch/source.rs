//! The system's reports about folders.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod inotify;
#[cfg(any(not(any(target_os = "linux", target_os = "android")), test))]
mod recursive;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

#[cfg(any(target_os = "linux", target_os = "android"))]
pub use inotify::Inotify as System;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub use recursive::Recursive as System;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file was written and closed, or moved there.
    Saved(PathBuf),
    /// A folder was made there, or moved there.
    Folder(PathBuf),
    /// The file or folder there is gone, and no longer watched.
    Gone(PathBuf),
    /// More happened than the system kept. Up to then nothing was lost.
    Lost(SystemTime),
}

/// The reason why a folder is not watched.
#[derive(Debug)]
pub enum Refusal {
    /// The system allows no more.
    Full,
    /// Something about this folder.
    Failed(io::Error),
}

/// A source that reports changes in the folders that it is asked to watch.
pub trait Source {
    /// Watches `folder`; one that is watched already stays so.
    fn watch(&mut self, folder: &Path) -> Result<(), Refusal>;

    /// Watches `folder` no longer.
    fn unwatch(&mut self, folder: &Path);

    /// Waits until something has happened, or `until`.
    fn read(&mut self, until: Option<Instant>) -> io::Result<Vec<Change>>;
}
