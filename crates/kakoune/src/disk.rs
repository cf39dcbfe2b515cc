//! Whatever waits for a disk or for another program, on threads of its own: the files that Kakoune reads, the
//! roots, the targets of decisions, the texts that are kept. Each result is one more thing that happens to
//! the loop, which never waits.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io, thread};

use crossbeam_channel::{Sender, bounded};
use pillion_discovery::workspace::Workspace;
use pillion_discovery::{FileError, canonicalize};
use pillion_system::{Worker, spawn, time_limit};
use pillion_text::merge::Merged;
use pillion_view::changes::{ActDone, ChangesList};
use pillion_view::{Diff, DiffId, FileChange, ProposalKey, Proposed, Ruling};

use crate::files::Files;
use crate::form::Form;
use crate::inbox::Taking;
use crate::removed::Removed;

/// The time limit for a check of a file. After that, it is no longer waited for.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for removing the private folder at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// Something to do with the private folder.
#[derive(Debug)]
pub enum Job {
    /// Compare the texts of a proposal, and write down what Kakoune is to show, unless the proposal is gone.
    Write(Weak<Diff>),
    /// Write down what the buffer of a proposal is to hold, as they want it in this client.
    WriteText {
        key: ProposalKey,
        held: String,
        client: String,
        /// What they are told once it stands in the buffer.
        said: String,
    },
    /// Merge this text of a proposal with the file on disk.
    Merge {
        diff: Arc<Diff>,
        text: String,
        client: String,
    },
    /// Write down what a buffer is to hold out of which something is taken.
    WriteTaken {
        taking: Box<Taking>,
        held: String,
    },
    Remove(DiffId),
    /// Write down what `:pillion-status` shows.
    Status(String),
}

/// The result of a job, or of work on another thread.
#[derive(Debug)]
pub enum Done {
    /// The path of a proposal's text and the lines that it takes away, or why it cannot be shown.
    Written {
        key: ProposalKey,
        result: Result<(PathBuf, Removed), FileError>,
    },
    /// That text is there, or why not.
    TextWritten {
        key: ProposalKey,
        client: String,
        said: String,
        result: Result<(), FileError>,
    },
    /// What comes of a proposal and its file, or why nothing does.
    Merged {
        key: ProposalKey,
        client: String,
        result: Result<(FileChange, Merged), String>,
    },
    /// Kakoune was told that a file may be written in which the person takes something back.
    Awaiting(Box<Taking>),
    /// The outcome of that.
    Taken(Box<Taking>, ActDone),
    /// The outcome of what was decided about changes, for the person in this client.
    Acted(String, ActDone),
    /// The new text of its buffer is written down, or not.
    TakenWritten(Box<Taking>, Result<(), FileError>),
    /// What agents have written.
    Listed(ChangesList),
    Roots(Vec<PathBuf>),
    /// The target of an accepted proposal was checked, to be followed: its name as Kakoune has it. Nothing, if its
    /// disk gave no answer.
    Checked {
        key: ProposalKey,
        path: Option<PathBuf>,
    },
    /// Kakoune was told that the agent is about to write the target.
    Awaited(DiffId),
    /// The gate has ruled about what the person decided.
    Ruled {
        key: ProposalKey,
        ruling: Ruling,
    },
    /// It was written, or will not be.
    Followed {
        key: ProposalKey,
        path: PathBuf,
        is_written: bool,
    },
    Kept(Kept),
    /// A pane for this client is there now, or not.
    Split {
        client: String,
        is_open: bool,
    },
    /// The session is there no more.
    Gone,
}

/// A text of the person's, which is not lost with its view.
#[derive(Debug)]
pub struct Kept {
    /// The path of the text, or why it is lost.
    pub result: Result<PathBuf, FileError>,
    /// The fate of the view, as the beginning of a sentence.
    pub why: String,
    pub client: String,
}

/// Starts the thread that owns the private folder. Dropping it removes the folder, as far as the disk answers.
pub fn start(files: Files, done: Sender<Done>) -> io::Result<Worker<Job>> {
    Worker::start("files", REMOVE_TIMEOUT, move |job| {
        if let Some(result) = perform(&files, job) {
            let _ = done.send(result);
        }
    })
}

fn perform(files: &Files, job: Job) -> Option<Done> {
    match job {
        Job::Write(diff) => {
            let diff = diff.upgrade()?;
            let (_, held) = Form::of(&diff.proposed);
            let removed = Removed::between(diff.original.text.as_deref(), &held);
            let file = files.put(&diff, &held, &removed);
            let (key, result) = (diff.key(), file.map(|file| (file, removed)));
            return Some(Done::Written { key, result });
        }
        Job::WriteText {
            key,
            held,
            client,
            said,
        } => {
            let result = files.put_kept(key, &held);
            return Some(Done::TextWritten {
                key,
                client,
                said,
                result,
            });
        }
        Job::Merge { diff, text, client } => {
            let before = diff.original.text.as_deref().unwrap_or_default();
            let result = FileChange::merge(&diff.path, before, &text);
            let key = diff.key();
            return Some(Done::Merged {
                key,
                client,
                result,
            });
        }
        Job::WriteTaken { taking, held } => {
            let result = files.put_taken(taking.number, &held);
            return Some(Done::TakenWritten(taking, result));
        }
        Job::Remove(id) => files.remove(id),
        Job::Status(text) => files.put_status(&text),
    }
    None
}

/// The facts that the roots depend on.
#[derive(Debug)]
pub struct RootsRequest {
    /// The process of the server, and the folder that it reported.
    pub server: u32,
    pub folder: String,
    pub files: Vec<PathBuf>,
}

impl RootsRequest {
    /// The folder in which Kakoune works: `:cd` runs no hook in every version.
    fn working_folder(&self) -> PathBuf {
        let current = fs::read_link(format!("/proc/{}/cwd", self.server));
        current.unwrap_or_else(|_| self.folder.clone().into())
    }
}

/// Has the roots worked out on a thread, for [`Done::Roots`]. While it waits for a disk it takes no more requests:
/// they are repeated.
pub fn follow_roots(home: Option<PathBuf>, done: Sender<Done>) -> io::Result<Sender<RootsRequest>> {
    let (requests, received) = bounded::<RootsRequest>(1);
    let run = move || {
        for request in received {
            let workspace = Workspace {
                folders: vec![request.working_folder()],
                projects: Vec::new(),
                files: request.files,
                is_chosen: false,
            };
            let roots = workspace.roots(home.as_deref()).paths;
            if done.send(Done::Roots(roots)).is_err() {
                return;
            }
        }
    };
    spawn("roots", run)?;
    Ok(requests)
}

/// An agent that has not written by then does not.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The interval between checks. What is the same in two of them is written.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A file that is empty for so long is to be: agents empty it before they write it.
const EMPTY_FOR: Duration = Duration::from_secs(2);

type Stamp = (u64, Option<SystemTime>);

/// Checks the target of a decision, for [`Done::Checked`], and from then on until it is written, for
/// [`Done::Followed`].
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

/// Returns true if the file becomes another one. Waits for that.
fn is_written(path: &Path, before: Option<Stamp>) -> bool {
    let mut follows = Follows::new(before, Instant::now());
    let until = follows.since + WRITE_TIMEOUT;
    while Instant::now() < until {
        if follows.is_written(stamp(path), Instant::now()) {
            return true;
        }
        thread::sleep(POLL_INTERVAL);
    }
    follows.last != before
}

/// A file that is about to be written. Of one that is read half written, Kakoune asks about the rest.
struct Follows {
    before: Option<Stamp>,
    last: Option<Stamp>,
    since: Instant,
}

impl Follows {
    fn new(before: Option<Stamp>, now: Instant) -> Self {
        let (last, since) = (before, now);
        Self {
            before,
            last,
            since,
        }
    }

    /// Returns true if it is another one, and stays so.
    fn is_written(&mut self, found: Option<Stamp>, now: Instant) -> bool {
        if found != self.last {
            (self.last, self.since) = (found, now);
        }
        let stays = match found {
            Some((0, _)) => EMPTY_FOR,
            _ => POLL_INTERVAL,
        };
        found != self.before && now >= self.since + stays
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emptied_and_written_bit_by_bit_is_not_read_before_it_stays() {
        let start = Instant::now();
        let file = |length| Some((length, None));
        for looks in [
            &[(9, false), (0, false), (0, false), (7, false), (7, true)][..],
            &[(9, false), (3, false), (7, false), (7, true)],
            &[(9, false), (9, false), (9, false)],
        ] {
            let mut follows = Follows::new(file(9), start);
            for (at, (length, expected)) in looks.iter().enumerate() {
                let now = start + POLL_INTERVAL * u32::try_from(at).unwrap();
                let is_written = follows.is_written(file(*length), now);
                assert_eq!(is_written, *expected, "look {at} of {looks:?}");
            }
        }
        let mut follows = Follows::new(file(9), start);
        assert!(!follows.is_written(file(0), start));
        assert!(
            follows.is_written(file(0), start + EMPTY_FOR),
            "it is to be empty"
        );
        assert!(!follows.is_written(None, start + EMPTY_FOR));
        assert!(follows.is_written(None, start + EMPTY_FOR + POLL_INTERVAL));
    }
}
