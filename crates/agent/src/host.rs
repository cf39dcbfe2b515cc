//! Which host each release dials, and when that cannot be the right one.
//!
//! An agent in a container takes its companion to be outside, and dials `host.docker.internal`. If
//! both are in one container, it has to be told so by a variable, or it tries both by itself, or it
//! cannot be helped.

use std::fmt;
use std::path::Path;

use pillion_discovery::Environment;
use pillion_protocol::Dialect;

use crate::release::{Change, Release};

/// A host that agents dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// `127.0.0.1`; Gemini CLI before 0.9 says `localhost`.
    Loopback,
    /// `host.docker.internal`: where the container's host can be reached, if at all.
    ContainerHost,
}

/// What a container means for a release that shall find a companion in the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Override {
    /// Nothing is needed: it dials `127.0.0.1`.
    NotNeeded,
    /// This variable with this value makes it dial `127.0.0.1`.
    Variable(&'static str, &'static str),
    /// No variable helps: `host.docker.internal` must lead to `127.0.0.1` (`/etc/hosts`).
    HostsFile,
}

/// What marks a container for agents.
const MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// Whether this process is in a container, by the marks that agents look for.
pub fn is_in_container() -> bool {
    MARKS.iter().any(|mark| Path::new(mark).exists())
}

/// The hosts that `release` dials one after the other, for every port that it dials.
///
/// Qwen Code from 0.12 on tries the container's host second, and only if that name resolves.
pub fn hosts(release: Release, environment: &Environment, in_container: bool) -> &'static [Host] {
    if !in_container {
        return &[Host::Loopback];
    }
    match release.agent {
        Dialect::QwenCode if release.has(Change::LockScan) => {
            &[Host::Loopback, Host::ContainerHost]
        }
        Dialect::GeminiCli if release.has(Change::Decoded) && stays_inside(environment) => {
            &[Host::Loopback]
        }
        Dialect::GeminiCli | Dialect::QwenCode => &[Host::ContainerHost],
        Dialect::Script => &[Host::Loopback],
    }
}

/// What `release` needs to reach a companion that is in the same container as itself.
///
/// ```
/// use pillion_agent::find::Release;
/// use pillion_agent::host::{Override, needs_container_override};
/// use pillion_discovery::Environment;
/// use pillion_protocol::Dialect;
///
/// let environment = Environment::from_pairs([("HOME", "/home/me")]);
/// let gemini = Release::newest(Dialect::GeminiCli);
/// assert_eq!(
///     needs_container_override(gemini, &environment, true),
///     Override::Variable("REMOTE_CONTAINERS", "1"),
/// );
/// assert_eq!(
///     needs_container_override(gemini, &environment, false),
///     Override::NotNeeded,
/// );
/// ```
pub fn needs_container_override(
    release: Release,
    environment: &Environment,
    in_container: bool,
) -> Override {
    if hosts(release, environment, in_container).contains(&Host::Loopback) {
        Override::NotNeeded
    } else if release.agent == Dialect::GeminiCli && release.has(Change::Decoded) {
        Override::Variable("REMOTE_CONTAINERS", "1")
    } else {
        Override::HostsFile
    }
}

/// Whether Gemini CLI is configured to dial loopback even in a container.
fn stays_inside(environment: &Environment) -> bool {
    let variables = Dialect::GeminiCli.variables();
    let mut names = variables.map_or(&[][..], |it| it.same_host).iter();
    names.any(|name| environment.filled(name).is_some())
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "127.0.0.1",
            Self::ContainerHost => "host.docker.internal",
        })
    }
}
