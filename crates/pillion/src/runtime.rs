//! What runs the commands' talk with companions: one thread, their own.

use anyhow::Context;
use tokio::runtime::{Builder, Runtime};

/// A runtime on the calling thread.
///
/// # Errors
/// When the system refuses.
pub fn start() -> anyhow::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")
}
