//! The files that are saved in the workspace: without an editor, they are the context. Of files it knows
//! names and times, except for those with ignore rules.
//!
//! The system's reports ([`source`]) are gathered until it is quiet ([`batch`]). Then folders that
//! came up or have other rules are looked through ([`tree`]), and what was saved is shared.

mod batch;
mod rules;
mod source;
mod tree;
mod trouble;

use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use pillion_protocol::File;
use pillion_system::now_ms;
use pillion_system::spawn;

use batch::Batch;
use rules::{is_made_by_an_editor, is_rule_file};
use source::{Change, Source, System};
use tree::{FileFilter, Found, Tree};
use trouble::Trouble;

/// Folders that are watched at most: systems allow only so many.
const MAX_FOLDERS: usize = 4_096;

/// Of so many folders each is looked through by itself; of more, all.
const MAX_OUTDATED: usize = 1_024;

/// A file in a folder that has just come up was saved if it was not older than this then.
const JUST_NOW: Duration = Duration::from_secs(2);

/// So much earlier than the last report a file may seem to be saved that was saved after it: clocks of
/// file systems are coarse.
const LOST_MARGIN: Duration = Duration::from_millis(50);

/// The interval at which it is tried again to watch what could not be watched.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// Watches `roots` on a thread of its own, and reports files that are saved from now on to `focus`.
/// `troubles` gets what keeps them from being noticed whenever that changes, as one sentence each.
pub fn start(
    roots: Vec<PathBuf>,
    focus: impl Fn(File) + Send + 'static,
    troubles: impl Fn(Vec<String>) + Send + Clone + 'static,
) {
    let report = troubles.clone();
    // On a busy machine it takes a while until the folders are watched.
    let mut since = SystemTime::now();
    let thread = spawn("watch", move || {
        loop {
            let watch = System::new(&roots);
            let watch = watch.map(|source| Watch::new(&roots, source, MAX_FOLDERS, since));
            let error = match watch {
                Ok(watch) => {
                    let error = watch.run(&focus, &report);
                    since = SystemTime::now();
                    error
                }
                Err(error) => error,
            };
            report(vec![Trouble::Nothing(error.to_string()).to_string()]);
            thread::sleep(RETRY_INTERVAL);
        }
    });
    if let Err(error) = thread {
        troubles(vec![Trouble::Nothing(error.to_string()).to_string()]);
    }
}

struct Watch<S> {
    source: S,
    tree: Tree,
    batch: Batch,
    /// Folders that came up, to look through when the batch is due.
    new: BTreeSet<PathBuf>,
    /// The time at which the first of them was reported.
    new_since: Option<SystemTime>,
    /// Folders with other rules than before, likewise.
    outdated: BTreeSet<PathBuf>,
    /// The time until which nothing was lost, if something was.
    lost: Option<SystemTime>,
}

impl<S: Source> Watch<S> {
    /// Nothing is lost that was saved after `since`.
    fn new(roots: &[PathBuf], source: S, max_folders: usize, since: SystemTime) -> Self {
        let mut watch = Self {
            source,
            tree: Tree::new(roots, max_folders),
            batch: Batch::default(),
            new: BTreeSet::new(),
            new_since: None,
            outdated: BTreeSet::new(),
            lost: None,
        };
        for path in watch.sync_all(FileFilter::Everywhere(since)) {
            watch.batch.insert(path, Instant::now());
        }
        watch
    }

    /// Until the system reports no more, and why.
    fn run(mut self, focus: &impl Fn(File), report: &impl Fn(Vec<String>)) -> io::Error {
        let mut reported = None;
        let mut retry = Instant::now() + RETRY_INTERVAL;
        loop {
            let troubles = self.tree.troubles();
            if reported.as_ref() != Some(troubles) {
                report(troubles.iter().map(Trouble::to_string).collect());
                reported = Some(troubles.clone());
            }
            let retried = (!troubles.is_empty()).then_some(retry);
            let until = [self.batch.due(), retried].into_iter().flatten().min();
            match self.source.read(until) {
                Ok(changes) => self.take_in(changes, Instant::now()),
                Err(error) => return error,
            }
            if retry <= Instant::now() {
                retry = Instant::now() + RETRY_INTERVAL;
                if self.tree.may_grow(&mut self.source) {
                    self.sync_all(FileFilter::Nothing);
                }
            }
            for path in self.settle(Instant::now()) {
                if let Some(path) = path.to_str() {
                    focus(File::focused(path, now_ms()));
                }
            }
        }
    }

    /// Notes what happened. Little is done here: much may happen at once.
    fn take_in(&mut self, changes: Vec<Change>, now: Instant) {
        if !changes.is_empty() && self.tree.is_outdated() {
            self.sync_all(FileFilter::Nothing);
        }
        for change in changes {
            match change {
                Change::Saved(path) | Change::Folder(path) | Change::Gone(path)
                    if path.file_name().is_some_and(is_rule_file) =>
                {
                    self.batch.touch(now);
                    insert(&mut self.outdated, path.parent(), self.tree.roots());
                }
                Change::Saved(path) => self.save(path, now),
                Change::Folder(path) => self.come_up(&path, now),
                Change::Gone(path) => {
                    self.tree.forget(&path, &mut self.source);
                    if self.tree.roots().contains(&path) {
                        self.come_up(&path, now);
                    }
                }
                Change::Lost(since) => {
                    self.lost = Some(self.lost.map_or(since, |lost| lost.min(since)));
                    self.batch.touch(now);
                }
            }
        }
    }

    fn save(&mut self, path: PathBuf, now: Instant) {
        // In folders with other rules than are known, what is ignored is determined later.
        if self.batch.is_burst()
            || is_made_by_an_editor(&path)
            || (self.tree.ignores(&path, false) && !self.is_outdated(&path))
        {
            return;
        }
        self.batch.insert(path, now);
    }

    fn come_up(&mut self, folder: &Path, now: Instant) {
        let is_root = self.tree.roots().iter().any(|root| root == folder);
        if is_root || !self.tree.ignores(folder, true) || self.is_outdated(folder) {
            self.batch.touch(now);
            self.new_since.get_or_insert_with(SystemTime::now);
            insert(&mut self.new, Some(folder), self.tree.roots());
        }
    }

    /// Returns true if the rules for `path` are not known yet.
    fn is_outdated(&self, path: &Path) -> bool {
        let is_known = self.outdated.is_empty() && self.new.is_empty();
        let is_outdated = |folder| self.outdated.contains(folder) || self.new.contains(folder);
        !is_known && path.ancestors().skip(1).any(is_outdated)
    }

    /// The files to share, the latest last, if it is time.
    fn settle(&mut self, now: Instant) -> Vec<PathBuf> {
        if self.batch.due().is_none_or(|due| due > now) {
            return Vec::new();
        }
        for path in self.look() {
            self.batch.insert(path, now);
        }
        let mut saved = self.batch.take();
        saved.retain(|path| path.is_file() && !self.tree.ignores(path, false));
        saved
    }

    /// Looks through the folders that are to be looked through. Files that were saved there meanwhile.
    fn look(&mut self) -> Vec<PathBuf> {
        let (new, outdated) = (mem::take(&mut self.new), mem::take(&mut self.outdated));
        let new_since = self.new_since.take().unwrap_or_else(SystemTime::now);
        if let Some(since) = self.lost.take() {
            return self.sync_all(FileFilter::Everywhere(since - LOST_MARGIN));
        }
        let (tree, source) = (&mut self.tree, &mut self.source);
        let mut found = Found::new(FileFilter::InNewFolders(new_since - JUST_NOW));
        for folder in outermost(new) {
            tree.sync(&folder, source, &mut found);
        }
        // What comes up with other rules was not saved just now.
        let nothing = &mut Found::new(FileFilter::Nothing);
        for folder in outermost(outdated) {
            tree.sync(&folder, source, nothing);
        }
        found.into_files()
    }

    /// Watches what can be watched, by the rules as they are now. The files that are wanted.
    fn sync_all(&mut self, wanted: FileFilter) -> Vec<PathBuf> {
        let mut found = Found::new(wanted);
        self.tree.sync_all(&mut self.source, &mut found);
        found.into_files()
    }
}

/// Adds a folder to those that are looked through; of too many, all are.
fn insert(folders: &mut BTreeSet<PathBuf>, folder: Option<&Path>, roots: &[PathBuf]) {
    folders.extend(folder.map(Path::to_owned));
    if folders.len() > MAX_OUTDATED {
        *folders = roots.iter().cloned().collect();
    }
}

/// Without those that lie in others.
fn outermost(folders: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut outermost = Vec::from_iter(folders);
    outermost.dedup_by(|folder, last| folder.starts_with(last));
    outermost
}

#[cfg(test)]
mod tests;
