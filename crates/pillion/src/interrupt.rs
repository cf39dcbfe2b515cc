//! What ends a command that waits: the signals that ask it to leave, and a reader of its output that
//! is gone. The one place that differs between Unix and the rest.

use std::io;
#[cfg(unix)]
use std::time::Duration;

use crate::failure::Kind;

/// How long it may take until a closed output is noticed.
#[cfg(unix)]
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Signals that are caught from the moment this is made.
#[derive(Debug)]
pub struct Interrupt {
    #[cfg(unix)]
    caught: [tokio::signal::unix::Signal; 3],
}

#[cfg(unix)]
impl Interrupt {
    /// Within a runtime only.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let caught = [
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ];
        Ok(Self { caught })
    }

    /// The next one, as the exit code that shells give for it. Cancel-safe.
    pub async fn next(&mut self) -> Kind {
        let [hangup, interrupt, terminate] = &mut self.caught;
        tokio::select! {
            _ = hangup.recv() => Kind::HungUp,
            _ = interrupt.recv() => Kind::Interrupted,
            _ = terminate.recv() => Kind::Terminated,
        }
    }
}

/// Returns soon after standard output has lost its readers; never, if that is not detectable.
#[cfg(unix)]
pub async fn output_closed() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let at_once = Timespec::default();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let output = io::stdout();
        // Errors and hang-ups are always reported.
        let mut polled = [PollFd::new(&output, PollFlags::empty())];
        let told = poll(&mut polled, Some(&at_once)).is_ok();
        if told
            && polled[0]
                .revents()
                .intersects(PollFlags::ERR | PollFlags::HUP)
        {
            return;
        }
    }
}

#[cfg(not(unix))]
impl Interrupt {
    /// Nothing has to be prepared here.
    ///
    /// # Errors
    /// None.
    pub fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next Ctrl-C. Cancel-safe.
    pub async fn next(&mut self) -> Kind {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Kind::Interrupted
    }
}

/// It is noticed with the next line that is written.
#[cfg(not(unix))]
pub async fn output_closed() {
    std::future::pending().await
}
