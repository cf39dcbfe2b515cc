//! The text that a proposal is compared with: the file on disk before the change. Reads the
//! user's files, and never writes them (C5.9).

use std::path::Path;
use std::{fs, io};

/// Bigger files are not read.
const MAX_FILE: u64 = 512 << 20;

/// Reads the file before a change; `None` when it is not there yet.
///
/// # Errors
/// One sentence that says why it cannot be read.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let failed = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is there all the same, but so the agent will create it.
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    // Reading a pipe would wait for ever.
    if !metadata.is_file() {
        return Err(format!("{} is not a regular file", path.display()));
    }
    if metadata.len() > MAX_FILE {
        return Err(format!("{} is too big to review", path.display()));
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_readable_file_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("new.txt")), Ok(None));
        assert_eq!(read(&folder.path().join("no/such/folder.txt")), Ok(None));
        let error = read(folder.path()).unwrap_err();
        assert!(error.ends_with("is not a regular file"), "{error}");
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = read(&file.join("below")).unwrap_err();
        assert!(error.starts_with("cannot read "), "{error}");
    }
}
