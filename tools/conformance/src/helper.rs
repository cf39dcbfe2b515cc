//! The helper, who does in the editor what only a person can do, and the steps.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// Something that only a person, or a command in a person's place, can do in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Accept the diff of this file as it stands. Its path is as it was proposed, here and below.
    Accept(String),
    /// Reject the diff of this file.
    Reject(String),
    /// Accept one more diff, with another text. No person is asked for it.
    AcceptAgain(String),
    /// Accept the diff of this file with another text than was proposed. No person is asked for it.
    AcceptEdited(String),
    /// Close the view of this file without a decision.
    Close(String),
    /// Mention these lines to the agent. No person is asked for it.
    Mention {
        /// A file that exists.
        file: String,
        /// The first line and the last, counted from 1.
        lines: (u32, u32),
    },
    /// Focus this file and move the cursor about in it, quickly.
    Move {
        /// A file that exists.
        file: String,
        /// The number of lines, from the first.
        lines: u32,
    },
    /// Move the cursor to these lines, each so long after the one before, whether or not that is
    /// done already. No person is asked for it.
    Burst {
        /// A file that exists.
        file: String,
        /// The lines.
        lines: Vec<u32>,
        /// The time from one to the next.
        pace: Duration,
    },
    /// Focus these files, which exist, one after the other. No person is asked for it.
    Visit(Vec<String>),
    /// Stop the companion as its editor would.
    Stop,
}

/// The outcome of a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Help {
    /// It was done: its effect must show at once.
    Done,
    /// A person or command was asked, and has [`Timeouts::help`](crate::timeouts::Timeouts::help) to do it.
    Asked,
    /// Nobody can do it; this is why, and how that could be changed.
    Nobody(String),
    /// The attempt failed.
    Failed(String),
}

/// A person, or a command in a person's place, who does what only a person can do.
pub trait Helper {
    /// Has it done, or asks for it.
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>>;
}
