//! How a command fails: what it prints, and its exit code.

use std::io;
use std::process::ExitCode;

use pillion_changes::save::SaveError;
use pillion_system::stdio::is_reader_gone;
use pillion_text::failure::write;
pub use pillion_text::failure::{Failure, Kind};
use pillion_text::stderr;

use crate::progress;

/// The failure of a file that cannot be used, above the system's reason.
pub fn of_file(error: SaveError) -> anyhow::Error {
    let failure = Failure::new(Kind::Refused, error.to_string());
    above(error, failure)
}

/// This failure, above the system's reason.
pub fn above(error: SaveError, failure: Failure) -> anyhow::Error {
    match error {
        SaveError::Changed(_) | SaveError::OtherName(_) => failure.into(),
        SaveError::Unusable { source, .. }
        | SaveError::Io { source, .. }
        | SaveError::Incomplete { source, .. } => anyhow::Error::new(source).context(failure),
    }
}

/// A failure that standard output has already: only the exit code is left.
pub fn reported(kind: Kind) -> Failure {
    Failure::new(kind, String::new())
}

/// Prints an error, its causes and its hint; the exit code. Nothing went wrong where the reader of
/// standard output has read enough, as `head` does.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) && is_reader_gone(io::stdout()) {
        return ExitCode::SUCCESS;
    }
    let failure = error.downcast_ref::<Failure>();
    if let Some(told) = failure.filter(|failure| failure.message.is_empty()) {
        return ExitCode::from(told.kind.code());
    }
    progress::pause();
    // Standard error may be closed; there is nowhere else to say so.
    let _ = write(&mut io::stderr().lock(), error.chain(), failure);
    ExitCode::from(failure.map_or(Kind::Internal, |it| it.kind).code())
}

/// Prints an error as [`report`] does, and goes on.
pub fn warn(error: &anyhow::Error) {
    let _ = write(
        &mut io::stderr().lock(),
        error.chain(),
        error.downcast_ref(),
    );
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

/// Returns true if no companion runs here, or it is gone.
pub fn is_without_companion(error: &anyhow::Error) -> bool {
    let failure = error.downcast_ref::<Failure>();
    failure.is_some_and(|failure| failure.kind == Kind::NoCompanion)
}

/// Returns true if it is the failed writing itself: what comes from an agent's or a companion's
/// connection has a context or an error of its own around it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().count() == 1 && error.downcast_ref().is_some_and(is_broken)
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
}
