//! The state of a file: looked at, and replaced by another one, but never something that was not looked at.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use pillion_discovery::regular_file;
use pillion_text::fingerprint;
use tempfile::TempPath;

use super::TakeBackError;
use super::beneath::Beneath;
use crate::leftovers;
use crate::save::{Original, SaveError, Swapped, set_mode_of, shared_at, swap};
use crate::scan::{Stat, is_absence};
use crate::state::{FileState, FolderMode, Stage};
use crate::store::{MAX_KEPT, Store, StoreError};

/// The permissions of its owner to read and to write a file.
const OWN: u32 = 0o600;

/// The current state of a path.
pub(super) struct Now {
    pub(super) state: FileState,
    /// Its text; empty where there is nothing.
    pub(super) bytes: Vec<u8>,
    /// The whole of which it is part old and part new text, if a kill left it so: it had to be written in place.
    pub(super) torn: Option<Box<Now>>,
}

impl Now {
    /// The state that was there before a kill left a part of it.
    pub(super) fn whole(&self) -> &Self {
        self.torn.as_deref().unwrap_or(self)
    }

    /// Returns true if the same is at this path, which is no place of its own.
    fn is_at(&self, path: &Path) -> bool {
        let found = match self.state {
            FileState::Absent => return false,
            FileState::Link { .. } => {
                fs::read_link(path).map(|it| it.into_os_string().into_encoded_bytes())
            }
            FileState::File { .. } => regular_file::read(path, MAX_KEPT),
        };
        found.is_ok_and(|found| found == self.bytes)
    }
}

/// A file that an agent has left without permission to read or write it, with that permission for as long as it is replaced. Other
/// names of it may stay.
pub(super) struct Opened(Option<(fs::File, u32)>);

impl Opened {
    /// Of this file, if it has the permissions of `after`.
    pub(super) fn of(place: &Beneath<'_>, after: &FileState) -> Self {
        let closed = after.mode().filter(|mode| mode & OWN != OWN);
        let at = place.at().zip(closed).filter(|(at, mode)| {
            let stat = Stat::at(at).ok().flatten();
            stat.is_some_and(|it| !it.is_link && it.mode == *mode)
        });
        Self(at.and_then(|(at, mode)| {
            set_mode(&at, mode | OWN).ok()?;
            Some((regular_file::open(&at).ok()?.0, mode))
        }))
    }

    /// This is the state of the file, which had other permissions.
    pub(super) fn had_mode(&self, state: &mut FileState) {
        if let (Some((_, had)), FileState::File { mode, .. }) = (&self.0, state) {
            *mode = *had;
        }
    }

    /// This is at the path now, which may be the file.
    pub(super) fn becomes(mut self, place: &Beneath<'_>, state: &FileState) {
        let at = place.at().and_then(|at| Stat::at(&at).ok().flatten());
        if let (Some((file, mode)), Some(new)) = (&mut self.0, state.mode()) {
            let own = file.metadata().ok().and_then(|it| Stat::of(&it));
            if own.map(|it| it.inode) == at.map(|it| it.inode) {
                *mode = new;
            }
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some((file, mode)) = &self.0
            && let Err(error) = set_mode_of(file, *mode)
        {
            tracing::debug!(%error, "a file keeps the permissions with which it was read");
        }
    }
}

/// Looks at a file of no more than this size, and keeps what is there.
pub(super) fn look(store: &Store, file_in: &Beneath<'_>, limit: u64) -> Result<Now, TakeBackError> {
    let path = file_in.path;
    let absent = Now {
        state: FileState::Absent,
        bytes: Vec::new(),
        torn: None,
    };
    let Some(at) = file_in.at() else {
        return Ok(absent);
    };
    let metadata = match at.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if is_absence(error.kind()) => return Ok(absent),
        Err(error) => return Err(failed("read", path)(error)),
    };
    let Some(stat) = Stat::of(&metadata) else {
        return Err(TakeBackError::Special(path.to_owned()));
    };
    if stat.is_link {
        let bytes = fs::read_link(at).map_err(failed("read", path))?;
        let bytes = bytes.into_os_string().into_encoded_bytes();
        let text = Some(store.put(&bytes)?);
        return Ok(Now {
            state: FileState::Link { text },
            bytes,
            torn: None,
        });
    }
    let bytes = regular_file::read(&at, limit).map_err(failed("read", path))?;
    Ok(Now {
        state: file(store, stat.mode, &bytes)?,
        torn: torn(store, path, &bytes),
        bytes,
    })
}

/// The state before, if this is a part of what was then written in place, and the rest of what was there.
fn torn(store: &Store, path: &Path, bytes: &[u8]) -> Option<Box<Now>> {
    let writing = store.writing(path);
    let writing = writing.filter(|it| it.stage == Stage::InPlace)?;
    let state = writing.overwritten?;
    let new = store.get(writing.written.text()?).ok()?;
    let old = store.get(state.text()?).ok()?;
    if bytes == new || bytes == old {
        return None;
    }
    let same = bytes.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let is_torn = bytes[same..] == old[same.min(old.len())..];
    is_torn.then(|| {
        Box::new(Now {
            state,
            bytes: old,
            torn: None,
        })
    })
}

/// A regular file with this text, which is kept.
pub(super) fn file(store: &Store, mode: u32, text: &[u8]) -> Result<FileState, StoreError> {
    Ok(FileState::File {
        mode,
        size: text.len() as u64,
        text: Some(store.put(text)?),
    })
}

/// What is to be in the place of a file.
pub(super) struct Wanted<'a> {
    pub(super) state: &'a FileState,
    pub(super) bytes: &'a [u8],
    /// The permissions of the folders: first those of the file's own.
    pub(super) folder_modes: &'a [FolderMode],
    /// The number of the file that had other names when it was changed.
    pub(super) shared: Option<u64>,
    /// The file of which it is to be another name.
    pub(super) link_to: Option<&'a Path>,
}

impl<'a> Wanted<'a> {
    /// This state and text, as a file of its own.
    pub(super) fn of(
        state: &'a FileState,
        bytes: &'a [u8],
        folder_modes: &'a [FolderMode],
    ) -> Self {
        Self {
            state,
            bytes,
            folder_modes,
            shared: None,
            link_to: None,
        }
    }
}

/// Makes what is at a path what is to be there. `in_place` is told before a file is written that cannot be replaced.
pub(super) fn replace(
    file: &mut Beneath<'_>,
    now: &Now,
    wanted: &Wanted<'_>,
    in_place: impl FnOnce(&Path),
) -> Result<(), TakeBackError> {
    let (path, bytes) = (file.path, wanted.bytes);
    file.set_modes(wanted.folder_modes)?;
    let at = match wanted.state.is_absent() {
        true => file.at(),
        false => Some(file.make(wanted.folder_modes)?),
    };
    let Some(at) = at else {
        return Ok(());
    };
    if let Some(of) = wanted.link_to {
        return match now.state.is_absent() {
            true => fs::hard_link(of, &at).map_err(failed("create", path)),
            false => {
                let new = leftovers::unfinished_link(folder_of(&at), |it| fs::hard_link(of, it));
                exchange(&at, path, now, new.map_err(failed("replace", path))?)
            }
        };
    }
    match (&now.state, wanted.state) {
        (FileState::File { .. }, FileState::File { mode, .. })
            if bytes == now.bytes && shared_at(&at).is_none_or(|it| wanted.shared == Some(it)) =>
        {
            set_mode(&at, *mode).map_err(failed("set the permissions of", path))
        }
        (FileState::File { .. }, FileState::File { mode, .. }) => {
            let original = original(&at, path, *mode)?.sharing(wanted.shared);
            let base = fingerprint::of(Some(&now.bytes));
            Ok(original.replace(Some(&base), bytes, in_place)?)
        }
        (FileState::Absent, FileState::File { mode, .. }) => {
            let base = fingerprint::of(None);
            Ok(original(&at, path, *mode)?.replace(Some(&base), bytes, in_place)?)
        }
        (FileState::Absent, FileState::Link { .. }) => {
            symlink(bytes, &at).map_err(failed("create", path))
        }
        (_, FileState::Absent) => remove(&at, path, now),
        (_, state) => {
            let new = made(folder_of(&at), state, bytes).map_err(failed("replace", path))?;
            exchange(&at, path, now, new)
        }
    }
}

/// The file to be written, or the place for it. The store has its text, too.
fn original(at: &Path, path: &Path, mode: u32) -> Result<Original, SaveError> {
    Ok(Original::at(at, path)?.with_mode(mode).kept())
}

/// The error with which the system refused this.
fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TakeBackError {
    move |source| TakeBackError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

/// A file or a link in this state, which is to take another one's place.
fn made(folder: &Path, state: &FileState, bytes: &[u8]) -> io::Result<TempPath> {
    let FileState::File { mode, .. } = state else {
        return leftovers::unfinished_link(folder, |path| symlink(bytes, path));
    };
    let mut file = leftovers::unfinished(folder, None)?;
    file.as_file_mut().write_all(bytes)?;
    set_mode(file.path(), *mode)?;
    file.as_file().sync_all()?;
    Ok(file.into_temp_path())
}

/// Replaces a link, or a file by a link: both change places at once, and what was there is removed once it has been compared.
fn exchange(at: &Path, path: &Path, now: &Now, new: TempPath) -> Result<(), TakeBackError> {
    // Not every file system has that: then whatever is written there between the two is lost.
    if !now.is_at(at) {
        return Err(TakeBackError::Changed(path.to_owned()));
    }
    match swap(&new, at) {
        Ok(Swapped::Both) if now.is_at(&new) => return Ok(()),
        Ok(Swapped::Both) => {
            swap(&new, at).map_err(failed("restore", path))?;
            return Err(TakeBackError::Changed(path.to_owned()));
        }
        Ok(Swapped::Replaced) => {}
        Err(_) => fs::rename(&new, at).map_err(failed("replace", path))?,
    }
    // It is there no more.
    let _ = new.keep();
    Ok(())
}

/// Removes what is there: it is put aside, compared once more, and only then gone.
fn remove(at: &Path, path: &Path, now: &Now) -> Result<(), TakeBackError> {
    let aside = leftovers::unfinished(folder_of(at), None).map_err(failed("replace", path))?;
    let aside = aside.into_temp_path();
    fs::rename(at, &aside).map_err(failed("remove", path))?;
    if now.is_at(&aside) {
        return Ok(());
    }
    // Whatever has taken its place in this moment stays, and so does this.
    let kept = match at.symlink_metadata() {
        Ok(_) => aside.keep().map(drop).map_err(io::Error::from),
        Err(_) => fs::rename(&aside, at),
    };
    kept.map_err(failed("restore", path))?;
    Err(TakeBackError::Changed(path.to_owned()))
}

#[cfg(unix)]
fn symlink(target: &[u8], path: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), path)
}

#[cfg(not(unix))]
fn symlink(_target: &[u8], _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets the permissions of a file, and not of one to which a link leads that has taken its place.
#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    if crate::save::has_mode(&path.symlink_metadata()?, mode) {
        return Ok(());
    }
    let permissions = fs::Permissions::from_mode(mode);
    let open = |flags: OFlags| {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | flags;
        let mut options = fs::File::options();
        options.read(true).custom_flags(flags.bits().cast_signed());
        options.open(path)
    };
    // It need not be readable.
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let file = open(OFlags::PATH)?;
        let name = Path::new("/proc/self/fd").join(file.as_raw_fd().to_string());
        if file.metadata()?.is_file() && fs::set_permissions(name, permissions.clone()).is_ok() {
            return Ok(());
        }
    }
    open(OFlags::empty())?.set_permissions(permissions)
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod tests {
    use super::*;
    use crate::save::plain_renames;
    use crate::state::Hash;

    #[test]
    fn a_link_takes_the_place_of_a_file_where_none_can_be_exchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let now = Now {
            state: FileState::File {
                mode: 0o644,
                size: 3,
                text: Some(Hash::of(b"old")),
            },
            bytes: b"old".to_vec(),
            torn: None,
        };
        let link = FileState::Link {
            text: Some(Hash::of(b"to")),
        };
        let put = |state: &FileState, text: &[u8]| {
            exchange(
                &path,
                &path,
                &now,
                made(folder.path(), state, text).unwrap(),
            )
        };
        plain_renames::during(|| put(&link, b"to")).unwrap();
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("to"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // What was written meanwhile is not replaced.
        let file = now.state.clone();
        let changed = plain_renames::during(|| put(&file, b"new"));
        assert!(matches!(changed, Err(TakeBackError::Changed(_))));
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("to"));
    }
}
