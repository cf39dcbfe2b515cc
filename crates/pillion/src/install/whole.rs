//! Writes a file whole or not at all.

use std::path::Path;
use std::{fs, io};

/// Writes `text` to `path`, and the folders above it. While it is written, it lies in `folder`, under a name that
/// starts with `prefix`. It keeps the permissions that it has.
pub fn write(path: &Path, text: &[u8], folder: &Path, prefix: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    let mut part = tempfile::Builder::new();
    part.prefix(prefix);
    // Neither plugins nor settings are secret; a temporary file is one.
    #[cfg(unix)]
    part.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut part = part.tempfile_in(folder)?;
    io::Write::write_all(&mut part, text)?;
    if let Ok(data) = fs::metadata(path) {
        part.as_file().set_permissions(data.permissions())?;
    }
    part.persist(path)?;
    Ok(())
}
