//! Private files by path, where the profile's access list keeps other users out.

#[path = "windows_socket.rs"]
pub mod socket;

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{FileError, unfinished_name};

/// A directory, checked when it was opened.
#[derive(Debug)]
pub struct Folder {
    pub(super) path: PathBuf,
}

impl Folder {
    /// The folder `parts` below `base`; what is missing is created.
    ///
    /// # Errors
    /// When a part is a link or no folder, or when the system refuses.
    pub fn create(base: &Path, parts: &[&str]) -> Result<Self, FileError> {
        fs::create_dir_all(base).map_err(|error| FileError::io("create", base, error))?;
        let mut path = base.to_owned();
        for part in parts {
            path.push(part);
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FileError::io("create", &path, error)),
            }
            check_folder(&path)?;
        }
        Ok(Self { path })
    }

    /// The folder `parts` below `base`, if it is there. Nothing is created.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn open(base: &Path, parts: &[&str]) -> Result<Option<Self>, FileError> {
        if !base.exists() {
            return Ok(None);
        }
        let base = Self {
            path: base.to_owned(),
        };
        base.inner(parts)
    }

    /// The folder `parts` below this one, if it is there. Nothing is created.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn inner(&self, parts: &[&str]) -> Result<Option<Self>, FileError> {
        let mut path = self.path.clone();
        for part in parts {
            path.push(part);
            match check_folder(&path) {
                Ok(()) => {}
                Err(FileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(Self { path }))
    }

    pub(super) fn replace(
        &self,
        name: &str,
        content: &[u8],
        sync: impl FnOnce(&File) -> std::io::Result<()>,
    ) -> Result<(), FileError> {
        let path = self.path.join(name);
        is_file("look at", &path)?;
        let create = || -> std::io::Result<(PathBuf, File)> {
            let unfinished = self.path.join(unfinished_name()?);
            let file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&unfinished)?;
            Ok((unfinished, file))
        };
        let (unfinished, mut file) =
            create().map_err(|error| FileError::io("create", &path, error))?;
        let written = file.write_all(content).and_then(|()| sync(&file));
        // An open file cannot be renamed everywhere.
        drop(file);
        written
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(|error| {
                let _ = fs::remove_file(&unfinished);
                FileError::io("write", &path, error)
            })
    }

    /// Adds this to the end of the file `name`, which is created if it is not there.
    ///
    /// # Errors
    /// When there is something else under that name, or when the system refuses; then a part of it may be there.
    pub fn append(&self, name: &str, content: &[u8]) -> Result<(), FileError> {
        let path = self.path.join(name);
        is_file("look at", &path)?;
        let file = OpenOptions::new().append(true).create(true).open(&path);
        file.and_then(|mut file| file.write_all(content))
            .map_err(|error| FileError::io("write", &path, error))
    }

    /// The size of the regular file `name` in bytes; none if there is no such file.
    pub fn size_of(&self, name: &str) -> Option<u64> {
        let metadata = fs::symlink_metadata(self.path.join(name)).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Returns a text that is another one once the file `name` has changed, if it is there. Nobody else may read it: its folder's
    /// access list sees to that.
    pub fn mark(&self, name: &str) -> Option<String> {
        let metadata = fs::symlink_metadata(self.path.join(name)).ok()?;
        let modified = metadata.modified().ok()?;
        Some(format!("{} {modified:?}", metadata.len()))
    }

    /// The content of the file `name` from this byte on, but no more than `most` bytes, if it is there.
    ///
    /// # Errors
    /// When it is a link or no regular file, or when the system refuses.
    pub fn read_from(
        &self,
        name: &str,
        start: u64,
        most: u64,
    ) -> Result<Option<Vec<u8>>, FileError> {
        let Some(mut file) = self.open_file(name)? else {
            return Ok(None);
        };
        let path = self.path.join(name);
        let mut content = Vec::new();
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.take(most).read_to_end(&mut content))
            .map_err(|error| FileError::io("read", &path, error))?;
        Ok(Some(content))
    }

    /// The file `name`, open to be read, if it is there.
    ///
    /// # Errors
    /// When it is a link or no regular file, or when the system refuses.
    pub fn open_file(&self, name: &str) -> Result<Option<File>, FileError> {
        let path = self.path.join(name);
        if !is_file("read", &path)? {
            return Ok(None);
        }
        let file = File::open(&path).map(Some);
        file.map_err(|error| FileError::io("read", &path, error))
    }

    /// The file `name`, to be locked, which is created if it is not there.
    ///
    /// # Errors
    /// When something else has that name, or when the system refuses.
    pub fn lock_file(&self, name: &str) -> Result<File, FileError> {
        let path = self.path.join(name);
        is_file("lock", &path)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path);
        file.map_err(|error| FileError::io("lock", &path, error))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Removes the file `name`. One that is not there is fine.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(FileError::io("remove", &path, error))
            }
            _ => Ok(()),
        }
    }

    /// The names of all that is in it, as far as they are Unicode.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn names(&self) -> Result<Vec<String>, FileError> {
        let failed = |error| FileError::io("list", &self.path, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        Ok(names)
    }
}

/// Junctions count as links here.
fn check_folder(path: &Path) -> Result<(), FileError> {
    let metadata =
        fs::symlink_metadata(path).map_err(|error| FileError::io("look at", path, error))?;
    if metadata.is_symlink() {
        Err(FileError::Link(path.to_owned()))
    } else if metadata.is_dir() {
        Ok(())
    } else {
        Err(FileError::NotAFolder(path.to_owned()))
    }
}

/// Returns true if a regular file is there, and false if nothing is. `action` is what is tried.
fn is_file(action: &'static str, path: &Path) -> Result<bool, FileError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(metadata) if metadata.is_symlink() => Err(FileError::Link(path.to_owned())),
        Ok(_) => Err(FileError::NotAFile(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::io(action, path, error)),
    }
}
