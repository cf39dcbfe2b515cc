//! Asks a person about files, over a session with a companion: what `pillion diff` and `pillion hook` have in common.

mod claude;

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use pillion_agent::set::{self, End, ProposedFile};
use pillion_system::{Signal, Signals};
use pillion_text::stderr;

use crate::agent_connection::{self, AgentConnection, Session};

/// The reason why nobody waits for the decisions any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// This signal came.
    Signal(Signal),
    /// The time is up.
    TimeUp,
    /// Whoever proposed the files has given them up.
    GivenUp,
}

/// The outcome of asking.
#[derive(Debug, Default)]
pub struct Asked {
    /// The end for each file.
    pub ends: Vec<End>,
    /// The reason why the waiting ended, if not the last decision.
    pub stop: Option<Stop>,
    /// The error, if there was one.
    pub error: Option<anyhow::Error>,
}

/// Proposes the files, and waits for the decisions, for a signal, until the time is up, or until `given_up` ends. `decided` is
/// called with the place of each file that was decided, at once; if the companion is not Pillion's, it is not.
///
/// # Errors
/// When nobody could be asked.
pub async fn ask(
    connection: &AgentConnection,
    files: &[ProposedFile],
    timeout: Option<Duration>,
    given_up: impl Future<Output = ()>,
    mut decided: impl FnMut(usize, &End),
) -> anyhow::Result<Asked> {
    // Before a view opens: from here on a signal closes it.
    let mut signals = Signals::install().context("cannot catch signals")?;
    let limit = timeout.unwrap_or(Duration::MAX);
    let ended = Cell::new(None);
    let mut stop = pin!(async {
        let stop = tokio::select! {
            signal = signals.next() => Stop::Signal(signal),
            () = tokio::time::sleep(limit) => Stop::TimeUp,
            () = given_up => Stop::GivenUp,
        };
        ended.set(Some(stop));
    });
    let mut session = tokio::select! {
        session = connection.connect() => session?,
        () = &mut stop => return Ok(Asked {
            ends: vec![set::NOT_SHOWN; files.len()],
            stop: ended.get(),
            error: None,
        }),
    };
    let editor = connection.companion.display_name();
    let shown = || say_waiting(editor);
    let reviewed = match &mut session {
        Session::Companion(client, updates) => {
            set::review(client, updates, files, shown, &mut decided, stop).await
        }
        Session::Claude(client, _) => claude::review(client, files, shown, stop).await,
    };
    session.end().await;
    Ok(Asked {
        ends: reviewed.ends,
        stop: ended.get(),
        error: reviewed.error.map(agent_connection::failure),
    })
}

fn say_waiting(editor: &str) {
    if io::stderr().is_terminal() {
        stderr::print(format_args!(
            "Waiting for a decision in {editor}; Ctrl-C withdraws the proposal."
        ));
    }
}
