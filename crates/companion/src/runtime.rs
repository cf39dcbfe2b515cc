//! Owns the thread on which companions run: one for all of a process, so that a workspace costs no thread and no descriptors for
//! that. Nothing on it waits for a disk or for another thread, and what may take long is done beside it.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use pillion_system::spawn;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::tasks::Task;

/// A thread for companions. It ends with the last clone, and what is left on it ends then.
#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    handle: Handle,
    _in_use: Arc<oneshot::Sender<Infallible>>,
}

impl Runtime {
    /// Starts one.
    ///
    /// # Errors
    /// When the system has no thread, or no descriptor.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (in_use, unused) = oneshot::channel();
        spawn("companions", move || {
            let _ = runtime.block_on(unused);
            runtime.shutdown_background();
        })?;
        Ok(Self {
            handle,
            _in_use: Arc::new(in_use),
        })
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task: Task = Box::pin(task);
        drop(self.handle.spawn(task));
    }
}
