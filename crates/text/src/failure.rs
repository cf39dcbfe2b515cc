//! The failures of commands: an exit code for each kind, and what to do about it.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};

use crate::stderr;

/// The kind of a failure; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Refused, or not found.
    Refused,
    /// The command line makes no sense.
    Usage,
    /// No companion runs here.
    NoCompanion,
    /// Our own fault, or the system's.
    Internal,
    /// The signal of this number has ended the command.
    Signal(u8),
}

impl Kind {
    /// Returns the exit code: of a signal, the one that shells give for it.
    pub fn code(self) -> u8 {
        match self {
            Self::Refused => 1,
            Self::Usage => 2,
            Self::NoCompanion => 3,
            Self::Internal => 70,
            Self::Signal(number) => 128 + number,
        }
    }
}

/// A failure with a kind and, where something can be done, a hint. Causes hang below it.
#[derive(Debug)]
pub struct Failure {
    /// Its kind.
    pub kind: Kind,
    /// What has failed; empty if that is said already, and only the exit code is left.
    pub message: String,
    /// What the user can do about it, as a sentence.
    pub hint: Option<String>,
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

impl Error for Failure {}

/// Writes an error with its causes, and what to do about it.
///
/// # Errors
/// When `out` takes no more.
pub fn write<'a>(
    out: &mut impl Write,
    chain: impl Iterator<Item = &'a (dyn Error + 'static)>,
    failure: Option<&Failure>,
) -> io::Result<()> {
    for (at, error) in chain.enumerate() {
        let what = if at == 0 { "error" } else { "Cause" };
        stderr::write(out, format_args!("{what}: {error}"))?;
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
    fn a_path_in_a_message_does_not_control_the_terminal() {
        let failure = Failure::new(Kind::Refused, "no file a\x1b[2Jb").hint("Say\nc\u{9b}.");
        let mut out = Vec::new();
        let chain: [&(dyn Error + 'static); 1] = [&failure];
        write(&mut out, chain.into_iter(), Some(&failure)).unwrap();
        let expected = "error: no file a␛[2Jb\nhint: Say\nc⟨U+009B⟩.\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
