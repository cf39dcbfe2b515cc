//! Lines that a thread writes: a disk that hangs, or a pipe that nobody reads, holds up nobody else.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pillion_system::Worker;

/// More lines than this wait only where nothing is written any more. The others are lost.
const MAX_UNWRITTEN: usize = 4096;

/// The time limit for the last lines.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// The way to that thread. Dropping it waits until everything is written, but not long.
#[derive(Debug)]
pub struct LineWriter {
    lines: Worker<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
}

impl LineWriter {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has none.
    pub fn start(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let unwritten = Arc::new(AtomicUsize::new(0));
        let waiting = Arc::clone(&unwritten);
        let write = move |line: Vec<u8>| {
            // The reader may be gone.
            let _ = out.write_all(&line);
            waiting.fetch_sub(1, Ordering::Relaxed);
        };
        let lines = Worker::start("lines", FINISH_TIMEOUT, write)?;
        Ok(Self { lines, unwritten })
    }

    /// Has a line written. Never waits.
    pub fn write(&self, line: Vec<u8>) {
        let room = |unwritten| (unwritten < MAX_UNWRITTEN).then_some(unwritten + 1);
        let order = Ordering::Relaxed;
        if self.unwritten.fetch_update(order, order, room).is_ok() {
            self.lines.order(line);
        }
    }
}
