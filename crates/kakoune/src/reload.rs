//! Files that agents are about to write: polled until they are written, so that Kakoune shows what is there.
//! Each on a thread of its own, since its disk may hang.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::Sender;
use pillion_companion::DiffId;
use pillion_discovery::canonicalize;
use pillion_system::{spawn, time_limit};

use crate::disk::{CHECK_TIMEOUT, Done};

/// An agent that has not written by then does not.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// How often they are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The files that are followed, each under the number of the last decision about it.
#[derive(Debug, Default)]
pub struct Followed {
    files: HashMap<PathBuf, u64>,
}

type Stamp = (u64, Option<SystemTime>);

impl Followed {
    /// It was checked before it is written.
    pub fn add(&mut self, path: PathBuf, number: u64) {
        self.files.insert(path, number);
    }

    /// It is over. Whether that file is no longer followed.
    pub fn end(&mut self, path: &Path, number: u64) -> bool {
        let is_last = self.files.get(path) == Some(&number);
        if is_last {
            self.files.remove(path);
        }
        is_last
    }
}

/// Checks the target of a decision, for [`Done::Checked`], and from then on until it is written, for
/// [`Done::Followed`].
///
/// # Errors
/// When there is no thread.
pub fn follow(id: DiffId, number: u64, path: PathBuf, done: Sender<Done>) -> io::Result<()> {
    let run = move || {
        let check = move || {
            let path = canonicalize(&path).unwrap_or(path);
            (stamp(&path), path)
        };
        let checked = time_limit::run(CHECK_TIMEOUT, check);
        let path = checked.as_ref().map(|(_, path)| path.clone());
        let _ = done.send(Done::Checked { id, number, path });
        if let Some((before, path)) = checked {
            let file = path.clone();
            let limit = WRITE_TIMEOUT + CHECK_TIMEOUT;
            let written = time_limit::run(limit, move || is_written(&file, before));
            let _ = done.send(Done::Followed {
                number,
                path,
                is_written: written == Some(true),
            });
        }
    };
    spawn("follow", run)
}

/// Whether it becomes another. Waits for that.
fn is_written(path: &Path, before: Option<Stamp>) -> bool {
    let until = Instant::now() + WRITE_TIMEOUT;
    while Instant::now() < until {
        if stamp(path) != before {
            return true;
        }
        thread::sleep(POLL_INTERVAL);
    }
    false
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}
