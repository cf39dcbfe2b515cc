//! Regular files, read whole. Where a file is looked for, in a shared folder too, anybody may have put
//! a pipe, which would let us wait for a writer. Links are followed.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a regular file to read it.
///
/// # Errors
/// When it is anything else, or cannot be opened without waiting.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = open_at_once(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    let kind = match metadata.is_dir() {
        true => ErrorKind::IsADirectory,
        false => ErrorKind::InvalidInput,
    };
    Err(io::Error::new(kind, "it is not a regular file"))
}

/// The content of a regular file of at most `limit` bytes.
///
/// # Errors
/// When it is anything else, or cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, _) = open(path)?;
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    let size = file.take(limit + 1).read_to_end(&mut bytes)? as u64;
    if size > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is too long"));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // A pipe without a writer would be waited for.
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    File::options()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(read(&path, 3).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"abc");
        assert_eq!(read(&path, 2).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |path: &Path| read(path, 3).unwrap_err().kind();
        assert_eq!(kind(folder.path()), ErrorKind::IsADirectory);
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(kind(&pipe), ErrorKind::InvalidInput);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert_eq!(kind(&link), ErrorKind::InvalidInput);
    }
}
