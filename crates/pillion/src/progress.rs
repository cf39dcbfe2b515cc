//! Says what the command is doing while that takes more than a second: in a line of the terminal, which goes again.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_system::{lock, spawn};
use pillion_text::visible;

/// The time for which a terminal may stay quiet.
const QUIET: Duration = Duration::from_secs(1);

/// Takes the cursor's line away, and the cursor to its beginning.
const CLEAR: &str = "\r\x1b[K";

/// One for the process, as its terminal is.
static PROGRESS: Mutex<Progress> = Mutex::new(Progress {
    doing: None,
    is_running: false,
    is_shown: false,
});

#[derive(Debug)]
struct Progress {
    /// This, since then.
    doing: Option<(String, Instant)>,
    /// True if somebody waits for it to take too long.
    is_running: bool,
    is_shown: bool,
}

/// This is done from now on: words that go after "still". Nothing is shown to scripts.
pub fn doing(what: impl Into<String>) {
    if io::stderr().is_terminal() {
        change(Some((what.into(), Instant::now())));
    }
}

/// It is done, or something else is about to be printed.
pub fn pause() {
    change(None);
}

fn change(doing: Option<(String, Instant)>) {
    let mut progress = lock(&PROGRESS);
    progress.hide();
    progress.doing = doing;
    if progress.doing.is_some() && !progress.is_running {
        // Without a thread nothing is said.
        progress.is_running = spawn("progress", watch).is_ok();
    }
}

/// Shows what takes too long, until nothing is done.
fn watch() {
    loop {
        sleep(QUIET / 10);
        let mut progress = lock(&PROGRESS);
        let Some((_, since)) = &progress.doing else {
            progress.is_running = false;
            return;
        };
        if since.elapsed() >= QUIET && !progress.is_shown {
            progress.show();
        }
    }
}

impl Progress {
    fn show(&mut self) {
        let Some((doing, _)) = &self.doing else {
            return;
        };
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
