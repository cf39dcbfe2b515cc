//! The terminal: taken over and given back, also after a panic.

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::ensure;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::{Frame, Terminal};

use crate::notify::{POP_TITLE, PUSH_TITLE};
use crate::repaint;

/// Succeeds if a review can run here: in a terminal that can place text, or one to read lines from.
///
/// # Errors
/// The reason why it cannot.
pub fn check(is_plain: bool) -> anyhow::Result<()> {
    ensure!(
        io::stdin().is_terminal() && (is_plain || io::stdout().is_terminal()),
        "the review needs a terminal"
    );
    if is_plain {
        return Ok(());
    }
    let name = std::env::var("TERM").unwrap_or_default();
    ensure!(
        name != "dumb" && (cfg!(windows) || !name.is_empty()),
        "the review needs a terminal that can position text, but TERM is {}: `pillion review --plain` does not",
        if name.is_empty() { "not set" } else { &name }
    );
    Ok(())
}

/// True while the terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// True while another program has it, on the screen that we left.
static LENT: AtomicBool = AtomicBool::new(false);

/// True if the terminal reports repeated and released keys while it is ours.
static REPORTS_RELEASES: AtomicBool = AtomicBool::new(false);

/// Asks for these reports, and takes that back. For terminals that know them: `ESC [ ? u` asks whether they do.
const PUSH_RELEASES: &str = "\x1b[>3u";
const POP_RELEASES: &str = "\x1b[<u";
const ASK_FOR_RELEASES: &str = "\x1b[?u";

/// True if the terminal reports what the mouse does while it is ours.
static HAS_MOUSE: AtomicBool = AtomicBool::new(false);

/// Asks for that, as far as a button is held down, and takes that back.
const TAKE_MOUSE: &str = "\x1b[?1002h\x1b[?1006h";
const LEAVE_MOUSE: &str = "\x1b[?1006l\x1b[?1002l";

/// Asks where the cursor is.
const ASK_FOR_CURSOR: &str = "\x1b[6n";

/// True if the terminal's title is ours as long as the terminal is.
static KEEPS_TITLE: AtomicBool = AtomicBool::new(false);

/// The terminal, ours from `new` to drop.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// The content of the terminal.
    shown: Buffer,
    modes: Modes,
}

impl Screen {
    /// Takes the terminal over, perhaps with the mouse. Its title comes back in the end, if it is to be changed.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn new(keeps_title: bool, has_mouse: bool) -> io::Result<Self> {
        restore_after_panic();
        HAS_MOUSE.store(has_mouse, Ordering::SeqCst);
        KEEPS_TITLE.store(keeps_title, Ordering::SeqCst);
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut screen = Self {
            terminal,
            shown: Buffer::default(),
            modes: Modes::now(),
        };
        screen.take()?;
        if cfg!(unix) {
            execute!(io::stdout(), Print(ASK_FOR_RELEASES))?;
        }
        Ok(screen)
    }

    /// Has the cursor at this row and column, from 1, and asks where it is: the answer comes when the terminal has
    /// shown all that was written.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn ask(&mut self, (row, column): (u16, u16)) -> io::Result<()> {
        let place = MoveTo(column - 1, row - 1);
        execute!(io::stdout(), place, Print(ASK_FOR_CURSOR))
    }

    /// Has the terminal report what the mouse does, or not.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn take_mouse(&mut self, is_ours: bool) -> io::Result<()> {
        HAS_MOUSE.store(is_ours, Ordering::SeqCst);
        let sequence = if is_ours { TAKE_MOUSE } else { LEAVE_MOUSE };
        execute!(io::stdout(), Print(sequence))
    }

    /// Has repeated and released keys reported, by a terminal that knows how.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn report_releases(&mut self) -> io::Result<()> {
        if REPORTS_RELEASES.swap(true, Ordering::SeqCst) || !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        execute!(io::stdout(), Print(PUSH_RELEASES))
    }

    /// Takes the terminal over again after another program had it.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn take(&mut self) -> io::Result<()> {
        self.modes.restore();
        LENT.store(false, Ordering::SeqCst);
        TAKEN.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            Hide
        )?;
        if REPORTS_RELEASES.load(Ordering::SeqCst) {
            execute!(io::stdout(), Print(PUSH_RELEASES))?;
        }
        if HAS_MOUSE.load(Ordering::SeqCst) {
            execute!(io::stdout(), Print(TAKE_MOUSE))?;
        }
        if KEEPS_TITLE.load(Ordering::SeqCst) {
            execute!(io::stdout(), Print(PUSH_TITLE))?;
        }
        let size = self.terminal.size()?;
        self.clear(size)
    }

    /// Takes the terminal over again after this process was stopped without a warning: the shell has left its own modes,
    /// and has written on our screen.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn retake(&mut self) -> io::Result<()> {
        restore();
        self.take()
    }

    /// The number of columns and rows that the terminal has now.
    ///
    /// # Errors
    /// When the terminal does not say.
    pub fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    /// Shows the frame that `render` draws.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let size = self.terminal.size()?;
        if size != self.shown.area.as_size() {
            self.clear(size)?;
        }
        render(&mut self.terminal.get_frame());
        let next = self.terminal.current_buffer_mut();
        let drawn = next.clone();
        next.reset();
        let shown = std::mem::replace(&mut self.shown, drawn);
        let bytes = repaint::bytes(shown, &self.shown)?;
        let mut out = io::stdout();
        out.write_all(&bytes)?;
        out.flush()
    }

    /// Begins with an empty screen.
    fn clear(&mut self, size: Size) -> io::Result<()> {
        let area = Rect::from((Position::ORIGIN, size));
        self.shown = Buffer::empty(area);
        // This clears, as `clear` would. But `clear` asks the terminal where its cursor is, and some
        // never answer.
        self.terminal.resize(area)
    }

    /// Gives the terminal to another program until [`Screen::take`]. Where that has a window of its
    /// own, `text` stays to be read.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn lend(&mut self, text: &str) -> io::Result<()> {
        restore();
        LENT.store(true, Ordering::SeqCst);
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            Clear(ClearType::All),
            MoveTo(0, 0),
            Print(format_args!("{text}\n\n"))
        )
    }

    /// Gives the terminal back to the shell and sleeps until the shell brings us back.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn suspend(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        {
            restore();
            // The whole group, as the terminal itself would do it: `cargo run` sleeps with us.
            rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
            self.take()?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
        self.modes.restore();
    }
}

/// The terminal's modes as they were at first. An editor that is killed leaves its own behind.
struct Modes {
    #[cfg(unix)]
    modes: Option<rustix::termios::Termios>,
}

impl Modes {
    fn now() -> Self {
        Self {
            #[cfg(unix)]
            modes: rustix::termios::tcgetattr(io::stdin()).ok(),
        }
    }

    fn restore(&self) {
        #[cfg(unix)]
        if let Some(modes) = &self.modes {
            let now = rustix::termios::OptionalActions::Now;
            // Nothing can be done about a terminal that is gone.
            let _ = rustix::termios::tcsetattr(io::stdin(), now, modes);
        }
    }
}

fn restore() {
    if LENT.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    }
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        let mut out = io::stdout();
        if KEEPS_TITLE.load(Ordering::SeqCst) {
            let _ = execute!(out, Print(POP_TITLE));
        }
        if HAS_MOUSE.load(Ordering::SeqCst) {
            let _ = execute!(out, Print(LEAVE_MOUSE));
        }
        if REPORTS_RELEASES.load(Ordering::SeqCst) {
            let _ = execute!(out, Print(POP_RELEASES));
        }
        let _ = execute!(out, DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// A panic on any thread would otherwise print into the alternate screen and leave it there.
fn restore_after_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            report(panic);
        }));
    });
}
