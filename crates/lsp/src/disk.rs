//! Whatever waits for a disk, on threads of its own: the files of proposals, the real paths of
//! workspace folders, the program that opens a file. What comes of it is one more thing that
//! happens to the loop, which never waits.

mod launch;
mod proposal_dir;
mod queue;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use crossbeam_channel::Sender;
use gen_lsp_types::Diagnostic;
use lsp_server::Message;
use pillion_companion::{Companion, ProposalKey};
use pillion_system::Worker;

use self::proposal_dir::ProposalFile;
use self::queue::Queue;
use crate::link;
use crate::roots::{FoldersChanged, Roots};

pub use proposal_dir::ProposalDir;

/// How long reading a file may take. After that, the caller gets an error.
pub const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the files of proposals may take to be removed at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// Something to do with the file of a proposal.
#[derive(Debug, PartialEq, Eq)]
pub enum Job {
    /// Write it, for the file `path`.
    Write {
        key: ProposalKey,
        path: PathBuf,
        text: Arc<str>,
    },
    /// Read what was saved in it.
    Read { key: ProposalKey, number: u64 },
    /// Remove it, its folder, and what an editor put beside it.
    Remove { key: ProposalKey },
    /// Have a program open it.
    Launch {
        key: ProposalKey,
        program: String,
        file: PathBuf,
    },
}

/// What came of work on another thread.
#[derive(Debug)]
pub enum Done {
    /// Where the file is, or why there is none.
    Written {
        key: ProposalKey,
        file: Result<PathBuf, String>,
    },
    /// What is in it; nothing if it was removed.
    Read {
        number: u64,
        saved: Result<Option<Vec<u8>>, String>,
    },
    /// The program was started, or why not.
    Launched {
        key: ProposalKey,
        result: Result<(), String>,
    },
    /// Where the hunks of a proposal are, in this comparison, and how long that took to find out.
    Compared {
        number: u64,
        diagnostics: Vec<Diagnostic>,
        cost: Duration,
    },
    /// The companion runs, or why it cannot.
    Started(Result<Companion, String>),
    /// The workspace roots changed, with messages about them.
    Roots {
        paths: Vec<PathBuf>,
        notes: Vec<Message>,
    },
}

/// The thread that owns the files of proposals, and does one job after the other. Dropping it
/// removes them, as far as the disk answers.
#[derive(Debug)]
pub struct ProposalFiles {
    queue: Arc<Queue>,
    done: Sender<Done>,
}

impl ProposalFiles {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(
        dir: ProposalDir,
        done: Sender<Done>,
        inputs: Sender<link::Input>,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let worker = queue.worker();
        let files = Self {
            queue: Arc::clone(&queue),
            done: done.clone(),
        };
        let run = move || {
            let mut store = Store {
                dir,
                open: HashMap::new(),
                inputs: Some(inputs),
            };
            while let Some(job) = queue.next() {
                if let Some(result) = store.perform(job) {
                    let _ = done.send(result);
                }
            }
            drop(store);
            drop(worker);
        };
        let thread = thread::Builder::new().name("proposals".to_owned());
        thread.spawn(run)?;
        Ok(files)
    }

    /// Has something done, after everything that was ordered before.
    pub fn order(&self, job: Job) {
        match job {
            Job::Launch { key, program, file } => {
                let done = self.done.clone();
                launch::open(program, file, move |result| {
                    let _ = done.send(Done::Launched { key, result });
                });
            }
            job => self.queue.push(job),
        }
    }
}

impl Drop for ProposalFiles {
    fn drop(&mut self) {
        self.queue.close();
        if !self.queue.wait_done(REMOVE_TIMEOUT) {
            tracing::warn!("proposals were not removed: their disk does not respond");
        }
    }
}

/// What the thread of the proposals owns.
struct Store {
    dir: ProposalDir,
    open: HashMap<ProposalKey, ProposalFile>,
    /// Where other editors that open a proposal send their messages, until something listens.
    inputs: Option<Sender<link::Input>>,
}

impl Store {
    fn write(&mut self, key: ProposalKey, path: &Path, text: &str) -> Result<PathBuf, String> {
        let ProposalKey { id, revision } = key;
        match self.dir.put(&format!("{id}-{revision}"), path, text) {
            Ok(file) => {
                let path = file.path().to_owned();
                self.open.insert(key, file);
                self.listen();
                Ok(path)
            }
            Err(error) => {
                tracing::warn!(?error, "cannot write the proposal");
                Err(format!("{error}. Hint: {}.", error.hint()))
            }
        }
    }

    /// From the first proposal on. Without it, proposals can be decided in this editor only.
    fn listen(&mut self) {
        if let (Some(inputs), Some(folder)) = (&self.inputs, self.dir.own_folder()) {
            match link::listen(&folder, inputs.clone()) {
                Ok(()) => self.inputs = None,
                Err(why) => tracing::warn!(why, "other editors cannot connect"),
            }
        }
    }

    fn perform(&mut self, job: Job) -> Option<Done> {
        match job {
            Job::Write { key, path, text } => {
                let file = self.write(key, &path, &text);
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
            // Not for this thread: a program may take long to start.
            Job::Launch { .. } => None,
        }
    }
}

/// Has changes of the workspace folders worked out on a thread, one after the other.
///
/// # Errors
/// When the system has no thread for it.
pub fn follow_roots(mut roots: Roots, done: Sender<Done>) -> io::Result<Worker<FoldersChanged>> {
    Worker::start("roots", Duration::ZERO, move |change: FoldersChanged| {
        roots.change(&change);
        let (paths, notes) = (roots.paths(), roots.take_notes());
        let _ = done.send(Done::Roots { paths, notes });
    })
}

/// Whether a path is that of a proposal: of now, of before, or of another process.
pub fn is_below(folders: &[PathBuf], path: &Path) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}
