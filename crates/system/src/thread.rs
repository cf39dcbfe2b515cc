//! Threads with a name, by which a debugger and a crash report tell them apart: for one piece of work, or for one job after
//! the other, so that nobody else waits for a disk, a pipe or another program.

use std::convert::Infallible;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};

/// Does `work` on a thread of its own.
///
/// # Errors
/// When the system has no thread for it.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // One type for all: the machinery of a thread is compiled anew for each.
    let work: Box<dyn FnOnce() + Send> = Box::new(work);
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

/// Locks what threads share, also if one of them has panicked with it: to be used for what is consistent after every single
/// operation on it.
pub fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way to a thread that does jobs. Dropping it waits until everything is done, but not long.
#[derive(Debug)]
pub struct Worker<J> {
    jobs: Option<Sender<J>>,
    ended: Receiver<Infallible>,
    grace: Duration,
}

impl<J: Send + 'static> Worker<J> {
    /// Starts the thread; `grace` is the time limit for the last jobs. Everything that `perform` owns is dropped after them, on
    /// that thread, too.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(
        name: &str,
        grace: Duration,
        mut perform: impl FnMut(J) + Send + 'static,
    ) -> io::Result<Self> {
        let (jobs, ordered) = unbounded();
        let (alive, ended) = unbounded();
        let run = move || {
            ordered.into_iter().for_each(&mut perform);
            drop(perform);
            drop(alive);
        };
        spawn(name, run)?;
        let jobs = Some(jobs);
        Ok(Self { jobs, ended, grace })
    }

    /// Has a job done after those that were ordered before. Never waits.
    pub fn order(&self, job: J) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.jobs = None;
        let _ = self.ended.recv_timeout(self.grace);
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::bounded;

    use super::*;

    #[test]
    fn dropping_it_waits_for_every_job_and_for_what_they_use() {
        let (done, results) = unbounded();
        let worker = Worker::start("test", Duration::MAX, move |job: u8| {
            let _ = done.send(job);
        });
        let worker = worker.unwrap();
        for job in 0..100 {
            worker.order(job);
        }
        drop(worker);
        // Nobody is left who could send: this ends.
        assert!(results.iter().eq(0..100));
    }

    #[test]
    fn a_job_that_hangs_is_left_behind() {
        let (release, hanging) = bounded::<()>(0);
        let worker = Worker::start("test", Duration::ZERO, move |()| {
            let _ = hanging.recv();
        });
        worker.unwrap().order(());
        drop(release);
    }
}
