//! Lines that a thread writes: a disk that hangs, or a pipe that nobody reads, holds up nobody else.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// More lines than this wait only where nothing is written any more. The others are lost.
const MAX_UNWRITTEN: usize = 4096;

/// How long the last lines may take.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// The way to that thread. Dropping it waits until everything is written, but not long.
#[derive(Debug)]
pub struct LineWriter {
    lines: Option<SyncSender<Vec<u8>>>,
    ended: Receiver<Infallible>,
}

impl LineWriter {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has none.
    pub fn start(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, written) = sync_channel::<Vec<u8>>(MAX_UNWRITTEN);
        let (alive, ended) = channel();
        let run = move || {
            for line in written {
                // The reader may be gone.
                let _ = out.write_all(&line);
            }
            drop(alive);
        };
        thread::Builder::new().name("lines".to_owned()).spawn(run)?;
        let lines = Some(lines);
        Ok(Self { lines, ended })
    }

    /// Has a line written. Never waits.
    pub fn write(&self, line: Vec<u8>) {
        if let Some(lines) = &self.lines {
            let _ = lines.try_send(line);
        }
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.lines = None;
        let _ = self.ended.recv_timeout(FINISH_TIMEOUT);
    }
}
