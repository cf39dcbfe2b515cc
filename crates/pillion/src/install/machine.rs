//! The machine as an installer sees it: its system, its variables, its programs. Paths are built by
//! the rules of the system that is looked at, which in tests is not the one they run on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use pillion_discovery::Environment;
use pillion_system::SearchPath;

use crate::failure::{Failure, Kind};

/// The system whose places and names are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    Mac,
    Windows,
}

/// A system and its variables.
#[derive(Debug)]
pub struct Machine {
    pub platform: Platform,
    pub environment: Environment,
}

impl Machine {
    /// This one. A Unix that is no Mac has Linux's places.
    pub fn current() -> Self {
        let platform = if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::Mac
        } else {
            Platform::Linux
        };
        Self {
            platform,
            environment: Environment::current(),
        }
    }

    pub fn home(&self) -> Option<PathBuf> {
        match self.platform {
            Platform::Windows => self.variable("USERPROFILE"),
            Platform::Linux | Platform::Mac => self.environment.home(),
        }
    }

    /// The home directory, as one that settings can lie in.
    pub fn absolute_home(&self) -> Result<PathBuf, Failure> {
        let name = match self.platform {
            Platform::Windows => "USERPROFILE",
            Platform::Linux | Platform::Mac => "HOME",
        };
        self.absolute(name, self.home().ok_or_else(|| unset(name))?)
    }

    /// The folder in which programs of today have their settings, on systems other than Windows.
    pub fn config(&self) -> Result<PathBuf, Failure> {
        let named = self.variable("XDG_CONFIG_HOME");
        match named.filter(|folder| folder.is_absolute()) {
            Some(folder) => Ok(folder),
            None => Ok(self.join(self.absolute_home()?, ".config")),
        }
    }

    /// The folder that a variable names, else this one below the home directory.
    pub fn folder_or(&self, name: &str, below_home: &str) -> Result<PathBuf, Failure> {
        match self.variable(name) {
            Some(folder) => self.absolute(name, folder),
            None => Ok(self.join(self.absolute_home()?, below_home)),
        }
    }

    /// The folder that a variable names.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        self.variable(name).ok_or_else(|| unset(name))
    }

    /// A variable that names a folder.
    pub fn variable(&self, name: &str) -> Option<PathBuf> {
        self.environment.filled(name).map(PathBuf::from)
    }

    /// Refuses to write for another user.
    ///
    /// # Errors
    /// When this is root by `sudo`, in the home of the user who called it.
    pub fn check_owner(&self, path: &Path) -> Result<(), Failure> {
        if self.is_sudo_callers(path) {
            let message = format!("{} in your home would belong to root", path.display());
            let failure = Failure::new(Kind::Refused, message);
            return Err(failure.hint("Run it without `sudo`."));
        }
        Ok(())
    }

    /// Returns true if this is root by `sudo`, and `path` belongs to the user who called it: `sudo` may keep
    /// `HOME`, and root's files in there are nothing that their home's owner can change.
    #[cfg(unix)]
    fn is_sudo_callers(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;

        let caller = self.environment.filled("SUDO_UID");
        let caller: Option<u32> = caller.and_then(|uid| uid.to_str()?.parse().ok());
        let owner = path.ancestors().find_map(|folder| folder.metadata().ok());
        rustix::process::geteuid().is_root()
            && caller.is_some_and(|uid| uid > 0)
            && owner.is_some_and(|data| Some(data.uid()) == caller)
    }

    #[cfg(not(unix))]
    fn is_sudo_callers(&self, _: &Path) -> bool {
        false
    }

    /// The folder that the variable of this name gives. A relative one would depend on where the command runs.
    pub fn absolute(&self, name: &str, folder: PathBuf) -> Result<PathBuf, Failure> {
        if self.platform != Platform::Windows && folder.is_relative() {
            let message = format!("{name} is not absolute: {}", folder.display());
            return Err(Failure::new(Kind::Refused, message).hint("Set it to an absolute path."));
        }
        Ok(folder)
    }

    /// The folders in which the system's own packages put data, as the desktop's specification has it.
    pub fn data_folders(&self) -> Vec<PathBuf> {
        if self.platform == Platform::Windows {
            return Vec::new();
        }
        let folders = self.environment.filled("XDG_DATA_DIRS");
        let folders = folders.unwrap_or(OsStr::new("/usr/local/share:/usr/share"));
        let folders = std::env::split_paths(&folders);
        folders.filter(|folder| folder.is_absolute()).collect()
    }

    /// `path` below `base`, where `path` is written with slashes.
    pub fn join(&self, base: impl AsRef<Path>, path: &str) -> PathBuf {
        if self.platform != Platform::Windows {
            return base.as_ref().join(path);
        }
        let mut joined = OsString::from(base.as_ref());
        for part in path.split('/') {
            joined.push("\\");
            joined.push(part);
        }
        joined.into()
    }

    /// The first of these programs that is on PATH.
    pub fn program(&self, names: &[&str]) -> Option<PathBuf> {
        self.programs(names).into_iter().next()
    }

    /// These programs on PATH, the first name's before the next one's, as people type them. Folders
    /// that depend on where we are do not count: whatever lies there was not installed.
    pub fn programs(&self, names: &[&str]) -> Vec<PathBuf> {
        let path = SearchPath::of(|name| self.environment.filled(name)).without_relative();
        let path = match self.platform {
            // A command of Windows' own kind comes first: beside it may lie the editor itself, which
            // would open a window.
            Platform::Windows => path.with_endings(&[".cmd", ".exe"]),
            Platform::Linux | Platform::Mac => path,
        };
        names.iter().flat_map(|name| path.programs(name)).collect()
    }
}

fn unset(name: &str) -> Failure {
    let message = format!("{name} is not set");
    Failure::new(Kind::Refused, message).hint("Set it to your home folder.")
}

#[cfg(test)]
impl Machine {
    /// A made-up one.
    pub fn of(platform: Platform, variables: &[(&str, &str)]) -> Self {
        Self {
            platform,
            environment: Environment::from_pairs(variables.iter().copied()),
        }
    }
}
