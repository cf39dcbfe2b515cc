//! Files that agents are about to write: looked at until they are written, so that Kakoune shows what is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use pillion_discovery::canonicalize;

/// An agent that has not written by then does not.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// How often it is looked.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The files.
#[derive(Debug, Default)]
pub struct Awaited {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    before: Option<Stamp>,
    until: Instant,
}

type Stamp = (u64, Option<SystemTime>);

impl Awaited {
    /// An agent is about to write it. Its name as Kakoune has it.
    pub fn add(&mut self, path: &Path, now: Instant) -> PathBuf {
        let path = canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.files.retain(|file| file.path != path);
        self.files.push(File {
            before: stamp(&path),
            path: path.clone(),
            until: now + WRITE_TIMEOUT,
        });
        path
    }

    /// Those that are written by now, and those that nobody waits for any more.
    pub fn look(&mut self, now: Instant) -> Vec<(PathBuf, bool)> {
        let mut done = Vec::new();
        self.files.retain(|file| {
            let is_written = stamp(&file.path) != file.before;
            if is_written || file.until <= now {
                done.push((file.path.clone(), is_written));
                return false;
            }
            true
        });
        done
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}
