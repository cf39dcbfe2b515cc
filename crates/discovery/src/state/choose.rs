//! What a person says about the companion that is meant, and what there is instead.

use std::fmt;
use std::path::{Path, PathBuf};

/// What a person says about the companion that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The one with this port.
    Port(u16),
    /// The one whose workspace contains this folder or file.
    Folder(PathBuf),
}

/// No companion is the one that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChooseError {
    /// The one that was meant.
    pub selector: Selector,
    /// The ports of those that run.
    pub ports: Vec<u16>,
    /// The workspace roots of those that run.
    pub roots: Vec<PathBuf>,
}

/// How many components the deepest of `roots` has that contains `folder`. Real paths are compared.
pub(crate) fn depth(roots: &[PathBuf], folder: &Path) -> Option<usize> {
    let folder = real(folder);
    roots
        .iter()
        .map(|root| real(root))
        .filter(|root| folder.starts_with(root))
        .map(|root| root.components().count())
        .max()
}

/// The real path, as far as it exists: a folder that is about to be made is somewhere, too.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => real(parent).join(name),
        _ => path.to_owned(),
    }
}

impl std::error::Error for ChooseError {}

impl fmt::Display for ChooseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.selector {
            Selector::Port(port) => write!(f, "no companion on port {port}; ")?,
            Selector::Folder(folder) => write!(f, "no companion for {}; ", folder.display())?,
        }
        match self.ports.len() {
            0 => return f.write_str("none runs"),
            1 => f.write_str("1 companion runs")?,
            count => write!(f, "{count} companions run")?,
        }
        match &self.selector {
            Selector::Port(_) => {
                let ports = self.ports.iter().map(u16::to_string).collect::<Vec<_>>();
                write!(f, " on: {}", ports.join(", "))
            }
            Selector::Folder(_) if self.roots.is_empty() => f.write_str(" without a workspace"),
            Selector::Folder(_) => {
                let roots = self.roots.iter().map(|root| root.display().to_string());
                write!(f, " for: {}", roots.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deepest(roots: &[&str], folder: &str) -> Option<usize> {
        let roots: Vec<_> = roots.iter().map(PathBuf::from).collect();
        depth(&roots, Path::new(folder))
    }

    #[test]
    fn the_deepest_root_that_contains_the_folder_counts() {
        let roots = ["/nope/a", "/nope/a/b", "/nope/other/c/d"];
        assert_eq!(deepest(&roots, "/nope/a/b/c"), Some(4));
        assert_eq!(deepest(&roots, "/nope/a"), Some(3));
        assert_eq!(deepest(&roots, "/nope"), None);
    }

    #[test]
    fn a_root_contains_whole_components_only() {
        assert_eq!(deepest(&["/nope/a"], "/nope/ab"), None);
        assert_eq!(deepest(&["/nope/a"], "/nope/a/"), Some(3));
    }

    #[cfg(unix)]
    #[test]
    fn real_paths_are_compared() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        let link = temporary.path().join("link");
        std::fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&root, &link).unwrap();
        for (opened, asked) in [(&root, &link), (&link, &root)] {
            let roots = std::slice::from_ref(opened);
            assert!(depth(roots, &asked.join("not/there")).is_some());
        }
    }

    #[test]
    fn an_error_tells_what_is_there() {
        let message = |ports: &[u16], roots: &[&str], selector| {
            let error = ChooseError {
                selector,
                ports: ports.to_vec(),
                roots: roots.iter().map(PathBuf::from).collect(),
            };
            error.to_string()
        };
        let folder = || Selector::Folder("/x".into());
        assert_eq!(
            message(&[1, 2], &["/a", "/b"], folder()),
            "no companion for /x; 2 companions run for: /a, /b"
        );
        assert_eq!(
            message(&[1], &["/a"], Selector::Port(9)),
            "no companion on port 9; 1 companion runs on: 1"
        );
        assert_eq!(
            message(&[], &[], folder()),
            "no companion for /x; none runs"
        );
        assert_eq!(
            message(&[1], &[], folder()),
            "no companion for /x; 1 companion runs without a workspace"
        );
    }
}
