//! Takes changes back: puts the text before into what stands on the disk now, and nothing else. What is overwritten goes
//! into the store first, so that this can be undone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pillion_discovery::{real_path, regular_file};
use pillion_text::{Text, fingerprint, merge};

use crate::kept;
use crate::leftovers;
use crate::save::{Original, SaveError};
use crate::scan::{Stat, is_absence};
use crate::standing_hunks::StandingHunks;
use crate::state::FileState;
use crate::store::{MAX_TEXT, Store, StoreError};
use crate::turn::{Change, Judged};

/// Why something was not taken back. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum TakeBackError {
    /// The same lines have been changed since.
    #[error("{} has changed since, in {conflicts} of the same places", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// How many places.
        conflicts: usize,
    },
    /// It is something else by now.
    #[error("{} is no longer as the change left it", .0.display())]
    Changed(PathBuf),
    /// The text before, or the one after it, was not kept.
    #[error("the text of {} before the change was not kept", .0.display())]
    Unknown(PathBuf),
    /// It has no lines that could be taken back.
    #[error("{} is not text", .0.display())]
    NotText(PathBuf),
    /// Nothing can be merged with what is not saved.
    #[error("{} has unsaved changes, and the agent created or deleted it", .0.display())]
    Unsaved(PathBuf),
    /// A folder of its path leads elsewhere by now.
    #[error("a folder in the path of {} has become a symbolic link", .0.display())]
    Elsewhere(PathBuf),
    /// It cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried: a verb.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// How it was.
    pub overwritten: FileState,
    /// How it is now.
    pub written: FileState,
}

/// Takes a change back. `roots` are the folders that were watched.
///
/// # Errors
/// When the file has been changed in the same places, or cannot be written. Then it is as it was.
pub fn take_back(store: &Store, roots: &[PathBuf], change: &Change) -> Result<Done, TakeBackError> {
    put_back(store, roots, &change.path, &change.before, &change.after)
}

/// Undoes what [`take_back`] did.
///
/// # Errors
/// As there.
pub fn undo(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    judged: &Judged,
) -> Result<Done, TakeBackError> {
    let states = judged.overwritten.as_ref().zip(judged.written.as_ref());
    let (overwritten, written) =
        states.ok_or_else(|| TakeBackError::Unknown(change.path.clone()))?;
    put_back(store, roots, &change.path, overwritten, written)
}

/// A change beside what stands there now: what a person looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// What would be there if it was taken back; none if nothing would.
    pub before: Option<Vec<u8>>,
    /// What is there; none if nothing is.
    pub now: Option<Vec<u8>>,
}

/// Looks at a change as it stands in the file now.
///
/// # Errors
/// When it was changed in the same places since, or a text was not kept.
pub fn present(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
) -> Result<Present, TakeBackError> {
    stays_in(roots, &change.path)?;
    let now = look(store, &change.path)?;
    let (state, bytes) = wanted(store, &change.path, &change.before, &change.after, &now)?;
    Ok(Present {
        before: (!state.is_absent()).then_some(bytes),
        now: (!now.state.is_absent()).then_some(now.bytes),
    })
}

/// The hunks of a change as they stand in the file now.
///
/// # Errors
/// When a text was not kept, or is none.
pub fn hunks(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
) -> Result<StandingHunks, TakeBackError> {
    stays_in(roots, &change.path)?;
    let now = look(store, &change.path)?;
    if matches!(now.state, FileState::Link { .. }) {
        return Err(TakeBackError::Changed(change.path.clone()));
    }
    hunks_in(store, change, now.bytes)
}

/// The hunks of a change as they stand in this text of the file.
///
/// # Errors
/// When a text was not kept, or is none.
pub fn hunks_in(
    store: &Store,
    change: &Change,
    now: Vec<u8>,
) -> Result<StandingHunks, TakeBackError> {
    let (before, after) =
        kept::texts(store, change).ok_or_else(|| TakeBackError::Unknown(change.path.clone()))?;
    let texts = [before.bytes(), after.bytes(), &now];
    let is_link = |state: &FileState| matches!(state, FileState::Link { .. });
    let are_links = is_link(&change.before) || is_link(&change.after);
    if are_links || texts.iter().any(|it| it.contains(&0)) {
        return Err(TakeBackError::NotText(change.path.clone()));
    }
    Ok(StandingHunks::find(before, after, Text::new(now)))
}

/// This text of a file without the change: what becomes of a buffer that is not saved.
///
/// # Errors
/// When the same places were changed in it, or a text was not kept or is none.
pub fn out_of(store: &Store, change: &Change, text: Vec<u8>) -> Result<Vec<u8>, TakeBackError> {
    let is_file = |state: &FileState| matches!(state, FileState::File { .. });
    if !is_file(&change.before) || !is_file(&change.after) {
        return Err(TakeBackError::Unsaved(change.path.clone()));
    }
    let now = Now {
        state: FileState::File {
            mode: 0,
            size: text.len() as u64,
            text: None,
        },
        bytes: text,
    };
    let (_, bytes) = wanted(store, &change.path, &change.before, &change.after, &now)?;
    Ok(bytes)
}

/// Writes what a person made of a change: `text`, over what they have seen.
///
/// # Errors
/// When something else is there by now, or it cannot be written. Then it is as it was.
pub fn rewrite(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    seen: &Present,
    text: &[u8],
) -> Result<Done, TakeBackError> {
    stays_in(roots, &change.path)?;
    let now = look(store, &change.path)?;
    let mode = match (&now.state, &seen.now, &change.before) {
        (FileState::File { mode, .. }, Some(seen), _) if *seen == now.bytes => *mode,
        (FileState::Absent, None, FileState::File { mode, .. }) => *mode,
        _ => return Err(TakeBackError::Changed(change.path.clone())),
    };
    let state = file(store, mode, text)?;
    write(store, &change.path, now, state, text)
}

/// What stands at a path.
struct Now {
    state: FileState,
    /// Its text; empty where there is nothing.
    bytes: Vec<u8>,
}

fn put_back(
    store: &Store,
    roots: &[PathBuf],
    path: &Path,
    before: &FileState,
    after: &FileState,
) -> Result<Done, TakeBackError> {
    stays_in(roots, path)?;
    let now = look(store, path)?;
    let (state, bytes) = wanted(store, path, before, after, &now)?;
    write(store, path, now, state, &bytes)
}

/// A regular file with this text, which is kept.
fn file(store: &Store, mode: u32, text: &[u8]) -> Result<FileState, StoreError> {
    Ok(FileState::File {
        mode,
        size: text.len() as u64,
        text: Some(store.put(text)?),
    })
}

/// Puts something else in the place of what is there now.
fn write(
    store: &Store,
    path: &Path,
    now: Now,
    state: FileState,
    bytes: &[u8],
) -> Result<Done, TakeBackError> {
    if state != now.state {
        store.note_writing(path, &state)?;
        replace(path, &now, &state, bytes)?;
    }
    Ok(Done {
        overwritten: now.state,
        written: state,
    })
}

fn replace(path: &Path, now: &Now, state: &FileState, bytes: &[u8]) -> Result<(), TakeBackError> {
    match (&now.state, state) {
        (FileState::File { mode: former, .. }, FileState::File { mode, .. }) => {
            if bytes != now.bytes {
                put(path, Some(&now.bytes), bytes)?;
            }
            if mode != former {
                set_mode(path, *mode)?;
            }
        }
        (FileState::Absent, FileState::File { mode, .. }) => {
            put(path, None, bytes)?;
            set_mode(path, *mode)?;
        }
        (_, state) => exchange(path, now, state, bytes)?,
    }
    Ok(())
}

/// Writes a text in the place of this one, or where nothing is.
fn put(path: &Path, former: Option<&[u8]>, text: &[u8]) -> Result<(), SaveError> {
    let base = fingerprint::of(former);
    Original::look(path)?.replace(Some(&base), text, |_| {})
}

/// What is to be there, and its text.
fn wanted(
    store: &Store,
    path: &Path,
    before: &FileState,
    after: &FileState,
    now: &Now,
) -> Result<(FileState, Vec<u8>), TakeBackError> {
    let unknown = || TakeBackError::Unknown(path.to_owned());
    if !before.is_known() {
        return Err(unknown());
    }
    let text = |state: &FileState| match state.text() {
        Some(hash) => store.get(hash),
        None => Ok(Vec::new()),
    };
    if now.state == *before || now.state == *after {
        return Ok((before.clone(), text(before)?));
    }
    let (
        FileState::File { mode: old, .. },
        FileState::File { mode: new, .. },
        FileState::File { mode, .. },
    ) = (before, after, &now.state)
    else {
        return Err(TakeBackError::Changed(path.to_owned()));
    };
    if !after.is_known() {
        return Err(unknown());
    }
    let texts = [text(after)?, text(before)?, now.bytes.clone()];
    // Lines of what is no text mean nothing.
    if texts.iter().any(|it| it.contains(&0)) {
        return Err(TakeBackError::Changed(path.to_owned()));
    }
    let [after, before, ours] = texts.map(Text::new);
    let merged = merge::texts(&after, &before, &ours);
    if merged.conflicts > 0 {
        return Err(TakeBackError::Conflict {
            path: path.to_owned(),
            conflicts: merged.conflicts,
        });
    }
    let mode = if mode == new { *old } else { *mode };
    Ok((file(store, mode, &merged.text)?, merged.text))
}

/// Looks at a path, and keeps what is there.
fn look(store: &Store, path: &Path) -> Result<Now, TakeBackError> {
    let failed = |source| TakeBackError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    };
    let absent = Now {
        state: FileState::Absent,
        bytes: Vec::new(),
    };
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if is_absence(error.kind()) => return Ok(absent),
        Err(error) => return Err(failed(error)),
    };
    let Some(stat) = Stat::of(&metadata) else {
        return Err(TakeBackError::Changed(path.to_owned()));
    };
    if stat.is_link {
        let bytes = fs::read_link(path)
            .map_err(failed)?
            .into_os_string()
            .into_encoded_bytes();
        let text = Some(store.put(&bytes)?);
        let state = FileState::Link { text };
        return Ok(Now { state, bytes });
    }
    let bytes = regular_file::read(path, MAX_TEXT).map_err(failed)?;
    let state = file(store, stat.mode, &bytes)?;
    Ok(Now { state, bytes })
}

/// Replaces a link, or a file by nothing or by a link: what is there is put aside, compared once more, and removed only
/// when the other is there.
fn exchange(path: &Path, now: &Now, state: &FileState, bytes: &[u8]) -> Result<(), TakeBackError> {
    let failed = |action| {
        move |source| TakeBackError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    };
    let make = || match state {
        FileState::Absent => Ok(()),
        FileState::Link { .. } => symlink(bytes, path).map_err(failed("create")),
        FileState::File { mode, .. } => {
            put(path, None, bytes)?;
            set_mode(path, *mode)
        }
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    if now.state.is_absent() {
        fs::create_dir_all(folder).map_err(failed("create the folder of"))?;
        return make();
    }
    let aside = leftovers::unfinished(folder, None).map_err(failed("replace"))?;
    let aside = aside.into_temp_path();
    fs::rename(path, &aside).map_err(failed("replace"))?;
    let done = match now.is_at(&aside) {
        true => make(),
        false => Err(TakeBackError::Changed(path.to_owned())),
    };
    if done.is_err() {
        // Whatever has taken its place in this moment stays, and so does this.
        let kept = match path.symlink_metadata() {
            Ok(_) => aside.keep().map(drop).map_err(io::Error::from),
            Err(_) => fs::rename(&aside, path),
        };
        kept.map_err(failed("restore"))?;
    }
    done
}

impl Now {
    /// Returns true if the same is at this path, which is no place of its own.
    fn is_at(&self, path: &Path) -> bool {
        let found = match self.state {
            FileState::Absent => return false,
            FileState::Link { .. } => {
                fs::read_link(path).map(|it| it.into_os_string().into_encoded_bytes())
            }
            FileState::File { .. } => regular_file::read(path, MAX_TEXT),
        };
        found.is_ok_and(|found| found == self.bytes)
    }
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

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> Result<(), TakeBackError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|source| {
        TakeBackError::Io {
            action: "set the permissions of",
            path: path.to_owned(),
            source,
        }
    })
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> Result<(), TakeBackError> {
    Ok(())
}

/// Refuses a path of which a folder became a symbolic link: it would lead out of what was watched.
fn stays_in(roots: &[PathBuf], path: &Path) -> Result<(), TakeBackError> {
    let Some(root) = roots.iter().find(|root| path.starts_with(root)) else {
        return Ok(());
    };
    let folder = path.parent().unwrap_or(path);
    let inner = folder.strip_prefix(root).unwrap_or(Path::new(""));
    match real_path(root).join(inner) == real_path(folder) {
        true => Ok(()),
        false => Err(TakeBackError::Elsewhere(path.to_owned())),
    }
}
