//! Who looks at diffs and decides about them with commands: the terminal, by its session.

use pillion_companion::control::Viewer;

/// The viewer that this command runs for.
#[cfg(unix)]
pub fn current() -> Viewer {
    let session = rustix::process::getsid(None);
    session
        .ok()
        .and_then(|session| u32::try_from(session.as_raw_nonzero().get()).ok())
        .map(Viewer)
        .unwrap_or_default()
}

/// There are no sessions there: all commands of a user are one viewer.
#[cfg(not(unix))]
pub fn current() -> Viewer {
    Viewer::default()
}
