//! Reads the files that agents want to change, and notices when they change meanwhile. The only
//! part of the review that looks at the user's files; nothing writes them.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pillion_companion::DiffId;

use crate::original;
use crate::review::view::Disk;
use crate::text::Text;

/// Reads the file before a change; `None` when it is not there yet.
///
/// # Errors
/// One sentence that says why it cannot be read.
pub fn read(path: &Path) -> Result<Option<Text>, String> {
    Ok(original::read(path)?.map(Text::new))
}

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

/// What changes whenever a file is written.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    file: u64,
}

impl Stamps {
    /// Reads `path`, which a diff is to be compared with, and watches it.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read(&mut self, id: DiffId, path: &Path) -> Result<Option<Text>, String> {
        // In this order: what is written after the look at it is noticed by the next look.
        let seen = stamp(path);
        let original = read(path)?;
        self.insert(id, path, seen, original.as_ref());
        Ok(original)
    }

    fn insert(&mut self, id: DiffId, path: &Path, seen: Option<Stamp>, original: Option<&Text>) {
        let watched = Watched {
            path: path.to_owned(),
            text: original.map(fingerprint),
            seen,
            disk: Disk::Same,
        };
        self.files.insert(id, watched);
    }

    /// Watches only the files of these diffs from now on.
    pub fn retain(&mut self, keep: impl Fn(DiffId) -> bool) {
        self.files.retain(|id, _| keep(*id));
    }

    /// Looks at every file. Answers what is news.
    pub fn look(&mut self) -> Vec<(DiffId, Disk)> {
        let mut news = Vec::new();
        for (id, file) in &mut self.files {
            let stamp = stamp(&file.path);
            if stamp == file.seen {
                continue;
            }
            file.seen = stamp;
            let text = read(&file.path)
                .ok()
                .flatten()
                .map(|text| fingerprint(&text));
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

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        len: metadata.len(),
        modified: metadata.modified().ok(),
        file: number(&metadata),
    })
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.ino()
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}

fn fingerprint(text: &Text) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.bytes().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_on_disk_is_noticed_and_the_same_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let mut stamps = Stamps::default();
        let id = DiffId(1);
        stamps.read(id, &path).unwrap();
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
        let (id, seen) = (DiffId(1), stamp(&path));
        let original = read(&path).unwrap();
        fs::write(&path, "three").unwrap();
        stamps.insert(id, &path, seen, original.as_ref());
        assert_eq!(stamps.look(), [(id, Disk::Changed)]);
    }
}
