//! Starting tasks and blocking work as values of one type each. The runtime compiles some fifty functions for each type of
//! future or closure that it is given: with forty types, that was a tenth of this crate's code.

use std::pin::Pin;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A task without a result.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts a task of the current runtime.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let task: Task = Box::pin(task);
    tokio::spawn(task)
}

/// Does `work` on a thread of the current runtime where it may block. Its result comes through the receiver, and nothing
/// if it panics; dropping the receiver stops nothing.
pub(crate) fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> oneshot::Receiver<T> {
    let (done, result) = oneshot::channel();
    let work: Box<dyn FnOnce() + Send> = Box::new(move || {
        let _ = done.send(work());
    });
    tokio::task::spawn_blocking(work);
    result
}
