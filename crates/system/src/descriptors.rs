//! The descriptors of this process: how many it may have open, and whether there is room for more.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// macOS allows no process more descriptors than this, even where it names no limit.
const OPEN_MAX: u64 = 10_240;

/// Lets this process have as many descriptors open as the system allows it. The programs that it starts inherit that: what
/// still uses `select` may not be one of them.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit
        .maximum
        .filter(|it| !cfg!(target_vendor = "apple") || *it < OPEN_MAX);
    let most = most.unwrap_or(OPEN_MAX);
    if limit.current.is_some_and(|it| it < most) {
        let raised = Rlimit {
            current: Some(most),
            ..limit
        };
        // Without it, there is room for fewer workspaces.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// Returns true if this process may have so many more open.
pub fn has_room(descriptors: usize) -> bool {
    let opened: io::Result<Vec<OwnedFd>> = File::open("/dev/null").and_then(|null| {
        let more = |_| Ok(fcntl_dupfd_cloexec(&null, 0)?);
        (0..descriptors).map(more).collect()
    });
    opened.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_no_more_than_the_limit() {
        let limit = getrlimit(Resource::Nofile).current;
        assert!(has_room(1) && has_room(50));
        if let Some(limit) = limit.filter(|it| *it < 1 << 17) {
            assert!(!has_room(limit.try_into().unwrap()));
        }
    }
}
