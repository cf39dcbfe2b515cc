//! Asks a person about files, over a connection with a companion: what `pillion diff` and `pillion hook` have in common.

use std::io::{self, IsTerminal};
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use pillion_system::{Signal, Signals, spawn};
use pillion_text::stderr;
use pillion_view::ask::{Decided, Decisions, End, PassedOn, Propose, Undecided, Withdraw};
use pillion_view::{ClientError, Connected};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::commands::control_client;
use crate::failure::{Failure, Kind};

/// The time limit for the companion to answer when everything is withdrawn: a little more than it gives its views.
const WITHDRAWN_WITHIN: Duration = Duration::from_secs(3);

/// The reason why nobody waits for the decisions any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Signal(Signal),
    TimeUp,
    /// Whoever proposed the files has given them up.
    GivenUp,
}

/// The outcome of asking.
#[derive(Debug, Default)]
pub struct Asked {
    pub ends: Vec<End>,
    /// The reason why the waiting ended, if not the last decision.
    pub stop: Option<Stop>,
    pub error: Option<anyhow::Error>,
    /// The connection, unless it is broken.
    pub connection: Option<Connected>,
}

/// Proposes the files, and waits for the decisions, for a signal, until the time is up, or until `given_up` ends. `editor` is the
/// name of where they are shown.
pub fn ask(
    connection: Connected,
    editor: &str,
    propose: Propose,
    limit: Option<Duration>,
    given_up: impl Future<Output = ()>,
) -> anyhow::Result<Asked> {
    pillion_agent::runtime()?.block_on(wait(connection, editor, propose, limit, given_up))
}

async fn wait(
    connection: Connected,
    editor: &str,
    propose: Propose,
    limit: Option<Duration>,
    given_up: impl Future<Output = ()>,
) -> anyhow::Result<Asked> {
    // Before a view opens: from here on a signal closes it.
    let mut signals = Signals::install().context("cannot catch signals")?;
    let stop = async {
        tokio::select! {
            signal = signals.next() => Stop::Signal(signal),
            () = sleep(limit.unwrap_or(Duration::MAX)) => Stop::TimeUp,
            () = given_up => Stop::GivenUp,
        }
    };
    let left_open = End::Withdrawn {
        edited: None,
        is_closed: false,
    };
    let mut asked = Asked {
        ends: vec![left_open; propose.files.len()],
        ..Asked::default()
    };
    let aside = connection.aside();
    let mut news = start(connection, propose)?;
    let mut stop = pin!(stop);
    let mut until = pin!(sleep(Duration::MAX));
    loop {
        tokio::select! {
            // Who decided in the same moment has decided.
            biased;
            news = news.recv() => match news {
                Some(News::Shown) => say_waiting(editor),
                Some(News::Decided(Decided { ends, why })) => {
                    for (at, end) in ends {
                        if let Some(place) = asked.ends.get_mut(at) {
                            *place = end;
                        }
                    }
                    asked.error = why.map(undecided);
                }
                Some(News::Ended(connection)) => {
                    asked.connection = connection.map_err(|error| asked.error = Some(error)).ok();
                    return Ok(asked);
                }
                None => return Ok(asked),
            },
            stopped = &mut stop, if asked.stop.is_none() => {
                asked.stop = Some(stopped);
                // One that hangs takes nothing.
                let aside = aside.clone();
                let _ = spawn("withdraw", move || drop(aside.ask(&Withdraw)));
                until.set(sleep(WITHDRAWN_WITHIN));
            }
            () = &mut until, if asked.stop.is_some() => return Ok(asked),
        }
    }
}

/// The news of what was proposed.
enum News {
    Shown,
    /// This came of some of them.
    Decided(Decided),
    /// No more comes: the connection, or why there is none.
    Ended(anyhow::Result<Connected>),
}

/// Proposes, from a thread that waits for what comes of it.
fn start(mut connection: Connected, propose: Propose) -> io::Result<mpsc::UnboundedReceiver<News>> {
    let (sender, news) = mpsc::unbounded_channel();
    spawn("answers", move || {
        let ended = wait_for_all(&mut connection, propose, |it| drop(sender.send(it)));
        let _ = sender.send(News::Ended(ended.map(|()| connection)));
    })?;
    Ok(news)
}

fn wait_for_all(
    connection: &mut Connected,
    propose: Propose,
    tell: impl Fn(News),
) -> anyhow::Result<()> {
    let mut left = propose.files.len();
    if let Err(error) = connection.wait_for(propose) {
        // What is shown already goes.
        if connection.ask(Withdraw).is_ok() {
            tell(News::Decided(connection.ask(Decisions).unwrap_or_default()));
        }
        return Err(ended(error));
    }
    tell(News::Shown);
    while left > 0 {
        let decided = connection.wait_for(Decisions).map_err(ended)?;
        left = left.saturating_sub(decided.ends.len().max(1));
        tell(News::Decided(decided));
    }
    // If that is not heard, nobody is there to whom it matters.
    let _ = connection.ask(PassedOn);
    Ok(())
}

/// The error if a companion that was to decide does not answer.
fn ended(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Broken { .. } => {
            let message = "the companion ended, and nobody had decided";
            let failure = Failure::new(Kind::NoCompanion, message);
            failure
                .hint("`pillion list` shows the running companions.")
                .into()
        }
        error => control_client::failure(error),
    }
}

/// The error of what was not decided.
pub fn undecided(why: Undecided) -> anyhow::Error {
    match why {
        Undecided::NotShown(why) => Failure::new(Kind::Refused, why).into(),
        Undecided::Unseen => Failure::new(Kind::NoCompanion, "no view shows it any more").into(),
    }
}

fn say_waiting(editor: &str) {
    if io::stderr().is_terminal() {
        stderr::print(format_args!(
            "Waiting for a decision in {editor}; Ctrl-C withdraws the proposal."
        ));
    }
}
