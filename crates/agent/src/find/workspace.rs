//! The comparison of a workspace with the agent's folder (C2.7), by each agent's way of making a path real.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use pillion_discovery::canonicalize;
use pillion_protocol::Dialect;
use pillion_protocol::discovery::{WORKSPACE_SEPARATOR, split_roots};
use pillion_protocol::path::absolute;

/// The result of an agent's comparison of a workspace with its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The folder is in it.
    Inside,
    /// A workspace without any root.
    Empty,
    /// The folder is in none of these roots.
    Outside(Vec<PathBuf>),
}

/// An agent's eyes in its working directory.
#[derive(Debug)]
pub(crate) struct Matcher<'a> {
    agent: Dialect,
    current_dir: &'a Path,
    /// Companions name one workspace in many files.
    known: RefCell<HashMap<String, Fit>>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(agent: Dialect, current_dir: &'a Path) -> Self {
        let known = RefCell::default();
        Self {
            agent,
            current_dir,
            known,
        }
    }

    /// The comparison of the roots that a `workspacePath` lists: each is made once.
    pub(crate) fn fit(&self, workspace: &str) -> Fit {
        let mut known = self.known.borrow_mut();
        let fit = known.entry(workspace.to_owned());
        fit.or_insert_with(|| self.compare(workspace)).clone()
    }

    fn compare(&self, workspace: &str) -> Fit {
        if workspace.is_empty() {
            return Fit::Empty;
        }
        let roots = self.roots(workspace);
        let folder = self.real(self.current_dir);
        let contains = |root: &PathBuf| is_below(&self.real(root), &folder, self.agent);
        if roots.iter().any(contains) {
            Fit::Inside
        } else {
            Fit::Outside(roots)
        }
    }

    /// The roots, as this agent lists them: only Qwen Code understands an array, and it passes over relative ones.
    fn roots(&self, workspace: &str) -> Vec<PathBuf> {
        if self.agent == Dialect::QwenCode {
            let mut roots = split_roots(workspace);
            roots.retain(|root| root.is_absolute());
            return roots;
        }
        let roots = workspace.split(WORKSPACE_SEPARATOR);
        roots.map(PathBuf::from).collect()
    }

    /// The real path, or else the path as it is. Gemini CLI undoes escapes (`%20`) first, in its own folder's, too.
    fn real(&self, path: &Path) -> PathBuf {
        let decodes = self.agent == Dialect::GeminiCli;
        let decoded = decodes.then(|| decoded(path.to_str()?)).flatten();
        let path = decoded.map_or_else(|| path.to_owned(), PathBuf::from);
        let path = absolute(self.current_dir, &path);
        canonicalize(&path).unwrap_or(path)
    }
}

/// Returns true if `folder` is `root` or below it. Upper and lower case are one on Windows, and for Gemini CLI on macOS.
fn is_below(root: &Path, folder: &Path, agent: Dialect) -> bool {
    let folds = cfg!(windows) || (cfg!(target_os = "macos") && agent == Dialect::GeminiCli);
    if folds {
        let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        lower(folder).starts_with(lower(root))
    } else {
        folder.starts_with(root)
    }
}

/// Undoes all escapes, or none if one is malformed.
fn decoded(text: &str) -> Option<String> {
    let is_escape = |rest: &[u8]| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit);
    let mut escapes = text.as_bytes().split(|byte| *byte == b'%').skip(1);
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    escapes.all(is_escape).then(|| decoded.into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_all_or_none() {
        for (path, expected) in [
            ("/a%20b", Some("/a b")),
            ("/%C3%A9t%c3%a9", Some("/été")),
            ("/a%2Fb", Some("/a/b")),
            ("/a%2", None),
            ("/a%20b%zz", None),
            ("/a%ff", None),
        ] {
            assert_eq!(decoded(path).as_deref(), expected, "{path:?}");
        }
    }

    #[test]
    fn a_relative_root_is_one_of_the_folder_but_not_for_qwen_code() {
        let fit = |agent, text: &str| Matcher::new(agent, Path::new("/no/such")).fit(text);
        assert_eq!(fit(Dialect::GeminiCli, "."), Fit::Inside);
        assert_eq!(fit(Dialect::QwenCode, "."), Fit::Outside(vec![]));
        assert_eq!(fit(Dialect::QwenCode, r#"["/no"]"#), Fit::Inside);
        assert_eq!(
            fit(Dialect::GeminiCli, "/no/suc"),
            Fit::Outside(vec!["/no/suc".into()])
        );
        assert_eq!(fit(Dialect::GeminiCli, ""), Fit::Empty);
    }
}
