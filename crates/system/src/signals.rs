//! The signals that end a program. The one place that differs between Unix and the rest.

use std::io;

use crate::thread::spawn;

/// A signal that asks a program to exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The terminal was closed.
    HangUp,
    /// Ctrl-C, which may have been for another program in the same terminal.
    Interrupt,
    /// The process is asked to exit.
    Terminate,
}

/// Signals that are caught from the moment this is made.
#[derive(Debug)]
pub struct Signals {
    /// None if another part of the program catches them.
    #[cfg(unix)]
    caught: Option<[tokio::signal::unix::Signal; 3]>,
    #[cfg(not(unix))]
    is_caught: bool,
}

/// Calls `then` at the first signal, on a thread of its own. Once one has run, signals do nothing by
/// themselves.
///
/// # Errors
/// When the system refuses a handler or a thread.
pub fn on_signal(then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut then = Some(then);
    on_each_signal(move |_| {
        if let Some(then) = then.take() {
            then();
        }
        false
    })
}

/// Calls `then` at every signal, on a thread of its own, until it answers false. Signals do nothing by themselves any
/// more.
///
/// # Errors
/// When the system refuses a handler or a thread.
pub fn on_each_signal(mut then: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::install()?
    };
    spawn("signals", move || {
        runtime.block_on(async { while then(signals.next().await) {} });
    })
}

/// Calls `then` whenever the terminal has another size, on a thread of its own, until it answers false.
///
/// # Errors
/// When the system refuses a handler or a thread.
#[cfg(unix)]
pub fn on_resize(then: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    use tokio::signal::unix::SignalKind;
    on_every(SignalKind::window_change(), "size", then)
}

/// Calls `then` whenever this process was stopped and goes on, on a thread of its own, until it answers false.
///
/// # Errors
/// When the system refuses a handler or a thread.
#[cfg(unix)]
pub fn on_continue(then: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
    use tokio::signal::unix::SignalKind;
    let kind = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
    on_every(kind, "continued", then)
}

#[cfg(unix)]
fn on_every(
    kind: tokio::signal::unix::SignalKind,
    thread: &'static str,
    mut then: impl FnMut() -> bool + Send + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut caught = {
        let _inside = runtime.enter();
        tokio::signal::unix::signal(kind)?
    };
    spawn(thread, move || {
        runtime.block_on(async { while caught.recv().await.is_some() && then() {} });
    })
}

#[cfg(unix)]
impl Signals {
    /// Must come before anything that a signal is not to leave behind. Within a runtime only.
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
        Ok(Self {
            caught: Some(caught),
        })
    }

    /// None: another part of the program catches them.
    pub fn none() -> Self {
        Self { caught: None }
    }

    /// The next one. Cancel-safe.
    pub async fn next(&mut self) -> Signal {
        let Some([hangup, interrupt, terminate]) = &mut self.caught else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = hangup.recv() => Signal::HangUp,
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Nothing has to be prepared here.
    ///
    /// # Errors
    /// None.
    pub fn install() -> io::Result<Self> {
        Ok(Self { is_caught: true })
    }

    /// None: another part of the program catches them.
    pub fn none() -> Self {
        Self { is_caught: false }
    }

    /// The next Ctrl-C. Cancel-safe.
    pub async fn next(&mut self) -> Signal {
        if !self.is_caught || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    }
}
