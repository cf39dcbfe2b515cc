//! Notices when the files that agents want to change become others, and reads them again. The only
//! part of the review that looks at the user's files; nothing writes them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pillion_companion::{DiffId, Original, OriginalError, Stamp};

use crate::review::view::Disk;

/// Watches the files of pending diffs for other texts, by looking at them now and then.
#[derive(Debug, Default)]
pub struct Stamps {
    files: HashMap<DiffId, Watched>,
}

#[derive(Debug)]
struct Watched {
    path: PathBuf,
    /// What the diff compares with, as a fingerprint.
    text: Option<u64>,
    seen: Option<Stamp>,
    disk: Disk,
}

impl Stamps {
    /// Watches the file that a diff is compared with, as it was when it was read. Its text.
    pub fn watch(&mut self, id: DiffId, path: &Path, original: Original) -> Option<Vec<u8>> {
        let text = original.text;
        let watched = Watched {
            path: path.to_owned(),
            text: text.as_deref().map(fingerprint),
            seen: original.stamp,
            disk: Disk::Same,
        };
        self.files.insert(id, watched);
        text
    }

    /// Reads the file of a diff once more, and watches it from now on as it is.
    ///
    /// # Errors
    /// One sentence that says why it cannot be read.
    pub fn reread(&mut self, id: DiffId, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let original = Original::read(path).map_err(|error| error.to_string())?;
        Ok(self.watch(id, path, original))
    }

    /// Watches only the files of these diffs from now on.
    pub fn retain(&mut self, keep: impl Fn(DiffId) -> bool) {
        self.files.retain(|id, _| keep(*id));
    }

    /// Looks at every file. Answers what is news.
    pub fn look(&mut self) -> Vec<(DiffId, Disk)> {
        let mut news = Vec::new();
        for (id, file) in &mut self.files {
            let stamp = Stamp::of(&file.path);
            if stamp == file.seen {
                continue;
            }
            let text = match Original::read(&file.path) {
                // The next look may see it.
                Err(OriginalError::Busy(_)) => continue,
                original => original.ok().and_then(|original| original.text),
            };
            file.seen = stamp;
            let text = text.as_deref().map(fingerprint);
            let disk = match (file.text, text) {
                (before, now) if before == now => Disk::Same,
                (Some(_), None) => Disk::Gone,
                (None, Some(_)) => Disk::Appeared,
                _ => Disk::Changed,
            };
            if disk != file.disk {
                file.disk = disk;
                news.push((*id, disk));
            }
        }
        news
    }
}

fn fingerprint(text: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn another_text_on_disk_is_noticed_and_the_same_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let mut stamps = Stamps::default();
        let id = DiffId(1);
        stamps.reread(id, &path).unwrap();
        assert_eq!(stamps.look(), []);
        fs::write(&path, "three").unwrap();
        assert_eq!(stamps.look(), [(id, Disk::Changed)]);
        assert_eq!(stamps.look(), []);
        fs::remove_file(&path).unwrap();
        assert_eq!(stamps.look(), [(id, Disk::Gone)]);
        fs::write(&path, "one").unwrap();
        assert_eq!(stamps.look(), [(id, Disk::Same)]);
        stamps.retain(|_| false);
        fs::write(&path, "four").unwrap();
        assert_eq!(stamps.look(), []);
    }

    #[test]
    fn a_write_between_the_read_and_the_watch_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let mut stamps = Stamps::default();
        let id = DiffId(1);
        let original = Original::read(&path).unwrap();
        fs::write(&path, "three").unwrap();
        stamps.watch(id, &path, original);
        assert_eq!(stamps.look(), [(id, Disk::Changed)]);
    }
}
