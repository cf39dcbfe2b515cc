//! The source of the keyboard's bytes.

use std::io;
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

use super::decode::Read;

#[cfg(unix)]
use super::TOGETHER;
#[cfg(unix)]
use super::decode::{Decoder, ESCAPE_TIMEOUT};

/// The terminal reports what is on its screen.
pub const ANSWERS: bool = cfg!(unix);

/// The terminal as a source of keys and answers.
#[derive(Debug, Default)]
pub struct Tty {
    #[cfg(unix)]
    decoder: Decoder,
}

#[cfg(unix)]
impl Tty {
    /// The next input; `None` when `timeout` passed without anything.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn read(&mut self, timeout: Option<Duration>) -> io::Result<Option<Read>> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            let mut silence = Duration::ZERO;
            for longer in [Duration::ZERO, ESCAPE_TIMEOUT, TOGETHER] {
                if longer > silence
                    && (!self.decoder.is_waiting() || has_bytes(Some(longer - silence))?)
                {
                    break;
                }
                silence = longer;
                if let Some(read) = self.decoder.next(silence) {
                    return Ok(Some(read));
                }
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if has_bytes(left)? {
                self.fill()?;
            } else if until.is_some() {
                return Ok(None);
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 1_024];
        match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.decoder.push(&bytes[..count]);
                Ok(())
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets what was typed and not yet read.
    pub fn discard() {
        // A terminal that is gone holds nothing.
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

#[cfg(unix)]
fn has_bytes(timeout: Option<Duration>) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut polled, timeout.as_ref()) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
impl Tty {
    /// The next input; `None` when `timeout` passed without anything.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn read(&mut self, timeout: Option<Duration>) -> io::Result<Option<Read>> {
        use crossterm::event;
        match timeout {
            Some(timeout) if !event::poll(timeout)? => Ok(None),
            _ => event::read().map(|event| Some(Read::Event(event))),
        }
    }

    /// Forgets what was typed and not yet read.
    pub fn discard() {
        use crossterm::event;
        while event::poll(Duration::ZERO).unwrap_or(false) {
            if event::read().is_err() {
                return;
            }
        }
    }
}
