//! The log, which goes to a file: standard output belongs to answers, and the screen to the review. A
//! thread writes its lines: a disk that hangs, or a pipe that nobody reads, holds up nobody else.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use pillion_system::{Worker, lock};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The destination of the log, until [`finish`].
static LOG: Mutex<Option<LineWriter>> = Mutex::new(None);

/// Starts logging to `file`, if there is one.
///
/// Only our own crates log: a library's debug output may hold whole messages, and those hold
/// files.
pub fn start(file: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = file else {
        return Ok(());
    };
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options
        .open(path)
        .with_context(|| format!("cannot open the log {}", path.display()))?;
    *lock(&LOG) = Some(LineWriter::start(file).context("cannot start a thread")?);
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(|| Line);
    let ours = ["pillion", "pillion_companion", "pillion_discovery"];
    let targets = Targets::new().with_targets(ours.map(|name| (name, tracing::Level::DEBUG)));
    tracing_subscriber::registry()
        .with(layer)
        .with(targets)
        .init();
    Ok(())
}

/// Waits until what was logged is written, but not long.
pub fn finish() {
    let log = lock(&LOG).take();
    drop(log);
}

/// A line of the log, which comes in one piece.
struct Line;

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(log) = &*lock(&LOG) {
            log.write(line.to_vec());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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
