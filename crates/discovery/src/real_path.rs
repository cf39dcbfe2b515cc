//! Where a path really leads: workspaces, files and folders are compared by real paths (C2.7).

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where the path really leads, also where it is not there yet: through links whose end is missing,
/// and out of folders that are missing.
pub fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let path = without_links(path);
    for existing in path.ancestors() {
        let Ok(real) = existing.canonicalize() else {
            continue;
        };
        return match path.strip_prefix(existing) {
            Ok(missing) if missing.as_os_str().is_empty() => real,
            Ok(missing) => real.join(missing),
            Err(_) => path,
        };
    }
    path
}

/// How many components the deepest of `roots` has that contains this folder or file, which may not be
/// there yet. A root that is not absolute contains nothing.
pub fn depth_in(roots: &[PathBuf], path: &Path) -> Option<usize> {
    let path = real_path(path);
    let roots = roots.iter().filter(|root| root.is_absolute());
    let roots = roots.map(|root| real_path(root));
    let containing = roots.filter(|root| path.starts_with(root));
    containing.map(|root| root.components().count()).max()
}

/// The path with every link followed and every `..` applied.
fn without_links(path: &Path) -> PathBuf {
    // As many as Linux follows.
    let mut links = 40;
    let mut real = PathBuf::new();
    let mut rest: VecDeque<OsString> = path.iter().map(OsStr::to_owned).collect();
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match next.read_link() {
            Ok(link) if links > 0 => {
                links -= 1;
                for part in link.iter().rev() {
                    rest.push_front(part.to_owned());
                }
            }
            _ => real = next,
        }
    }
    real
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_hides_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("there")).unwrap();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, real.join(name)).unwrap();
        };
        link("../outside", "dangling");
        link("/nowhere/file", "absolute");
        link("dangling", "twice");
        link("there", "folder");
        link("round", "round");
        let resolved = |path: &str| real_path(&real.join(path));
        let outside = real.with_file_name("outside");
        assert_eq!(resolved("dangling"), outside);
        assert_eq!(resolved("twice"), outside);
        assert_eq!(resolved("twice/below"), outside.join("below"));
        assert_eq!(resolved("absolute"), Path::new("/nowhere/file"));
        assert_eq!(resolved("folder/not/there"), real.join("there/not/there"));
        assert_eq!(resolved("missing/../../outside"), outside);
        assert_eq!(resolved("missing/./file"), real.join("missing/file"));
        assert_eq!(resolved("round/file"), real.join("round/file"));
    }
}
