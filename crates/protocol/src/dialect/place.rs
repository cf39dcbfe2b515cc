//! The places where agents look for discovery files, and the names of those.

/// The place where one family of releases looks for discovery files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The directory that `folder` is relative to.
    pub base: Base,
    /// The directory below `base`, one component per item.
    pub folder: &'static [&'static str],
    /// The form of the file's name.
    pub name: FileName,
}

/// A directory that an agent computes for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The directory that Node's `os.tmpdir()` returns (C2.2).
    TmpDir,
    /// `QWEN_HOME`, by default `.qwen` in the home directory.
    QwenHome,
    /// `CLAUDE_CONFIG_DIR`, by default `.claude` in the home directory.
    ClaudeConfig,
    /// `.claude` in the home directory, whatever `CLAUDE_CONFIG_DIR` is.
    ClaudeHome,
    /// `COPILOT_HOME`, by default `.copilot` in the home directory.
    CopilotHome,
}

/// The form of a discovery file's name.
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
    /// Returns true if every process id has a file of its own.
    pub fn holds_pid(self) -> bool {
        matches!(self, Self::PidPort(_) | Self::Pid(_))
    }

    /// Returns true if two companions can never want the same name.
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

    /// The process id in `name`, if it is one of these and holds one; the largest number if it can be none.
    pub fn pid_in(self, name: &str) -> Option<u64> {
        let (pid, _) = self.numbers(name)?;
        Some(pid?.parse().unwrap_or(u64::MAX))
    }

    /// The port in `name`, if it is one of these and holds one.
    pub fn port_in(self, name: &str) -> Option<u16> {
        let (_, port) = self.numbers(name)?;
        port?.parse().ok()
    }

    /// Returns true if `name` could be one of these, whatever its numbers.
    pub fn fits(self, name: &str) -> bool {
        self.numbers(name).is_some()
    }

    /// The digits for a process id and for a port in `name`, if it could be one of these.
    fn numbers(self, name: &str) -> Option<(Option<&str>, Option<&str>)> {
        let behind = |prefix: &str| {
            let rest = name.strip_prefix(prefix)?.strip_prefix('-')?;
            rest.strip_suffix(".json")
        };
        let (pid, port) = match self {
            Self::PidPort(prefix) => {
                let (pid, port) = behind(prefix)?.split_once('-')?;
                (Some(pid), Some(port))
            }
            Self::Pid(prefix) => (Some(behind(prefix)?), None),
            Self::Port(prefix) => (None, Some(behind(prefix)?)),
            Self::PortLock => (None, Some(name.strip_suffix(".lock")?)),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let mut numbers = pid.into_iter().chain(port);
        numbers.all(is_number).then_some((pid, port))
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
