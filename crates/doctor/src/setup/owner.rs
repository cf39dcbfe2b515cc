//! The users who can write a file: newer releases of Gemini CLI take the administrator's settings only where
//! nobody but the administrator could have put them.

use std::path::{Path, PathBuf};

/// Why a file is not taken for the administrator's.
#[cfg_attr(not(unix), allow(dead_code, reason = "access lists are not read"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insecure {
    /// The file, or a folder above it.
    pub path: PathBuf,
    /// The reason.
    pub reason: Reason,
}

/// The way in which others could have written a file.
#[cfg_attr(not(unix), allow(dead_code, reason = "access lists are not read"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It does not belong to root.
    Owner,
    /// Its group or others can write it.
    Mode,
}

/// The path that makes a file that is there insecure: itself or a folder above it, by its name and by its
/// real path.
#[cfg(unix)]
pub fn insecure(path: &Path) -> Option<Insecure> {
    use std::fs::{self, Metadata};
    use std::os::unix::fs::MetadataExt;

    let real = pillion_discovery::canonicalize(path).ok()?;
    let is_open = |file: &Metadata| !file.is_symlink() && file.mode() & 0o022 != 0;
    let judge = |step: &Path, file: Metadata| {
        let reason = match file {
            file if file.uid() != 0 => Reason::Owner,
            file if is_open(&file) => Reason::Mode,
            _ => return None,
        };
        let path = step.to_owned();
        Some(Insecure { path, reason })
    };
    // Fixing the file is no use while its folder is open.
    let steps = path.ancestors().skip(1).chain([path]);
    let steps = steps.chain(real.ancestors());
    // A link's own owner counts, and what it leads to.
    let mut files = steps.flat_map(|step| {
        let files = [fs::symlink_metadata(step), fs::metadata(step)];
        files.into_iter().flatten().map(move |file| (step, file))
    });
    files.find_map(|(step, file)| judge(step, file))
}

/// Nothing is known of access lists.
#[cfg(not(unix))]
pub fn insecure(_: &Path) -> Option<Insecure> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_a_file_that_others_cannot_write_is_the_administrators() {
        assert_eq!(insecure(Path::new("/etc/passwd")), None);
        assert_eq!(insecure(Path::new("/etc/not-there")), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "{}").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let found = insecure(&file).unwrap();
        assert!(file.parent().unwrap().starts_with(&found.path), "{found:?}");
        // The way to it counts, too, not only what a link leads to.
        let link = folder.path().join("link");
        symlink("/etc/passwd", &link).unwrap();
        assert!(insecure(&link).is_some());
    }
}
