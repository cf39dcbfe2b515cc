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

/// The viewer of what this command prints: nobody, if that is discarded. (A closed standard output
/// is `/dev/null`, too: the runtime opens it before `main`.)
#[cfg(unix)]
pub fn of_output() -> Viewer {
    use std::fs::{File, Metadata, metadata};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let output = std::io::stdout().as_fd().try_clone_to_owned();
    let output = output.and_then(|output| File::from(output).metadata());
    let device = |data: Metadata| data.file_type().is_char_device().then(|| data.rdev());
    match (output.map(device), metadata("/dev/null").map(device)) {
        (Ok(Some(output)), Ok(Some(null))) if output == null => Viewer::UNKNOWN,
        _ => current(),
    }
}

/// Discarded output is not recognised there.
#[cfg(not(unix))]
pub fn of_output() -> Viewer {
    current()
}

/// There are no sessions there: all commands of a user are one viewer.
#[cfg(not(unix))]
pub fn current() -> Viewer {
    Viewer::default()
}
