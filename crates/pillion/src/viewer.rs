//! Who looks at diffs and decides about them with commands: the terminal, by its session.

use pillion_companion::control::Viewer;

/// The viewer that this command runs for.
#[cfg(unix)]
pub fn current() -> Viewer {
    // SAFETY: it takes a number and gives one. (`rustix` knows no session without a number, but
    // there is one: that of a leader outside of this PID namespace is 0, as in some containers.
    // Like an error, it is nobody's: all who have none are one viewer.)
    let session = unsafe { libc::getsid(0) };
    u32::try_from(session).map(Viewer).unwrap_or_default()
}

/// There are no sessions there: all commands of a user are one viewer.
#[cfg(not(unix))]
pub fn current() -> Viewer {
    Viewer::default()
}
