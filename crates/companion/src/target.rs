//! Whether a file that an agent wants to change can be shown (C5.1). Looks at the disk, and never
//! writes (C5.9).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pillion_discovery::real_path;

/// The path to show, for the `filePath` of an agent.
///
/// A file that is not there yet is fine, and so are `..` and strange characters: the outcome
/// carries the agent's own spelling (C5.8), while the reviewer is shown where the change would
/// really go.
///
/// # Errors
/// A sentence for the agent: the path is empty, relative, a folder, no regular file, or cannot be
/// read.
pub(crate) fn resolve(file_path: &str) -> Result<PathBuf, String> {
    if file_path.is_empty() {
        return Err("openDiff: filePath is empty".to_owned());
    }
    let path = Path::new(file_path);
    if !path.is_absolute() {
        return Err(format!("openDiff: filePath {file_path:?} is not absolute"));
    }
    if file_path.contains('\0') {
        return Err(format!("openDiff: filePath {file_path:?} contains a NUL"));
    }
    let cannot_read = |error| format!("openDiff: cannot read {file_path:?}: {error}");
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            return Err(format!("openDiff: {file_path:?} is a folder"));
        }
        Ok(metadata) if !metadata.is_file() => {
            return Err(format!("openDiff: {file_path:?} is not a regular file"));
        }
        Ok(_) => check_readable(path).map_err(cannot_read)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot_read(error)),
    }
    Ok(real_path(path))
}

fn check_readable(path: &Path) -> io::Result<()> {
    let mut byte = [0];
    File::open(path)?.read(&mut byte).map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_that_cannot_be_shown_are_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let below_file = file.join("x").to_str().unwrap().to_owned();
        for (path, reason) in [
            ("", "filePath is empty"),
            ("src/a.rs", "is not absolute"),
            ("/a\0b", "contains a NUL"),
            (folder.path().to_str().unwrap(), "is a folder"),
            ("/dev/null", "is not a regular file"),
            (&below_file, "cannot read"),
        ] {
            let error = resolve(path).unwrap_err();
            assert!(error.contains(reason), "{path:?}: {error}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_read_is_refused() {
        let error = resolve("/proc/self/mem").unwrap_err();
        assert!(error.contains("cannot read"), "{error}");
    }

    #[test]
    fn the_reviewer_is_shown_where_the_change_would_really_go() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("real")).unwrap();
        std::os::unix::fs::symlink(real.join("real"), real.join("link")).unwrap();
        let resolved = |path: &str| resolve(real.join(path).to_str().unwrap()).unwrap();
        assert_eq!(resolved("new/file"), real.join("new/file"));
        assert_eq!(resolved("link/../other"), real.join("other"));
        assert_eq!(resolved("link/new\nfile"), real.join("real/new\nfile"));
    }
}
