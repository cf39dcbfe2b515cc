//! The threads that wait for disks. One that hangs keeps its thread, and nobody else waits for it.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pillion_companion::{DiffId, OriginalError, Stamp};

use super::{Answer, Files, Found, fingerprint};

/// So many threads may hang while they check files. Then no file is checked any more.
const MAX_THREADS: usize = 16;

/// What is to be done with a file.
#[derive(Debug)]
pub struct Job {
    id: DiffId,
    number: u64,
    path: PathBuf,
    task: Task,
}

/// What to do.
#[derive(Debug)]
pub enum Task {
    /// Look whether it became another than this.
    Look(Option<Stamp>),
    /// Read it.
    Read,
}

/// The jobs that wait, and the threads that do them.
pub struct Queue<F> {
    files: F,
    done: Arc<dyn Fn(Answer) + Send + Sync>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    threads: usize,
}

impl Job {
    /// Of the file of a diff, as it was watched last.
    pub fn new(id: DiffId, number: u64, path: PathBuf, task: Task) -> Self {
        Self {
            id,
            number,
            path,
            task,
        }
    }

    /// May take forever.
    fn run(self, files: &impl Files) -> Answer {
        let found = match self.task {
            Task::Look(seen) => look(files, &self.path, seen),
            Task::Read => {
                let original = files.read(&self.path);
                Found::Read(original.map_err(|error| error.to_string()))
            }
        };
        Answer {
            id: self.id,
            number: self.number,
            found,
        }
    }
}

fn look(files: &impl Files, path: &std::path::Path, seen: Option<Stamp>) -> Found {
    let stamp = files.stamp(path);
    if stamp == seen {
        return Found::Nothing;
    }
    let text = match files.read(path) {
        Err(OriginalError::Busy(_)) => return Found::Nothing,
        original => original.ok().and_then(|original| original.text),
    };
    Found::Other(stamp, text.as_deref().map(fingerprint))
}

impl<F: Files> Queue<F> {
    /// Nothing is to be done yet.
    pub fn new(files: F, done: impl Fn(Answer) + Send + Sync + 'static) -> Self {
        Self {
            files,
            done: Arc::new(done),
            waiting: Arc::default(),
        }
    }

    /// Does these jobs, one after the other, on as many threads as hang and one more.
    pub fn run(&self, jobs: Vec<Job>) -> io::Result<()> {
        let mut waiting = lock(&self.waiting);
        waiting.jobs.extend(jobs);
        if waiting.jobs.is_empty() || waiting.threads >= MAX_THREADS {
            return Ok(());
        }
        waiting.threads += 1;
        drop(waiting);
        let (files, done) = (self.files.clone(), Arc::clone(&self.done));
        let waiting = Arc::clone(&self.waiting);
        thread::Builder::new()
            .name("files".to_owned())
            .spawn(move || {
                while let Some(job) = next(&waiting) {
                    done(job.run(&files));
                }
            })
            .map(drop)
    }

    /// Does a job on a thread of its own, because a caller waits for it.
    pub fn run_now(&self, job: Job) -> io::Result<()> {
        let (files, done) = (self.files.clone(), Arc::clone(&self.done));
        thread::Builder::new()
            .name("file".to_owned())
            .spawn(move || done(job.run(&files)))
            .map(drop)
    }
}

/// The next job; without one the thread is over.
fn next(waiting: &Mutex<Waiting>) -> Option<Job> {
    let mut waiting = lock(waiting);
    let job = waiting.jobs.pop_front();
    if job.is_none() {
        waiting.threads -= 1;
    }
    job
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
