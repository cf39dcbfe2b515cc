//! Who may read and write where the agent looks for discovery files.

use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_protocol::Dialect;

/// What others may do with the agent's discovery files. Nothing is known of access lists, which is
/// what Windows has.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// Discovery files that other users can read, and with them the token.
    pub readable: Vec<PathBuf>,
    /// Folders where other users can put files of their own.
    pub writable: Vec<PathBuf>,
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
            let is_known = disk.writable.iter().any(|known| known == step);
            if !is_known && fs::metadata(step).is_ok_and(|folder| is_open(folder.mode())) {
                disk.writable.push(step.to_owned());
            }
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let fits = name.to_str().is_some_and(|name| place.name.fits(name));
            let path = entry.path();
            let is_open = |file: fs::Metadata| file.is_file() && file.mode() & 0o044 != 0;
            let is_new = fits && !disk.readable.contains(&path);
            if is_new && fs::symlink_metadata(&path).is_ok_and(is_open) {
                disk.readable.push(path);
            }
        }
    }
    disk.readable.sort();
    disk
}

#[cfg(not(unix))]
pub fn look(_: Dialect, _: &Environment) -> Disk {
    Disk::default()
}
