//! The files that a call changes, as they are on the disk.

use std::io::ErrorKind;
use std::path::Path;

use pillion_discovery::regular_file;
use pillion_hooks::Files;
use pillion_protocol::diff::MAX_CONTENT;

/// Reads files, and waits for none.
#[derive(Debug)]
pub struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let shown = path.display();
        match regular_file::read(path, MAX_CONTENT as u64) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound => Ok(None),
                ErrorKind::IsADirectory => Err(format!("{shown} is a folder")),
                ErrorKind::FileTooLarge => Err(format!(
                    "{shown} is longer than {} MB, and is not shown",
                    MAX_CONTENT >> 20
                )),
                _ => Err(format!("{shown} cannot be read: {error}")),
            },
        }
    }

    fn is_link(&mut self, path: &Path) -> bool {
        path.is_symlink()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_no_file_is_said_and_a_missing_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| Disk.read(&folder.path().join(name));
        assert_eq!(read("a"), Ok(None));
        assert!(read("").unwrap_err().ends_with(" is a folder"));
        fs::write(folder.path().join("a"), "x").unwrap();
        assert_eq!(read("a"), Ok(Some(b"x".to_vec())));
        assert!(read("a/b").unwrap_err().contains("cannot be read"));
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        assert_eq!(read("link"), Ok(Some(b"x".to_vec())));
        let is_link = |name: &str| Disk.is_link(&folder.path().join(name));
        assert_eq!(["link", "a", "none"].map(is_link), [true, false, false]);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("device")).unwrap();
        let device = read("device").unwrap_err();
        assert!(device.contains("not a regular file"), "{device}");
    }
}
