//! The person at the terminal, who can be asked.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

/// Somebody who reads standard error and types.
pub struct Person(Box<dyn BufRead>);

impl Person {
    /// If there is a terminal. Standard input may be a text on its way.
    pub fn at_terminal() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        if io::stdin().is_terminal() {
            return Some(Self(Box::new(io::stdin().lock())));
        }
        let terminal = cfg!(unix).then(|| File::open("/dev/tty"));
        Some(Self(Box::new(BufReader::new(terminal?.ok()?))))
    }

    /// Returns true if they say yes; Enter alone is yes, the end of the input is not.
    pub fn goes_along(&mut self, question: &str) -> io::Result<bool> {
        let answer = self.answer(&format!("{question} [Y/n] "))?;
        Ok(answer.is_some_and(|answer| matches!(&*answer, "" | "y" | "yes")))
    }

    fn answer(&mut self, prompt: &str) -> io::Result<Option<String>> {
        let mut error = io::stderr();
        write!(error, "{prompt}")?;
        error.flush()?;
        let mut line = String::new();
        let read = self.0.read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_ascii_lowercase()))
    }
}
