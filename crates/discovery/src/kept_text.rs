//! Texts of a person's that would be lost otherwise, each in a private file in a folder of its own.
//! They are the person's from then on: nothing here removes them.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, iter};

use pillion_system::time_limit;

use crate::environment::Environment;
use crate::private_file::{FileError, Folder, random_name};

/// The time limit for the disk to keep a text. Then the person is shown that it is lost.
pub const KEEP_TIMEOUT: Duration = Duration::from_secs(2);

/// Puts a text that belongs to the file `path` into a private file below `base`, such as the
/// temporary directory. Answers the file.
///
/// # Errors
/// When it cannot be written.
pub fn keep(base: &Path, path: &Path, text: &str) -> Result<PathBuf, FileError> {
    let name = random_name::<6>("pillion-kept-")
        .map_err(|error| FileError::io("name a folder in", base, error))?;
    let folder = Folder::create(base, &[&name])?;
    let name = file_name(path);
    if let Err(error) = folder.write(&name, text.as_bytes()) {
        let _ = fs::remove_dir(folder.path());
        return Err(error);
    }
    Ok(folder.path().join(name))
}

/// The places where texts are kept, the best first: nothing private is put into the temporary directory of another user.
pub fn places(environment: &Environment) -> Vec<PathBuf> {
    let tmpdir = environment.tmpdir();
    iter::once(tmpdir).chain(environment.home()).collect()
}

/// As [`keep`], below the first of these directories that can be written to.
///
/// # Errors
/// When none can: why not the first.
pub fn keep_in(places: &[PathBuf], path: &Path, text: &str) -> Result<PathBuf, FileError> {
    let mut problem = None;
    for place in places {
        match keep(place, path, text) {
            Ok(file) => return Ok(file),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    let nowhere = || FileError::io("write to", Path::new(""), io::ErrorKind::NotFound);
    Err(problem.unwrap_or_else(nowhere))
}

/// As [`keep_in`], for a caller that waits for no disk: `then` gets the file on another thread, after
/// [`KEEP_TIMEOUT`] at the latest.
///
/// # Errors
/// When the system has no thread for it. Then `then` is dropped.
pub fn keep_aside(
    places: Vec<PathBuf>,
    path: PathBuf,
    text: String,
    then: impl FnOnce(Result<PathBuf, FileError>) + Send + 'static,
) -> io::Result<()> {
    let silent = silent(places.first().map_or(Path::new(""), PathBuf::as_path));
    let keep = move || keep_in(&places, &path, &text);
    time_limit::start(KEEP_TIMEOUT, keep, move |kept| {
        then(kept.unwrap_or(Err(silent)));
    })
}

/// Why a text is not kept if the disk of `base` does not answer.
pub fn silent(base: &Path) -> FileError {
    FileError::io("write to", base, io::ErrorKind::TimedOut)
}

/// The name of a copy: that of the file, so that editors know its language. Names that tools read
/// as their own settings (`.exrc`, `.dir-locals.el`) get something in front.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = !name.is_empty()
        && name.len() <= 200
        && name
            .chars()
            .all(|char| char.is_alphanumeric() || "._-+ ()[]{}@,=~".contains(char));
    if !is_plain {
        return "proposal.txt".to_owned();
    }
    if name.starts_with(['.', '-', '_']) {
        return format!("proposal{name}");
    }
    name.into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_text_has_a_private_file_of_its_own() {
        let base = tempfile::tempdir().unwrap();
        let keep = |text| keep(base.path(), Path::new("/w/a.rs"), text).unwrap();
        let (one, two) = (keep("one\r\n"), keep("two"));
        assert_eq!(fs::read_to_string(&one).unwrap(), "one\r\n");
        assert_eq!(fs::read_to_string(&two).unwrap(), "two");
        assert_eq!(one.file_name(), Some("a.rs".as_ref()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&one), 0o600);
            assert_eq!(mode(one.parent().unwrap()), 0o700);
        }
    }

    #[test]
    fn no_name_is_one_that_a_tool_reads_by_itself() {
        for (path, expected) in [
            ("/w/a b.rs", "a b.rs"),
            ("/w/.exrc", "proposal.exrc"),
            ("/w/-x", "proposal-x"),
            ("/w/a\u{1b}[m", "proposal.txt"),
            ("/", "proposal.txt"),
        ] {
            assert_eq!(file_name(Path::new(path)), expected);
        }
    }
}
