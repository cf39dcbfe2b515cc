//! `pillion hook guard`.
//!
//! Claude Code starts it beside the hook that calls the companion over its own connection. If that hook gets no answer, because
//! there is no companion, it was killed, the connection broke or Claude Code has not come back to a new companion, it would make
//! the call: of two hooks, the one that has it ask the person counts.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_discovery::{CompanionState, Environment, depth_in, state, unended};
use pillion_hooks::Call;
use pillion_protocol::Dialect;
use pillion_protocol::claude::hooks;
use pillion_protocol::held::RUNS_COMMANDS;
use pillion_view::ask::{Guard, Guarded};
use pillion_view::{Client, ClientError};

use super::{agent, find, input};
use crate::args;

/// Stand beside the hook of a call, and have the agent ask if that hook gets no answer
///
/// The agent starts this itself, before each call that Pillion may show.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = args::agent([Dialect::ClaudeCode]))]
    agent: Dialect,

    /// Where no editor or review is open, leave it to the agent's permission mode
    #[arg(long)]
    asked: bool,
}

/// Why the agent asks, for the person. They may read it half a minute later: so long the hook beside this one waits for a connection
/// that is being made.
const NO_ANSWER: &str =
    "nobody has decided about this in Pillion: the editor or review ended, or did not answer";
const NOT_CONNECTED: &str = "Claude Code was not connected to the open editor or review when it came to this. \
                             hint: if Pillion does not show the change by now, type /ide";
const NOBODY: &str = "no editor or review is open in this folder, so the change is neither shown nor recorded. \
                      hint: start one, such as `pillion`, and type /ide";

/// The time limit for an agent that is just connecting.
const CONNECTS_WITHIN: Duration = Duration::from_millis(500);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub fn run(args: &Args) -> anyhow::Result<()> {
    let protocol = pillion_hooks::of(args.agent);
    let input = input::read(&mut io::stdin().lock()).ok();
    let call = input.and_then(|input| protocol.read(input).ok());
    // What it is not told of is the business of the hook beside it.
    let Some(call) = call.filter(|call| !call.id.is_empty()) else {
        return Ok(());
    };
    let guard = Guard {
        processes: agent::processes(protocol),
        call: call.id.clone(),
    };
    if let Some(why) = why_unanswered(&Environment::current(), args, &guard, &call) {
        super::give(&pillion_hooks::Answer::json(hooks::decision("ask", &why)))?;
    }
    Ok(())
}

/// Waits at the companion that the agent is connected to. Returns why the agent asks, if the hook gets no answer.
fn why_unanswered(
    environment: &Environment,
    args: &Args,
    guard: &Guard,
    call: &Call,
) -> Option<String> {
    // Without it, Claude Code was started while no editor or review was open.
    let port = args.agent.port_variable();
    let port = port.and_then(|name| environment.filled(name)?.to_str()?.parse::<u16>().ok());
    let folder = call.folder.as_deref();
    let is_its = |it: &CompanionState| {
        port == Some(it.port) || folder.is_some_and(|folder| depth_in(&it.roots, folder).is_some())
    };
    let until = Instant::now() + CONNECTS_WITHIN;
    loop {
        let mut why = None;
        for companion in state::list(environment) {
            let Some(client) = Client::new(&companion) else {
                continue;
            };
            let connected = client.connect();
            match connected.and_then(|mut it| it.wait_for(guard.clone())) {
                Ok(Guarded::Answered) => return None,
                Ok(Guarded::Unanswered) => return Some(NO_ANSWER.to_owned()),
                // Once it has given up dialling, Claude Code does not come back to a companion by itself.
                Ok(Guarded::Elsewhere) if is_its(&companion) => why = why.or(Some(NOT_CONNECTED)),
                // One of an older version has no such hooks.
                Ok(Guarded::Elsewhere) | Err(ClientError::Refused(_)) => {}
                // It was there a moment ago.
                Err(_) => why = Some(NO_ANSWER),
            }
        }
        if why != Some(NOT_CONNECTED) || Instant::now() >= until {
            let unended = match port {
                Some(port) => unended::roots_on(environment, port),
                None => folder.and_then(|folder| unended::roots_around(environment, folder)),
            };
            let killed = || unended.map(|it| find::killed(&it));
            // What a shell command writes is not shown before the write by an open one either.
            let is_shown = !args.asked && call.tool != RUNS_COMMANDS;
            let nobody = || is_shown.then(|| NOBODY.to_owned());
            return why.map(str::to_owned).or_else(killed).or_else(nobody);
        }
        sleep(BETWEEN_LOOKS);
    }
}
