//! The private folders of this user's companions ([`Environment::state_dirs`]): opened, created, and written to.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::private_file::{FileError, Folder};

/// A state directory as a folder of ours below a base that is the system's.
pub(crate) fn split(directory: &Path) -> Option<(&Path, &str)> {
    Some((directory.parent()?, directory.file_name()?.to_str()?))
}

/// A state directory, if it is there and ours.
pub(crate) fn open(directory: &Path) -> Option<Folder> {
    let (base, part) = split(directory)?;
    Folder::open(base, &[part]).ok()?
}

/// What keeps all state directories from being used; none if one is ours, or can be made.
pub fn obstacle(environment: &Environment) -> Option<FileError> {
    let mut obstacle = None;
    for directory in environment.state_dirs() {
        let (base, part) = split(&directory)?;
        obstacle = Some(Folder::open(base, &[part]).err()?);
    }
    obstacle
}

/// A state directory, which is created if it is missing.
pub(crate) fn create(directory: &Path) -> Result<Folder, FileError> {
    let Some((base, part)) = split(directory) else {
        return Err(FileError::NotAFolder(directory.to_owned()));
    };
    Folder::create(base, &[part])
}

/// Does something in the first state directory that can be used for it, and returns what came of that.
///
/// # Errors
/// When none can; this is what was wrong with the last.
pub(crate) fn first_usable<T>(
    environment: &Environment,
    mut work: impl FnMut(&Path) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let mut done = Err(FileError::NotAFolder(PathBuf::new()));
    for directory in environment.state_dirs() {
        done = work(&directory);
        if done.is_ok() {
            break;
        }
    }
    done
}

/// Writes a file into a state directory.
pub(crate) fn write(directory: &Path, name: &str, content: &[u8]) -> Result<(), FileError> {
    create(directory)?.write(name, content)
}
