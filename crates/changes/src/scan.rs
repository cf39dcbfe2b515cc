//! The files of a folder that are not as they are known: told by what the file system says of each, without reading any.
//!
//! A workspace may have hundreds of thousands of files, and an agent waits for this. So several threads look, a file is found
//! by its name in its folder, and only what differs gets a path.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use pillion_discovery::version_control::{self, GIT};
use pillion_system::lock;
use serde::{Deserialize, Serialize};

use crate::leftovers::is_being_written;

/// More files of one folder are not watched.
pub const MAX_FILES: usize = 400_000;

/// So many threads look.
const MAX_THREADS: usize = 4;

/// So many folders a thread takes at once.
const MAX_TAKEN: usize = 16;

/// Folders of these names hold what can be made again, if none of their files is tracked.
const BUILT: [&str; 14] = [
    ".direnv",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".terraform",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
    "target",
    "venv",
];

/// A file of this name marks such a folder, as well.
const TAG: &str = "CACHEDIR.TAG";

/// The longest step in which file systems count time.
pub(crate) const STEP: Duration = Duration::from_secs(2);

/// The file system's facts about a file. If they are the same later, the file has not been written in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// True if it is a symbolic link.
    pub is_link: bool,
    /// Its permissions, as Unix has them; 0 elsewhere.
    pub mode: u32,
    /// Its size in bytes.
    pub size: u64,
    /// The time when it was written, since 1970.
    pub modified: Duration,
    /// The time when anything of it was changed, since 1970.
    pub changed: Duration,
    /// The number of the file in its file system.
    pub inode: u64,
}

impl Stat {
    /// Returns true if it may have been written since it was looked at, at `now`, without a trace: file systems count
    /// time in steps.
    pub fn is_racy(&self, now: SystemTime) -> bool {
        let now = now
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        self.modified.max(self.changed) + STEP >= now
    }

    /// Of what is at a path; none if that is nothing, or neither a regular file nor a symbolic link.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(metadata) => Ok(Self::of(&metadata)),
            // A folder of the path may be a file by now.
            Err(error) if is_absence(error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Of what is at a path below `root`, if no folder between the two is a symbolic link: through one there may be another
    /// file, at another place.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn below(root: &Path, path: &Path) -> io::Result<Option<Self>> {
        let folders = path.ancestors().skip(1);
        let mut inner = folders.take_while(|it| *it != root && it.starts_with(root));
        let is_no_folder = |it: &Path| it.symlink_metadata().is_ok_and(|it| !it.is_dir());
        match inner.any(is_no_folder) {
            true => Ok(None),
            false => Self::at(path),
        }
    }

    /// Of a regular file or a symbolic link; none of anything else.
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let is_link = metadata.is_symlink();
        if !is_link && !metadata.is_file() {
            return None;
        }
        let since_1970 = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
        let modified = metadata
            .modified()
            .ok()
            .and_then(since_1970)
            .unwrap_or_default();
        let system = system(metadata);
        Some(Self {
            is_link,
            mode: system.mode,
            size: metadata.len(),
            modified,
            changed: system.changed.unwrap_or(modified),
            inode: system.inode,
        })
    }
}

/// The file system's facts about a folder: another one in its place has others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its permissions, as Unix has them; 0 elsewhere.
    pub mode: u32,
    inode: u64,
    born: Option<SystemTime>,
}

impl Folder {
    /// Of a folder.
    pub fn of(metadata: &Metadata) -> Self {
        let System { mode, inode, .. } = system(metadata);
        let born = metadata.created().ok();
        Self { mode, inode, born }
    }

    /// Returns true if it is another folder than this one.
    pub fn is_other(self, than: Self) -> bool {
        (self.inode, self.born) != (than.inode, than.born)
    }
}

/// The time when anything of the folder, or of what else is at this path, was changed, since 1970, and whether it is a folder. Waits for the disk.
pub fn changed_at(path: &Path) -> Option<(Duration, bool)> {
    let metadata = path.symlink_metadata().ok()?;
    Some((system(&metadata).changed?, metadata.is_dir()))
}

/// The time when names came into this folder or went last, since 1970; none if that is not known, or it is none.
pub fn modified(folder: &Path) -> Option<Duration> {
    let found = folder.symlink_metadata().ok().filter(Metadata::is_dir)?;
    let since_1970 = found
        .modified()
        .ok()?
        .duration_since(SystemTime::UNIX_EPOCH);
    since_1970.ok()
}

/// Returns true if whatever is written from now on gets another time than this one.
pub fn is_settled(at: SystemTime) -> bool {
    at.elapsed().is_ok_and(|age| age > STEP)
}

/// Returns true if the system says with this that nothing is there.
pub fn is_absence(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The facts that only some systems tell.
struct System {
    mode: u32,
    changed: Option<Duration>,
    inode: u64,
}

#[cfg(unix)]
fn system(metadata: &Metadata) -> System {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
    let changed = u64::try_from(seconds)
        .ok()
        .zip(u32::try_from(nanoseconds).ok());
    System {
        mode: metadata.mode() & 0o7777,
        changed: changed.map(|(seconds, nanoseconds)| Duration::new(seconds, nanoseconds)),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn system(_: &Metadata) -> System {
    System {
        mode: 0,
        changed: None,
        inode: 0,
    }
}

/// Something of each file, by its folder and its name.
#[derive(Debug)]
pub struct ByFolder<T> {
    folders: HashMap<PathBuf, BTreeMap<OsString, T>>,
}

impl<T> Default for ByFolder<T> {
    fn default() -> Self {
        Self {
            folders: HashMap::new(),
        }
    }
}

impl<T> ByFolder<T> {
    /// That of the file at this path.
    pub fn get(&self, path: &Path) -> Option<&T> {
        let (folder, name) = parts(path)?;
        self.folders.get(folder)?.get(name)
    }

    /// Puts it in. Returns what was there before.
    pub fn insert(&mut self, path: &Path, value: T) -> Option<T> {
        let (folder, name) = parts(path)?;
        match self.folders.get_mut(folder) {
            Some(names) => names.insert(name.to_owned(), value),
            None => {
                let names = BTreeMap::from([(name.to_owned(), value)]);
                self.folders.insert(folder.to_owned(), names);
                None
            }
        }
    }

    /// Takes it out.
    pub fn remove(&mut self, path: &Path) -> Option<T> {
        let (folder, name) = parts(path)?;
        let names = self.folders.get_mut(folder)?;
        let value = names.remove(name);
        if names.is_empty() {
            self.folders.remove(folder);
        }
        value
    }

    /// That of each file in a folder or below, in no order, but for those below some others.
    pub fn below(&self, folder: &Path, others: &[PathBuf]) -> impl Iterator<Item = &T> {
        let is_meant = move |it: &Path| {
            it.starts_with(folder) && !others.iter().any(|other| it.starts_with(other))
        };
        let folders = self.folders.iter();
        let folders = folders.filter(move |(it, _)| is_meant(it));
        folders.flat_map(|(_, names)| names.values())
    }

    /// The files of which this is so, in no order.
    pub fn paths(&self, is_it: impl Fn(&T) -> bool) -> Vec<PathBuf> {
        let all = self.folders.iter();
        let all = all.flat_map(|(folder, names)| names.iter().map(move |it| (folder, it)));
        let found = all.filter(|(_, (_, value))| is_it(value));
        found.map(|(folder, (name, _))| folder.join(name)).collect()
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.folders.values().map(BTreeMap::len).sum()
    }

    /// That of all files, in no order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.folders.values().flat_map(BTreeMap::values)
    }
}

fn parts(path: &Path) -> Option<(&Path, &OsStr)> {
    path.parent().zip(path.file_name())
}

/// The result of looking at a folder and all below.
#[derive(Debug, Default)]
pub struct Scan {
    /// The files that are not as they are known, by path.
    pub changed: Vec<(PathBuf, Stat)>,
    /// The known files that are not there any more, by path.
    pub gone: Vec<PathBuf>,
    /// The folders that were looked through, the watched one included.
    pub folders: HashMap<PathBuf, Folder>,
    /// The folders that have a repository of git's.
    pub repositories: Vec<PathBuf>,
    /// Folders that were left out because they hold what can be made again.
    pub built: Vec<PathBuf>,
    /// Folders of git's, of whatever name, that were left out, and the work trees in them that were not.
    pub git_folders: Vec<PathBuf>,
    pub work_trees: Vec<PathBuf>,
    /// True if there are more than [`MAX_FILES`].
    pub is_cut: bool,
    /// Folders that could not be read.
    pub unread: Vec<PathBuf>,
    /// The files that have other names, too, which may lie elsewhere.
    pub linked: Vec<PathBuf>,
}

/// The folder to look at, and what is known of it.
pub struct Look<'a, T> {
    /// The folder.
    pub root: &'a Path,
    /// Folders that are left out.
    pub excluded: &'a [PathBuf],
    /// Asked for folders that look as if they hold what can be made again: true if git tracks files in it.
    pub is_tracked: &'a (dyn Fn(&Path) -> bool + Sync),
    /// The files as they are known.
    pub known: &'a ByFolder<T>,
    /// Returns true if a file is as it is known.
    pub is_same: &'a (dyn Fn(&T, &Stat) -> bool + Sync),
}

/// The state that the threads share.
struct Shared {
    /// Folders that nobody has looked at yet.
    waiting: Vec<(PathBuf, Folder)>,
    /// The number of threads that look at some, and of those that wait for some.
    busy: usize,
    idle: usize,
    /// The number of files that were found.
    files: usize,
}

/// The findings of one thread.
#[derive(Default)]
struct Part {
    scan: Scan,
    /// The known folders of which it has seen all files.
    complete: Vec<PathBuf>,
    /// The known files that it has missed in these.
    missed: Vec<PathBuf>,
}

impl<T: Sync> Look<'_, T> {
    /// Looks at all files. Waits for the disk.
    pub fn scan(&self) -> Scan {
        let shared = Mutex::new(Shared {
            waiting: vec![(self.root.to_owned(), Folder::default())],
            busy: 0,
            idle: 0,
            files: 0,
        });
        let news = Condvar::new();
        let device = self.root.metadata().ok().and_then(|it| device(&it));
        let parts = Mutex::new(Vec::new());
        let work = || {
            let part = self.work(&shared, &news, device);
            lock(&parts).push(part);
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 1..threads.min(MAX_THREADS) {
                // Without it, this thread does all of it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut scan = Scan::default();
        let (mut complete, mut missed) = (HashSet::new(), Vec::new());
        for part in parts.into_inner().unwrap_or_else(PoisonError::into_inner) {
            scan.changed.extend(part.scan.changed);
            scan.folders.extend(part.scan.folders);
            scan.repositories.extend(part.scan.repositories);
            scan.built.extend(part.scan.built);
            scan.git_folders.extend(part.scan.git_folders);
            scan.work_trees.extend(part.scan.work_trees);
            scan.unread.extend(part.scan.unread);
            scan.linked.extend(part.scan.linked);
            complete.extend(part.complete);
            missed.extend(part.missed);
        }
        for (folder, names) in &self.known.folders {
            if !complete.contains(folder) {
                missed.extend(names.keys().map(|name| folder.join(name)));
            }
        }
        // Some may be there, and were not reached.
        let mut listings = Listings::new(self.root);
        missed.retain(|path| listings.is_gone(path));
        scan.gone = missed;
        scan.gone.sort();
        scan.changed
            .sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        scan.built.sort();
        scan.repositories.sort();
        let found = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        scan.is_cut = found.files > MAX_FILES;
        scan
    }

    /// Looks at folders for as long as there are any.
    fn work(&self, shared: &Mutex<Shared>, news: &Condvar, device: Option<u64>) -> Part {
        let mut part = Part::default();
        let mut state = lock(shared);
        loop {
            let count = state.waiting.len();
            if count == 0 && state.busy == 0 {
                return part;
            }
            if count == 0 {
                state.idle += 1;
                state = news.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            }
            // Others want some, too.
            let taken = state
                .waiting
                .split_off(count - (count / 2).clamp(1, MAX_TAKEN));
            state.busy += 1;
            drop(state);
            let (mut inner, mut files) = (Vec::new(), 0);
            for folder in taken {
                files += self.folder(folder, device, &mut inner, &mut part);
            }
            state = lock(shared);
            state.busy -= 1;
            state.files += files;
            state.waiting.extend(inner);
            if state.files > MAX_FILES {
                state.waiting.clear();
            }
            if state.idle > 0 && (!state.waiting.is_empty() || state.busy == 0) {
                news.notify_all();
            }
        }
    }

    /// Looks at the files of one folder. Returns how many it has; the folders in it are added to `folders`.
    fn folder(
        &self,
        (folder, facts): (PathBuf, Folder),
        device: Option<u64>,
        folders: &mut Vec<(PathBuf, Folder)>,
        part: &mut Part,
    ) -> usize {
        let named = |entry: DirEntry| (entry.file_name(), entry);
        let entries = fs::read_dir(&folder);
        let entries = entries.and_then(|it| it.map(|it| it.map(named)).collect());
        let entries: Vec<(OsString, DirEntry)> = match entries {
            Ok(entries) => entries,
            Err(error) => {
                // One that was removed in between is none.
                if !is_absence(error.kind()) {
                    part.scan.unread.push(folder);
                }
                return 0;
            }
        };
        let has = |name: &str| entries.iter().any(|(it, _)| it == name);
        let is_tagged = || has(TAG) && folder.join(TAG).exists();
        let is_left_out = || !(self.is_tracked)(&folder) && !self.knows_any_in(&folder, &[]);
        if folder != self.root && is_tagged() && is_left_out() {
            // Without the tag it is looked at.
            part.scan.folders.insert(folder.clone(), facts);
            part.scan.built.push(folder);
            return 0;
        }
        if has("HEAD") && version_control::is_git_folder(&folder) && !(self.is_tracked)(&folder) {
            let mut trees = version_control::work_trees_within(&folder);
            // A folder that is made a repository later does not become one whose files nobody looks at.
            if !self.knows_any_in(&folder, &trees) {
                trees.retain(|it| !self.excluded.contains(it));
                folders.extend(trees.iter().map(|it| (it.clone(), Folder::default())));
                part.scan.work_trees.extend(trees);
                part.scan.git_folders.push(folder);
                return 0;
            }
        }
        let known = self.known.folders.get(&folder);
        let (mut found, mut files) = (Vec::new(), 0);
        for (name, entry) in entries {
            if name == GIT {
                part.scan.repositories.push(folder.clone());
            }
            if version_control::is_mark(&name) {
                continue;
            }
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                self.inner_folder(&entry, device, part, folders);
                continue;
            }
            // What is being written for a person is no file yet.
            if name.to_str().is_some_and(is_being_written) {
                continue;
            }
            // One that is gone by now is none.
            let metadata = entry.metadata().ok();
            let Some(stat) = metadata.as_ref().and_then(Stat::of) else {
                continue;
            };
            files += 1;
            if metadata.is_some_and(|it| may_have_other_names(&it)) {
                part.scan.linked.push(folder.join(&name));
            }
            let it = known.and_then(|names| names.get(&name));
            if !it.is_some_and(|it| (self.is_same)(it, &stat)) {
                part.scan.changed.push((folder.join(&name), stat));
            }
            if it.is_some() {
                found.push(name);
            }
        }
        if let Some(known) = known {
            found.sort_unstable();
            found.dedup();
            if found.len() < known.len() {
                let missed = known
                    .keys()
                    .filter(|name| found.binary_search(name).is_err());
                part.missed.extend(missed.map(|name| folder.join(name)));
            }
            part.complete.push(folder.clone());
        }
        part.scan.folders.insert(folder, facts);
        files
    }

    /// Returns true if some file in this folder or below, but not below others, is known: it is compared, whatever marks the
    /// folder has by now.
    fn knows_any_in(&self, folder: &Path, others: &[PathBuf]) -> bool {
        self.known.below(folder, others).next().is_some()
    }

    /// A folder in another one: it is looked at, unless it is left out.
    fn inner_folder(
        &self,
        entry: &DirEntry,
        root_device: Option<u64>,
        part: &mut Part,
        folders: &mut Vec<(PathBuf, Folder)>,
    ) {
        let path = entry.path();
        let metadata = entry.metadata().ok();
        let other = metadata.as_ref().and_then(device);
        let is_elsewhere = other.is_some() && other != root_device;
        if self.excluded.contains(&path) || is_elsewhere {
            return;
        }
        let name = entry.file_name();
        let is_built = name.to_str().is_some_and(|name| BUILT.contains(&name));
        match is_built && !(self.is_tracked)(&path) {
            true => part.scan.built.push(path),
            false => folders.push((path, metadata.as_ref().map(Folder::of).unwrap_or_default())),
        }
    }
}

/// The names in folders below one, as these are listed once the look is over. No link is followed, and a name that a file
/// system would take for another one is not in them.
struct Listings<'a> {
    root: &'a Path,
    /// None of a folder that cannot be listed.
    names: HashMap<PathBuf, Option<HashSet<OsString>>>,
}

impl<'a> Listings<'a> {
    fn new(root: &'a Path) -> Self {
        Self {
            root,
            names: HashMap::new(),
        }
    }

    /// Returns true if there is neither a file nor a link at this path, for certain.
    fn is_gone(&mut self, path: &Path) -> bool {
        matches!(Stat::at(path), Ok(None)) || !self.may_have(path)
    }

    /// Returns false if a folder of this path is none, or is listed without the next name of the path.
    fn may_have(&mut self, path: &Path) -> bool {
        let Some((folder, name)) = parts(path).filter(|_| path != self.root) else {
            return true;
        };
        if !self.may_have(folder) {
            return false;
        }
        if !self.names.contains_key(folder) {
            let is_folder =
                folder == self.root || !folder.symlink_metadata().is_ok_and(|it| !it.is_dir());
            let names = match is_folder {
                true => list(folder),
                false => Some(HashSet::new()),
            };
            self.names.insert(folder.to_owned(), names);
        }
        let names = self.names.get(folder).and_then(Option::as_ref);
        names.is_none_or(|names| names.contains(name))
    }
}

/// The names in a folder; none if it cannot be read.
fn list(folder: &Path) -> Option<HashSet<OsString>> {
    let entries = fs::read_dir(folder).ok()?;
    let names = entries.map(|it| it.map(|it| it.file_name()));
    names.collect::<io::Result<_>>().ok()
}

/// The folder to which a path leads: its file system and its number there.
#[cfg(unix)]
pub fn identity(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = folder.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// There it is unknown.
#[cfg(not(unix))]
pub fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Returns true if these paths lead to one file that has one name only. Where case is ignored, some file systems number it anew by
/// each spelling.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    let is_file = |it: &Path| it.symlink_metadata().is_ok_and(|it| it.is_file());
    let are_files = is_file(one) && is_file(other) && !has_other_names(one);
    let is_same = || identity(one).is_some() && identity(one) == identity(other);
    are_files && (is_same() || is_listed_once(one, other))
}

/// Returns true if these paths differ in one name, and the folder of that lists one of the two only.
fn is_listed_once(one: &Path, other: &Path) -> bool {
    let (Some(folder), Some(others)) = (one.parent(), other.parent()) else {
        return false;
    };
    if one.file_name() == other.file_name() {
        return is_listed_once(folder, others);
    }
    if folder != others {
        return false;
    }
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = [one.file_name(), other.file_name()];
    let is_either = |it: &DirEntry| names.contains(&Some(it.file_name().as_os_str()));
    listed.filter(is_either).count() == 1
}

/// Returns true if what is at this path is known to have more than one name.
pub fn has_other_names(path: &Path) -> bool {
    let metadata = path.symlink_metadata();
    cfg!(unix) && metadata.is_ok_and(|it| it.is_file() && may_have_other_names(&it))
}

/// Returns true if a file has more than one name.
#[cfg(unix)]
fn may_have_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

/// There it is unknown.
#[cfg(not(unix))]
fn may_have_other_names(_: &Metadata) -> bool {
    true
}

/// The file system on which something lies.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it is unknown")]
fn device(metadata: &Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::dev(metadata))
}

/// There it is unknown.
#[cfg(not(unix))]
fn device(_: &Metadata) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn scan(root: &Path, is_tracked: &(dyn Fn(&Path) -> bool + Sync)) -> Scan {
        again(root, is_tracked, &ByFolder::default())
    }

    fn again(
        root: &Path,
        is_tracked: &(dyn Fn(&Path) -> bool + Sync),
        known: &ByFolder<Stat>,
    ) -> Scan {
        let look = Look {
            root,
            excluded: &[],
            is_tracked,
            known,
            is_same: &|known, stat| known == stat,
        };
        look.scan()
    }

    fn shown<'a>(paths: impl IntoIterator<Item = &'a PathBuf>, root: &Path) -> Vec<String> {
        let inner = |path: &PathBuf| {
            let inner = path.strip_prefix(root).unwrap();
            inner.to_str().unwrap().to_owned()
        };
        paths.into_iter().map(inner).collect()
    }

    fn names(scan: &Scan, root: &Path) -> Vec<String> {
        shown(scan.changed.iter().map(|(path, _)| path), root)
    }

    #[test]
    fn folders_of_version_control_are_left_out_and_work_trees_in_them_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["bare.git", "trees", "known", "tracked"] {
            for inner in ["objects", "refs", "inner"] {
                fs::create_dir_all(root.join(name).join(inner)).unwrap();
            }
            fs::write(root.join(name).join("HEAD"), "").unwrap();
            fs::write(root.join(name).join("inner/a"), "").unwrap();
        }
        fs::create_dir_all(root.join("trees/worktrees/main")).unwrap();
        let mark = root.join("trees/main/.git").display().to_string();
        fs::write(root.join("trees/worktrees/main/gitdir"), mark).unwrap();
        for mark in version_control::MARKS {
            fs::create_dir_all(root.join(mark)).unwrap();
            fs::write(root.join(mark).join("x"), "").unwrap();
            // A file, as well.
            fs::create_dir_all(root.join("trees/main/src")).unwrap();
            fs::write(root.join("trees/main").join(mark), "").unwrap();
        }
        fs::write(root.join("trees/main/src/b"), "").unwrap();
        let mut known = ByFolder::default();
        known.insert(&root.join("known/inner/a"), ());
        let look = Look {
            root,
            excluded: &[],
            is_tracked: &|folder| folder.ends_with("tracked"),
            known: &known,
            is_same: &|_, _| false,
        };
        let found = look.scan();
        assert_eq!(
            names(&found, root),
            [
                "known/HEAD",
                "known/inner/a",
                "tracked/HEAD",
                "tracked/inner/a",
                "trees/main/src/b"
            ]
        );
        assert_eq!(found.git_folders.len(), 2);
        assert_eq!(found.work_trees, [root.join("trees/main")]);
        assert_eq!(
            found.repositories,
            [root.to_owned(), root.join("trees/main")]
        );
        let looked_through = shown(found.folders.keys(), root);
        for name in ["bare.git", "trees", "trees/refs", ".hg"] {
            assert!(!looked_through.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn what_can_be_made_again_is_left_out_unless_it_is_tracked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            "a.rs",
            ".hidden",
            "src/b.rs",
            "target/debug/x",
            "node_modules/p/i.js",
            "cache/CACHEDIR.TAG",
            "cache/y",
            ".git/HEAD",
            "inner/.git",
            "inner/c",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = scan(root, &|_| false);
        assert_eq!(
            names(&found, root),
            [".hidden", "a.rs", "inner/c", "src/b.rs"]
        );
        assert_eq!(
            found.built,
            ["cache", "node_modules", "target"].map(|it| root.join(it))
        );
        assert_eq!(found.repositories, [root.to_owned(), root.join("inner")]);
        let found = scan(root, &|folder| folder.ends_with("target"));
        assert!(names(&found, root).contains(&"target/debug/x".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_files_of_their_own_and_pipes_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("inner")).unwrap();
        fs::write(root.join("inner/a"), "a").unwrap();
        std::os::unix::fs::symlink("inner", root.join("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
        let found = scan(root, &|_| false);
        assert_eq!(names(&found, root), ["inner/a", "link"]);
        assert!(found.changed[1].1.is_link);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_gone_once_a_link_stands_for_one_of_its_folders() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let elsewhere = tempfile::tempdir().unwrap();
        let write = |path: PathBuf| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        };
        for name in [
            "moved/f",
            "left/f",
            "deep/in/f",
            "out/f",
            "loop/f",
            "stays/f",
            "other/f",
        ] {
            write(root.join(name));
        }
        write(elsewhere.path().join("f"));
        let mut known = ByFolder::default();
        for (path, stat) in scan(root, &|_| false).changed {
            known.insert(&path, stat);
        }
        fs::rename(root.join("moved"), root.join("new")).unwrap();
        symlink("new", root.join("moved")).unwrap();
        for (name, target) in [
            ("left", "stays"),
            ("deep", "."),
            ("out", elsewhere.path().to_str().unwrap()),
            ("loop", "loop"),
        ] {
            fs::remove_dir_all(root.join(name)).unwrap();
            symlink(target, root.join(name)).unwrap();
        }
        write(root.join("in/f"));
        fs::remove_dir_all(root.join("other")).unwrap();
        symlink(root.join("stays"), root.join("other")).unwrap();
        let found = again(root, &|_| false, &known);
        assert_eq!(
            shown(&found.gone, root),
            [
                "deep/in/f",
                "left/f",
                "loop/f",
                "moved/f",
                "other/f",
                "out/f"
            ]
        );
        assert_eq!(
            names(&found, root),
            [
                "deep", "in/f", "left", "loop", "moved", "new/f", "other", "out"
            ]
        );
        for name in ["moved/f", "deep/in/f", "out/f"] {
            assert_eq!(Stat::below(root, &root.join(name)).unwrap(), None, "{name}");
        }
        assert!(Stat::below(root, &root.join("in/f")).unwrap().is_some());
        assert!(Stat::below(root, &root.join("moved")).unwrap().is_some());
    }

    #[test]
    fn only_what_differs_from_what_is_known_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for folder in ["", "a", "a/b", "c", "d", "d/e", "f"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            for name in 0..50 {
                fs::write(root.join(folder).join(name.to_string()), "old").unwrap();
            }
        }
        let mut known = ByFolder::default();
        let first = scan(root, &|_| false);
        assert_eq!(first.changed.len(), 7 * 50);
        for (path, stat) in &first.changed {
            assert_eq!(known.insert(path, *stat), None);
            assert_eq!(known.get(path), Some(stat));
        }
        let same = again(root, &|_| false, &known);
        assert_eq!((same.changed, same.gone), (vec![], vec![]));
        fs::write(root.join("a/b/7"), "newer").unwrap();
        fs::write(root.join("c/new"), "new").unwrap();
        fs::create_dir(root.join("g")).unwrap();
        fs::write(root.join("g/new"), "new").unwrap();
        fs::remove_file(root.join("c/9")).unwrap();
        fs::remove_dir_all(root.join("d/e")).unwrap();
        // A tag hides nothing that is known, and leaves out what is new.
        fs::write(root.join("f/CACHEDIR.TAG"), "").unwrap();
        fs::write(root.join("f/7"), "newer").unwrap();
        fs::create_dir(root.join("h")).unwrap();
        fs::write(root.join("h/CACHEDIR.TAG"), "").unwrap();
        let found = again(root, &|_| false, &known);
        assert_eq!(
            names(&found, root),
            ["a/b/7", "c/new", "f/7", "f/CACHEDIR.TAG", "g/new"]
        );
        let gone = shown(&found.gone, root);
        assert_eq!(gone[0], "c/9");
        assert!(gone.len() == 51 && gone[1..].iter().all(|it| it.starts_with("d/e/")));
        assert_eq!(found.built, [root.join("h")]);
        // Another file by the same name.
        fs::remove_file(root.join("a/1")).unwrap();
        fs::create_dir(root.join("a/1")).unwrap();
        fs::write(root.join("a/1/inner"), "new").unwrap();
        let found = again(root, &|_| false, &known);
        assert!(shown(&found.gone, root).contains(&"a/1".to_owned()));
        assert!(names(&found, root).contains(&"a/1/inner".to_owned()));
        assert_eq!(known.remove(&root.join("a/1")), Some(first.changed[51].1));
        assert_eq!(known.get(&root.join("a/1")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_read_is_named_and_its_files_are_not_gone() {
        use std::os::unix::fs::PermissionsExt;
        if rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/x"), "x").unwrap();
        let mut known = ByFolder::default();
        for (path, stat) in scan(root, &|_| false).changed {
            known.insert(&path, stat);
        }
        let set = |mode| fs::set_permissions(root.join("a"), fs::Permissions::from_mode(mode));
        set(0o100).unwrap();
        let found = again(root, &|_| false, &known);
        set(0o700).unwrap();
        assert_eq!(found.unread, [root.join("a")]);
        assert!(found.gone.is_empty() && found.changed.is_empty());
    }
}
