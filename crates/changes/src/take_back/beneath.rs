//! The way to a file: its folder, opened once beneath the folder that was watched, through no link. Whatever takes the place of
//! one of its folders afterwards, what is done is done where was looked. Where a system has no name for an open folder, the way
//! is the path.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use pillion_discovery::version_control;

use super::TakeBackError;
use crate::scan::Folder as FolderFacts;
use crate::state::FolderMode;

/// A file, or the place for one.
pub(super) struct Beneath<'a> {
    pub(super) roots: &'a [PathBuf],
    /// Its path, for people and for the store.
    pub(super) path: &'a Path,
    /// None if one of its folders is not there.
    folder: Option<Folder>,
}

impl<'a> Beneath<'a> {
    /// Opens the folder of this path in one of these roots.
    ///
    /// # Errors
    /// When a folder of the path is a link by now, or version control's.
    pub(super) fn open(roots: &'a [PathBuf], path: &'a Path) -> Result<Self, TakeBackError> {
        let root = roots.iter().find(|root| path.starts_with(root));
        if version_control::holds(root.map_or(Path::new(""), PathBuf::as_path), path) {
            return Err(TakeBackError::VersionControl(path.to_owned()));
        }
        let mut beneath = Self {
            roots,
            path,
            folder: None,
        };
        beneath.folder = beneath.walk(&[], false)?;
        Ok(beneath)
    }

    /// The path by way of the open folder; none if that is not there.
    pub(super) fn at(&self) -> Option<PathBuf> {
        let name = self.path.file_name()?;
        Some(self.folder.as_ref()?.inner(self.path, name))
    }

    /// Removes a folder in its place that has nothing but folders in it. Returns all of these, by their paths in its place and with
    /// their permissions, or none if one stays.
    pub(super) fn clear(&self) -> Option<Vec<(PathBuf, u32)>> {
        let Some(at) = self.at() else {
            return Some(Vec::new());
        };
        let is_folder = at.symlink_metadata().is_ok_and(|it| it.is_dir());
        let mut folders = Vec::from_iter(is_folder.then(|| at.clone()));
        if !find_folders(&mut folders) {
            return None;
        }
        let facts = folders.iter().filter_map(|it| {
            let inner = it.strip_prefix(&at).ok()?.to_owned();
            Some((inner, FolderFacts::of(&it.symlink_metadata().ok()?).mode))
        });
        let facts = facts.collect();
        let mut inner_first = folders.iter().rev();
        inner_first
            .all(|it| fs::remove_dir(it).is_ok())
            .then_some(facts)
    }

    /// Makes these folders in its place, where nothing is by now.
    pub(super) fn fill(
        &mut self,
        made_way: &[(PathBuf, u32)],
        modes: &[FolderMode],
    ) -> Result<(), TakeBackError> {
        if made_way.is_empty() {
            return Ok(());
        }
        let at = self.make(modes)?;
        for (inner, mode) in made_way {
            let made = make_folder(&at.join(inner), *mode);
            made.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Gives those of its folders their permissions from before that are as they were left, or came again. The first are those of its own.
    pub(super) fn set_modes(&self, modes: &[FolderMode]) -> Result<(), TakeBackError> {
        let is_to_be_set = |it: &FolderMode| it.after != Some(it.before);
        if modes.iter().any(is_to_be_set) {
            self.walk(modes, false)?;
        }
        Ok(())
    }

    /// Makes the folders that are not there, with these permissions.
    pub(super) fn make(&mut self, modes: &[FolderMode]) -> Result<PathBuf, TakeBackError> {
        if self.folder.is_none() {
            self.folder = self.walk(modes, true)?;
        }
        let missing = || self.failed(io::ErrorKind::NotFound.into());
        self.at().ok_or_else(missing)
    }

    fn failed(&self, source: io::Error) -> TakeBackError {
        TakeBackError::Io {
            action: "create the folder of",
            path: self.path.to_owned(),
            source,
        }
    }

    /// Opens one folder after the other. Those that have permissions get these, and those that are not there may be made.
    fn walk(&self, modes: &[FolderMode], makes: bool) -> Result<Option<Folder>, TakeBackError> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let root = self.roots.iter().find(|root| parent.starts_with(root));
        let root = root.map_or(parent, PathBuf::as_path);
        let inner = parent.strip_prefix(root).unwrap_or(Path::new(""));
        let names: Vec<&OsStr> = { inner.components() }
            .filter_map(|it| match it {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        if makes {
            fs::create_dir_all(root).map_err(|error| self.failed(error))?;
        }
        let Ok(mut folder) = Folder::open(root) else {
            return Ok(None);
        };
        for (depth, name) in names.iter().enumerate() {
            let mut inner = folder.open_inner(name);
            let mode = modes.get(names.len() - 1 - depth);
            match &inner {
                Ok(None) if makes => {
                    let mode = mode.map(|it| it.before).filter(|it| *it != 0);
                    let made = folder.make_inner(name, mode);
                    inner = made.and_then(|()| folder.open_inner(name));
                }
                Ok(Some(inner)) => {
                    let set = mode.map_or(Ok(()), |mode| inner.change_mode(*mode));
                    set.map_err(|error| self.failed(error))?;
                }
                _ => {}
            }
            folder = match inner {
                Ok(Some(inner)) => inner,
                Ok(None) => return Ok(None),
                Err(_) if folder.is_link(name) => {
                    return Err(TakeBackError::Elsewhere(self.path.to_owned()));
                }
                // A file stands for it.
                Err(_) if !makes => return Ok(None),
                Err(error) => return Err(self.failed(error)),
            };
        }
        Ok(Some(folder))
    }
}

/// Finds all folders in these, each behind those around it. Returns false if anything else is in one.
fn find_folders(folders: &mut Vec<PathBuf>) -> bool {
    let mut at = 0;
    while let Some(folder) = folders.get(at) {
        let Ok(entries) = fs::read_dir(folder) else {
            return false;
        };
        for entry in entries {
            match entry.and_then(|it| Ok((it.file_type()?, it.path()))) {
                Ok((kind, path)) if kind.is_dir() => folders.push(path),
                _ => return false,
            }
        }
        at += 1;
    }
    true
}

#[cfg(unix)]
fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().mode(mode).create(path)?;
    // The system has taken off what the user's mask has.
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn make_folder(path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(unix)]
use unix::Folder;

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, mkdirat, openat, statat};
    use rustix::io::Errno;

    use crate::state::FolderMode;

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

    /// The folder of the names of what this process has open.
    const OPEN: &str = "/proc/self/fd";

    /// An open folder.
    pub(super) struct Folder(OwnedFd);

    impl Folder {
        /// Opens it, also by way of links.
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(openat(CWD, path, FOLDER, Mode::empty())?))
        }

        /// Opens a folder in it, which is no link; none if it is not there.
        pub(super) fn open_inner(&self, name: &OsStr) -> io::Result<Option<Self>> {
            match openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(inner) => Ok(Some(Self(inner))),
                Err(Errno::NOENT) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }

        /// Makes a folder in it, unless another one was faster, as when several files are put back at once.
        pub(super) fn make_inner(&self, name: &OsStr, mode: Option<u32>) -> io::Result<()> {
            let usual = Mode::RWXU | Mode::RWXG | Mode::RWXO;
            // Of permissions, every system has the same bits, in numbers of other sizes.
            let known = |mode: u32| Mode::from_raw_mode((mode & 0o7777) as RawMode);
            match mkdirat(&self.0, name, mode.map_or(usual, known)) {
                Ok(()) => {}
                Err(Errno::EXIST) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            // The system has taken off what the user's mask has.
            match (mode, self.open_inner(name)?) {
                (Some(mode), Some(made)) => made.set_mode(mode),
                _ => Ok(()),
            }
        }

        /// Gives it its permissions from before, if it is as it was left. One that has gone with its files, and was made
        /// again since, is as private as before.
        pub(super) fn change_mode(&self, mode: FolderMode) -> io::Result<()> {
            let Ok(found) = fs::metadata(self.name()).map(|it| it.mode() & 0o7777) else {
                return Ok(());
            };
            let is_to_be_set = match mode.after {
                Some(after) => after == found && found != mode.before,
                None => found & !mode.before != 0,
            };
            match is_to_be_set {
                true => self.set_mode(mode.before),
                false => Ok(()),
            }
        }

        fn set_mode(&self, mode: u32) -> io::Result<()> {
            let open = self.name();
            match open.is_dir() {
                true => fs::set_permissions(open, Permissions::from_mode(mode)),
                false => Ok(()),
            }
        }

        /// A path of this folder for as long as it is open, where the system has one.
        fn name(&self) -> PathBuf {
            Path::new(OPEN).join(self.0.as_raw_fd().to_string())
        }

        /// Returns true if a link is what has this name in it.
        pub(super) fn is_link(&self, name: &OsStr) -> bool {
            let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Symlink)
        }

        /// The path of what has this name in it.
        pub(super) fn inner(&self, path: &Path, name: &OsStr) -> PathBuf {
            let open = self.name();
            match open.is_dir() {
                true => open.join(name),
                false => path.to_owned(),
            }
        }
    }
}

/// The path of a folder.
#[cfg(not(unix))]
struct Folder(PathBuf);

#[cfg(not(unix))]
impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        path.metadata().map(|_| Self(path.to_owned()))
    }

    fn open_inner(&self, name: &OsStr) -> io::Result<Option<Self>> {
        let path = self.0.join(name);
        match path.symlink_metadata() {
            Ok(it) if it.is_dir() => Ok(Some(Self(path))),
            Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn make_inner(&self, name: &OsStr, _mode: Option<u32>) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    fn change_mode(&self, _mode: FolderMode) -> io::Result<()> {
        Ok(())
    }

    fn is_link(&self, name: &OsStr) -> bool {
        let found = self.0.join(name).symlink_metadata();
        found.is_ok_and(|it| it.is_symlink())
    }

    fn inner(&self, path: &Path, _name: &OsStr) -> PathBuf {
        path.to_owned()
    }
}
