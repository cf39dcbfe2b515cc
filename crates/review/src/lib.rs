//! The terminal review: shows what agents propose and lets a person judge it, hunk by hunk.
//!
//! [`channel`] gives the two ends: a [`FrontendHandle`] for the companion, and a [`Review`] that runs on the
//! thread of the terminal. What the review knows is one state machine (`app`); around it are a
//! thin loop (`driver`) and the modules that do I/O: `source`, `edit`, `watch`, `terminal`, `keyboard`.

mod app;
mod appearance;
mod background;
mod comparer;
mod driver;
mod edit;
mod geometry;
mod help;
mod highlight;
mod keyboard;
mod notify;
mod proposal;
mod rows;
mod screen;
mod source;
mod syntax;
mod terminal;
mod view;
mod watch;
mod words;

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc;

use pillion_companion::{CloseReason, Diff, DiffId, EditorEvent, Forward, Handle, Reply, Status};
use pillion_protocol::{File, Outcome};
use pillion_text::stderr;

pub use notify::Notify;
pub use terminal::check;

/// What the review asks of its companion.
pub trait Companion: Clone + Send + 'static {
    /// Tells the agent what became of its proposal of this revision.
    fn resolve_diff(&self, id: DiffId, revision: u32, outcome: Outcome);
    /// One file was focused or saved.
    fn focus(&self, file: File);
}

impl Companion for Handle {
    fn resolve_diff(&self, id: DiffId, revision: u32, outcome: Outcome) {
        Self::resolve_diff(self, id, revision, outcome);
    }

    fn focus(&self, file: File) {
        Self::focus(self, file);
    }
}

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
}

/// How to run the review.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The workspace folders, absolute, links followed.
    pub roots: Vec<PathBuf>,
    /// The colours.
    pub theme: ThemeChoice,
    /// How to say that a proposal came.
    pub notify: Vec<Notify>,
    /// Whether files that are saved in the workspace become the context.
    pub watch: bool,
}

/// Everything that reaches the review's loop from other threads.
#[derive(Debug)]
enum Input {
    Open(Diff, Reply<()>),
    Close(DiffId, CloseReason, Reply<String>),
    Status(Status),
    Key(app::Press),
    /// What else the terminal says.
    Terminal(crossterm::event::Event),
    TerminalLost,
    EditorEnded(io::Result<ExitStatus>),
    Compared(view::Compared),
    /// A file was looked at, or read again.
    Source(source::Answer),
    Notice(String),
    /// What the reviewer accepted never reached its agent.
    Lost(String),
    Coloured(highlight::Texts, proposal::Side, syntax::Coloured),
    /// What keeps saved files from being noticed, as of now.
    Troubles(Vec<String>),
    Interrupt,
    Stop,
}

/// The review as the companion and signals reach it. Never blocks.
#[derive(Debug, Clone)]
pub struct FrontendHandle {
    inputs: mpsc::Sender<Input>,
}

impl FrontendHandle {
    /// Ends the review: pending diffs are rejected, the terminal is given back.
    pub fn stop(&self) {
        self.send(Input::Stop);
    }

    /// As [`FrontendHandle::stop`], but not while the reviewer's editor runs: then Ctrl-C is for the editor.
    pub fn interrupt(&self) {
        self.send(Input::Interrupt);
    }

    /// Shows a sentence.
    pub fn notice(&self, text: impl Into<String>) {
        self.send(Input::Notice(text.into()));
    }

    /// The review as its companion reaches it. While the reviewer's editor runs, Ctrl-C is for that.
    pub fn editor(&self) -> Forward {
        let (front, interrupted) = (self.clone(), self.clone());
        Forward::new(move |event| front.hear(event))
            .when_interrupted(move || interrupted.interrupt())
    }

    fn hear(&self, event: EditorEvent) {
        match event {
            EditorEvent::Open(diff, shown) => self.send(Input::Open(diff, shown)),
            EditorEvent::Close(id, reason, closed) => self.send(Input::Close(id, reason, closed)),
            EditorEvent::Diagnostics(_, found) => found.done(Vec::new()),
            EditorEvent::Status(status) => self.send(Input::Status(status)),
            EditorEvent::Lost(lost) => {
                // After the end of the review there is a plain terminal.
                if self.inputs.send(Input::Lost(lost.to_string())).is_err() {
                    stderr::tell(lost);
                }
            }
            EditorEvent::Stopped => self.stop(),
        }
    }

    fn send(&self, input: Input) {
        // If the review is gone, dropping a reply says so.
        let _ = self.inputs.send(input);
    }
}

/// A review that is yet to run.
#[derive(Debug)]
pub struct Review {
    inputs: mpsc::Receiver<Input>,
    sender: mpsc::Sender<Input>,
}

/// The two ends of a review.
pub fn channel() -> (FrontendHandle, Review) {
    let (sender, inputs) = mpsc::channel();
    let front = FrontendHandle {
        inputs: sender.clone(),
    };
    (front, Review { inputs, sender })
}

impl Review {
    /// Runs until the reviewer leaves or [`FrontendHandle::stop`] is called. Every pending diff has its
    /// outcome then, and the terminal is as it was.
    ///
    /// # Errors
    /// When there is no terminal, or it is lost.
    pub fn run(self, companion: impl Companion, options: Options) -> anyhow::Result<()> {
        check()?;
        driver::run(self.inputs, self.sender, companion, options)
    }
}
