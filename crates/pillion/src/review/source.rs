//! Reads the files that agents want to change, and notices when they change meanwhile. The only
//! part of the review that looks at the user's files; nothing writes them.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pillion_companion::DiffId;

use crate::review::text::Text;
use crate::review::view::{Disk, Target};

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

/// Finds out which file `path` really is.
pub fn target(path: &Path, roots: &[PathBuf]) -> Target {
    let mut missing = Vec::new();
    let mut there = path;
    let real = loop {
        if let Ok(real) = fs::canonicalize(there) {
            break missing
                .iter()
                .rev()
                .fold(real, |real, name| real.join(name));
        }
        // A part that is not there yet cannot lead elsewhere, except for a link to nowhere.
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
            break path.to_owned();
        };
        match fs::read_link(there) {
            Ok(link) => {
                missing.push(link.into_os_string());
            }
            Err(_) => missing.push(name.to_owned()),
        }
        there = parent;
    };
    Target::new(path.to_owned(), real, roots)
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
    /// Watches `path`, which a diff compares with `original`.
    pub fn insert(&mut self, id: DiffId, path: &Path, original: Option<&Text>) {
        let watched = Watched {
            path: path.to_owned(),
            text: original.map(fingerprint),
            seen: stamp(path),
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
    #[cfg(unix)]
    fn the_real_file_behind_links_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        let outside = root.with_file_name("outside");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let roots = [root.clone()];
        let plain = target(&root.join("new/deep.txt"), &roots);
        assert_eq!(
            (plain.shown.as_str(), plain.is_outside),
            ("new/deep.txt", false)
        );
        assert_eq!(plain.alias, None);
        let linked = target(&root.join("link/a.txt"), &roots);
        assert_eq!(linked.path, outside.join("a.txt"));
        assert_eq!(linked.alias.as_deref(), Some("link/a.txt"));
        assert!(linked.is_outside);
        fs::write(outside.join("passwd"), "").unwrap();
        let dots = target(&root.join("../outside/passwd"), &roots);
        assert!(dots.is_outside);
        assert_eq!(dots.path, outside.join("passwd"));
    }

    #[test]
    fn another_text_on_disk_is_noticed_and_the_same_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let mut stamps = Stamps::default();
        let id = DiffId(1);
        stamps.insert(id, &path, read(&path).unwrap().as_ref());
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
}
