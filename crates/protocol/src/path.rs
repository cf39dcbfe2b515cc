//! Paths by their text alone: whether there is such a file, and where links lead, is not asked.

use std::path::{Component, Path, PathBuf};

/// `path`, which may start at `folder`, made absolute as Node does it: by its text, not asking the
/// file system about links. An empty one is the folder itself.
pub fn absolute(folder: &Path, path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            other => resolved.push(other),
        }
    }
    resolved
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_starts_at_the_folder_unless_it_is_absolute() {
        for (path, expected) in [
            ("", "/a/b"),
            (".", "/a/b"),
            ("c/./d", "/a/b/c/d"),
            ("../c/../d", "/a/d"),
            ("../../../..", "/"),
            ("/x/../y/.", "/y"),
        ] {
            assert_eq!(
                absolute(Path::new("/a/b"), Path::new(path)),
                Path::new(expected)
            );
        }
    }
}
