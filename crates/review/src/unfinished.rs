//! What other threads still have to do before the program ends: their disks may hang.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Held by whatever is not finished.
pub type Unfinished = Sender<Infallible>;

/// Who waits for all of it.
#[derive(Debug)]
pub struct Finish {
    unfinished: Unfinished,
    finished: Receiver<Infallible>,
}

impl Finish {
    /// Nothing is to be done yet.
    pub fn new() -> Self {
        let (unfinished, finished) = channel();
        Self {
            unfinished,
            finished,
        }
    }

    /// For one thing more.
    pub fn unfinished(&self) -> Unfinished {
        self.unfinished.clone()
    }

    /// Waits until everything is finished, but not longer than `limit`.
    pub fn wait(self, limit: Duration) {
        drop(self.unfinished);
        let _ = self.finished.recv_timeout(limit);
    }
}
