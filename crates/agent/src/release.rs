//! Releases of agents, and the oldest ones whose ways are known.

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
/// let version: Version = "0.45.0".parse()?;
/// let release = Release { agent: Dialect::GeminiCli, version };
/// assert!(release < Release::newest(Dialect::GeminiCli));
/// assert_eq!(release.to_string(), "Gemini CLI 0.45.0");
/// # Ok::<(), pillion_agent::find::VersionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The agent.
    pub agent: Dialect,
    /// Its version.
    pub version: Version,
}

/// The oldest supported release of each agent: the first that npm has from the last six months (since 28 May 2026). Of the
/// other agents, only the newest release was looked at.
const OLDEST_SUPPORTED: [(Dialect, Version); 3] = [
    (Dialect::GeminiCli, Version::new(0, 45, 0)),
    (Dialect::QwenCode, Version::new(0, 21, 2)),
    (Dialect::ClaudeCode, Version::new(2, 1, 153)),
];

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
