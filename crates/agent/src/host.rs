//! The hosts that each agent dials, and when they cannot be the right ones.
//!
//! An agent in a container takes its companion to be outside, and dials `host.docker.internal`. If
//! both are in one container, it needs a variable, or it tries both by itself, or it
//! cannot be helped.

use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::time::Duration;

use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::time_limit;

/// A host that agents dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Host {
    /// `127.0.0.1`.
    #[display("127.0.0.1")]
    Loopback,
    /// `host.docker.internal`: where the container's host can be reached, if at all.
    #[display("host.docker.internal")]
    ContainerHost,
}

/// The files that mark a container for agents.
const MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// Returns true if this process is in a container, by the marks that agents look for.
pub fn is_in_container() -> bool {
    MARKS.iter().any(|mark| Path::new(mark).exists())
}

/// The time that Qwen Code waits for the address of the container's host.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns true if the name of [`Host::ContainerHost`] has an address here. A name server that is
/// silent for longer than agents wait counts as a no: they get no further either.
pub fn container_host_resolves() -> bool {
    let lookup = || (Host::ContainerHost.to_string(), 0).to_socket_addrs();
    is_found(LOOKUP_TIMEOUT, lookup)
}

fn is_found<A: Iterator>(
    limit: Duration,
    lookup: impl FnOnce() -> io::Result<A> + Send + 'static,
) -> bool {
    let found = move || lookup().is_ok_and(|mut addresses| addresses.next().is_some());
    time_limit::run(limit, found).unwrap_or(false)
}

/// The hosts that `agent` dials one after the other, for every port that it dials.
///
/// Qwen Code tries the container's host second, and only if that name resolves.
pub fn hosts(agent: Dialect, environment: &Environment, in_container: bool) -> &'static [Host] {
    match agent {
        Dialect::QwenCode if in_container => &[Host::Loopback, Host::ContainerHost],
        Dialect::GeminiCli if in_container && !stays_inside(environment) => &[Host::ContainerHost],
        _ => &[Host::Loopback],
    }
}

/// Returns true if Gemini CLI is configured to dial loopback even in a container.
fn stays_inside(environment: &Environment) -> bool {
    let variables = Dialect::GeminiCli.variables();
    let mut names = variables.map_or(&[][..], |it| it.same_host).iter();
    names.any(|name| environment.filled(name).is_some())
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    #[test]
    fn a_name_server_that_is_silent_counts_as_a_no() {
        let (_silent, never) = crossbeam_channel::unbounded::<()>();
        let is_found_there = is_found(Duration::from_millis(1), move || {
            let _ = never.recv();
            Ok(iter::once(()))
        });
        assert!(!is_found_there);
        let long = Duration::from_secs(60);
        assert!(is_found(long, || Ok(iter::once(()))));
        assert!(!is_found(long, || Ok(iter::empty::<()>())));
        let unknown = || Err::<iter::Empty<()>, _>(io::ErrorKind::NotFound.into());
        assert!(!is_found(long, unknown));
    }
}
