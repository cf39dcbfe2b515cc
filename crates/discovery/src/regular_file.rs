//! Regular files, read whole. Where a file is looked for, in a shared folder too, anybody may have put
//! a pipe, which would let us wait for a writer.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The content of a regular file of at most `limit` bytes, through links.
///
/// # Errors
/// When it is anything else, or cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = fs::metadata(path)?;
    if !file.is_file() {
        let reason = "it is not a regular file";
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    if file.len() > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is too long"));
    }
    fs::read(path)
}
