//! Which files a folder has, and what the file system says of each: without reading any of them.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime};

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::leftovers::is_unfinished;

/// More files of one folder are not watched.
pub const MAX_FILES: usize = 400_000;

/// So many threads look.
const MAX_THREADS: usize = 4;

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

/// Where git keeps what it keeps.
pub const GIT: &str = ".git";

/// What the file system says of a file. If it says the same later, the file has not been written in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// True if it is a symbolic link.
    pub is_link: bool,
    /// Its permissions, as Unix has them; 0 elsewhere.
    pub mode: u32,
    /// How many bytes it has.
    pub size: u64,
    /// When it was written, since 1970.
    pub modified: Duration,
    /// When anything of it was changed, since 1970.
    pub changed: Duration,
    /// Which file it is.
    pub inode: u64,
}

impl Stat {
    /// Returns true if it may have been written since it was looked at, at `now`, without a trace: file systems count
    /// time in steps.
    pub fn is_racy(&self, now: SystemTime) -> bool {
        const STEP: Duration = Duration::from_secs(2);
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

/// Returns true if the system says with this that nothing is there.
pub fn is_absence(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What only some systems tell.
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

/// The files of a folder.
#[derive(Debug, Default)]
pub struct Scan {
    /// By path.
    pub files: BTreeMap<PathBuf, Stat>,
    /// The folders that were looked through, the watched one included.
    pub folders: Vec<PathBuf>,
    /// The folders that have a repository of git's.
    pub repositories: Vec<PathBuf>,
    /// Folders that were left out because they hold what can be made again.
    pub built: Vec<PathBuf>,
    /// True if there are more than [`MAX_FILES`].
    pub is_cut: bool,
    /// Folders that could not be read.
    pub unread: Vec<PathBuf>,
}

/// Looks at all files below `root`, without the folders that are `excluded`. `is_tracked` is asked for folders that look as
/// if they hold what can be made again. Waits for the disk.
pub fn scan(
    root: &Path,
    excluded: &[PathBuf],
    is_tracked: &(dyn Fn(&Path) -> bool + Sync),
) -> Scan {
    let found = Mutex::new(Scan::default());
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS);
    // Its own filters would leave out what is ignored.
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .follow_links(false)
        .same_file_system(true)
        .threads(threads)
        .build_parallel();
    walk.run(|| {
        let mut part = Part {
            scan: Scan::default(),
            all: &found,
        };
        Box::new(move |entry| match entry {
            Ok(entry) => part.scan.add(&entry, excluded, is_tracked),
            Err(error) => {
                part.scan.unread.extend(path_of(&error));
                WalkState::Continue
            }
        })
    });
    let mut scan = found.into_inner().unwrap_or_default();
    scan.built.sort();
    scan.repositories.sort();
    scan.is_cut = scan.files.len() > MAX_FILES;
    while scan.files.len() > MAX_FILES {
        scan.files.pop_last();
    }
    scan
}

impl Scan {
    /// Takes in what was found. Returns how the walk goes on.
    fn add(
        &mut self,
        entry: &DirEntry,
        excluded: &[PathBuf],
        is_tracked: &dyn Fn(&Path) -> bool,
    ) -> WalkState {
        let path = entry.path();
        let is_folder = entry.file_type().is_some_and(|it| it.is_dir());
        if entry.file_name() == GIT {
            self.repositories.extend(path.parent().map(Path::to_owned));
            return WalkState::Skip;
        }
        if is_folder {
            let is_root = entry.depth() == 0;
            if !is_root && excluded.iter().any(|it| it == path) {
                return WalkState::Skip;
            }
            if !is_root && is_built(path) && !is_tracked(path) {
                self.built.push(path.to_owned());
                return WalkState::Skip;
            }
            self.folders.push(path.to_owned());
            return WalkState::Continue;
        }
        // What is being written for a person is no file yet.
        if entry.file_name().to_str().is_some_and(is_unfinished) {
            return WalkState::Continue;
        }
        // One that is gone by now is none.
        let stat = entry.metadata().ok().and_then(|it| Stat::of(&it));
        self.files.extend(stat.map(|stat| (path.to_owned(), stat)));
        match self.files.len() > MAX_FILES {
            true => WalkState::Quit,
            false => WalkState::Continue,
        }
    }
}

/// What one thread has found. It goes to the others' when the thread ends.
struct Part<'a> {
    scan: Scan,
    all: &'a Mutex<Scan>,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.files.append(&mut self.scan.files);
            all.folders.append(&mut self.scan.folders);
            all.repositories.append(&mut self.scan.repositories);
            all.built.append(&mut self.scan.built);
            all.unread.append(&mut self.scan.unread);
        }
    }
}

fn is_built(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| BUILT.contains(&name)) || path.join(TAG).exists()
}

fn path_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(scan: &Scan, root: &Path) -> Vec<String> {
        let inner = |path: &PathBuf| {
            path.strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        };
        scan.files.keys().map(inner).collect()
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
        let found = scan(root, &[], &|_| false);
        assert_eq!(
            names(&found, root),
            [".hidden", "a.rs", "inner/c", "src/b.rs"]
        );
        assert_eq!(
            found.built,
            ["cache", "node_modules", "target"].map(|it| root.join(it))
        );
        assert_eq!(found.repositories, [root.to_owned(), root.join("inner")]);
        let found = scan(root, &[], &|folder| folder.ends_with("target"));
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
        let found = scan(root, &[], &|_| false);
        assert_eq!(names(&found, root), ["inner/a", "link"]);
        assert!(found.files[&root.join("link")].is_link);
    }
}
