//! A file that is opened once: what is compared is what is written, whatever takes its place meanwhile.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use pillion_discovery::regular_file;

/// The time for which a file is tried again that another program holds: Linux takes it away after 45 seconds.
const HELD_TIMEOUT: Duration = Duration::from_secs(60);

/// The file as it was compared, open to be written.
#[derive(Debug)]
pub struct Seen {
    file: File,
    pub metadata: Metadata,
    pub text: Vec<u8>,
}

impl Seen {
    /// Opens a regular file to read and to write it, and never one that a link leads to. None if it is
    /// not there.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        if is_something_else(path) {
            return Err(io::Error::other("it is not a regular file"));
        }
        let is_held = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        let opened = regular_file::while_held(HELD_TIMEOUT, is_held, || options().open(path));
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // What was looked at may be something else by now.
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Ok(Some(Self {
            file,
            metadata,
            text,
        }))
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Makes `content` the whole file.
    pub fn write(&mut self, content: &[u8]) -> io::Result<()> {
        write_whole(&mut self.file, content)
    }

    /// Makes it what it was.
    pub fn restore(&mut self) -> io::Result<()> {
        write_whole(&mut self.file, &self.text)
    }

    /// Returns true if the path names this very file, and its text is the same.
    pub fn is_still_at(&self, path: &Path) -> bool {
        self.is_at(path) && fs::read(path).is_ok_and(|text| text == self.text)
    }

    /// Returns true if the path still names this very file.
    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let id = |data: &Metadata| (data.dev(), data.ino());
        path.symlink_metadata()
            .is_ok_and(|now| id(&now) == id(&self.metadata))
    }

    /// There it is unknown.
    #[cfg(not(unix))]
    fn is_at(&self, path: &Path) -> bool {
        !is_something_else(path)
    }
}

/// The system waits neither for the other end of a pipe nor for a lease.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Returns true if there is a link, a folder, a pipe or a device.
pub fn is_something_else(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| !data.is_file())
}

/// Cut afterwards: what is overwritten keeps its room on a full disk until all of the new text is there.
fn write_whole(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}
