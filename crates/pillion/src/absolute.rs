//! A path that a person typed, as companions, editors and agents can use it.

use std::io;
use std::path::{Component, Path, PathBuf};

use pillion_discovery::real_path;

use crate::failure::{Failure, Kind};

/// The path from the root, without `..`: editors and agents take that for the folder before it,
/// which behind a link is another one. Links stay as they were typed.
///
/// # Errors
/// If the path is empty, or the current folder is not known.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if goes_up => Ok(real_path(folder).join(name)),
        _ => Ok(path),
    }
}

/// A path as it is sent: JSON holds Unicode only.
///
/// # Errors
/// When it is something else.
pub fn unicode(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        Failure::new(Kind::Refused, format!("{path} is not valid Unicode"))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn going_up_goes_up_from_where_a_link_leads() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::os::unix::fs::symlink(root.join("a/b"), root.join("link")).unwrap();
        let read = |path: &str| absolute(&root.join(path)).unwrap();
        assert_eq!(read("link/../c.txt"), root.join("a/c.txt"));
        assert_eq!(read("a/../c.txt"), root.join("c.txt"));
        assert_eq!(read("link/c.txt"), root.join("link/c.txt"));
        assert!(absolute(Path::new("")).is_err());
    }
}
