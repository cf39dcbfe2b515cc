//! What is printed of many changes: a line for each of the first, and then how many more there are.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::progress;

/// So many lines are printed.
pub const MAX_LINES: usize = 100;

/// What was printed of changes that were decided.
#[derive(Debug, Default)]
pub struct Said {
    lines: usize,
    failures: usize,
    /// What was not printed, with how often it happened.
    more: BTreeMap<&'static str, usize>,
}

impl Said {
    /// Says what became of a change.
    pub fn say(&mut self, change: &str, what: &'static str) -> io::Result<()> {
        let done = self.lines + self.more.values().sum::<usize>();
        progress::doing(format!("at work: {done} files done"));
        if self.lines < MAX_LINES {
            self.lines += 1;
            return writeln!(io::stdout(), "{change}: {what}");
        }
        *self.more.entry(what).or_default() += 1;
        Ok(())
    }

    /// One more has failed. Returns true if that is to be said.
    pub fn fails(&mut self) -> bool {
        self.failures += 1;
        self.failures < MAX_LINES
    }

    /// Says how many more there were.
    pub fn end(&mut self) -> io::Result<()> {
        progress::pause();
        for (what, count) in std::mem::take(&mut self.more) {
            writeln!(io::stdout(), "… and {count} more: {what}")?;
        }
        let failures = self.failures.saturating_sub(MAX_LINES - 1);
        if failures > 0 {
            pillion_text::stderr::warn(format_args!("{failures} more could not be done"));
        }
        Ok(())
    }
}
