//! How a run fails: what it prints, and its exit code.

use std::io;
use std::process::ExitCode;

use pillion_system::stdio::is_reader_gone;
use pillion_text::failure::write;
pub use pillion_text::failure::{Failure, Kind};

use crate::progress;

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
    let _ = write(&mut io::stderr().lock(), error.chain(), failure);
    ExitCode::from(failure.map_or(Kind::Internal, |it| it.kind).code())
}
