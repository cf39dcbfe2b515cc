//! What the file system knows of a file, where systems differ.

use std::io;
use std::path::Path;

/// What the file system knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) is_link: bool,
    pub(super) is_file: bool,
    pub(super) length: u64,
    /// None where the system has no such permissions.
    pub(super) unix: Option<UnixFacts>,
}

/// Owner and permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnixFacts {
    pub(super) uid: u32,
    /// The permission bits with the sticky bit.
    pub(super) mode: u32,
    pub(super) inode: u64,
}

/// The facts of what lies at `path`, links not followed.
pub(super) fn of(path: &Path) -> io::Result<Facts> {
    let metadata = path.symlink_metadata()?;
    Ok(Facts {
        is_link: metadata.is_symlink(),
        is_file: metadata.is_file(),
        length: metadata.len(),
        unix: unix(&metadata),
    })
}

#[cfg(unix)]
fn unix(metadata: &std::fs::Metadata) -> Option<UnixFacts> {
    use std::os::unix::fs::MetadataExt;
    Some(UnixFacts {
        uid: metadata.uid(),
        mode: metadata.mode() & 0o7777,
        inode: metadata.ino(),
    })
}

#[cfg(not(unix))]
fn unix(_metadata: &std::fs::Metadata) -> Option<UnixFacts> {
    None
}

/// The user that this process runs as.
#[cfg(unix)]
pub(super) fn own_uid() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// The user that this process runs as.
#[cfg(not(unix))]
pub(super) fn own_uid() -> Option<u32> {
    None
}
