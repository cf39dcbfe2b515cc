//! A file's facts in the file system, where systems differ, and its content.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use pillion_discovery::regular_file::open_regular;

/// No discovery file of anybody's is as long.
const MAX_FILE: u64 = 64 * 1024;

/// Owner and permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnixFacts {
    pub(super) uid: u32,
    /// True if that is the user that this process runs as.
    pub(super) is_own: bool,
    /// The permission bits with the sticky bit.
    pub(super) mode: u32,
    pub(super) inode: u64,
}

/// The content of the file at `path`, links followed, or why it is not read.
pub(super) fn content(path: &Path) -> io::Result<Result<Vec<u8>, String>> {
    match open_regular(path)? {
        (Some(file), _) => read(&file),
        (None, _) => Ok(Err("it is not a regular file".to_owned())),
    }
}

/// The content of a file that was just opened, or why it is not read.
pub(super) fn read(file: &File) -> io::Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Ok(Err(format!("it is longer than {MAX_FILE} bytes")));
    }
    Ok(Ok(bytes))
}

/// None where the system has no such permissions.
#[cfg(unix)]
pub(super) fn unix(metadata: &Metadata) -> Option<UnixFacts> {
    use std::os::unix::fs::MetadataExt;
    Some(UnixFacts {
        uid: metadata.uid(),
        is_own: metadata.uid() == rustix::process::geteuid().as_raw(),
        mode: metadata.mode() & 0o7777,
        inode: metadata.ino(),
    })
}

#[cfg(not(unix))]
pub(super) fn unix(_metadata: &Metadata) -> Option<UnixFacts> {
    None
}
