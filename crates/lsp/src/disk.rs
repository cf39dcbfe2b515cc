//! Whatever waits for a disk, on threads of its own: the files of proposals, the real paths of
//! workspace folders, the program that opens a file. Each result is one more thing that
//! happens to the loop, which never waits.
//!
//! One thread owns the files of proposals and does one job after the other; another resolves workspace folders.

pub mod proposal_dir;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crossbeam_channel::Sender;
use lsp_server::{Message, RequestId};
use pillion_discovery::process_dir::ProcessDir;
use pillion_system::{Worker, lock, spawn};
use pillion_view::changes::{ActDone, ChangesList};
use pillion_view::{Attached, Diff, DiffId, ProposalKey, Proposed, Ruling};

use self::proposal_dir::ProposalFile;
use crate::message::Diagnostic;
use crate::roots::{Change, Roots};

/// The time limit for reading a file. After that, the caller gets an error.
pub const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for removing the files of proposals at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// Something to do with the file of a proposal.
#[derive(Debug)]
pub enum Job {
    /// Write it, unless the proposal is gone: its text would wait here for as long as a disk hangs.
    Write(Weak<Diff>),
    /// Read what was saved in it.
    Read { key: ProposalKey, number: u64 },
    /// Remove it, its folder, and what an editor put beside it.
    Remove { key: ProposalKey },
}

/// The content that was saved in the file of a proposal; nothing if it was removed.
pub type Saved = Result<Option<Vec<u8>>, String>;

/// The result of work on another thread.
#[derive(Debug)]
pub enum Done {
    /// The path of the file, or why there is none.
    Written {
        key: ProposalKey,
        file: Result<PathBuf, String>,
    },
    Read {
        number: u64,
        saved: Saved,
    },
    /// The program was started, or why not.
    Launched {
        key: ProposalKey,
        result: Result<(), String>,
    },
    /// The places of a proposal's hunks, in this comparison, and the time that it took to find them.
    Compared {
        number: u64,
        diagnostics: Vec<Diagnostic>,
        cost: Duration,
    },
    Ruled {
        key: ProposalKey,
        ruling: Ruling,
    },
    /// The changes that agents have written.
    Listed(ChangesList),
    /// The outcome of the person's action on them, for this request.
    Acted {
        request: Option<RequestId>,
        done: ActDone,
    },
    /// The companion runs, or why it cannot.
    Started(Result<Attached, String>),
    /// A guest has joined the view that shows its proposal, or why not.
    Joined {
        id: DiffId,
        joined: Result<Joined, String>,
    },
    /// The workspace roots, with messages about them.
    Roots {
        paths: Vec<PathBuf>,
        /// The folder in which an agent starts.
        start: Option<PathBuf>,
        notes: Vec<Message>,
        /// The client's requests that waited for them.
        requests: Vec<RequestId>,
    },
}

/// A guest that is attached.
#[derive(Debug)]
pub struct Joined {
    pub attached: Attached,
    /// True if the proposal is shown in the person's editor for that other view: closing it there rejects.
    pub is_for_host: bool,
}

/// Starts the thread that owns the files of proposals. Dropping it removes them, as far as the disk answers.
pub fn start(dir: ProcessDir, done: Sender<Done>) -> io::Result<Worker<Job>> {
    let mut store = Store {
        dir,
        open: HashMap::new(),
    };
    Worker::start("proposals", REMOVE_TIMEOUT, move |job| {
        if let Some(result) = store.perform(job) {
            let _ = done.send(result);
        }
    })
}

/// The state of the thread of the proposals.
struct Store {
    dir: ProcessDir,
    open: HashMap<ProposalKey, ProposalFile>,
}

impl Store {
    fn write(&mut self, diff: &Diff) -> Result<PathBuf, String> {
        match ProposalFile::put(&self.dir, diff) {
            Ok(file) => {
                let path = file.path().to_owned();
                self.open.insert(diff.key(), file);
                Ok(path)
            }
            Err(error) => {
                tracing::warn!(?error, "cannot write the proposal");
                Err(format!("{error}. Hint: {}.", error.hint()))
            }
        }
    }

    fn perform(&mut self, job: Job) -> Option<Done> {
        match job {
            Job::Write(diff) => {
                let diff = diff.upgrade()?;
                let (key, file) = (diff.key(), self.write(&diff));
                Some(Done::Written { key, file })
            }
            Job::Read { key, number } => {
                let saved = self.open.get(&key).map_or(Ok(None), ProposalFile::read);
                let saved = saved.map_err(|error| error.to_string());
                Some(Done::Read { number, saved })
            }
            Job::Remove { key } => {
                self.open.remove(&key);
                None
            }
        }
    }
}

/// The changes of the workspace, which a thread works out one after the other. Dropping it waits for none.
pub struct RootChanges {
    waiting: Arc<Mutex<VecDeque<Change>>>,
    worker: Worker<()>,
}

impl RootChanges {
    pub fn follow(mut roots: Roots, done: Sender<Done>) -> io::Result<Self> {
        let waiting = Arc::new(Mutex::new(VecDeque::new()));
        let changes = Arc::clone(&waiting);
        let worker = Worker::start("roots", Duration::ZERO, move |()| {
            let next = lock(&changes).pop_front();
            let Some(change) = next else { return };
            roots.change(&change);
            let requests = match change {
                Change::Workspace { requests, .. } => requests,
                Change::Folders(_) => Vec::new(),
            };
            let _ = done.send(Done::Roots {
                paths: roots.paths(),
                start: roots.start(),
                notes: roots.take_notes(),
                requests,
            });
        })?;
        Ok(Self { waiting, worker })
    }

    /// Has one worked out after those that were ordered before. Never waits.
    pub fn order(&self, change: Change) {
        if change.join(&mut lock(&self.waiting)) {
            self.worker.order(());
        }
    }
}

/// Starts `program` with the file of a proposal as its one argument, on a thread: it may take long; Kate is told the line
/// from 0, too. No shell reads any of it. For [`Done::Launched`].
pub fn launch(
    key: ProposalKey,
    program: String,
    file: PathBuf,
    line: Option<u32>,
    done: Sender<Done>,
) {
    let report = move |result| drop(done.send(Done::Launched { key, result }));
    let failed = report.clone();
    let why = format!("cannot start {program:?}");
    let reason = why.clone();
    let run = move || match start_program(&program, file, line) {
        Ok(child) => {
            report(Ok(()));
            reap(child);
        }
        Err(error) => report(Err(format!("{reason}: {error}"))),
    };
    if let Err(error) = spawn("open-with", run) {
        failed(Err(format!("{why}: {error}")));
    }
}

fn start_program(program: &str, file: PathBuf, line: Option<u32>) -> io::Result<Child> {
    let is_kate = Path::new(program).file_name() == Some("kate".as_ref());
    let line = line.filter(|_| is_kate).map(|it| (it + 1).to_string());
    Command::new(program)
        .args(line.iter().flat_map(|line| ["-l", line]))
        .arg(file)
        // Standard output is the editor's.
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn reap(mut child: Child) {
    match child.wait() {
        Ok(status) if !status.success() => {
            tracing::warn!(%status, "the program that opens files failed");
        }
        Ok(status) => tracing::debug!(%status, "the program that opens files ended"),
        Err(error) => tracing::debug!(%error, "lost track of the program that opens files"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pillion_discovery::Environment;
    use pillion_protocol::Dialect;
    use pillion_view::Original;

    use super::*;

    fn diff(id: u64) -> Arc<Diff> {
        Arc::new(Diff {
            id: DiffId(id),
            revision: 1,
            proposer: Dialect::GeminiCli.into(),
            number: 1,
            path: "/w/a".into(),
            original: Original::default(),
            proposed: "text".to_owned().into(),
            notes: Vec::new(),
            hunks: Vec::new(),
            set: None,
            deletes: false,
            original_is_other: false,
            written: None,
            is_unclear: false,
            is_of_subagent: false,
            runner: None,
            mode: None,
        })
    }

    #[test]
    fn a_proposal_that_is_gone_before_it_was_written_never_is() {
        let home = tempfile::tempdir().unwrap();
        let pairs = [("XDG_RUNTIME_DIR", home.path()), ("TMPDIR", home.path())];
        let mut store = Store {
            dir: proposal_dir::open(&Environment::from_pairs(pairs)),
            open: HashMap::new(),
        };
        let mut write = |diff: Weak<Diff>| store.perform(Job::Write(diff));
        let (gone, pending) = (Arc::downgrade(&diff(1)), diff(2));
        assert!(gone.upgrade().is_none(), "its text waits for no disk");
        assert!(write(gone).is_none());
        let written = write(Arc::downgrade(&pending));
        assert!(matches!(written, Some(Done::Written { file: Ok(_), .. })));
        assert_eq!(store.open.len(), 1);
    }
}
