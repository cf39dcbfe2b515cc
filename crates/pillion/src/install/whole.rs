//! Writes a file whole or not at all.

use std::fs::Permissions;
use std::path::Path;
use std::{fs, io};

use pillion_changes::leftovers;

/// Writes `text` to `path`, and the folders above it. While it is written, it lies in `folder`. It keeps the
/// permissions that it has. What a kill left there before goes.
pub fn write(path: &Path, text: &[u8], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    leftovers::sweep(folder);
    let mut part = leftovers::unfinished(folder, plain())?;
    io::Write::write_all(&mut part, text)?;
    if let Ok(data) = fs::metadata(path) {
        part.as_file().set_permissions(data.permissions())?;
    }
    part.persist(path)?;
    Ok(())
}

/// Neither plugins nor settings are secret; a temporary file is one.
#[cfg(unix)]
fn plain() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn plain() -> Option<Permissions> {
    None
}
