//! Pipes that are full, because they are not read: a writer waits.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};

/// A named pipe that nobody reads. It takes writes until it is full.
#[derive(Debug)]
pub struct UnreadPipe {
    path: PathBuf,
    /// Both ends: without a reader, opening it for writing would wait.
    _ends: File,
}

impl UnreadPipe {
    /// Creates one at `path`.
    pub fn create(path: PathBuf) -> Self {
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a pipe can be made");
        let ends = File::options().read(true).write(true).open(&path);
        let ends = ends.expect("it can be opened");
        Self { path, _ends: ends }
    }

    /// The path of the pipe.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes into a pipe until it takes no more.
pub fn fill_pipe(pipe: &Path) {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of the system");
    let pipe = File::options()
        .write(true)
        .custom_flags(nonblocking)
        .open(pipe);
    let mut pipe = pipe.expect("it can be opened");
    for size in [4096, 1] {
        while pipe.write(&vec![b'\n'; size]).is_ok() {}
    }
}
