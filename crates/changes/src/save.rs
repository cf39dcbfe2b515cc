//! Writes an accepted text as an editor would: through links to the file that they mean, whole or
//! not at all, with the file's permissions; and never over a text that nobody has seen.

mod attributes;
mod seen;

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pillion_text::fingerprint;
use tempfile::NamedTempFile;

use crate::leftovers;

use self::seen::{Seen, is_something_else};

/// A file as it is before it is proposed.
#[derive(Debug)]
pub struct Original {
    /// The real place to which its path leads, and that place for people.
    target: PathBuf,
    shown: PathBuf,
    /// None if it is not there.
    before: Option<Vec<u8>>,
    /// True if a file that is not there yet is to be for its owner alone.
    is_private: bool,
    /// The permissions that it is to get; none if they stay.
    mode: Option<u32>,
    /// True if its new text can be had elsewhere while it is written in place.
    is_kept: bool,
    /// The number of the file, if it had other names: they get the new text, too. Names that came since keep theirs.
    shared: Option<u64>,
}

/// The reason why a text was not written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file is no regular one, or may not be used.
    #[error("cannot {what} {}", path.display())]
    Unusable {
        /// The action that is impossible: "read" or "write".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// It has names that it had not, and a new file cannot take the place of this one.
    #[error("{} has got another name (a hard link) since, whose text would change with it; nothing was written", .0.display())]
    OtherName(PathBuf),
    /// The reviewer saw another text than the one that is there now.
    #[error("{} was changed in the meantime; nothing was written", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        #[source]
        source: io::Error,
    },
    /// The system refused in the middle of a file that had to be written in place, and to put its old text back.
    #[error("{} is incomplete: it could only be written in place", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl Original {
    /// Remembers the file.
    ///
    /// # Errors
    /// When it is not a regular file, or cannot be read or written: nobody should review in vain.
    pub fn look(path: &Path) -> Result<Self, SaveError> {
        let target = pillion_discovery::real_path(path);
        Self::at(&target, &target)
    }

    /// The same for a path through no link, which has another name for people.
    ///
    /// # Errors
    /// As [`look`](Self::look).
    pub fn at(target: &Path, shown: &Path) -> Result<Self, SaveError> {
        let (target, shown) = (target.to_owned(), shown.to_owned());
        let cannot = |what| {
            let path = shown.clone();
            move |source| SaveError::Unusable { what, path, source }
        };
        let before = read(&target).map_err(cannot("read"))?;
        let writable = match before {
            Some(_) => File::options().write(true).open(&target).map(drop),
            None => can_create(&target),
        };
        writable.map_err(cannot("write"))?;
        let shared = shared_at(&target);
        Ok(Self {
            target,
            shown,
            before,
            is_private: false,
            mode: None,
            is_kept: false,
            shared,
        })
    }

    /// The same, where a new file is for its owner alone.
    #[must_use]
    pub fn private(self) -> Self {
        Self {
            is_private: true,
            ..self
        }
    }

    /// The same, with these permissions from the moment at which the new text is there.
    #[must_use]
    pub fn with_mode(self, mode: u32) -> Self {
        Self {
            mode: Some(mode),
            ..self
        }
    }

    /// The same, where its new text can be had elsewhere: no copy lies beside it while it is written in place.
    #[must_use]
    pub fn kept(self) -> Self {
        Self {
            is_kept: true,
            ..self
        }
    }

    /// The same, where the file of this number had its other names before: those of any other one stay with the old text.
    #[must_use]
    pub(crate) fn sharing(self, shared: Option<u64>) -> Self {
        Self { shared, ..self }
    }

    /// The real place to which its path leads.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Its content; none if it is not there.
    pub fn before(&self) -> Option<&[u8]> {
        self.before.as_deref()
    }

    /// Writes `text` over what the reviewer saw: the file with the fingerprint `base`, or else as it
    /// was. A file that cannot be replaced is written in place; `in_place` is told before, with a copy of the text
    /// that is there until that is done, or the file itself if its text is [`kept`](Self::kept).
    ///
    /// # Errors
    /// When the file is another one, or the system refuses; then it is left as it is.
    pub fn replace(
        &self,
        base: Option<&str>,
        text: &[u8],
        in_place: impl FnOnce(&Path),
    ) -> Result<(), SaveError> {
        let seen = self.compare(base)?;
        leftovers::sweep_once(self.shown.parent().unwrap_or(Path::new(".")));
        match seen {
            Some(seen) => self.overwrite(text, seen, in_place),
            None => self.create(text).map_err(|error| self.failed(error)),
        }
    }

    /// The file, if it is the one that the reviewer saw: it is opened once, and what is compared is
    /// what is written. None where none was seen and none is there.
    fn compare(&self, base: Option<&str>) -> Result<Option<Seen>, SaveError> {
        let found = match Seen::open(&self.target) {
            Ok(found) => found,
            Err(_) if is_something_else(&self.target) => {
                return Err(SaveError::Changed(self.shown.clone()));
            }
            Err(error) => return Err(self.failed(error)),
        };
        let text = found.as_ref().map(|seen| &seen.text[..]);
        let was_seen = match base {
            Some(base) => fingerprint::of(text) == base,
            None => text == self.before.as_deref(),
        };
        match was_seen {
            true => Ok(found),
            false => Err(SaveError::Changed(self.shown.clone())),
        }
    }

    fn failed(&self, source: io::Error) -> SaveError {
        let path = self.shown.clone();
        match source.kind() {
            io::ErrorKind::AlreadyExists => SaveError::Changed(path),
            _ => SaveError::Io { path, source },
        }
    }

    fn create(&self, text: &[u8]) -> io::Result<()> {
        let folder = self.folder();
        fs::create_dir_all(folder)?;
        // Without permissions, it is private from its first byte.
        let permissions = (!self.is_private).then(plain).flatten();
        let mut file = leftovers::unfinished(folder, permissions)?;
        file.as_file_mut().write_all(text)?;
        self.set_mode(file.as_file())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(&self.target)?;
        Ok(())
    }

    fn overwrite(
        &self,
        text: &[u8],
        seen: Seen,
        in_place: impl FnOnce(&Path),
    ) -> Result<(), SaveError> {
        let successor = self
            .successor(text, &seen.metadata)
            .map_err(|error| self.failed(error))?;
        if !seen.is_still_at(&self.target) {
            return Err(SaveError::Changed(self.shown.clone()));
        }
        match successor.map(|it| self.put(it, &seen)) {
            Some(Err(error)) => Err(error),
            Some(Ok(true)) => Ok(()),
            _ => self.write_in_place(text, seen, in_place),
        }
    }

    /// Puts a file in the place of the old one, which is compared once more when nobody can write there by its name. False where
    /// it cannot be put there, as over a file that is mounted, as containers have them.
    fn put(&self, new: NamedTempFile, seen: &Seen) -> Result<bool, SaveError> {
        let new = new.into_temp_path();
        match swap(&new, &self.target) {
            // Not every file system has that: then what is written there in this moment is lost.
            Err(_) => return Ok(new.persist(&self.target).is_ok()),
            Ok(Swapped::Replaced) => return Ok(true),
            Ok(Swapped::Both) if seen.is_still_at(&new) => return Ok(true),
            Ok(Swapped::Both) => {}
        }
        swap(&new, &self.target).map_err(|error| self.failed(error))?;
        Err(SaveError::Changed(self.shown.clone()))
    }

    /// Writes into the file itself, unless that would reach a name that it had not.
    fn write_in_place(
        &self,
        text: &[u8],
        mut seen: Seen,
        in_place: impl FnOnce(&Path),
    ) -> Result<(), SaveError> {
        if shared(&seen.metadata).is_some_and(|it| self.shared != Some(it)) {
            return Err(SaveError::OtherName(self.shown.clone()));
        }
        // Gone again when the file is whole; if we are killed in between, it is found there.
        let copy = match self.is_kept {
            true => None,
            false => Some(self.copy(text).map_err(|error| self.failed(error))?),
        };
        in_place(copy.as_ref().map_or(&self.target, NamedTempFile::path));
        let written = seen.write(text).and_then(|()| self.set_mode(seen.file()));
        let Err(source) = written else {
            return Ok(());
        };
        // The old text still has its room.
        if seen.restore().is_err() {
            let path = self.shown.clone();
            return Err(SaveError::Incomplete { path, source });
        }
        Err(self.failed(source))
    }

    fn set_mode(&self, file: &File) -> io::Result<()> {
        self.mode.map_or(Ok(()), |mode| set_mode_of(file, mode))
    }

    /// A file to be renamed over the old one; none where that would be another file to others: where
    /// it cannot have the owner or the attributes of the old one, where that has other names, or
    /// where nothing can be created beside it.
    fn successor(&self, text: &[u8], metadata: &Metadata) -> io::Result<Option<NamedTempFile>> {
        let Ok(mut file) = leftovers::unfinished(self.folder(), None) else {
            return Ok(None);
        };
        if !takes_over(file.as_file(), metadata, self.shared) {
            return Ok(None);
        }
        file.as_file_mut().write_all(text)?;
        file.as_file().set_permissions(metadata.permissions())?;
        let attributes = attributes::of(&self.target);
        attributes::give(file.path(), &attributes);
        if attributes::of(file.path()) != attributes {
            return Ok(None);
        }
        // An access list changes with it.
        self.set_mode(file.as_file())?;
        file.as_file().sync_all()?;
        Ok(Some(file))
    }

    /// A private copy of the text, beside the file if that is possible.
    fn copy(&self, text: &[u8]) -> io::Result<NamedTempFile> {
        let write = |file: io::Result<NamedTempFile>| {
            let mut file = file?;
            file.as_file_mut().write_all(text)?;
            file.as_file().sync_all()?;
            Ok(file)
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pillion-text-");
        write(builder.tempfile_in(self.folder())).or_else(|_: io::Error| write(builder.tempfile()))
    }

    fn folder(&self) -> &Path {
        self.target.parent().unwrap_or(Path::new("."))
    }
}

/// The message about a file that is written in place.
pub fn in_place(target: &Path, copy: &Path) -> String {
    format!(
        "note: writing {} in place; until that is done, its new text is also in {}.",
        target.display(),
        copy.display()
    )
}

/// What has become of two names.
pub(crate) enum Swapped {
    /// Both lead to what the other one led to.
    Both,
    /// The file system knows only one way to rename: the second leads to what the first one led to, which is gone.
    Replaced,
}

/// What two names lead to changes places at once.
pub(crate) fn swap(one: &Path, other: &Path) -> io::Result<Swapped> {
    exchange(one, other)?;
    Ok(match one.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Swapped::Replaced,
        _ => Swapped::Both,
    })
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    #[cfg(test)]
    if plain_renames::are_all() {
        return fs::rename(one, other);
    }
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file system without exchanges that does not say so, as a test plays it.
#[cfg(all(test, any(target_os = "linux", target_os = "macos")))]
pub(crate) mod plain_renames {
    use std::cell::Cell;

    thread_local! {
        static ALL: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn are_all() -> bool {
        ALL.get()
    }

    pub(crate) fn during<T>(work: impl FnOnce() -> T) -> T {
        ALL.set(true);
        let done = work();
        ALL.set(false);
        done
    }
}

/// Returns true if the file has this very text.
pub fn holds(path: &Path, text: &str) -> bool {
    let has_its_length = |data: Metadata| data.is_file() && data.len() == text.len() as u64;
    fs::metadata(path).is_ok_and(has_its_length)
        && fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}

/// Returns true if standard output is this file.
#[cfg(unix)]
pub fn is_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let output = io::stdout().as_fd().try_clone_to_owned();
    let output = output.and_then(|output| File::from(output).metadata());
    let id = |data: Metadata| data.is_file().then(|| (data.dev(), data.ino()));
    match (output.map(id), fs::metadata(path).map(id)) {
        (Ok(Some(output)), Ok(Some(file))) => output == file,
        _ => false,
    }
}

/// There it is unknown.
#[cfg(not(unix))]
pub fn is_output(_path: &Path) -> bool {
    false
}

/// Succeeds if a new file can be made there, or folders for it.
#[cfg(unix)]
fn can_create(target: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;

    let Some(folder) = target.ancestors().skip(1).find(|folder| folder.exists()) else {
        return Ok(());
    };
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    match accessat(CWD, folder, wanted, AtFlags::EACCESS) {
        Err(error @ (Errno::ACCESS | Errno::ROFS)) => Err(error.into()),
        // Or it is unknown: some containers refuse to answer.
        _ => Ok(()),
    }
}

/// There it shows when it is tried.
#[cfg(not(unix))]
fn can_create(_target: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        // A pipe would let us wait for a writer.
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a regular file")),
        Ok(_) => fs::read(path).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The permissions of a new file; the system takes off those in the user's mask.
#[cfg(unix)]
fn plain() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

/// The number of a file that has more than one name.
#[cfg(unix)]
fn shared(metadata: &Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    (metadata.is_file() && metadata.nlink() > 1).then(|| metadata.ino())
}

/// Returns true if this is a file with these permissions: who may write there and is not the owner could not set the same again.
#[cfg(unix)]
pub(crate) fn has_mode(found: &Metadata, mode: u32) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.is_file() && found.permissions().mode() & 0o7777 == mode & 0o7777
}

/// Gives a file these permissions, unless it has them.
#[cfg(unix)]
pub(crate) fn set_mode_of(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match has_mode(&file.metadata()?, mode) {
        true => Ok(()),
        false => file.set_permissions(Permissions::from_mode(mode)),
    }
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(crate) fn set_mode_of(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// There it is unknown.
#[cfg(not(unix))]
fn shared(_: &Metadata) -> Option<u64> {
    None
}

/// The same of the file at this path.
pub(crate) fn shared_at(path: &Path) -> Option<u64> {
    shared(&path.symlink_metadata().ok()?)
}

/// Returns true if `new` can be renamed over the old file: it has its owner now, and that is not the one that was known to have
/// other names.
#[cfg(unix)]
fn takes_over(new: &File, old: &Metadata, known: Option<u64>) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let has_owner = |new: Metadata| (old.uid(), old.gid()) == (new.uid(), new.gid());
    shared(old).is_none_or(|it| known != Some(it))
        && (new.metadata().is_ok_and(has_owner)
            || fchown(new, Some(old.uid()), Some(old.gid())).is_ok())
}

#[cfg(not(unix))]
fn plain() -> Option<Permissions> {
    None
}

#[cfg(not(unix))]
fn takes_over(_new: &File, _old: &Metadata, _known: Option<u64>) -> bool {
    true
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn permissions_stay_and_links_are_followed() {
        let (_folder, folder) = folder();
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o750)).unwrap();
        symlink("file", &link).unwrap();
        Original::look(&link)
            .unwrap()
            .replace(None, b"new\r\n", |_| {})
            .unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new\r\n");
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o750);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(names(&folder), ["file", "link"]);
    }

    #[test]
    fn another_name_of_the_file_stays_one() {
        let (_folder, folder) = folder();
        let (file, other) = (folder.join("file"), folder.join("other"));
        fs::write(&file, "a longer old text").unwrap();
        fs::hard_link(&file, &other).unwrap();
        Original::look(&file)
            .unwrap()
            .replace(None, b"new", |_| {})
            .unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"new");
        assert_eq!(names(&folder), ["file", "other"]);
    }

    /// Made before the file was looked at, it gets the new text; made since, or with another file in its place, it keeps its own.
    #[test]
    fn another_name_that_came_since_keeps_its_text() {
        for (is_other_file, has_successor) in [(true, true), (true, false), (false, true)] {
            let (_folder, folder) = folder();
            let (file, other) = (folder.join("file"), folder.join("other"));
            fs::write(&file, "old").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
            let original = Original::look(&file).unwrap();
            if is_other_file {
                fs::write(&other, "old").unwrap();
                fs::set_permissions(&other, Permissions::from_mode(0o640)).unwrap();
                fs::remove_file(&file).unwrap();
                fs::hard_link(&other, &file).unwrap();
            } else {
                fs::hard_link(&file, &other).unwrap();
            }
            let written = if has_successor {
                original.replace(None, b"new", |_| {})
            } else {
                // As where nothing can be made beside the file, or cannot have its attributes.
                let seen = original.compare(None).unwrap().unwrap();
                original.write_in_place(b"new", seen, |_| panic!("it is written"))
            };
            assert_eq!(fs::read(&other).unwrap(), b"old");
            if has_successor {
                written.unwrap();
                assert_eq!(fs::read(&file).unwrap(), b"new");
                assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o640);
            } else {
                assert!(matches!(written, Err(SaveError::OtherName(_))));
            }
        }
    }

    #[test]
    fn attributes_such_as_access_lists_stay_and_the_text_changes_at_once() {
        use rustix::fs::{XattrFlags, setxattr};
        let (_folder, folder) = folder();
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        if setxattr(&file, "user.mark", b"1", XattrFlags::empty()).is_err() {
            // Not every file system has them.
            return;
        }
        let before = file.metadata().unwrap().ino();
        Original::look(&file)
            .unwrap()
            .replace(None, b"new", |_| {})
            .unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let kept = attributes::of(&file).unwrap();
        assert_eq!(kept.get(&b"user.mark"[..]).unwrap(), b"1");
        assert_ne!(
            file.metadata().unwrap().ino(),
            before,
            "it was renamed over it"
        );
    }

    /// As in folders that people share, and in containers.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_of_another_owner_is_written_by_whoever_may_write_there() {
        use std::os::unix::fs::chown;
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for (owner, group, mode) in [(0, 0, 0o666), (0, 4343, 0o664), (4444, 4343, 0o775)] {
            let (_folder, folder) = folder();
            let file = folder.join("file");
            fs::write(&file, "old").unwrap();
            chown(&folder, Some(4242), Some(4343)).unwrap();
            chown(&file, Some(owner), Some(group)).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let (inner, at) = (folder.clone(), file.clone());
            // What a thread is allowed is its own.
            let done = std::thread::spawn(move || {
                use rustix::process::{Gid, Uid};
                use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
                let (uid, gid) = (Uid::from_raw(4242), Gid::from_raw(4343));
                set_thread_groups(&[]).unwrap();
                set_thread_res_gid(gid, gid, gid).unwrap();
                set_thread_res_uid(uid, uid, uid).unwrap();
                let looked = Original::look(&at).unwrap().with_mode(mode).kept();
                looked.replace(None, b"new", |_| {})
            });
            done.join().unwrap().unwrap();
            let after = file.metadata().unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"new");
            assert_eq!((after.uid(), after.gid()), (owner, group));
            assert_eq!(after.mode() & 0o7777, mode);
            assert_eq!(names(&inner), ["file"]);
        }
    }

    #[test]
    fn root_gives_a_file_back_to_its_owner() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (_folder, folder) = folder();
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::chown(&file, Some(4242), Some(4343)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let before = file.metadata().unwrap().ino();
        Original::look(&file)
            .unwrap()
            .replace(None, b"new", |_| {})
            .unwrap();
        let after = file.metadata().unwrap();
        assert_eq!((after.uid(), after.gid()), (4242, 4343));
        assert_eq!(after.mode() & 0o7777, 0o640);
        assert_ne!(after.ino(), before, "it was renamed over it");
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_new_file_is_made_with_its_folders_also_at_the_end_of_a_link() {
        let (_folder, folder) = folder();
        let link = folder.join("link");
        symlink("not/there/yet", &link).unwrap();
        Original::look(&link)
            .unwrap()
            .replace(None, b"new", |_| {})
            .unwrap();
        let made = folder.join("not/there/yet");
        assert_eq!(fs::read(&made).unwrap(), b"new");
        // As any other new file.
        fs::write(folder.join("usual"), "").unwrap();
        let usual = folder.join("usual").metadata().unwrap().mode();
        assert_eq!(made.metadata().unwrap().mode(), usual);
    }

    #[test]
    fn what_changed_in_the_meantime_is_left_alone() {
        let (_folder, folder) = folder();
        let file = folder.join("file");
        let original = Original::look(&file).unwrap();
        fs::write(&file, "appeared").unwrap();
        let refused = |original: &Original| match original.replace(None, b"new", |_| {}) {
            Err(SaveError::Changed(path)) => path == file,
            _ => false,
        };
        assert!(refused(&original));
        let original = Original::look(&file).unwrap();
        fs::write(&file, "changed").unwrap();
        assert!(refused(&original));
        assert_eq!(fs::read(&file).unwrap(), b"changed");
        fs::remove_file(&file).unwrap();
        assert!(refused(&original), "somebody deleted it");
        assert_eq!(names(&folder), [""; 0]);
        assert!(Original::look(&folder).is_err(), "it is a folder");
    }

    #[test]
    fn what_is_added_after_the_comparison_is_not_lost() {
        for has_other_name in [true, false] {
            let (_folder, folder) = folder();
            let file = folder.join("file");
            fs::write(&file, "old\n").unwrap();
            if has_other_name {
                fs::hard_link(&file, folder.join("other")).unwrap();
            }
            let original = Original::look(&file).unwrap();
            let seen = original.compare(None).unwrap().unwrap();
            let successor = original.successor(b"new\n", &seen.metadata).unwrap();
            fs::write(&file, "old\nmine\n").unwrap();
            // As late as that, where it is replaced.
            if let Some(successor) = successor {
                let error = original.put(successor, &seen).unwrap_err();
                assert!(matches!(error, SaveError::Changed(_)));
            }
            let error = original.overwrite(b"new\n", seen, |_| {}).unwrap_err();
            assert!(matches!(error, SaveError::Changed(_)));
            assert_eq!(fs::read(&file).unwrap(), b"old\nmine\n");
            let kept = if has_other_name { 2 } else { 1 };
            assert_eq!(names(&folder).len(), kept);
        }
    }

    /// An action that takes the file's place after it was compared.
    type Exchange = fn(&Path, outside: &Path);

    #[test]
    fn what_takes_the_files_place_after_the_comparison_is_never_written() {
        let exchanges: [Exchange; 5] = [
            |file, outside| symlink(outside, file).unwrap(),
            |file, _| symlink(file.with_file_name("not there"), file).unwrap(),
            |file, _| fs::create_dir(file).unwrap(),
            |file, _| {
                use rustix::fs::{CWD, Mode, mkfifoat};
                mkfifoat(CWD, file, Mode::RUSR | Mode::WUSR).unwrap();
            },
            |file, _| fs::write(file, "old").unwrap(),
        ];
        for (which, exchange) in exchanges.into_iter().enumerate() {
            for has_other_name in [true, false] {
                let (_outside, outside) = folder();
                let outside = outside.join("secret");
                let (_folder, folder) = folder();
                let (file, other) = (folder.join("file"), folder.join("other"));
                // The same text: to compare again would not notice.
                fs::write(&outside, "old").unwrap();
                fs::write(&file, "old").unwrap();
                if has_other_name {
                    fs::hard_link(&file, &other).unwrap();
                }
                let original = Original::look(&file).unwrap();
                let seen = original.compare(None).unwrap().unwrap();
                fs::remove_file(&file).unwrap();
                exchange(&file, &outside);
                let before = file.symlink_metadata().unwrap();
                let error = original.overwrite(b"new", seen, |_| {}).unwrap_err();
                assert!(matches!(error, SaveError::Changed(_)), "{which}");
                let refused = original.replace(None, b"new", |_| {});
                if which < 4 {
                    assert!(matches!(refused, Err(SaveError::Changed(_))), "{which}");
                    let after = file.symlink_metadata().unwrap();
                    assert_eq!(after.ino(), before.ino(), "{which}");
                }
                assert_eq!(fs::read(&outside).unwrap(), b"old", "{which}");
                if has_other_name {
                    assert_eq!(fs::read(&other).unwrap(), b"old", "{which}");
                }
                assert!(!folder.join("not there").exists());
            }
        }
    }

    /// Whoever is told that it was not written would not keep that it was.
    #[test]
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    fn what_replaces_a_file_where_none_can_be_exchanged_is_written() {
        let (_folder, folder) = folder();
        let file = folder.join("file");
        fs::write(&file, "old").unwrap();
        let original = Original::look(&file).unwrap();
        plain_renames::during(|| original.replace(None, b"new", |_| {})).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(names(&folder), ["file"]);
    }

    #[test]
    fn what_the_reviewer_saw_is_written_over_and_nothing_else() {
        let (_folder, folder) = folder();
        let file = folder.join("file");
        fs::write(&file, "first").unwrap();
        let original = Original::look(&file).unwrap();
        fs::write(&file, "second").unwrap();
        let (first, second) = (
            fingerprint::of(Some(b"first")),
            fingerprint::of(Some(b"second")),
        );
        let refused = |base: &str| {
            matches!(
                original.replace(Some(base), b"new", |_| {}),
                Err(SaveError::Changed(_))
            )
        };
        assert!(refused(&first), "it is not there any more");
        assert!(refused(&fingerprint::of(None)) && refused("") && refused("SHA256:"));
        assert_eq!(fs::read(&file).unwrap(), b"second");
        original.replace(Some(&second), b"new", |_| {}).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        // As it was before is not as the reviewer saw it.
        fs::write(&file, "first").unwrap();
        assert!(refused(&second));
        fs::remove_file(&file).unwrap();
        assert!(refused(&first), "somebody deleted it");
        original
            .replace(Some(&fingerprint::of(None)), b"anew", |_| {})
            .unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"anew");
    }
}
