//! The threads that wait for disks. One that hangs keeps its thread, and nobody else waits for it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use pillion_system::{lock, spawn};

/// So many threads may hang while they check files. Then no file is checked any more.
const MAX_THREADS: usize = 16;

/// Work on a file. May take forever.
pub type Job = Box<dyn FnOnce() + Send>;

/// The jobs that wait. Every thread that does them holds this, too.
#[derive(Clone, Default)]
pub struct Queue {
    waiting: Arc<Mutex<VecDeque<Job>>>,
}

impl Queue {
    /// Does these jobs, one after the other, on as many threads as hang and one more.
    pub fn run(&self, jobs: impl IntoIterator<Item = Job>) -> io::Result<()> {
        let mut waiting = lock(&self.waiting);
        waiting.extend(jobs);
        let threads = Arc::strong_count(&self.waiting) - 1;
        if waiting.is_empty() || threads >= MAX_THREADS {
            return Ok(());
        }
        drop(waiting);
        let queue = self.clone();
        let next = move || lock(&queue.waiting).pop_front();
        spawn("files", move || {
            while let Some(job) = next() {
                job();
            }
        })
    }
}
