//! The selector of a companion, and the error if there is none.
//!
//! A named port or folder comes first, then the file that a command is about, then the current folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;

use crate::args::Target;
use crate::failure::{Failure, Kind};

/// So many companions are listed one by one.
const MAX_TOLD: usize = 8;

/// The port or place that says which companion is meant. What a person names counts before what happens to be so:
/// the current folder of an editor's key binding or of a script may be any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    Port(u16),
    /// The one whose workspace contains this file; if none is meant, or there is no such companion, this folder.
    Place {
        file: Option<PathBuf>,
        /// None if the current folder is gone.
        folder: Option<PathBuf>,
    },
}

impl Selector {
    /// Reads what `target` says here.
    ///
    /// # Errors
    /// When the current folder would have to say it, and is gone; or a folder is named that is not
    /// there.
    pub fn new(target: &Target, environment: &Environment) -> Result<Self, Failure> {
        let current = environment.current_dir();
        if let Some(port) = target.port {
            return Ok(Self::Port(port));
        }
        if let Some(folder) = &target.workspace {
            let folder = current.join(folder);
            if folder
                .symlink_metadata()
                .is_err_and(|it| it.kind() == ErrorKind::NotFound)
            {
                let message = format!("the folder {} does not exist", folder.display());
                let failure = Failure::new(Kind::Refused, message);
                return Err(failure.hint("--workspace takes an existing folder."));
            }
            let (file, folder) = (None, Some(folder));
            return Ok(Self::Place { file, folder });
        }
        let file = target.file.clone();
        let folder = Some(current.to_owned()).filter(|current| !current.as_os_str().is_empty());
        if file.is_none() && folder.is_none() {
            let failure = Failure::new(Kind::Refused, "the current folder no longer exists");
            return Err(failure.hint("Change to an existing folder."));
        }
        Ok(Self::Place { file, folder })
    }

    /// The files and folders that decide, one after the other, until one is in a workspace.
    pub fn places(&self) -> Vec<&Path> {
        match self {
            Self::Port(_) => Vec::new(),
            Self::Place { file, folder } => {
                let file = file.as_deref();
                // Of a link that leads out of the workspace in which it lies, both ends count.
                let places = [file, file.and_then(Path::parent), folder.as_deref()];
                places.into_iter().flatten().collect()
            }
        }
    }

    /// That no companion is the one that is meant: one sentence, with what runs instead. `what` is
    /// `companion`, or `Pillion companion` if only those are meant.
    pub fn missing(&self, what: &str, running: &[&Companion]) -> String {
        let all = running.iter();
        let (meant, is_at, instead): (_, _, Vec<String>) = match self {
            Self::Port(port) => {
                let ports = all.map(|it| it.port.to_string()).collect();
                (format!("on port {port}"), "on", ports)
            }
            Self::Place { file, folder } => {
                let meant = [file, folder].into_iter().flatten();
                let meant: Vec<_> = meant.map(|it| it.display().to_string()).collect();
                let meant = format!("for {}", meant.join(" or the current folder "));
                (meant, "for", all.flat_map(|it| it.shown_roots()).collect())
            }
        };
        let others = match running.len() {
            0 => return format!("no {what} is running {meant}"),
            1 => "the only one running is".to_owned(),
            count => format!("{count} others are running:"),
        };
        let instead = match instead.as_slice() {
            [] => "without a workspace".to_owned(),
            _ => format!("{is_at} {}", listed(instead)),
        };
        format!("no {what} {meant}; {others} {instead}")
    }
}

/// Each once, and no more than people read.
fn listed(mut names: Vec<String>) -> String {
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(MAX_TOLD);
    names.truncate(MAX_TOLD);
    let names = names.join(", ");
    if more == 0 {
        names
    } else {
        format!("{names} and {more} more")
    }
}

#[cfg(all(test, unix))]
mod tests {
    use pillion_discovery::survey::Liveness;

    use super::*;

    fn companion(port: u16, roots: &[&str]) -> Companion {
        Companion {
            port,
            ide: None,
            roots: roots.iter().map(PathBuf::from).collect(),
            pids: Vec::new(),
            files: Vec::new(),
            state: None,
            is_silent: false,
            liveness: Liveness::Alive,
        }
    }

    fn selector(target: Target, current: &str) -> Selector {
        let environment = Environment::default().with_current_dir(current);
        Selector::new(&target, &environment).expect("something says it")
    }

    fn file() -> Target {
        Target::default().about(Path::new("/p/a.rs"))
    }

    #[test]
    fn what_is_named_counts_before_the_current_folder() {
        assert_eq!(
            selector(Target::default(), "/c").places(),
            [Path::new("/c")]
        );
        let places = ["/p/a.rs", "/p", "/c"].map(Path::new);
        assert_eq!(selector(file(), "/c").places(), places);
        // Also where the current folder no longer exists.
        assert_eq!(selector(file(), "").places(), places[..2]);
        let workspace = |named: &str| Target {
            workspace: Some(named.into()),
            ..file()
        };
        assert_eq!(
            selector(workspace("tmp"), "/").places(),
            [Path::new("/tmp")]
        );
        let environment = Environment::default().with_current_dir("/");
        let missing = Selector::new(&workspace("no/such"), &environment).unwrap_err();
        assert_eq!(missing.to_string(), "the folder /no/such does not exist");
        let port = Target {
            port: Some(7),
            ..file()
        };
        assert_eq!(selector(port, "/c"), Selector::Port(7));
        let gone = Selector::new(&Target::default(), &Environment::default());
        assert_eq!(
            gone.unwrap_err().to_string(),
            "the current folder no longer exists"
        );
    }

    #[test]
    fn what_is_missing_is_reported_with_what_is_there() {
        let told = |whose, selector: Selector, running: &[Companion]| {
            let running: Vec<_> = running.iter().collect();
            selector.missing(whose, &running)
        };
        let message = |selector, running: &[Companion]| told("companion", selector, running);
        let folder = || selector(Target::default(), "/x");
        let [a, b] = [companion(1, &["/a", "/c"]), companion(2, &["/b", "/a"])];
        assert_eq!(
            message(folder(), &[a.clone(), b]),
            "no companion for /x; 2 others are running: for /a, /b, /c"
        );
        assert_eq!(
            message(Selector::Port(9), std::slice::from_ref(&a)),
            "no companion on port 9; the only one running is on 1"
        );
        assert_eq!(
            message(selector(file(), "/c"), std::slice::from_ref(&a)),
            "no companion for /p/a.rs or the current folder /c; the only one running is for /a, /c"
        );
        assert_eq!(
            message(selector(file(), ""), &[]),
            "no companion is running for /p/a.rs"
        );
        assert_eq!(
            message(folder(), &[companion(1, &[])]),
            "no companion for /x; the only one running is without a workspace"
        );
        assert_eq!(
            told("Pillion companion", folder(), &[a]),
            "no Pillion companion for /x; the only one running is for /a, /c"
        );
        let many: Vec<_> = (1..1000).map(|port| companion(port, &[])).collect();
        assert_eq!(
            message(Selector::Port(9999), &many),
            "no companion on port 9999; 999 others are running: on 1, 10, 100, 101, 102, 103, 104, 105 \
             and 991 more"
        );
    }
}
