//! The users who may read and write where the agent looks for discovery files.

use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_protocol::Dialect;

/// Other users' access to the agent's discovery files. Nothing is known of access lists, which is
/// what Windows has.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// Discovery files that other users can read, and with them the token, and folders where they can put files of their own.
    pub open: Vec<PathBuf>,
    /// Folders where this user cannot put the agent's discovery files, and why not.
    pub closed: Vec<(PathBuf, Closed)>,
}

/// Why no file can be put into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display)]
pub enum Closed {
    #[display("is on a read-only file system")]
    ReadOnly,
    #[display("is not writable for you")]
    Forbidden,
    #[display("is on a file system that is full")]
    Full,
}

#[cfg(unix)]
pub fn look(agent: Dialect, environment: &Environment) -> Disk {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    const STICKY: u32 = 0o1000;
    let mut disk = Disk::default();
    for place in agent.discovery().places() {
        let folder = environment.directory(place);
        let base = environment.base(place.base);
        // Each folder below the base lets one replace the next.
        let steps = folder
            .ancestors()
            .take_while(|step| step.starts_with(&base));
        for step in steps {
            let is_open = |mode: u32| mode & 0o022 != 0 && mode & STICKY == 0;
            let is_known = disk.open.iter().any(|known| known == step);
            if !is_known && fs::metadata(step).is_ok_and(|folder| is_open(folder.mode())) {
                disk.open.push(step.to_owned());
            }
        }
        if let Some(closed) = closed(&folder)
            && !disk.closed.contains(&closed)
        {
            disk.closed.push(closed);
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let fits = name.to_str().is_some_and(|name| place.name.fits(name));
            let path = entry.path();
            let is_open = |file: fs::Metadata| file.is_file() && file.mode() & 0o044 != 0;
            let is_new = fits && !disk.open.contains(&path);
            if is_new && fs::symlink_metadata(&path).is_ok_and(is_open) {
                disk.open.push(path);
            }
        }
    }
    disk
}

/// The folder, or what of the way to it is there, if no file can be put there.
#[cfg(unix)]
fn closed(folder: &std::path::Path) -> Option<(PathBuf, Closed)> {
    use rustix::fs::{Access, access, statvfs};
    use rustix::io::Errno;

    let there = folder.ancestors().find(|it| it.is_dir())?;
    let why = match access(there, Access::WRITE_OK) {
        Err(Errno::ROFS) => Closed::ReadOnly,
        Err(_) => Closed::Forbidden,
        Ok(()) => {
            let system = statvfs(there).ok()?;
            let is_full = system.f_blocks > 0 && system.f_bavail == 0;
            let has_no_names = system.f_files > 0 && system.f_favail == 0;
            (is_full || has_no_names).then_some(Closed::Full)?
        }
    };
    Some((there.to_owned(), why))
}

#[cfg(not(unix))]
pub fn look(_: Dialect, _: &Environment) -> Disk {
    Disk::default()
}
