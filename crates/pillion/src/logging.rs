//! The log, which goes to a file: standard output belongs to answers, and the screen to the review.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use pillion_system::lock;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::line_writer::LineWriter;

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
