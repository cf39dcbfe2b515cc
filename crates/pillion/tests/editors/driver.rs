//! The actions of a person in an editor, and what they see there, whichever it is.

use std::path::{Path, PathBuf};

use pillion_testkit::{
    AgentsTerminal, EmacsVersion, Home, KakouneVersion, NvimVersion, Tmux, VimVersion,
};
use serde_json::Value;

use crate::drivers;

/// The command under test.
pub const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// The editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Emacs(EmacsVersion),
    Neovim(NvimVersion),
    Vim(VimVersion),
    Kakoune(KakouneVersion),
}

impl Kind {
    /// The number of ways to quit it in which not the same happens.
    pub fn ways_to_quit(self) -> usize {
        match self {
            Kind::Neovim(_) | Kind::Vim(_) => drivers::QUITS.len(),
            Kind::Emacs(_) | Kind::Kakoune(_) => 1,
        }
    }

    /// Starts it, and waits until it takes keys.
    pub fn start(self, start: &Start<'_>) -> Box<dyn Editor> {
        match self {
            Kind::Emacs(version) => Box::new(drivers::Emacs::start(version, start)),
            Kind::Neovim(version) => Box::new(drivers::Neovim::start(version, start)),
            Kind::Kakoune(version) => Box::new(drivers::Kakoune::start(version, start)),
            Kind::Vim(version) => Box::new(drivers::Vim::start(version, start)),
        }
    }
}

/// The settings that people have beside the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    None,
    /// Everything is saved by itself: after a change, when typing ends, when the focus leaves.
    Autosave,
    /// Files are tidied when they are read and written: line endings, blanks at line ends, the last
    /// newline.
    TidyFiles,
}

/// The way to start it: in a terminal, with the plugin of the repository and the command under
/// test, and with nothing of the machine's own.
pub struct Start<'a> {
    pub home: &'a Home,
    pub tmux: &'a Tmux,
    pub cwd: PathBuf,
    pub files: Vec<PathBuf>,
    pub habit: Habit,
}

/// One editor that runs. Keys are pressed as a person does; what is waited for is so when
/// the function returns.
pub trait Editor {
    /// Accepts the proposal in focus, as the help says.
    fn accept(&self) {
        self.accept_times(1);
    }

    /// The same, so often without a pause, as a key does that is held down.
    fn accept_times(&self, times: usize);

    /// Rejects the proposal in focus, as the help says.
    fn reject(&self);

    /// Rejects it with this reason.
    fn reject_because(&self, reason: &str);

    /// Closes the proposal in focus as any other text.
    fn close(&self);

    /// Gives one of our commands, by its name without what all begin with, and this word if it is not empty.
    fn command(&self, name: &str, word: &str);

    /// Types a line below the last one of the text in focus, and waits until it is there.
    fn append(&self, line: &str);

    /// Takes the last change of the text in focus back.
    fn undo(&self);

    /// Puts back what was kept of an earlier proposal, as its person does.
    fn bring_back(&self) {
        self.undo();
    }

    /// Types in the middle of something: what comes next goes into the text in focus, too. Waits until
    /// it is there.
    fn begin_typing(&self, text: &str);

    /// Types on.
    fn type_on(&self, text: &str);

    /// Is done with typing.
    fn end_typing(&self);

    /// Answers what it asks about a file that was written under unsaved edits, if it asks: they stay.
    fn keep_unsaved(&self) {}

    /// Goes to the beginning of a line of the text in focus, from 1.
    fn go_to(&self, line: u32);

    /// Selects the first characters of a line of the text in focus.
    fn select(&self, line: u32, characters: u32);

    /// Opens a terminal beside the file, and waits until it has the focus.
    fn open_terminal(&self);

    /// Goes back into the terminal.
    fn enter_terminal(&self);

    /// Leaves the terminal for the file.
    fn leave_terminal(&self);

    /// Has code save everything, as an autosave does. Waits until it has run.
    fn save_by_code(&self);

    /// Has another program, which speaks to the editor, add a line to the file and save it. Returns false if none can.
    fn save_by_other(&self, _path: &Path, _line: &str) -> bool {
        false
    }

    /// The number of times that it saved everything by itself, with [`Habit::Autosave`].
    fn autosaves(&self) -> u32;

    /// Adds and saves a line in a window that the agent opens on it, which is closed by dropping it, if it was told how.
    fn save_in_agents_window(&self, _line: &str) -> Option<AgentsTerminal> {
        None
    }

    /// Waits until it has read the keys that were pressed. Those that it is not sent through a terminal it has.
    fn wait_read(&self) {}

    /// Puts the proposal that waits, or the newest of those that do, on the screen and into focus.
    fn show_proposal(&self);

    /// Returns true if Pillion runs for it and listens.
    fn is_running(&self) -> bool;

    /// Returns true if it knows that this agent is connected.
    fn knows(&self, agent: &str) -> bool;

    /// Returns true if a proposal has the focus.
    fn is_in_proposal(&self) -> bool;

    /// The status line of the plugin has this text.
    fn has_in_status_line(&self, text: &str) -> bool;

    /// Returns true if the proposal on the screen has been there so long that it may be accepted.
    fn may_accept(&self) -> bool;

    /// Returns true if there is a view of a proposal, in focus or not.
    fn has_views(&self) -> bool;

    /// Returns true if this is on the screen.
    fn sees(&self, text: &str) -> bool;

    /// The text in focus.
    fn text(&self) -> String;

    /// The text of the person's buffer of a file.
    fn file_text(&self, path: &Path) -> String;

    /// Returns true if a buffer of the person's holds this text, which came from an agent that is
    /// gone.
    fn has_kept(&self, text: &str) -> bool;

    /// Windows, cursor, registers, marks, undo, options: what a proposal must leave as it was.
    fn traces(&self) -> Value;

    /// Fails if it noted an error since it started.
    fn assert_no_errors(&self);

    /// All that helps to find out why a test failed.
    fn describe(&self) -> String;

    /// Tries to quit it, in one of the [ways](Kind::ways_to_quit) of its person. Returns false where nothing can keep it
    /// from that.
    fn try_to_quit(&self, way: usize) -> bool;

    /// Quits it in the same way, and waits until it is gone.
    fn quit_by(&self, _way: usize) {
        self.quit();
    }

    /// Quits it, and waits until it is gone.
    fn quit(&self);

    /// Kills it alone, with SIGKILL, and waits until it is gone.
    fn kill(&self);
}
