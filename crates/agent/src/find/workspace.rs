//! The comparison of a workspace with the agent's folder (C2.7), by each release's way of making a path
//! real.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use percent_encoding::percent_decode_str;
use pillion_discovery::canonicalize;
use pillion_protocol::discovery::WORKSPACE_SEPARATOR;
use pillion_protocol::path::absolute;

use super::content::Workspace;
use crate::release::{Change, Release};

/// The result of a release's comparison of a workspace with its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The folder is in it.
    Inside,
    /// No workspace is named.
    Missing,
    /// A workspace without any root.
    Empty,
    /// The folder is in none of these roots.
    Outside(Vec<PathBuf>),
    /// The release fails on it: no text, or a path that the system refuses to look at.
    Fails,
}

/// A release's eyes in its working directory.
#[derive(Debug)]
pub(crate) struct Matcher<'a> {
    release: Release,
    current_dir: &'a Path,
}

/// The release gives up on a path.
#[derive(Debug)]
struct Refused;

impl<'a> Matcher<'a> {
    pub(crate) fn new(release: Release, current_dir: &'a Path) -> Self {
        Self {
            release,
            current_dir,
        }
    }

    pub(crate) fn fit(&self, workspace: &Workspace) -> Fit {
        let text = match workspace {
            Workspace::Missing => return Fit::Missing,
            Workspace::NoText => return Fit::Fails,
            Workspace::Text(text) if text.is_empty() => return Fit::Empty,
            Workspace::Text(text) => text,
        };
        self.compare(&self.roots(text)).unwrap_or(Fit::Fails)
    }

    fn compare(&self, roots: &[String]) -> Result<Fit, Refused> {
        // All are resolved before one is compared: the first that is refused ends it.
        let resolved: Result<Vec<PathBuf>, Refused> =
            roots.iter().map(|root| self.real(root)).collect();
        let resolved = resolved?;
        let folder = self.real(&self.current_dir.to_string_lossy())?;
        let inside = resolved
            .iter()
            .any(|root| is_below(root, &folder, self.release));
        Ok(if inside {
            Fit::Inside
        } else {
            Fit::Outside(roots.iter().map(PathBuf::from).collect())
        })
    }

    /// The roots that a `workspacePath` lists for this release.
    fn roots(&self, text: &str) -> Vec<String> {
        let split = || text.split(WORKSPACE_SEPARATOR).map(str::to_owned).collect();
        if !self.release.has(Change::LockFile) {
            return split();
        }
        let is_array = text.trim_start().starts_with('[');
        let listed = is_array.then(|| serde_json::from_str(text).ok()).flatten();
        let mut roots: Vec<String> = listed.unwrap_or_else(split);
        roots.retain(|root| Path::new(root).is_absolute());
        roots
    }

    fn real(&self, path: &str) -> Result<PathBuf, Refused> {
        if self.release.has(Change::Decoded) {
            let path = absolute(self.current_dir, Path::new(&decoded(path)));
            return existing_part(&path, &mut Vec::new());
        }
        let path = absolute(self.current_dir, Path::new(path));
        Ok(canonicalize(&path).unwrap_or(path))
    }
}

/// The real path as far as it exists, and the rest as it is. A link that leads nowhere is followed.
fn existing_part(path: &Path, seen: &mut Vec<PathBuf>) -> Result<PathBuf, Refused> {
    if seen.iter().any(|other| other == path) {
        return Err(Refused);
    }
    seen.push(path.to_owned());
    match canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) if !is_absence(&error) => return Err(Refused),
        Err(_) => {}
    }
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            let target = fs::read_link(path).map_err(|_| Refused)?;
            let parent = path.parent().unwrap_or(path);
            return existing_part(&absolute(parent, &target), seen);
        }
        Ok(_) => {}
        Err(error) if is_absence(&error) => {}
        Err(_) => return Err(Refused),
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(existing_part(parent, seen)?.join(name)),
        _ => Ok(path.to_owned()),
    }
}

/// Returns true if the agent takes the error for "there is no such path".
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidFilename
    )
}

/// Returns true if `folder` is `root` or below it. Upper and lower case are one on Windows, and for
/// newer releases on macOS.
fn is_below(root: &Path, folder: &Path, release: Release) -> bool {
    let folds = cfg!(windows) || (cfg!(target_os = "macos") && release.has(Change::FoldsCase));
    if folds {
        let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        lower(folder).starts_with(lower(root))
    } else {
        folder.starts_with(root)
    }
}

/// A path with its escapes (`%20`) undone, and without `file://`. A malformed one stays as it is.
fn decoded(path: &str) -> String {
    let Some(rest) = path.strip_prefix("file://") else {
        return unescaped(path).unwrap_or_else(|| path.to_owned());
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return path.to_owned();
    }
    // On Windows a drive follows the slash.
    let rest = if cfg!(windows) { &rest[1..] } else { rest };
    let once = unescaped(rest);
    once.map_or_else(|| path.to_owned(), |once| unescaped(&once).unwrap_or(once))
}

/// Undoes all escapes, or none if one is malformed.
fn unescaped(text: &str) -> Option<String> {
    let is_escape = |rest: &[u8]| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit);
    let mut escapes = text.as_bytes().split(|byte| *byte == b'%').skip(1);
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    escapes.all(is_escape).then(|| decoded.into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use pillion_protocol::Dialect;

    #[test]
    fn escapes_are_undone_all_or_none() {
        for (path, expected) in [
            ("/a%20b", "/a b"),
            ("/%C3%A9t%c3%a9", "/été"),
            ("/a%2Fb", "/a/b"),
            ("/a%2", "/a%2"),
            ("/a%20b%zz", "/a%20b%zz"),
            ("/a%ff", "/a%ff"),
            ("file:///a%20b", "/a b"),
            ("file://localhost/a", "/a"),
            ("file:///a%2520b", "/a b"),
            ("file://host/a%20b", "file://host/a%20b"),
            ("file://", "file://"),
            ("", ""),
        ] {
            assert_eq!(decoded(path), expected, "{path:?}");
        }
    }

    #[test]
    fn an_empty_root_is_the_folder_itself_but_not_for_newer_qwen_code() {
        let fit = |agent, text: &str| {
            let matcher = Matcher::new(Release::newest(agent), Path::new("/no/such"));
            matcher.fit(&Workspace::Text(text.to_owned()))
        };
        assert_eq!(fit(Dialect::GeminiCli, "/x:"), Fit::Inside);
        assert_eq!(fit(Dialect::GeminiCli, "."), Fit::Inside);
        assert_eq!(fit(Dialect::QwenCode, "."), Fit::Outside(vec![]));
        assert_eq!(fit(Dialect::QwenCode, r#"["/no"]"#), Fit::Inside);
        assert_eq!(
            fit(Dialect::GeminiCli, "/no/suc"),
            Fit::Outside(vec!["/no/suc".into()])
        );
        assert_eq!(fit(Dialect::GeminiCli, ""), Fit::Empty);
    }

    #[test]
    fn a_loop_of_links_ends_the_attempt_of_a_release_that_resolves_what_exists() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("loop");
        std::os::unix::fs::symlink("loop", &link).unwrap();
        let workspace = Workspace::Text(link.display().to_string());
        for (minor, expected) in [(18, Fit::Outside(vec![link.clone()])), (61, Fit::Fails)] {
            let version = crate::find::Version::new(0, minor, 0);
            let release = Release {
                agent: Dialect::GeminiCli,
                version,
            };
            assert_eq!(
                Matcher::new(release, folder.path()).fit(&workspace),
                expected
            );
        }
    }
}
