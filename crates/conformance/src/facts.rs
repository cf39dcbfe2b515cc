//! What the file system knows of a file, where systems differ.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No discovery file of anybody's is as long.
const MAX_FILE: u64 = 64 * 1024;

/// What the file system knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) is_link: bool,
    pub(super) is_file: bool,
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
        unix: unix(&metadata),
    })
}

/// The content of the file at `path`, links followed, or why it is not read.
pub(super) fn content(path: &Path) -> io::Result<Result<Vec<u8>, String>> {
    match open(path)? {
        Ok(file) => read(&file),
        Err(why) => Ok(Err(why)),
    }
}

/// Opens the file at `path`, links followed, or says why not: opening a pipe may block forever.
pub(super) fn open(path: &Path) -> io::Result<Result<File, String>> {
    if !path.metadata()?.is_file() {
        return Ok(Err("it is not a regular file".to_owned()));
    }
    File::open(path).map(Ok)
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

/// What the file system knows of an open file.
pub(super) fn of_open(file: &File) -> io::Result<Option<UnixFacts>> {
    file.metadata().map(|metadata| unix(&metadata))
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
