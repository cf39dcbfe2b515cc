//! The folders of the files that are watched: as long as the system tells what happens there, nothing has to be looked at.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pillion_changes::folder_watch::FolderWatch;

/// The system's watch on them, where there is one.
#[derive(Clone)]
pub struct Folders(Arc<Mutex<Option<FolderWatch>>>);

impl Folders {
    /// None yet. `stirred` is called once for each [`watch`](Self::watch), on a thread of its own.
    pub fn start(stirred: impl Fn() + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(FolderWatch::start(stirred).ok())))
    }

    /// Has the system tell what happens to these files and no others. May take forever; meanwhile, other calls do nothing. Returns
    /// true if it tells everything from now on, and nothing has happened since this was called last.
    pub fn watch(&self, files: Vec<PathBuf>) -> bool {
        let mut watch = self.0.try_lock().ok();
        let Some(watch) = watch.as_mut().and_then(|watch| watch.as_mut()) else {
            return false;
        };
        let parents: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        // Where a folder is yet to be made, the one above it tells.
        let there = parents
            .into_iter()
            .filter_map(|folder| folder.ancestors().find(|folder| folder.is_dir()));
        let folders: BTreeSet<PathBuf> = there.map(Path::to_owned).collect();
        let folders = Vec::from_iter(folders);
        let watched = watch.set(folders.iter().map(PathBuf::as_path), &folders);
        watch.tell_again() && watched.is_whole()
    }
}
