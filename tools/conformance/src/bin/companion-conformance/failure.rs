//! The failures of a run: an exit code for each kind, and what to do about it.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use pillion_system::Signal;
use pillion_system::stdio::is_reader_gone;
use pillion_text::stderr;

use crate::progress;

/// The kind of a failure, by its exit code.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// The companion does not conform, or what was named cannot be used.
    Refused = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// There is no companion to check.
    NoCompanion = 3,
    /// Our own fault, or the system's.
    Internal = 70,
    /// The code that shells give for the signal, as for those below.
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

impl From<Signal> for Kind {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::HangUp => Self::HungUp,
            Signal::Interrupt => Self::Interrupted,
            Signal::Terminate => Self::Terminated,
        }
    }
}

/// A failure with a hint about what can be done. Causes hang below it.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let message = message.into();
        let hint = None;
        Self {
            kind,
            message,
            hint,
        }
    }

    /// Adds what the user can do about it, as a sentence.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Prints an error, its causes and its hint; the exit code. Nothing went wrong where the reader of standard output has
/// read enough, as `head` does.
pub fn report(error: &anyhow::Error) -> ExitCode {
    progress::clear();
    let is_broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref().is_some_and(is_broken) && is_reader_gone(io::stdout()) {
        return ExitCode::SUCCESS;
    }
    let failure = error.downcast_ref::<Failure>();
    // Standard error may be closed; there is nowhere else to say so.
    let _ = write(&mut io::stderr().lock(), error, failure);
    ExitCode::from(failure.map_or(Kind::Internal, |failure| failure.kind) as u8)
}

fn write(out: &mut impl Write, error: &anyhow::Error, failure: Option<&Failure>) -> io::Result<()> {
    stderr::write(out, format_args!("error: {error}"))?;
    for cause in error.chain().skip(1) {
        stderr::write(out, format_args!("Cause: {cause}"))?;
    }
    if let Some(hint) = failure.and_then(|failure| failure.hint.as_ref()) {
        stderr::write(out, format_args!("hint: {hint}"))?;
    }
    Ok(())
}
