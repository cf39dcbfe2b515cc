//! Which files of the workspace are written from look to look. Knows names and times of files, and reads only rules.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, DirEntry, Metadata};
use std::mem;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use pillion_changes::ByFolder;

use super::is_made_by_an_editor;
use super::rules::{Rules, user_excludes};

/// More files are not looked at: those in the upper folders are.
const MAX_FILES: usize = 200_000;

/// So much earlier than the last look a file may seem to be written that was written after it: clocks of
/// file systems are coarse.
const MARGIN: Duration = Duration::from_millis(50);

/// So much later than it is a file on another machine's disk may seem to be written.
const CLOCK_SKEW: Duration = Duration::from_secs(30);

/// The files below the roots that are not ignored, as they were looked at last.
pub struct Files {
    /// With the file of what the user ignores everywhere.
    roots: Vec<(PathBuf, Option<PathBuf>)>,
    folders: Vec<PathBuf>,
    /// The time at which each was written.
    written: ByFolder<SystemTime>,
    /// The time of the last look.
    looked: SystemTime,
}

impl Files {
    /// Nothing was written before `since` that is to be found.
    pub fn new(roots: Vec<PathBuf>, since: SystemTime) -> Self {
        let with_excludes = |root: PathBuf| {
            let excludes = user_excludes(&root);
            (root, excludes)
        };
        Self {
            roots: roots.into_iter().map(with_excludes).collect(),
            folders: Vec::new(),
            written: ByFolder::default(),
            // What was written just before that was not.
            looked: since + MARGIN,
        }
    }

    /// The folders that were looked through last.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Looks through all folders, level by level. Returns what was written since the last look, the latest last.
    pub fn look(&mut self) -> Vec<PathBuf> {
        let now = SystemTime::now();
        // A time to come says nothing about when it was written, but for a clock that is a little fast.
        let recently = mem::replace(&mut self.looked, now) - MARGIN..now + CLOCK_SKEW;
        let former = mem::take(&mut self.written);
        self.folders.clear();
        let (mut found, mut count, mut seen) = (Vec::new(), 0, HashSet::new());
        let above = |(root, excludes): &(PathBuf, Option<PathBuf>)| {
            (root.clone(), Rules::above(root, excludes.as_deref()))
        };
        let mut waiting: VecDeque<_> = self.roots.iter().map(above).collect();
        while let Some((folder, above)) = waiting.pop_front() {
            // A root may lie in another one.
            if count >= MAX_FILES || !seen.insert(folder.clone()) {
                continue;
            }
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let entries: Vec<DirEntry> = entries.collect();
            let has = |name: &str| entries.iter().any(|it| it.file_name() == name);
            let rules = above.within(&folder, has);
            for entry in &entries {
                let path = entry.path();
                let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
                if rules.ignore(&path, is_folder) {
                    continue;
                }
                if is_folder {
                    waiting.push_back((path, rules.clone()));
                    continue;
                }
                let metadata = entry.metadata().ok().filter(Metadata::is_file);
                let Some(written) = metadata.and_then(|it| it.modified().ok()) else {
                    continue;
                };
                let is_saved = match former.get(&path) {
                    Some(before) => *before != written,
                    None => recently.contains(&written),
                };
                self.written.insert(&path, written);
                count += 1;
                if is_saved && !is_made_by_an_editor(&path) {
                    found.push((written, path));
                }
            }
            self.folders.push(folder);
        }
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }
}
