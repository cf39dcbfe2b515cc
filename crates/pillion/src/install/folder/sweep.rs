//! Working folders, and those that an installation left which was killed.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = ".pillion-working-";

/// Longer than any installation takes.
const OLD: Duration = Duration::from_secs(10 * 60);

/// A new folder in `staging`, gone on drop. What others left there long ago goes now.
pub fn working_folder(staging: &Path) -> io::Result<TempDir> {
    sweep(staging);
    let mut folder = tempfile::Builder::new();
    folder.prefix(PREFIX);
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    folder.tempdir_in(staging)
}

fn sweep(staging: &Path) {
    for entry in fs::read_dir(staging).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let age = entry.metadata().and_then(|data| data.modified());
        let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > OLD));
        if is_ours && is_old {
            // It is in nobody's way: the next one tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_was_left_long_ago_goes_and_what_is_in_use_stays() {
        let world = tempfile::tempdir().unwrap();
        let [old, new, other] = [".pillion-working-1", ".pillion-working-2", "other"]
            .map(|name| world.path().join(name));
        for folder in [&old, &new, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("f"), "").unwrap();
        }
        for folder in [&old, &other] {
            let long_ago = SystemTime::now() - 2 * OLD;
            fs::File::open(folder)
                .unwrap()
                .set_modified(long_ago)
                .unwrap();
        }
        let working = working_folder(world.path()).unwrap();
        assert!(!old.exists() && new.exists() && other.exists());
        drop(working);
        assert_eq!(fs::read_dir(world.path()).unwrap().count(), 2);
    }
}
