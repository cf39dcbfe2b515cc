//! The log, which goes to a file: standard output belongs to answers, and the screen to the review.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging to `file`, if there is one.
///
/// Only our own crates are heard: a library's debug output may hold whole messages, and those hold
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
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(file));
    let ours = ["pillion", "pillion_companion", "pillion_discovery"];
    let targets = Targets::new().with_targets(ours.map(|name| (name, tracing::Level::DEBUG)));
    tracing_subscriber::registry()
        .with(layer)
        .with(targets)
        .init();
    Ok(())
}
