//! The addresses at which agents reach a companion.

use std::fmt;
use std::path::PathBuf;

/// One place where a companion listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port on loopback.
    Tcp(u16),
    /// A Unix socket, by its absolute path.
    Unix(PathBuf),
}

impl From<u16> for Address {
    fn from(port: u16) -> Self {
        Self::Tcp(port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(port) => write!(f, "port {port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}
