//! Private files by directory descriptors: what was checked is what is written to.

#[path = "lock.rs"]
pub mod lock;
#[path = "socket.rs"]
pub mod socket;

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::fs::{
    self as sys, AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat, chmodat, fchmod, fstat,
    mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{FileError, unfinished_name};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Our own and nobody else's: 0700.
const PRIVATE_FOLDER: Mode = Mode::RWXU;

/// Our own and nobody else's: 0600.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open directory, checked when it was opened.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    pub(super) path: PathBuf,
}

impl Folder {
    /// The folder `parts` below `base`. What is missing is created, 0700; a folder of ours that
    /// others can write to loses that right, unless it is sticky.
    ///
    /// # Errors
    /// When a part is a link, another user's or no folder, or the base another user's and not
    /// sticky, or when the system refuses.
    pub fn create(base: &Path, parts: &[&str]) -> Result<Self, FileError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(base)
            .map_err(|error| FileError::io("create", base, error))?;
        let mut folder = Self::base(base)?;
        for part in parts {
            let path = folder.path.join(part);
            match mkdirat(&folder.fd, *part, PRIVATE_FOLDER) {
                // A umask may have taken rights that we need. Nobody else can have put another
                // folder here: of a shared one the sticky bit keeps them.
                Ok(()) => chmodat(&folder.fd, *part, PRIVATE_FOLDER, AtFlags::empty())
                    .map_err(|errno| FileError::io("create", &path, errno))?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(FileError::io("create", &path, errno)),
            }
            folder = folder.child(part)?;
            folder.tighten()?;
        }
        Ok(folder)
    }

    /// The folder `parts` below `base`, if it is there. Nothing is created or changed.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn open(base: &Path, parts: &[&str]) -> Result<Option<Self>, FileError> {
        if_there(Self::base(base).and_then(|base| base.below(parts)))
    }

    /// The folder `parts` below this one, if it is there. Nothing is created or changed.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn inner(&self, parts: &[&str]) -> Result<Option<Self>, FileError> {
        let fd = self.fd.try_clone();
        let fd = fd.map_err(|error| FileError::io("open", &self.path, error))?;
        let path = self.path.clone();
        if_there(Self { fd, path }.below(parts))
    }

    fn below(self, parts: &[&str]) -> Result<Self, FileError> {
        let child = |folder: Self, part: &&str| folder.child(part);
        parts.iter().try_fold(self, child)
    }

    pub(super) fn replace(
        &self,
        name: &str,
        content: &[u8],
        sync: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let path = self.path.join(name);
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_our_pipe(&stat) => {}
            Ok(stat) => check_file(&stat, &path)?,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(FileError::io("look at", &path, errno)),
        }
        let mut unfinished =
            Unfinished::new(self).map_err(|error| FileError::io("create", &path, error))?;
        unfinished
            .file
            .write_all(content)
            .and_then(|()| sync(&unfinished.file))
            .map_err(|error| FileError::io("write", &path, error))?;
        // Replaces a link that was planted just now, and does not follow it.
        renameat(&self.fd, &unfinished.name, &self.fd, name)
            .map_err(|errno| FileError::io("write", &path, errno))?;
        unfinished.is_finished = true;
        Ok(())
    }

    /// Adds this to the end of the file `name`, which is created 0600 if it is not there. What several processes add at the
    /// same time stays in one piece each. A kill may leave a part of it.
    ///
    /// # Errors
    /// When there is something else under that name, or when the system refuses; then a part of it may be there.
    pub fn append(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        let path = self.path.join(name);
        let failed = |error: io::Error| FileError::io("write", &path, error);
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let mut file = match openat(&self.fd, name, flags, PRIVATE_FILE) {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP) => return Err(FileError::Link(path)),
            Err(errno) => return Err(failed(errno.into())),
        };
        let stat = fstat(&file).map_err(|errno| FileError::io("look at", &path, errno))?;
        check_file(&stat, &path)?;
        file.write_all(content).map_err(failed)
    }

    /// The size of the regular file `name` in bytes; none if there is no such file.
    pub fn size_of(&self, name: &str) -> Option<u64> {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = file_type(&stat) == FileType::RegularFile;
        u64::try_from(stat.st_size).ok().filter(|_| is_file)
    }

    /// Returns a text that is another one once anything of the file `name` has changed, if it is there and nobody else may read
    /// it. The file is not read.
    pub fn mark(&self, name: &str) -> Option<String> {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_private = !mode(&stat).intersects(Mode::RWXG | Mode::RWXO);
        is_private.then(|| {
            let (at, ns) = (stat.st_ctime, stat.st_ctime_nsec);
            format!("{} {} {} {at} {ns}", stat.st_dev, stat.st_ino, stat.st_size)
        })
    }

    /// The content of the file `name` from this byte on, but no more than `most` bytes, if it is there.
    ///
    /// # Errors
    /// When it is a link, another user's or no regular file, or when the system refuses.
    pub fn read_from(
        &self,
        name: &str,
        start: u64,
        most: u64,
    ) -> Result<Option<Vec<u8>>, FileError> {
        let Some((mut file, stat)) = self.open_with_stat(name)? else {
            return Ok(None);
        };
        let path = self.path.join(name);
        let failed = |error| FileError::io("read", &path, error);
        // Room for all of it and for the end to be seen: two system calls, and not a dozen.
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let size = size.saturating_sub(start).min(most);
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 64);
        if start > 0 {
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
        }
        file.take(most).read_to_end(&mut content).map_err(failed)?;
        Ok(Some(content))
    }

    /// The file `name`, open to be read, if it is there.
    ///
    /// # Errors
    /// When it is a link, another user's or no regular file, or when the system refuses.
    pub fn open_file(&self, name: &str) -> Result<Option<File>, FileError> {
        Ok(self.open_with_stat(name)?.map(|(file, _)| file))
    }

    fn open_with_stat(&self, name: &str) -> Result<Option<(File, Stat)>, FileError> {
        let path = self.path.join(name);
        // A pipe would let us wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => {
                let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
                stat.ok().map_or(Ok(()), |stat| check_file(&stat, &path))?;
                return Err(FileError::io("read", &path, errno));
            }
        };
        let stat = fstat(&fd).map_err(|errno| FileError::io("look at", &path, errno))?;
        check_file(&stat, &path)?;
        Ok(Some((File::from(fd), stat)))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Removes the file `name` itself, never what a link leads to. One that is not there is fine.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(FileError::io("remove", &self.path.join(name), errno)),
        }
    }

    /// The names of all that is in it, as far as they are Unicode.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn names(&self) -> Result<Vec<String>, FileError> {
        let failed = |errno| FileError::io("list", &self.path, errno);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            let is_inside = name != b"." && name != b"..";
            names.extend(
                OsString::from_vec(name)
                    .into_string()
                    .ok()
                    .filter(|_| is_inside),
            );
        }
        Ok(names)
    }

    /// Opens the base, through links if it is one.
    fn base(path: &Path) -> Result<Self, FileError> {
        let fd = sys::open(path, FOLDER, Mode::empty()).map_err(|errno| match errno {
            Errno::NOTDIR => FileError::NotAFolder(path.to_owned()),
            errno => match sys::stat(path) {
                Ok(stat) if !is_ours(&stat) && stat.st_uid != 0 => foreign(&stat, path),
                _ => FileError::io("open", path, errno),
            },
        })?;
        let stat = fstat(&fd).map_err(|errno| FileError::io("look at", path, errno))?;
        let is_shared = mode(&stat).contains(Mode::SVTX);
        if !is_ours(&stat) && stat.st_uid != 0 && !is_shared {
            return Err(foreign(&stat, path));
        }
        Ok(Self {
            fd,
            path: path.to_owned(),
        })
    }

    /// Opens a folder in this one.
    fn child(&self, name: &str) -> Result<Self, FileError> {
        let path = self.path.join(name);
        let fd = match openat(&self.fd, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => fd,
            Err(errno) => {
                let Ok(stat) = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) else {
                    return Err(FileError::io("open", &path, errno));
                };
                return Err(match file_type(&stat) {
                    FileType::Symlink => FileError::Link(path),
                    FileType::Directory if !is_ours(&stat) => foreign(&stat, &path),
                    FileType::Directory => FileError::io("open", &path, errno),
                    _ => FileError::NotAFolder(path),
                });
            }
        };
        let stat = fstat(&fd).map_err(|errno| FileError::io("look at", &path, errno))?;
        if !is_ours(&stat) {
            return Err(foreign(&stat, &path));
        }
        Ok(Self { fd, path })
    }

    /// Closes it to others, if they have the right to rename and remove what is in it.
    fn tighten(&self) -> Result<(), FileError> {
        let failed = |errno| FileError::io("tighten", &self.path, errno);
        let mode = mode(&fstat(&self.fd).map_err(failed)?);
        let others = Mode::WGRP | Mode::WOTH;
        if mode.intersects(others) && !mode.contains(Mode::SVTX) {
            fchmod(&self.fd, mode - Mode::RWXG - Mode::RWXO).map_err(failed)?;
        }
        Ok(())
    }
}

/// A file that is still being written; it is removed unless it gets finished.
struct Unfinished<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
    is_finished: bool,
}

impl<'a> Unfinished<'a> {
    fn new(folder: &'a Folder) -> io::Result<Self> {
        let name = unfinished_name()?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Born with 0600: a umask can only take rights away, and those we need come back.
        let fd = openat(&folder.fd, &name, flags, PRIVATE_FILE)?;
        let unfinished = Self {
            folder,
            name,
            file: File::from(fd),
            is_finished: false,
        };
        fchmod(&unfinished.file, PRIVATE_FILE)?;
        Ok(unfinished)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// None for a folder that is not there.
fn if_there(folder: Result<Folder, FileError>) -> Result<Option<Folder>, FileError> {
    match folder {
        Ok(folder) => Ok(Some(folder)),
        Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn check_file(stat: &Stat, path: &Path) -> Result<(), FileError> {
    match file_type(stat) {
        FileType::Symlink => Err(FileError::Link(path.to_owned())),
        FileType::RegularFile if is_ours(stat) => Ok(()),
        FileType::RegularFile => Err(foreign(stat, path)),
        _ => Err(FileError::NotAFile(path.to_owned())),
    }
}

/// A pipe or socket of this user, which holds nothing and may be replaced.
fn is_our_pipe(stat: &Stat) -> bool {
    matches!(file_type(stat), FileType::Fifo | FileType::Socket) && is_ours(stat)
}

fn foreign(stat: &Stat, path: &Path) -> FileError {
    FileError::Foreign {
        path: path.to_owned(),
        uid: stat.st_uid,
    }
}

/// Files belong to the effective user, not to the one who started the program. It stays the same.
fn is_ours(stat: &Stat) -> bool {
    static OWN: LazyLock<u32> = LazyLock::new(|| geteuid().as_raw());
    stat.st_uid == *OWN
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode as RawMode)
}

fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode as RawMode)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode_of(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_file_is_private_before_its_first_byte() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a", "b"]).unwrap();
        let unfinished = Unfinished::new(&folder).unwrap();
        let path = folder.path().join(&unfinished.name);
        assert_eq!((mode_of(&path), path.metadata().unwrap().len()), (0o600, 0));
        drop(unfinished);
        assert!(
            folder
                .names()
                .unwrap()
                .iter()
                .all(|name| name.starts_with('.'))
        );
        assert!(!path.exists());
    }

    #[test]
    fn folders_that_others_can_write_to_are_tightened_and_the_base_is_not() {
        let base = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let folder = base.path().join("a");
        for (before, after) in [
            (0o777, 0o700),
            (0o770, 0o700),
            (0o755, 0o755),
            (0o1777, 0o1777),
        ] {
            std::fs::create_dir_all(&folder).unwrap();
            set(&folder, before);
            set(base.path(), before);
            Folder::open(base.path(), &["a"]).unwrap().unwrap();
            assert_eq!(mode_of(&folder), before);
            Folder::create(base.path(), &["a"]).unwrap();
            assert_eq!((mode_of(&folder), mode_of(base.path())), (after, before));
        }
    }

    #[test]
    fn a_base_that_is_missing_is_created_and_one_that_is_a_link_is_followed() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().join("x/y");
        assert!(Folder::open(&base, &[]).unwrap().is_none());
        Folder::create(&base, &["a"])
            .unwrap()
            .write("f", b"1")
            .unwrap();
        assert_eq!(mode_of(&base), 0o700);
        let link = temporary.path().join("link");
        std::os::unix::fs::symlink(&base, &link).unwrap();
        let folder = Folder::create(&link, &["a"]).unwrap();
        assert_eq!(folder.read("f", 9).unwrap().as_deref(), Some(&b"1"[..]));
    }

    #[test]
    fn what_is_added_to_a_file_is_private_and_leads_nowhere_else() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a"]).unwrap();
        for text in ["one\n", "two\n", "three\n"] {
            folder.append("log", text.as_bytes()).unwrap();
        }
        assert_eq!(mode_of(&folder.path().join("log")), 0o600);
        assert_eq!(folder.size_of("log"), Some(14));
        let from = |start| folder.read_from("log", start, 6).unwrap().unwrap();
        assert_eq!(
            (from(8), from(14), from(99)),
            (b"three\n".into(), vec![], vec![])
        );
        assert_eq!(from(2), b"e\ntwo\n");
        std::os::unix::fs::symlink("log", folder.path().join("link")).unwrap();
        assert!(matches!(
            folder.append("link", b"x"),
            Err(FileError::Link(_))
        ));
        Folder::create(base.path(), &["a", "folder"]).unwrap();
        folder.append("folder", b"x").unwrap_err();
        for name in ["link", "folder", "missing"] {
            assert_eq!(folder.size_of(name), None, "{name}");
        }
        assert_eq!(folder.size_of("log"), Some(14));
    }

    #[test]
    fn only_short_regular_files_are_read() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::create(base.path(), &["a"]).unwrap();
        folder.write("long", &[b'x'; 10]).unwrap();
        assert!(folder.read("long", 10).unwrap().is_some());
        assert!(matches!(
            folder.read("long", 9),
            Err(FileError::TooLong { .. })
        ));
        assert!(folder.read("missing", 9).unwrap().is_none());
        std::os::unix::fs::symlink("long", folder.path().join("link")).unwrap();
        assert!(matches!(folder.read("link", 99), Err(FileError::Link(_))));
        Folder::create(base.path(), &["a", "folder"]).unwrap();
        assert!(matches!(
            folder.read("folder", 99),
            Err(FileError::NotAFile(_))
        ));
        let pipe = folder.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        assert!(matches!(
            folder.read("pipe", 99),
            Err(FileError::NotAFile(_))
        ));
    }
}
