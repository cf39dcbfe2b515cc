//! The signals that end a companion. The one place that differs between Unix and the rest.

use std::io;

/// Signals that are caught from the moment this is made.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    caught: [tokio::signal::unix::Signal; 3],
}

#[cfg(unix)]
impl Signals {
    /// Must come before any file is published: a signal in between would leave it behind (C6.2).
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub(crate) fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let caught = [
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ];
        Ok(Self { caught })
    }

    /// Waits for the first of them.
    pub(crate) async fn caught(mut self) {
        let [hangup, interrupt, terminate] = &mut self.caught;
        tokio::select! {
            _ = hangup.recv() => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Nothing has to be prepared here.
    ///
    /// # Errors
    /// None.
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for Ctrl-C.
    pub(crate) async fn caught(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
