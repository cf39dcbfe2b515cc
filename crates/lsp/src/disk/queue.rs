//! The jobs that wait for the thread that owns the files of proposals.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Job;

#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    is_closed: bool,
    /// The thread has ended.
    is_done: bool,
}

/// The thread. Dropping it signals that it has ended, for whatever reason.
#[derive(Debug)]
pub struct Worker(Arc<Queue>);

impl Queue {
    /// Appends a job. A proposal that is removed before it was written never is: its text would
    /// wait here for as long as a disk hangs.
    pub fn push(&self, job: Job) {
        let mut state = self.lock();
        if let Job::Remove { key } = &job {
            let is_same = |job: &Job| matches!(job, Job::Write { key: other, .. } if other == key);
            if let Some(at) = state.jobs.iter().position(is_same) {
                state.jobs.remove(at);
                return;
            }
        }
        state.jobs.push_back(job);
        self.changed.notify_all();
    }

    /// Waits for the next job; nothing when it is over.
    pub fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            let changed = self.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No job counts any more.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.jobs.clear();
        self.changed.notify_all();
    }

    pub fn worker(self: &Arc<Self>) -> Worker {
        Worker(Arc::clone(self))
    }

    /// Waits until the thread has ended, but not longer than `limit`; whether it has.
    pub fn wait_done(&self, limit: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), limit, |state| !state.is_done);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_done
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Consistent after every single operation on it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.lock().is_done = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use pillion_companion::{DiffId, ProposalKey};

    use super::*;

    fn key(id: u64) -> ProposalKey {
        let (id, revision) = (DiffId(id), 1);
        ProposalKey { id, revision }
    }

    fn write(id: u64) -> Job {
        Job::Write {
            key: key(id),
            path: "/a".into(),
            text: "text".into(),
        }
    }

    fn remove(id: u64) -> Job {
        Job::Remove { key: key(id) }
    }

    #[test]
    fn proposals_that_come_and_go_while_a_disk_hangs_pile_up_nowhere() {
        let queue = Queue::default();
        for id in 1..1000 {
            queue.push(write(id));
            queue.push(remove(id));
        }
        assert_eq!(queue.lock().jobs.len(), 0);
    }

    #[test]
    fn a_proposal_that_may_be_written_is_removed_after_it_was() {
        let queue = Queue::default();
        queue.push(write(1));
        assert_eq!(queue.next(), Some(write(1)));
        queue.push(remove(1));
        queue.push(write(2));
        assert_eq!(queue.next(), Some(remove(1)));
        queue.close();
        assert_eq!(queue.next(), None);
        assert!(!queue.wait_done(Duration::ZERO));
    }
}
