//! Releases of agents, and the release since which each of their ways of finding holds.

use std::fmt;
use std::str::FromStr;

use pillion_protocol::Dialect;

/// A version of an agent. Anything after the three numbers (`-nightly.1`) is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("{major}.{minor}.{patch}")]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version: expected three numbers separated by dots, such as 0.61.0")]
pub struct VersionError(String);

/// One release of one agent.
///
/// ```
/// use pillion_agent::find::{Release, Version};
/// use pillion_protocol::Dialect;
///
/// let version: Version = "0.36.0".parse()?;
/// let release = Release { agent: Dialect::GeminiCli, version };
/// assert!(release < Release::newest(Dialect::GeminiCli));
/// assert_eq!(release.to_string(), "Gemini CLI 0.36.0");
/// # Ok::<(), pillion_agent::find::VersionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The agent.
    pub agent: Dialect,
    /// Its version.
    pub version: Version,
}

/// A way of finding a companion that came with some release and stayed.
///
/// Only what distinguishes the two supported releases of an agent, the newest one and that of a year ago, is known:
/// tests compare both with the real agents. Between the two, each way counts from its own release on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A variable can hold the token.
    TokenVariable,
    /// Sublime Text's terminal is known.
    Sublime,
    /// Paths are decoded, and one that does not exist is resolved as far as it does; the single file lies in the
    /// folder; SSH and dev containers are known, and JetBrains' terminal is; a port is the number that a text
    /// starts with, and not 0; no proxy is asked for the host that is dialled.
    Decoded,
    /// The files of every process are looked at, and a variable can name the process.
    EveryProcess,
    /// Zed's and Xcode's terminals are known.
    Zed,
    /// Upper and lower case are one on macOS.
    FoldsCase,
    /// Only this user's files are read, each for itself; their content must be an object, and one that does not fit
    /// serves to explain.
    OwnFiles,
    /// The lock file of the port variable. Lock files must fit the folder; roots must be absolute and may be a JSON
    /// array; the port variable must be a port.
    LockFile,
    /// All lock files: stale ones are deleted, and others are dialled after the first. Two hosts are dialled.
    LockScan,
    /// Lock files in the home directory are read even if a variable names another folder.
    BothFolders,
    /// The root directory contains every folder.
    RootDirectory,
}

/// The older one of the two supported releases of an agent: the newest that was published by 26 November 2025. Of
/// Qwen Code, the oldest after that which can still be installed; of Claude Code, the last one on Node. Of opencode,
/// only the newest was looked at.
const OLDEST_SUPPORTED: [(Dialect, Version); 3] = [
    (Dialect::GeminiCli, Version::new(0, 18, 4)),
    (Dialect::QwenCode, Version::new(0, 5, 0)),
    (Dialect::ClaudeCode, Version::new(2, 1, 112)),
];

/// The release since which each holds: the first published one that was seen to have it, or the first of its minor
/// version where no earlier one of that could be looked at.
const CHANGES: &[(Change, Dialect, Version)] = &[
    gemini(Change::TokenVariable, 20, 2),
    gemini(Change::Sublime, 25, 0),
    gemini(Change::Decoded, 27, 0),
    gemini(Change::EveryProcess, 31, 0),
    gemini(Change::Zed, 35, 0),
    gemini(Change::FoldsCase, 40, 0),
    gemini(Change::OwnFiles, 57, 0),
    qwen(Change::LockFile, 5, 2),
    qwen(Change::LockScan, 12, 0),
    claude(Change::BothFolders, 330),
    claude(Change::RootDirectory, 330),
];

const fn claude(change: Change, patch: u32) -> (Change, Dialect, Version) {
    (change, Dialect::ClaudeCode, Version::new(2, 1, patch))
}

const fn gemini(change: Change, minor: u32, patch: u32) -> (Change, Dialect, Version) {
    (change, Dialect::GeminiCli, Version::new(0, minor, patch))
}

const fn qwen(change: Change, minor: u32, patch: u32) -> (Change, Dialect, Version) {
    (change, Dialect::QwenCode, Version::new(0, minor, patch))
}

impl Version {
    /// A version of these three.
    pub const fn from_numbers((major, minor, patch): (u32, u32, u32)) -> Self {
        Self::new(major, minor, patch)
    }

    /// A version of these numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads `1.2.3`, with a `v` before it and anything after it that starts with `-` or `+`.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let numbers = text.trim().trim_start_matches('v');
        let numbers = numbers.split(['-', '+']).next().unwrap_or_default();
        let numbers: Result<Vec<u32>, _> = numbers.split('.').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[major, minor, patch]) => Ok(Self::new(major, minor, patch)),
            _ => Err(VersionError(text.to_owned())),
        }
    }
}

impl Release {
    /// A release that is later than all: what is true of the newest known one is true of it.
    pub const fn newest(agent: Dialect) -> Self {
        let version = Version::new(u32::MAX, 0, 0);
        Self { agent, version }
    }

    /// Returns true if it is a certain one, and not [`Release::newest`].
    pub fn is_known(self) -> bool {
        self.version != Self::newest(self.agent).version
    }

    /// The oldest release of `agent` whose ways are known; none if no other than the newest is.
    pub fn oldest_supported(agent: Dialect) -> Option<Self> {
        let mut oldest = OLDEST_SUPPORTED.iter();
        let (agent, version) = *oldest.find(|(other, _)| *other == agent)?;
        Some(Self { agent, version })
    }

    /// The oldest release that is supported, if this one is older: then its ways are not known.
    pub fn too_old(self) -> Option<Self> {
        Self::oldest_supported(self.agent).filter(|oldest| self.version < oldest.version)
    }

    /// The releases of `agent` with which its way of finding a companion changed, oldest first.
    pub fn turning_points(agent: Dialect) -> Vec<Self> {
        let of_agent = CHANGES.iter().filter(|(_, other, _)| *other == agent);
        let mut versions: Vec<Version> = of_agent.map(|(_, _, version)| *version).collect();
        versions.sort_unstable();
        versions.dedup();
        let release = |version| Self { agent, version };
        versions.into_iter().map(release).collect()
    }

    /// Returns true if it has this way of finding a companion.
    pub fn has(self, change: Change) -> bool {
        CHANGES.iter().any(|(other, agent, since)| {
            *other == change && *agent == self.agent && *since <= self.version
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.agent.display_name();
        if !self.is_known() {
            f.write_str(name)
        } else {
            write!(f, "{name} {}", self.version)
        }
    }
}
