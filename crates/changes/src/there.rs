//! What is at a path now, beside a state that is known of it.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_discovery::regular_file;

use crate::scan::Stat;
use crate::secrets::Secrets;
use crate::state::{FileState, Hash};
use crate::store::MAX_TEXT;

/// The current content of a regular file; none if there is no such file, or nothing that the store would keep.
pub fn now(path: &Path) -> Option<Vec<u8>> {
    let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
    is_file.then(|| regular_file::read(path, MAX_TEXT).ok())?
}

/// Returns true if a path is in this state. The file is read only if its size and permissions are the same.
pub(crate) fn is_at(state: &FileState, path: &Path) -> bool {
    let Ok(stat) = Stat::at(path) else {
        return false;
    };
    match (state, stat) {
        (FileState::Absent, None) => !path.exists(),
        (FileState::File { mode, size, text }, Some(stat)) if !stat.is_link => {
            let is_same = stat.mode == *mode && stat.size == *size;
            is_same && now(path).is_some_and(|now| text.as_ref() == Some(&Hash::of(&now)))
        }
        (FileState::Link { text }, Some(stat)) if stat.is_link => {
            let target = fs::read_link(path).map(|it| it.into_os_string().into_encoded_bytes());
            target.is_ok_and(|it| text.as_ref() == Some(&Hash::of(&it)))
        }
        _ => false,
    }
}

/// Returns true if what is not kept of this file may be a secret: then it is not read either.
pub(crate) fn is_secret(
    roots: &[PathBuf],
    path: &Path,
    before: &FileState,
    after: &FileState,
) -> bool {
    let root = roots.iter().find(|root| path.starts_with(root));
    let is_named = || root.is_some_and(|root| Secrets::of(root).has(path));
    !after.is_known() && before.text().is_none() && !is_at(before, path) && is_named()
}
