//! Work that waits for a disk, beside the loop: on threads, so many at a time. A file system that
//! hangs blocks only the threads of its own kind of work.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use crate::tasks::spawn_blocking;

/// The time limit for a check of a file, and for its wait for a thread before that.
pub(crate) const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Threads for one kind of work. One that hangs keeps its thread for good.
#[derive(Debug, Clone)]
pub(crate) struct DiskThreads {
    slots: Arc<Semaphore>,
}

impl DiskThreads {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(threads)),
        }
    }

    /// Does `work` on one of these threads, and waits for it, however long it takes: a caller with a
    /// limit gives up waiting, and the work goes on. Nothing if no thread was free for
    /// [`CHECK_TIMEOUT`]; then the work is not done.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.start(work).await?.await.ok()
    }

    /// As [`run`](Self::run), but waits only until a thread begins.
    pub(crate) async fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<oneshot::Receiver<T>> {
        let free = timeout(CHECK_TIMEOUT, Arc::clone(&self.slots).acquire_owned());
        let slot = free.await.ok()?.ok()?;
        Some(spawn_blocking(move || {
            let result = work();
            drop(slot);
            result
        }))
    }
}
