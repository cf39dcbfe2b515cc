//! `pillion send-notes`.

use pillion_protocol::Dialect;
use pillion_view::ask::SendNotes;

use super::control_client;
use super::output::say;
use crate::args::{self, Target};
use crate::failure::{Failure, Kind};

/// Send an agent the notes that wait for its next prompt
///
/// A note on a change reaches the agent's model at once where it can. Some wait for your next prompt; this command sends
/// them now, and wakes the agent if it is idle. It prints what becomes of them. Each note arrives once: one that was sent
/// does not come with the prompt as well.
///
/// Only Claude Code can be woken, if it was started with `pillion run claude` and has had a prompt; for any other agent,
/// the command says when it gets the notes, and ends with exit code 1. A command that an agent itself has started is
/// refused.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent whose notes are sent [default: all agents]
    #[arg(value_name = "AGENT", value_parser = args::agent(Dialect::ALL))]
    agent: Option<Dialect>,

    /// Send only those for the agent with this number, as in `Claude Code 2`
    #[arg(long, value_name = "N")]
    session: Option<u64>,

    #[command(flatten)]
    target: Target,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let request = SendNotes {
        agent: args.agent,
        number: args.session,
    };
    let sent = control_client::ask(&args.target, request)?;
    if !sent.done {
        return Err(Failure::new(Kind::Refused, sent.message).into());
    }
    say(&sent.message)
}
