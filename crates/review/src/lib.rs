//! The terminal review: shows what agents propose and lets a person judge it, hunk by hunk.
//!
//! [`channel`] gives the two ends: a [`FrontendHandle`] for the companion, and a [`Review`] that runs on the
//! thread of the terminal. The knowledge of the review is one state machine (`app`); around it are a
//! thin loop (`driver`) and the modules that do I/O: `edit`, `watch`, `terminal`, `keyboard`.

mod app;
mod appearance;
mod ascii;
mod driver;
mod edit;
mod face;
mod geometry;
mod help;
mod keyboard;
mod lines;
mod notify;
mod repaint;
mod screen;
mod terminal;
mod view;
mod watch;

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use pillion_judge::{highlight, proposal, source, syntax};
use pillion_protocol::Dialect;
use pillion_text::stderr;
use pillion_view::{CloseReason, Editor, EditorEvent, Handle, ProposalKey, Reply};

pub use notify::Notify;
pub use terminal::check;

/// The colours to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ThemeChoice {
    /// Match the terminal's background.
    #[default]
    Auto,
    /// For a light background.
    Light,
    /// For a dark background.
    Dark,
    /// Blue and orange in place of green and red; match the terminal's background.
    Colorblind,
    /// The same for a light background.
    ColorblindLight,
    /// The same for a dark background.
    ColorblindDark,
}

/// The settings of a review.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The workspace folders, absolute, links followed.
    pub roots: Vec<PathBuf>,
    /// The colours.
    pub theme: ThemeChoice,
    /// The ways to announce a proposal.
    pub notify: Vec<Notify>,
    /// True if the mouse scrolls, clicks and copies lines, until the person gives it back to the terminal.
    pub mouse: bool,
    /// True if files that are saved in the workspace become the context.
    pub watch: bool,
    /// True if lines are appended, and read, in place of a screen.
    pub is_plain: bool,
}

/// Everything that reaches the review's loop from other threads.
#[derive(Debug)]
enum Input {
    Companion(EditorEvent),
    Key(crossterm::event::KeyEvent, app::Press),
    /// A line that was typed where there are no single keys.
    Line(String, app::Press),
    /// Anything else that the terminal sends.
    Terminal(crossterm::event::Event),
    /// An event that the review itself takes in as it is.
    Event(app::Event),
    /// The terminal, or a thread that the review needs, is gone, or a signal ends the program.
    Stop,
    /// There is a copy for the reviewer's editor, or why not.
    Copied(Result<Copied, String>),
    /// The reviewer's editor has saved this of the copy for a proposal, or of words, and still runs.
    Saved(Option<ProposalKey>, app::Edit),
    /// The editor's end and what it made of the copy, or why it could not be started.
    EditorEnded(Result<Ended, String>),
    /// The text that the editor had saved of a proposal that is to be closed; nothing if its disk gave no answer.
    Closing(ProposalKey, Option<app::Edit>, CloseReason, Reply<String>),
    /// A file was checked, or read again.
    Source(source::Answer),
    /// The place where a text is kept, or that it is lost.
    Kept(String),
    Coloured(highlight::Texts, proposal::Side, syntax::Coloured),
    Interrupt,
    /// The process was stopped, and goes on: what has happened to the terminal meanwhile is not known.
    Resumed,
    /// The terminal can report when keys are released.
    KnowsReleases,
}

/// Held by whatever is to be done before the program ends. Nothing is sent: the other end learns when all are dropped.
type Unfinished = crossbeam_channel::Sender<Infallible>;

/// The end of the reviewer's editor, and what it made of the text.
type Ended = (io::Result<ExitStatus>, app::Edit);

/// A copy for the reviewer's editor, and how it is to be edited.
#[derive(Debug)]
struct Copied {
    session: edit::Session,
    command: edit::EditorCommand,
    line: usize,
    name: String,
}

/// The review as the companion and signals reach it. Never blocks.
#[derive(Debug, Clone)]
pub struct FrontendHandle {
    inputs: crossbeam_channel::Sender<Input>,
}

impl FrontendHandle {
    /// Shows a sentence.
    pub fn notice(&self, text: impl Into<String>) {
        self.send(app::Event::Notice(text.into()));
    }

    /// Says which agents can be started on this machine.
    pub fn installed(&self, agents: Vec<Dialect>) {
        self.send(app::Event::Installed(agents));
    }

    fn send(&self, event: app::Event) {
        let _ = self.inputs.send(Input::Event(event));
    }
}

/// The review as its companion reaches it.
impl Editor for FrontendHandle {
    fn event(&mut self, event: EditorEvent) {
        // If the review is gone, dropping a reply reports that, and there is a plain terminal.
        let sent = self.inputs.send(Input::Companion(event));
        if let Err(crossbeam_channel::SendError(Input::Companion(EditorEvent::Lost(lost)))) = sent {
            stderr::print(lost);
        }
    }

    /// While the reviewer's editor runs, Ctrl-C is for that.
    fn interrupted(&mut self) -> bool {
        let _ = self.inputs.send(Input::Interrupt);
        false
    }

    /// The reviewer's editor may still save, and that is reported.
    fn ending(&mut self) -> Duration {
        let _ = self.inputs.send(Input::Stop);
        driver::ENDING
    }
}

/// A review that is yet to run.
#[derive(Debug)]
pub struct Review {
    inputs: crossbeam_channel::Receiver<Input>,
    sender: crossbeam_channel::Sender<Input>,
}

/// The two ends of a review.
pub fn channel() -> (FrontendHandle, Review) {
    let (sender, inputs) = crossbeam_channel::unbounded();
    let front = FrontendHandle {
        inputs: sender.clone(),
    };
    (front, Review { inputs, sender })
}

impl Review {
    /// Runs until the reviewer leaves or the companion stops. Every pending diff has its
    /// outcome then, and the terminal is as it was.
    ///
    /// # Errors
    /// When there is no terminal, or it is lost.
    pub fn run(self, companion: Handle, options: Options) -> anyhow::Result<()> {
        check(options.is_plain)?;
        driver::run(self.inputs, self.sender, companion, options)
    }
}
