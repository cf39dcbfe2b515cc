//! Standard input and output: one thread reads, one writes, and neither holds up the loop.

use std::io;
use std::time::Duration;

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use lsp_server::Message;
use pillion_system::stdio::PipeGuard;
use pillion_system::{process, signals, spawn};

use crate::Error;
use crate::framing::{self, Frame};

/// The time limit for an editor that kills this program, is gone or reads no more to have its last words read.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// The time limit for the last messages to reach the editor.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(300);

/// The input from the editor. `None` if it sends nothing more, or a signal asks for the end.
pub type Input = Result<Option<Frame>, Error>;

/// The editor's end of the connection.
#[derive(Debug)]
pub struct Transport {
    pub input: Receiver<Input>,
    /// Never blocks: an editor that reads nothing does not hold up its agents.
    pub output: Sender<Message>,
    /// Ends when everything is written, or nothing more can be.
    pub written: Receiver<()>,
}

/// Connects standard input and output.
pub fn stdio() -> anyhow::Result<Transport> {
    let guard = PipeGuard::start().map_err(Error::Unguarded)?;
    pillion_system::stdio::widen_input();
    // A bound, so that an editor that sends faster than it is read fills its own pipe.
    let (input_sender, input) = bounded(16);
    let (output, messages) = unbounded();
    let (alive, written) = bounded(0);
    let signal_sender = input_sender.clone();
    let parent = process::ancestors(std::process::id()).first().copied();
    let (reading, is_read) = bounded::<()>(0);
    let caught = signals::on_signal(move || {
        // What the editor has said before is read first: an editor that quits asks for the end and kills at once.
        if signals::sender().is_some_and(|sender| Some(sender) == parent) {
            let _ = is_read.recv_timeout(LAST_WORDS);
        }
        let _ = signal_sender.send(Ok(None));
    });
    if let Err(error) = caught {
        tracing::warn!(%error, "signals are caught only while agents are served");
    }
    let no_thread = "cannot start a thread";
    let read_all = move || {
        read(&input_sender, guard);
        drop(reading);
    };
    spawn("reader", read_all).context(no_thread)?;
    let write = move || {
        if let Err(error) = framing::write_all(io::stdout().lock(), &messages) {
            tracing::info!(%error, "the editor stopped reading");
        }
        drop(alive);
    };
    spawn("writer", write).context(no_thread)?;
    Ok(Transport {
        input,
        output,
        written,
    })
}

impl Transport {
    /// Waits until everything that was sent is written, but not long.
    pub fn close(self) {
        drop(self.output);
        let _ = self.written.recv_timeout(SHUTDOWN_GRACE);
    }
}

fn read(input: &Sender<Input>, mut guard: PipeGuard) {
    let mut stdin = io::stdin().lock();
    loop {
        let read = match framing::read(&mut stdin) {
            // Who writes there has opened it before.
            _ if guard.is_opened() => Err(Error::Opened),
            read => read.map_err(Error::from),
        };
        let is_last = !matches!(read, Ok(Some(_)));
        if input.send(read).is_err() || is_last {
            return;
        }
    }
}
