//! Where agents look for discovery files, and how those are named.

/// Where one family of releases looks for discovery files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which directory `folder` is relative to.
    pub base: Base,
    /// The directory below `base`, one component per item.
    pub folder: &'static [&'static str],
    /// How the file is named.
    pub name: FileName,
    /// What is in it.
    pub format: Format,
}

/// How a discovery file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A [`DiscoveryFile`](crate::DiscoveryFile) (C2.4).
    Companion,
    /// A [`claude::LockFile`](crate::claude::LockFile), whose port is in its name.
    Claude,
}

/// A directory that an agent computes for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// What Node's `os.tmpdir()` returns (C2.2).
    TmpDir,
    /// `QWEN_HOME`, by default `.qwen` in the home directory.
    QwenHome,
    /// `CLAUDE_CONFIG_DIR`, by default `.claude` in the home directory.
    ClaudeConfig,
    /// `.claude` in the home directory, whatever `CLAUDE_CONFIG_DIR` is.
    ClaudeHome,
}

/// How a discovery file is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileName {
    /// `PREFIX-PID-PORT.json` (C2.2), one for each process that an agent may look for (C2.3).
    PidPort(&'static str),
    /// `PREFIX-PID.json`: the name does not tell two companions of one process apart.
    Pid(&'static str),
    /// `PREFIX-PORT.json`.
    Port(&'static str),
    /// `PORT.lock`.
    PortLock,
}

impl FileName {
    /// Whether every process id has a file of its own.
    pub fn holds_pid(self) -> bool {
        matches!(self, Self::PidPort(_) | Self::Pid(_))
    }

    /// Whether two companions can never want the same name.
    pub fn holds_port(self) -> bool {
        !matches!(self, Self::Pid(_))
    }

    /// The name for `pid` and `port`.
    pub fn of(self, pid: u32, port: u16) -> String {
        match self {
            Self::PidPort(prefix) => format!("{prefix}-{pid}-{port}.json"),
            Self::Pid(prefix) => format!("{prefix}-{pid}.json"),
            Self::Port(prefix) => format!("{prefix}-{port}.json"),
            Self::PortLock => format!("{port}.lock"),
        }
    }

    /// The process id in `name`, if it is one of these and holds one.
    pub fn pid_in(self, name: &str) -> Option<u32> {
        let (Self::PidPort(prefix) | Self::Pid(prefix)) = self else {
            return None;
        };
        if !self.fits(name) {
            return None;
        }
        let numbers = name.strip_prefix(prefix)?.strip_prefix('-')?;
        numbers.split(['-', '.']).next()?.parse().ok()
    }

    /// The port in `name`, if it is one of these and holds nothing else.
    pub fn port_in(self, name: &str) -> Option<u16> {
        let number = match self {
            Self::PortLock => name.strip_suffix(".lock")?,
            Self::Port(prefix) => name
                .strip_prefix(prefix)?
                .strip_prefix('-')?
                .strip_suffix(".json")?,
            Self::PidPort(_) | Self::Pid(_) => return None,
        };
        number.parse().ok()
    }

    /// Whether `name` could be one of these, whatever its numbers.
    pub fn fits(self, name: &str) -> bool {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let numbers = |prefix: &str| {
            name.strip_prefix(prefix)
                .and_then(|rest| rest.strip_prefix('-'))
                .and_then(|rest| rest.strip_suffix(".json"))
        };
        match self {
            Self::PidPort(prefix) => numbers(prefix)
                .and_then(|rest| rest.split_once('-'))
                .is_some_and(|(pid, port)| is_number(pid) && is_number(port)),
            Self::Pid(prefix) | Self::Port(prefix) => numbers(prefix).is_some_and(is_number),
            Self::PortLock => name.strip_suffix(".lock").is_some_and(is_number),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Dialect;

    #[test]
    fn a_name_fits_its_own_pattern_and_no_other_file() {
        for dialect in Dialect::ALL {
            for place in dialect.places() {
                let name = place.name.of(7, 65535);
                assert!(place.name.fits(&name), "{place:?}");
                let pid = place.name.holds_pid().then_some(7);
                assert_eq!(place.name.pid_in(&name), pid, "{place:?}");
                for other in [
                    "",
                    "a.lock",
                    ".lock",
                    "gemini-ide-server-.json",
                    "qwen-code-ide-server-1-2-3.json",
                    "notes.json",
                ] {
                    assert!(!place.name.fits(other), "{place:?} {other:?}");
                    assert_eq!(place.name.pid_in(other), None, "{place:?} {other:?}");
                }
            }
        }
    }
}
