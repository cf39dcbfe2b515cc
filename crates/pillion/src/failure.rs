//! The failures and warnings of a command: an exit code for each kind, and what to do about it.

use std::io::Write;
use std::process::ExitCode;
use std::{fmt, io};

use pillion_changes::save::SaveError;
use pillion_system::Signal;
use pillion_system::stdio::is_reader_gone;
use pillion_text::stderr;

use crate::progress;

/// The kind of a failure; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Refused, or not found.
    Refused = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// No companion runs here.
    NoCompanion = 3,
    /// Our own fault, or the system's.
    Internal = 70,
    /// The terminal was closed; the code that shells give for the signal, as for those below.
    HungUp = 129,
    /// Ctrl-C.
    Interrupted = 130,
    /// The process is asked to exit.
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

/// A failure with a kind and, where something can be done, a hint. Causes hang below it.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// A failure of `kind`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// The failure of a file that cannot be used, above the system's reason.
    pub fn of_file(error: SaveError) -> anyhow::Error {
        let failure = Self::new(Kind::Refused, error.to_string());
        match error {
            SaveError::Changed(_) => failure.into(),
            SaveError::Unusable { source, .. }
            | SaveError::Io { source, .. }
            | SaveError::Incomplete { source, .. } => anyhow::Error::new(source).context(failure),
        }
    }

    /// A failure that standard output has already: only the exit code is left.
    pub fn reported(kind: Kind) -> Self {
        Self::new(kind, String::new())
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
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

/// Prints an error, its causes and its hint; the exit code. Nothing went wrong where the reader of
/// standard output has read enough, as `head` does.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) && is_reader_gone(io::stdout()) {
        return ExitCode::SUCCESS;
    }
    let failure = error.downcast_ref::<Failure>();
    if let Some(told) = failure.filter(|failure| failure.message.is_empty()) {
        return ExitCode::from(told.kind as u8);
    }
    progress::pause();
    // Standard error may be closed; there is nowhere else to say so.
    let _ = write(&mut io::stderr().lock(), error, failure);
    ExitCode::from(failure.map_or(Kind::Internal, |failure| failure.kind) as u8)
}

/// Prints an error as [`report`] does, and goes on.
pub fn warn(error: &anyhow::Error) {
    let _ = write(&mut io::stderr().lock(), error, error.downcast_ref());
}

/// Says that something was left out because of an error, with its causes and its hint, and goes on.
pub fn warn_of(error: &anyhow::Error) {
    let causes: Vec<_> = error.chain().map(ToString::to_string).collect();
    stderr::warn(format_args!("{}", causes.join(": ")));
    if let Some(hint) = error
        .downcast_ref::<Failure>()
        .and_then(|it| it.hint.as_ref())
    {
        stderr::print(format!("hint: {hint}"));
    }
}

/// Returns true if it is the failed writing itself: what comes from an agent's or a companion's
/// connection has a context or an error of its own around it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().count() == 1 && error.downcast_ref().is_some_and(is_broken)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_failed_writing_itself_is_a_broken_pipe() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&broken().into()));
        let of_a_connection = anyhow::Error::new(broken()).context("cannot ask the companion");
        assert!(!is_broken_pipe(&of_a_connection));
        assert!(!is_broken_pipe(&io::Error::other("full").into()));
    }

    #[test]
    fn a_path_in_a_message_does_not_control_the_terminal() {
        let failure = Failure::new(Kind::Refused, "no file a\x1b[2Jb").hint("Say\nc\u{9b}.");
        let error = anyhow::Error::new(failure);
        let mut out = Vec::new();
        write(&mut out, &error, error.downcast_ref()).unwrap();
        let expected = "error: no file a␛[2Jb\nhint: Say\nc⟨U+009B⟩.\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
