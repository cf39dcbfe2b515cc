//! Real paths: workspaces, files and folders are compared by the places where their paths really lead (C2.7).

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Says why what this path names may differ between programs, as what is below `/proc/self` does, with what to do instead.
pub fn why_each_programs_own(path: &Path) -> Option<&'static str> {
    let is_below = |path: &Path| path.starts_with("/proc");
    let mut is_own = is_below(path);
    without_links(path, None, |step| is_own |= is_below(step));
    is_own.then_some(
        "leads through /proc, which differs between programs: name the file by its own path",
    )
}

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
    let path = without_links(path, None, |_| ());
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

/// The place where the path leads for another process, whose own part of `/proc` is another one.
pub fn real_path_of(process: u32, path: &Path) -> PathBuf {
    real_path(&without_links(path, Some(process), |_| ()))
}

/// Says why what a program reads by this path may not be what another one writes by it, with what to do instead; `None` if
/// all mean the same file.
///
/// The system follows links before it goes up by `..`, where other programs take `..` out of the text; and what is below
/// `/proc/self` is each program's own.
pub fn why_ambiguous(path: &Path) -> Option<&'static str> {
    let why = why_each_programs_own(path);
    if why.is_some() {
        return why;
    }
    if !path.components().any(|it| it == Component::ParentDir) {
        return None;
    }
    let plain = pillion_protocol::path::absolute(Path::new("/"), path);
    let folder = |path: &Path| canonicalize(path.parent()?).ok();
    let is_same =
        path.file_name().is_some() && folder(path).is_some_and(|it| folder(&plain) == Some(it));
    (!is_same).then_some(
        "leads up with `..` from a link or from a folder that does not exist: name the file without `..`",
    )
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

/// The path with every link followed and every `..` applied, for this process or another one. `visit` is called with each place on the way.
fn without_links(path: &Path, process: Option<u32>, mut visit: impl FnMut(&Path)) -> PathBuf {
    let link_at = |place: &Path| match (process, place.to_str()) {
        (Some(pid), Some("/proc/self")) => Ok(pid.to_string().into()),
        (Some(pid), Some("/proc/thread-self")) => Ok(format!("{pid}/task/{pid}").into()),
        _ => place.read_link(),
    };
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
        visit(&next);
        match link_at(&next) {
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
    fn a_path_that_goes_up_from_a_link_or_through_a_program_is_ambiguous() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("deep/er")).unwrap();
        std::os::unix::fs::symlink("deep/er", real.join("link")).unwrap();
        std::os::unix::fs::symlink("deep", real.join("short")).unwrap();
        let links = [
            ("/proc/self/cwd", "own"),
            ("/dev/fd", "fd"),
            ("own", "twice"),
        ];
        for (target, link) in links {
            std::os::unix::fs::symlink(target, real.join(link)).unwrap();
        }
        for (path, why) in [
            ("link/../a.txt", "leads up"),
            ("link/../../a.txt", "leads up"),
            ("missing/../a.txt", "leads up"),
            ("deep/..", "leads up"),
            ("/proc/self/cwd/a.txt", "leads through /proc"),
            ("/proc/1/root/a.txt", "leads through /proc"),
            ("own/a.txt", "leads through /proc"),
            ("twice/sub/a.txt", "leads through /proc"),
            #[cfg(target_os = "linux")]
            ("fd/3", "leads through /proc"),
        ] {
            let said = why_ambiguous(&real.join(path)).unwrap_or_default();
            assert!(said.starts_with(why), "{path}: {said}");
        }
        for path in [
            "a.txt",
            "missing/a.txt",
            "link/a.txt",
            "deep/../a.txt",
            "deep/er/../../a.txt",
            "deep/../link/a.txt",
            // Up from a link leads to where it already is.
            "short/../a.txt",
        ] {
            assert_eq!(why_ambiguous(&real.join(path)), None, "{path}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_leads_through_another_process_is_found_as_that_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("there")).unwrap();
        std::os::unix::fs::symlink("/proc/self/cwd", real.join("own")).unwrap();
        let mut other = std::process::Command::new("sleep");
        let mut other = other
            .arg("600")
            .current_dir(real.join("there"))
            .spawn()
            .unwrap();
        let pid = other.id();
        let root = format!("/proc/thread-self/root{}", real.display());
        for (path, expected) in [
            ("/proc/self/cwd/a.txt", "there/a.txt"),
            ("/proc/self/task/../cwd/../b.txt", "b.txt"),
            ("/dev/fd/../cwd/a.txt", "there/a.txt"),
            ("/proc/thread-self/cwd/a.txt", "there/a.txt"),
            (&format!("{root}/c/d.txt"), "c/d.txt"),
            (&format!("/proc/{pid}/cwd/a.txt"), "there/a.txt"),
            (real.join("own/a.txt").to_str().unwrap(), "there/a.txt"),
            (real.join("b.txt").to_str().unwrap(), "b.txt"),
        ] {
            assert_eq!(
                real_path_of(pid, Path::new(path)),
                real.join(expected),
                "{path}"
            );
        }
        other.kill().unwrap();
        other.wait().unwrap();
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
