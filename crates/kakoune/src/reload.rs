//! Files that agents are about to write: polled until they are written, so that Kakoune shows what is there.
//! Each on a thread of its own, since its disk may hang.
//!
//! An agent gets its acceptance once the file was checked, or five seconds later, so that its writing is noticed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::Sender;
use pillion_discovery::canonicalize;
use pillion_system::{spawn, time_limit};
use pillion_view::ProposalKey;

use crate::disk::{CHECK_TIMEOUT, Done};

/// An agent that has not written by then does not.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The interval between checks.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

type Stamp = (u64, Option<SystemTime>);

/// Checks the target of a decision, for [`Done::Checked`], and from then on until it is written, for
/// [`Done::Followed`].
///
/// # Errors
/// When there is no thread.
pub fn follow(key: ProposalKey, path: PathBuf, done: Sender<Done>) -> io::Result<()> {
    let run = move || {
        let check = move || {
            let path = canonicalize(&path).unwrap_or(path);
            (stamp(&path), path)
        };
        let checked = time_limit::run(CHECK_TIMEOUT, check);
        let path = checked.as_ref().map(|(_, path)| path.clone());
        let _ = done.send(Done::Checked { key, path });
        if let Some((before, path)) = checked {
            let file = path.clone();
            let limit = WRITE_TIMEOUT + CHECK_TIMEOUT;
            let written = time_limit::run(limit, move || is_written(&file, before));
            let _ = done.send(Done::Followed {
                key,
                path,
                is_written: written == Some(true),
            });
        }
    };
    spawn("follow", run)
}

/// Returns true if it becomes another. Waits for that.
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
