//! Which of the running companions is meant.

use std::fmt;
use std::path::{Path, PathBuf};

use super::CompanionState;

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

/// The companion that `selector` means.
///
/// Real paths are compared, component by component. Of several companions the one with the deepest
/// root wins, of several with one root that which started last.
///
/// # Errors
/// When there is none. The error tells what is there instead.
pub fn choose(
    running: Vec<CompanionState>,
    selector: &Selector,
) -> Result<CompanionState, ChooseError> {
    let error = ChooseError {
        selector: selector.clone(),
        ports: running.iter().map(|state| state.port).collect(),
        roots: running
            .iter()
            .flat_map(|state| state.roots.clone())
            .collect(),
    };
    match selector {
        Selector::Port(port) => running.into_iter().find(|state| state.port == *port),
        Selector::Folder(folder) => running
            .into_iter()
            .filter_map(|state| Some((depth(&state.roots, folder)?, state)))
            .max_by_key(|(depth, state)| (*depth, state.started_at_ms, state.pid))
            .map(|(_, state)| state),
    }
    .ok_or(error)
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

impl ChooseError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match (&self.selector, self.ports.is_empty()) {
            (_, true) => "start one with `pillion`, in the folder that you work in",
            (Selector::Port(_), false) => "name one of these ports with --port",
            (Selector::Folder(_), false) => {
                "name one with --workspace or --port, or start one here with `pillion`"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::{IdeInfo, Token};

    use super::*;

    fn state(port: u16, started_at_ms: u64, roots: &[&Path]) -> CompanionState {
        CompanionState {
            pid: u32::from(port),
            port,
            control_token: Token::from("secret".to_owned()),
            script_token: Token::from("script".to_owned()),
            roots: roots.iter().map(|root| root.to_path_buf()).collect(),
            ide: IdeInfo::new("x", "X"),
            started_at_ms,
        }
    }

    fn chosen(running: &[CompanionState], folder: impl AsRef<Path>) -> Option<u16> {
        let selector = Selector::Folder(folder.as_ref().to_owned());
        choose(running.to_vec(), &selector)
            .ok()
            .map(|state| state.port)
    }

    #[test]
    fn the_deepest_root_wins_then_the_last_start() {
        let running = [
            state(1, 9, &[Path::new("/nope/a")]),
            state(2, 1, &[Path::new("/nope/other"), Path::new("/nope/a/b")]),
            state(3, 2, &[Path::new("/nope/a/b")]),
            state(4, 1, &[Path::new("/nope/a/b")]),
        ];
        assert_eq!(chosen(&running, "/nope/a/b/c"), Some(3));
        assert_eq!(chosen(&running, "/nope/a"), Some(1));
        assert_eq!(chosen(&running, "/nope/other"), Some(2));
        assert_eq!(chosen(&running, "/nope"), None);
    }

    #[test]
    fn a_root_contains_whole_components_only() {
        let running = [state(1, 1, &[Path::new("/nope/a")])];
        assert_eq!(chosen(&running, "/nope/ab"), None);
        assert_eq!(chosen(&running, "/nope/a/"), Some(1));
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
            let running = [state(1, 1, &[opened])];
            assert_eq!(chosen(&running, asked.join("not/there")), Some(1));
        }
    }

    #[test]
    fn an_error_tells_what_is_there() {
        let message = |running: &[CompanionState], selector| {
            let error = choose(running.to_vec(), &selector).unwrap_err();
            assert!(!error.hint().is_empty());
            error.to_string()
        };
        let running = [
            state(1, 1, &[Path::new("/a")]),
            state(2, 1, &[Path::new("/b")]),
        ];
        let folder = || Selector::Folder("/x".into());
        assert_eq!(
            message(&running, folder()),
            "no companion for /x; 2 companions run for: /a, /b"
        );
        assert_eq!(
            message(&running[..1], Selector::Port(9)),
            "no companion on port 9; 1 companion runs on: 1"
        );
        assert_eq!(message(&[], folder()), "no companion for /x; none runs");
        assert_eq!(
            message(&[state(1, 1, &[])], folder()),
            "no companion for /x; 1 companion runs without a workspace"
        );
    }

    #[test]
    fn a_port_names_one() {
        let running = vec![state(1, 1, &[]), state(2, 1, &[])];
        assert_eq!(choose(running, &Selector::Port(2)).unwrap().port, 2);
    }
}
