//! Says what the command is doing while that takes more than a second: in a line of the terminal, which goes again.

use std::io::{self, IsTerminal, Write};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pillion_system::{lock, spawn};
use pillion_text::visible;

/// The time for which a terminal may stay quiet.
const QUIET: Duration = Duration::from_secs(1);

/// Takes the cursor's line away, and the cursor to its beginning.
const CLEAR: &str = "\r\x1b[K";

/// One for the process, as its terminal is.
static PROGRESS: Progress = Progress {
    state: Mutex::new(State {
        doing: None,
        number: 0,
        is_running: false,
        is_shown: false,
    }),
    changed: Condvar::new(),
};

#[derive(Debug)]
struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    doing: Option<String>,
    /// Counts what was done.
    number: u64,
    /// True if somebody waits for it to take too long.
    is_running: bool,
    is_shown: bool,
}

/// This is done from now on: words that go after "still". Nothing is shown to scripts.
pub fn doing(what: impl Into<String>) {
    if io::stderr().is_terminal() {
        PROGRESS.change(Some(what.into()));
    }
}

/// It is done, or something else is about to be printed.
pub fn pause() {
    PROGRESS.change(None);
}

impl Progress {
    fn change(&'static self, doing: Option<String>) {
        let mut state = lock(&self.state);
        state.hide();
        state.doing = doing;
        state.number += 1;
        if state.doing.is_some() && !state.is_running {
            // Without a thread nothing is said.
            state.is_running = spawn("progress", || self.show()).is_ok();
        }
        self.changed.notify_all();
    }

    fn show(&self) {
        let mut state = lock(&self.state);
        loop {
            let number = state.number;
            let is_same = |state: &mut State| state.number == number;
            let waited = self.changed.wait_timeout_while(state, QUIET, is_same);
            let (same, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = same;
            if timeout.timed_out() {
                state.show();
                let waited = self.changed.wait_while(state, is_same);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl State {
    fn show(&mut self) {
        let Some(doing) = &self.doing else { return };
        let line = visible::one_line(&format!("still {doing} …"));
        let width = crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
        let line: String = line.chars().take(width.saturating_sub(1)).collect();
        self.is_shown = write(&line).is_ok();
    }

    fn hide(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            // If the terminal is gone, so is the line.
            let _ = write(CLEAR);
        }
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut terminal = io::stderr().lock();
    terminal.write_all(text.as_bytes())?;
    terminal.flush()
}
