//! The folders that are watched, and what is ignored in each. It reads folders and rule files when it
//! is asked to look through them, and nothing otherwise.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::batch::MAX_BURST;
use super::rules::{Outside, Rules, is_made_by_an_editor, is_rule_file, user_excludes};
use super::source::{Refusal, Source};
use super::trouble::Trouble;

/// So much later than it is a file on another machine's disk may seem to be written.
const CLOCK_SKEW: Duration = Duration::from_secs(30);

/// The folders below the roots. Sorted, so that what is below a folder stands together behind it.
#[derive(Default)]
pub struct Tree {
    roots: Vec<PathBuf>,
    folders: BTreeMap<PathBuf, Rules>,
    max_folders: usize,
    outside: Outside,
    /// The file of what the user ignores everywhere, for each root.
    excludes: HashMap<PathBuf, Option<PathBuf>>,
    troubles: BTreeSet<Trouble>,
    /// A folder that the system refused to watch.
    refused: Option<PathBuf>,
}

/// The files that a walk looks for, besides folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFilter {
    /// None.
    Nothing,
    /// Those in folders that were not watched yet, if they were written since then.
    InNewFolders(SystemTime),
    /// Those everywhere.
    Everywhere(SystemTime),
}

/// The files that a walk finds: at most as many as are a burst.
pub struct Found {
    files: Vec<(SystemTime, PathBuf)>,
    wanted: FileFilter,
}

impl Tree {
    pub fn new(roots: &[PathBuf], max_folders: usize) -> Self {
        Self {
            roots: roots.to_vec(),
            max_folders,
            ..Self::default()
        }
    }

    /// The troubles that keep saved files from being noticed.
    pub fn troubles(&self) -> &BTreeSet<Trouble> {
        &self.troubles
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns true if `path` is hidden or ignored, or lies where nothing is watched.
    pub fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let rules = path.parent().and_then(|folder| self.folders.get(folder));
        rules.is_none_or(|rules| rules.ignore(path, is_folder))
    }

    /// Returns true if rules changed that lie where nobody watches.
    pub fn is_outdated(&self) -> bool {
        self.outside.has_changed()
    }

    /// Returns true if one of the troubles seems to be over.
    pub fn may_grow(&self, source: &mut impl Source) -> bool {
        self.troubles.iter().any(|trouble| match trouble {
            Trouble::TooManyFolders(max) => self.folders.len() < *max,
            Trouble::NoWatches => match &self.refused {
                Some(folder) => !matches!(source.watch(folder), Err(Refusal::Full)),
                None => false,
            },
            Trouble::Root(root, _) => root.is_dir(),
            Trouble::Nothing(_) => false,
        })
    }

    /// Looks through all roots anew.
    pub fn sync_all(&mut self, source: &mut impl Source, found: &mut Found) {
        self.troubles.clear();
        self.refused = None;
        self.outside = Outside::default();
        for root in self.roots.clone() {
            self.excludes.insert(root.clone(), user_excludes(&root));
            self.sync(&root, source, found);
        }
    }

    /// Watches `folder` and what is below it, as far as it is not ignored, and nothing else there.
    pub fn sync(&mut self, folder: &Path, source: &mut impl Source, found: &mut Found) {
        let former: HashSet<_> = self.below(folder).into_iter().collect();
        for path in &former {
            self.folders.remove(path);
        }
        if self.roots.iter().any(|root| root == folder) {
            let excludes = self.excludes.get(folder).and_then(Option::as_deref);
            let above = Rules::above(folder, excludes, &mut self.outside);
            self.walk(folder, above, &former, source, found);
        } else if !self.ignores(folder, true) {
            let parent = folder.parent().and_then(|parent| self.folders.get(parent));
            if let Some(above) = parent.cloned() {
                self.walk(folder, above, &former, source, found);
            }
        }
        // A workspace folder that is ignored by the one around it.
        let hidden = |root: &&PathBuf| *root != folder && root.starts_with(folder);
        for root in self.roots.clone().iter().filter(hidden) {
            if !self.folders.contains_key(root) {
                self.sync(root, source, found);
            }
        }
        let gone = former
            .iter()
            .filter(|path| !self.folders.contains_key(*path));
        gone.for_each(|path| source.unwatch(path));
    }

    /// Level by level: where there are too many, the upper ones are watched.
    fn walk(
        &mut self,
        folder: &Path,
        above: Rules,
        former: &HashSet<PathBuf>,
        source: &mut impl Source,
        found: &mut Found,
    ) {
        let mut queue = VecDeque::from([(folder.to_owned(), above)]);
        while let Some((path, above)) = queue.pop_front() {
            if self.folders.contains_key(&path) {
                continue;
            }
            if self.folders.len() >= self.max_folders {
                self.troubles
                    .insert(Trouble::TooManyFolders(self.max_folders));
                return;
            }
            // Before it is read: what comes later is reported.
            match source.watch(&path) {
                Ok(()) => {}
                Err(Refusal::Full) => {
                    self.troubles.insert(Trouble::NoWatches);
                    self.refused = Some(path);
                    return;
                }
                Err(Refusal::Failed(error)) => {
                    // Another that cannot be watched is one whose files are not noticed, no more.
                    if self.roots.contains(&path) {
                        let text = error.to_string();
                        self.troubles.insert(Trouble::Root(path, text));
                    }
                    continue;
                }
            }
            let content = Content::read(&path);
            let has = |name: &str| content.rule_files.iter().any(|file| file == name);
            let rules = above.within(&path, has, &mut self.outside);
            found.look_into(&path, &rules, !former.contains(&path));
            let below = content.folders.into_iter();
            let below = below.filter(|below| !rules.ignore(below, true));
            queue.extend(below.map(|below| (below, rules.clone())));
            self.folders.insert(path, rules);
        }
    }

    /// A folder that is gone is watched no more, also when it comes again.
    pub fn forget(&mut self, folder: &Path, source: &mut impl Source) {
        for path in self.below(folder) {
            self.folders.remove(&path);
            source.unwatch(&path);
        }
    }

    /// The watched folders that are `folder` or below it.
    fn below(&self, folder: &Path) -> Vec<PathBuf> {
        let from = (Bound::Included(folder), Bound::Unbounded);
        let paths = self.folders.range::<Path, _>(from).map(|(path, _)| path);
        let below = paths.take_while(|path| path.starts_with(folder));
        below.cloned().collect()
    }
}

/// The things in a folder that count. Files may be many.
#[derive(Default)]
struct Content {
    folders: Vec<PathBuf>,
    rule_files: Vec<OsString>,
}

impl Content {
    fn read(folder: &Path) -> Self {
        let mut content = Self::default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if is_rule_file(&name) {
                content.rule_files.push(name);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                content.folders.push(entry.path());
            }
        }
        content
    }
}

impl Found {
    /// Nothing yet.
    pub fn new(wanted: FileFilter) -> Self {
        let files = Vec::new();
        Self { files, wanted }
    }

    /// The files, the latest last.
    pub fn into_files(mut self) -> Vec<PathBuf> {
        self.files.sort();
        self.files.into_iter().map(|(_, path)| path).collect()
    }

    /// Takes those of a folder's files that are searched for.
    fn look_into(&mut self, folder: &Path, rules: &Rules, is_new: bool) {
        let since = match self.wanted {
            FileFilter::InNewFolders(since) if is_new => since,
            FileFilter::Everywhere(since) => since,
            _ => return,
        };
        for file in fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.files.len() > MAX_BURST {
                return;
            }
            let metadata = file.metadata().ok().filter(Metadata::is_file);
            let written = metadata.and_then(|file| file.modified().ok());
            // A time to come says nothing about when it was written, but for a clock that is a little fast.
            let is_wanted = |at: &SystemTime| (since..SystemTime::now() + CLOCK_SKEW).contains(at);
            let Some(written) = written.filter(is_wanted) else {
                continue;
            };
            let path = file.path();
            if !is_made_by_an_editor(&path) && !rules.ignore(&path, false) {
                self.files.push((written, path));
            }
        }
    }
}

#[cfg(test)]
mod tests;
