//! Real paths: workspaces, files and folders are compared by the places where their paths really lead (C2.7).

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The real path of something that is there: links followed, in the system's usual spelling.
///
/// The only caller of the standard library's function, whose paths on Windows start with `\\?\`:
/// Node cannot resolve those, and people do not recognise them.
///
/// # Errors
/// As [`Path::canonicalize`].
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    #[cfg(windows)]
    if let Some(plain) = real.to_str().and_then(without_verbatim_prefix) {
        return Ok(plain.into());
    }
    Ok(real)
}

/// The place where the path really leads, also where it is not there yet: through links whose end is missing,
/// and out of folders that are missing.
pub fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = canonicalize(path) {
        return real;
    }
    let path = without_links(path);
    for existing in path.ancestors() {
        let Ok(real) = canonicalize(existing) else {
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

/// Returns true if a path leads into the same folder for the system, which follows links before it goes up by `..`, and for a
/// program that takes `..` out of the text: what is read by one reading may be written by the other.
pub fn is_unambiguous(path: &Path) -> bool {
    if !path.components().any(|it| it == Component::ParentDir) {
        return true;
    }
    let plain = pillion_protocol::path::absolute(Path::new("/"), path);
    let folder = |path: &Path| canonicalize(path.parent()?).ok();
    path.file_name().is_some() && folder(path).is_some_and(|it| folder(&plain) == Some(it))
}

/// Returns true if two paths lead to one place.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = canonicalize;
    one == other || matches!((real(one), real(other)), (Ok(one), Ok(other)) if one == other)
}

/// The number of components of the deepest of `roots` that contains this folder or file, which may not be
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

/// `\\?\C:\a` as `C:\a`, and `\\?\UNC\server\share` as `\\server\share`; `None` for what has no
/// other spelling, such as a volume without a letter.
#[cfg(any(windows, test))]
fn without_verbatim_prefix(path: &str) -> Option<String> {
    let rest = path.strip_prefix(r"\\?\")?;
    if let Some(share) = rest.strip_prefix(r"UNC\") {
        return Some(format!(r"\\{share}"));
    }
    let (drive, below) = rest.split_once(':')?;
    let is_letter = drive.len() == 1 && drive.starts_with(|it: char| it.is_ascii_alphabetic());
    (is_letter && below.starts_with('\\')).then(|| rest.to_owned())
}

#[cfg(test)]
mod spelling {
    use super::without_verbatim_prefix;

    #[test]
    fn windows_paths_lose_the_prefix_that_others_cannot_read() {
        for (path, plain) in [
            (r"\\?\C:\Users\me", Some(r"C:\Users\me")),
            (r"\\?\z:\", Some(r"z:\")),
            (r"\\?\UNC\server\share\a", Some(r"\\server\share\a")),
            (r"\\?\Volume{b75e2c83-0000}\a", None),
            (r"\\?\C:", None),
            (r"\\?\ab:\c", None),
            (r"\\server\share", None),
            (r"C:\already\plain", None),
        ] {
            assert_eq!(without_verbatim_prefix(path).as_deref(), plain, "{path}");
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_goes_up_from_a_link_is_ambiguous() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("deep/er")).unwrap();
        std::os::unix::fs::symlink("deep/er", real.join("link")).unwrap();
        std::os::unix::fs::symlink("deep", real.join("short")).unwrap();
        for (path, expected) in [
            ("a.txt", true),
            ("missing/a.txt", true),
            ("link/a.txt", true),
            ("deep/../a.txt", true),
            ("deep/er/../../a.txt", true),
            ("deep/../link/a.txt", true),
            // Up from a link leads to where it already is.
            ("short/../a.txt", true),
            ("link/../a.txt", false),
            ("link/../../a.txt", false),
            ("missing/../a.txt", false),
            ("deep/..", false),
        ] {
            assert_eq!(is_unambiguous(&real.join(path)), expected, "{path}");
        }
    }

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
