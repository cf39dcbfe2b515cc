//! Reads the files that agents want to change, and notices when they change meanwhile. The only
//! part of the review that looks at the user's files; nothing writes them.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pillion_companion::DiffId;

use crate::review::view::Disk;
use crate::text::Text;

/// Bigger files are not read.
const MAX_FILE: u64 = 512 << 20;

/// Reads the file before a change; `None` when it is not there yet.
///
/// # Errors
/// One sentence that says why it cannot be read.
pub fn read(path: &Path) -> Result<Option<Text>, String> {
    let failed = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere is there all the same, but so the agent will create it.
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    // Reading a pipe would wait for ever.
    if !metadata.is_file() {
        return Err(format!("{} is not a regular file", path.display()));
    }
    if metadata.len() > MAX_FILE {
        return Err(format!("{} is too big to review", path.display()));
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(Text::new(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
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
    fn what_is_not_a_readable_file_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("new.txt")), Ok(None));
        assert_eq!(read(&folder.path().join("no/such/folder.txt")), Ok(None));
        let error = read(folder.path()).unwrap_err();
        assert!(error.ends_with("is not a regular file"), "{error}");
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = read(&file.join("below")).unwrap_err();
        assert!(error.starts_with("cannot read "), "{error}");
    }

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
