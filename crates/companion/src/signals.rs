//! The signals that end a companion. The one place that differs between Unix and the rest.

use std::{io, thread};

/// What a signal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caught {
    /// Ctrl-C, which may have been for a program that the editor runs in the same terminal.
    Interrupt,
    /// The end.
    Terminate,
}

/// Signals that are caught from the moment this is made.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    caught: [tokio::signal::unix::Signal; 3],
}

/// Calls `then` at the first signal that ends a companion, on a thread of its own. For a program
/// that is there longer than its companion: once one has run, signals do nothing by themselves.
///
/// # Errors
/// When the system refuses a handler or a thread.
pub fn on_signal(then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::install()?
    };
    let run = move || {
        runtime.block_on(signals.next());
        then();
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(run).map(drop)
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

    /// The next one. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Caught {
        let [hangup, interrupt, terminate] = &mut self.caught;
        tokio::select! {
            _ = hangup.recv() => Caught::Terminate,
            _ = interrupt.recv() => Caught::Interrupt,
            _ = terminate.recv() => Caught::Terminate,
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

    /// The next Ctrl-C. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Caught {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Caught::Interrupt
    }
}
