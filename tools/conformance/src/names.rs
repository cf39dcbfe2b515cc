//! Names for files that do not exist, and what lies under them all the same: a companion, or its
//! editor, that writes what was proposed (against C5.9) leaves nothing behind.

use std::cell::Cell;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::SystemTime;

/// Hands out names and, at its end at the latest, removes whatever bears one.
#[derive(Debug)]
pub(super) struct Names {
    folder: PathBuf,
    /// In every name, and in no other file's.
    mark: String,
    count: Cell<u32>,
}

impl Names {
    /// Names of files in this folder.
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let (process, started) = (std::process::id(), since.unwrap_or_default().as_micros());
        Self {
            folder,
            mark: format!("pillion-conformance-{process}-{started}-"),
            count: Cell::default(),
        }
    }

    /// The folder, without a separator at its end.
    pub(super) fn folder(&self) -> String {
        let folder = self.folder.to_string_lossy();
        folder.trim_end_matches(MAIN_SEPARATOR).to_owned()
    }

    /// A new number.
    pub(super) fn number(&self) -> u32 {
        self.count.replace(self.count.get() + 1)
    }

    /// A new name.
    pub(super) fn name(&self) -> String {
        format!("{}{}.txt", self.mark, self.number())
    }

    /// A new path.
    pub(super) fn path(&self) -> String {
        format!("{}{MAIN_SEPARATOR}{}", self.folder(), self.name())
    }

    /// Removes what bears one of the names, in the folder and in folders that bear one.
    pub(super) fn sweep(&self) {
        if self.count.get() > 0 {
            sweep(&self.folder, &self.mark);
        }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.sweep();
    }
}

fn sweep(folder: &Path, mark: &str) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().contains(mark));
    for entry in ours {
        let path = entry.path();
        // Links are removed, not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep(&path, mark);
            let _ = fs::remove_dir(path);
        } else {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bears_a_name_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("the folder is ours");
        let own = folder.path().join("pillion-conformance-1-2-3.txt");
        fs::write(&own, "text").unwrap();
        let names = Names::in_folder(folder.path().to_owned());
        let path = names.path();
        fs::write(&path, "text").unwrap();
        fs::write(format!("{path}.orig"), "text").unwrap();
        let inner = PathBuf::from(names.path());
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join(names.name()), "text").unwrap();
        drop(names);
        let left: Vec<_> = folder.path().read_dir().unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].path(), own);
    }
}
