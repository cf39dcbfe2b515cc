//! The threads that wait for disks. One that hangs keeps its thread, and nobody else waits for it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pillion_system::spawn;

/// So many threads may hang while they check files. Then no file is checked any more.
const MAX_THREADS: usize = 16;

/// What is to be done with a file. May take forever.
pub type Job = Box<dyn FnOnce() + Send>;

/// The jobs that wait, and the threads that do them.
#[derive(Clone, Default)]
pub struct Queue {
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    threads: usize,
}

impl Queue {
    /// Does these jobs, one after the other, on as many threads as hang and one more.
    pub fn run(&self, jobs: impl IntoIterator<Item = Job>) -> io::Result<()> {
        let mut waiting = self.lock();
        waiting.jobs.extend(jobs);
        if waiting.jobs.is_empty() || waiting.threads >= MAX_THREADS {
            return Ok(());
        }
        waiting.threads += 1;
        drop(waiting);
        let queue = self.clone();
        spawn("files", move || {
            while let Some(job) = queue.next() {
                job();
            }
        })
    }

    /// The next job; without one the thread is over.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.lock();
        let job = waiting.jobs.pop_front();
        if job.is_none() {
            waiting.threads -= 1;
        }
        job
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
