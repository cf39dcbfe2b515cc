//! The output about many changes: a line for each of the first, and then how many more there are.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pillion_changes::{DecideError, Decided};

use crate::failure::{Failure, Kind};
use crate::progress;

/// So many lines are printed.
pub const MAX_LINES: usize = 100;

/// Prints what came of changes, one after the other.
pub struct Said {
    lines: usize,
    failures: usize,
    /// The results that were not printed, with how often each happened.
    more: BTreeMap<&'static str, usize>,
    /// Why the first did not succeed, if one did not, or could not be printed.
    result: anyhow::Result<()>,
}

impl Default for Said {
    fn default() -> Self {
        Self {
            lines: 0,
            failures: 0,
            more: BTreeMap::new(),
            result: Ok(()),
        }
    }
}

impl Said {
    pub fn say(&mut self, decided: Decided) {
        let done = self.lines + self.more.values().sum::<usize>();
        progress::doing(format!("at work: {done} files done"));
        let Decided { name, path, result } = decided;
        match result {
            Ok(what) if self.lines < MAX_LINES => {
                self.lines += 1;
                let printed = writeln!(io::stdout(), "{name} {path}: {what}");
                if let (Err(error), true) = (printed, self.result.is_ok()) {
                    self.result = Err(error.into());
                }
            }
            Ok(what) => *self.more.entry(what).or_default() += 1,
            Err(error) => self.fails(&name.to_string(), error),
        }
    }

    fn fails(&mut self, name: &str, error: DecideError) {
        self.failures += 1;
        let is = match error.is_unfinished() {
            true => "is not done yet",
            false => "is as it was",
        };
        let mut failed = Failure::new(Kind::Refused, format!("{name} {is}"));
        if let Some(hint) = error.hint() {
            failed = failed.hint(hint);
        }
        let error = anyhow::Error::new(error).context(failed);
        match self.result.is_ok() {
            true => self.result = Err(error),
            false if self.failures < MAX_LINES => crate::failure::warn(&error),
            false => {}
        }
    }

    /// Says how many more there were.
    ///
    /// # Errors
    /// With the first that did not succeed.
    pub fn end(self) -> anyhow::Result<()> {
        progress::pause();
        for (what, count) in self.more {
            writeln!(io::stdout(), "… and {count} more: {what}")?;
        }
        let failures = self.failures.saturating_sub(MAX_LINES - 1);
        if failures > 0 {
            pillion_text::stderr::warn(format_args!("{failures} more could not be done"));
        }
        self.result
    }
}
