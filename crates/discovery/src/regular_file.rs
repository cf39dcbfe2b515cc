//! Regular files, read without waiting for any program that has them open. Where a file is looked for,
//! in a shared folder too, anybody may have put a pipe. Links are followed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The time for which [`read`] tries a file that another program holds: Linux takes it away after 45 seconds.
const HELD_TIMEOUT: Duration = Duration::from_secs(60);

/// The interval between tries.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The metadata of the path, and the file opened to be read if it is a regular one: some devices do something
/// when they are opened.
///
/// # Errors
/// When the system refuses; [`ErrorKind::WouldBlock`] if another program holds a lease on it.
pub fn open_regular(path: &Path) -> io::Result<(Option<File>, Metadata)> {
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Ok((None, metadata));
    }
    let file = options().open(path)?;
    // What was looked at may be something else by now.
    let metadata = file.metadata()?;
    Ok((metadata.is_file().then_some(file), metadata))
}

/// Opens a regular file to read it.
///
/// # Errors
/// When it is anything else, and as [`open_regular`].
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let (file, metadata) = open_regular(path)?;
    let kind = match metadata.is_dir() {
        true => ErrorKind::IsADirectory,
        false => ErrorKind::InvalidInput,
    };
    let file = file.ok_or_else(|| io::Error::new(kind, "it is not a regular file"))?;
    Ok((file, metadata))
}

/// The content of a regular file of at most `limit` bytes. Blocking; waits for a program that holds it.
///
/// # Errors
/// When it is anything else, or cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let is_held = |error: &io::Error| error.kind() == ErrorKind::WouldBlock;
    let (file, _) = while_held(HELD_TIMEOUT, is_held, || open(path))?;
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    let size = file.take(limit + 1).read_to_end(&mut bytes)? as u64;
    if size > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is too long"));
    }
    Ok(bytes)
}

/// Tries again for so long what fails because another program holds a lease on a file: the system asks
/// that program to give it up. Blocking.
///
/// # Errors
/// The last one.
pub fn while_held<T, E>(
    limit: Duration,
    is_held: impl Fn(&E) -> bool,
    attempt: impl Fn() -> Result<T, E>,
) -> Result<T, E> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_held(&error) && started.elapsed() < limit => {
                thread::sleep(RETRY_INTERVAL);
            }
            done => return done,
        }
    }
}

/// The system waits neither for the writer of a pipe nor for a lease, and no terminal becomes ours.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(read(&path, 3).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"abc");
        assert_eq!(read(&path, 2).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |path: &Path| read(path, 3).unwrap_err().kind();
        assert_eq!(kind(folder.path()), ErrorKind::IsADirectory);
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(kind(&pipe), ErrorKind::InvalidInput);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert_eq!(kind(&link), ErrorKind::InvalidInput);
        // What is opened after the first look, as if the pipe had come in between.
        let opened = options().open(&pipe).unwrap();
        assert!(!opened.metadata().unwrap().is_file());
    }

    #[test]
    fn what_is_held_is_tried_until_it_is_free_or_time_is_up() {
        let attempts = std::cell::Cell::new(0);
        let attempt = |free_at| {
            attempts.set(attempts.get() + 1);
            match attempts.get() == free_at {
                true => Ok(()),
                false => Err("held"),
            }
        };
        let is_held = |error: &&str| *error == "held";
        assert_eq!(while_held(Duration::MAX, is_held, || attempt(3)), Ok(()));
        assert_eq!(attempts.get(), 3);
        assert_eq!(
            while_held(Duration::ZERO, is_held, || attempt(9)),
            Err("held")
        );
        assert_eq!(attempts.get(), 4);
        let missing = || Err::<(), _>("missing");
        assert_eq!(while_held(Duration::MAX, is_held, missing), Err("missing"));
    }
}
