//! Watches the discovery files while the checks run: agents may read them at any moment.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pillion_discovery::regular_file;
use pillion_system::lock;
use serde_json::Value;

use crate::facts;

/// The interval between looks. Writing in place leaves a gap of microseconds: it is recognised by the
/// file that stays the same one.
const EVERY: Duration = Duration::from_millis(10);

/// The number of contents that are kept.
const MAX_CONTENTS: usize = 100;

/// The changes that were seen so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// The number of times that a file got another content.
    pub(super) rewritten: usize,
    /// The first thing that a reader would have suffered from.
    pub(super) flaw: Option<String>,
    /// The contents that the files got, each with its file.
    pub(super) contents: Vec<(PathBuf, Value)>,
}

/// A watcher; dropping it ends the watch.
#[derive(Debug)]
pub(super) struct Watch(Arc<Mutex<Changes>>);

/// One file, as it was last seen.
#[derive(Debug)]
struct Watched {
    path: PathBuf,
    last: Option<Look>,
    was_gone: bool,
}

#[derive(Debug)]
struct Look {
    inode: Option<u64>,
    bytes: Vec<u8>,
    /// While it is open, no other file gets its inode: who renames twice between two looks would
    /// seem to have written in place.
    _held: File,
}

impl Watch {
    pub(super) fn start<'a>(files: impl Iterator<Item = &'a Path>) -> Self {
        let watch = Self(Arc::default());
        let mut files: Vec<_> = files.map(Watched::new).collect();
        let watched = Arc::downgrade(&watch.0);
        thread::spawn(move || {
            while let Some(seen) = watched.upgrade() {
                for file in &mut files {
                    file.look(&mut lock(&seen));
                }
                drop(seen);
                thread::sleep(EVERY);
            }
        });
        watch
    }

    /// The changes of the discovery files so far.
    pub(super) fn changes(&self) -> Changes {
        lock(&self.0).clone()
    }
}

impl Watched {
    fn new(path: &Path) -> Self {
        let last = Look::at(path);
        Self {
            path: path.to_owned(),
            last,
            was_gone: false,
        }
    }

    fn look(&mut self, seen: &mut Changes) {
        let shown = self.path.display();
        if self.path.symlink_metadata().is_err() {
            self.was_gone = self.last.is_some();
            return;
        }
        let Some(now) = Look::at(&self.path) else {
            return;
        };
        let Some(before) = self.last.replace(now) else {
            return;
        };
        let now = self.last.as_ref().unwrap_or(&before);
        let was_gone = std::mem::take(&mut self.was_gone);
        if now.bytes == before.bytes && now.inode == before.inode && !was_gone {
            return;
        }
        seen.rewritten += 1;
        let content = serde_json::from_slice::<Value>(&now.bytes);
        let content = content.ok().filter(Value::is_object);
        let flaw = match &content {
            _ if was_gone => Some("was missing for a moment"),
            None => Some("was seen half written"),
            Some(_) if now.inode.is_some() && now.inode == before.inode => {
                Some("was rewritten in place: a reader may see half of it")
            }
            Some(_) => None,
        };
        let flaw = flaw.map(|flaw| format!("{shown} {flaw}"));
        seen.flaw = seen.flaw.take().or(flaw);
        let content = content.filter(|_| seen.contents.len() < MAX_CONTENTS);
        let content = content.map(|content| (self.path.clone(), content));
        seen.contents.extend(content);
    }
}

impl Look {
    fn at(path: &Path) -> Option<Self> {
        let (file, opened) = regular_file::open(path).ok()?;
        Some(Self {
            inode: facts::unix(&opened).map(|unix| unix.inode),
            bytes: facts::read(&file).ok()?.ok()?,
            _held: file,
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn watched(change: impl Fn(&Path)) -> Changes {
        let folder = tempfile::tempdir().expect("the folder is ours");
        let path = folder.path().join("file");
        std::fs::write(&path, "{}").expect("the folder is ours");
        let mut file = Watched::new(&path);
        let mut seen = Changes::default();
        file.look(&mut seen);
        assert_eq!(seen.rewritten, 0);
        change(&path);
        file.look(&mut seen);
        seen
    }

    #[test]
    fn a_file_that_is_renamed_over_is_whole_at_every_moment() {
        let seen = watched(|path| {
            let new = path.with_extension("new");
            std::fs::write(&new, "{\"a\":1}").unwrap();
            std::fs::rename(new, path).unwrap();
        });
        assert_eq!((seen.rewritten, seen.flaw), (1, None));
    }

    #[test]
    fn a_file_that_is_renamed_over_twice_between_two_looks_is_another_one() {
        let seen = watched(|path| {
            for text in ["{\"a\":1}", "{\"a\":2}"] {
                let new = path.with_extension("new");
                std::fs::write(&new, text).unwrap();
                std::fs::rename(new, path).unwrap();
            }
        });
        assert_eq!((seen.rewritten, seen.flaw), (1, None));
    }

    #[test]
    fn a_file_that_is_written_in_place_or_half_is_found_out() {
        let flaw = |text: &str| {
            let seen = watched(|path| std::fs::write(path, text).unwrap());
            seen.flaw.unwrap_or_default()
        };
        assert!(flaw("{\"a\":1}").ends_with("may see half of it"));
        assert!(flaw("{\"a\":").ends_with("half written"));
    }

    #[test]
    fn a_file_that_is_touched_is_not_rewritten() {
        let seen = watched(|path| std::fs::write(path, "{}").unwrap());
        assert_eq!((seen.rewritten, seen.flaw), (0, None));
    }
}
