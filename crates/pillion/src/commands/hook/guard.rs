//! `pillion hook guard`.
//!
//! Claude Code starts it beside the hook that calls the companion over its own connection. If that hook gets no answer, because
//! the companion was killed or the connection broke, Claude Code would make the call: of two hooks, the one that has it ask the
//! person counts.

use std::io;
use std::time::Duration;

use pillion_discovery::{CompanionState, Environment, is_left_behind, state};
use pillion_protocol::Dialect;
use pillion_protocol::claude::hooks;
use pillion_system::now_ms;
use pillion_view::commands::{Client, ClientError, Guard, Guarded};

use super::{agent, input};
use crate::args;

/// Stand beside the hook of a call, and have the agent ask if that hook gets no answer
///
/// The agent starts this itself, before each call that Pillion may show. Without a companion it does nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = args::agent([Dialect::ClaudeCode]))]
    agent: Dialect,
}

/// Why the agent asks, for the person.
const NO_ANSWER: &str = "the editor or review ended, and nobody had decided";

pub fn run(args: &Args) -> anyhow::Result<()> {
    let protocol = super::protocol(args.agent)?;
    let call = input::read(&mut io::stdin().lock()).and_then(|input| protocol.read(input));
    // What it is not told of is the business of the hook beside it.
    let Some(call) = call.ok().map(|call| call.id).filter(|id| !id.is_empty()) else {
        return Ok(());
    };
    let processes = agent::processes(protocol);
    if is_unanswered(&Guard { processes, call }) {
        super::give(&pillion_hooks::Answer::json(hooks::decision(
            "ask", NO_ANSWER,
        )))?;
    }
    Ok(())
}

/// A companion that is younger may have taken the place of one that was killed, without the agent's having come back yet.
const COMES_BACK: Duration = Duration::from_secs(10);

/// Returns true if the companion that the agent was started with was killed a moment ago, or not replaced since: the hook beside this
/// may have called it.
fn is_killed(environment: &Environment, companions: &[CompanionState]) -> bool {
    let agent = Dialect::ClaudeCode;
    let port = agent.port_variable();
    let port = port.and_then(|name| environment.filled(name)?.to_str()?.parse().ok());
    let Some(port) = port else {
        return false;
    };
    match companions.iter().find(|it| it.port == port) {
        Some(it) => u128::from(now_ms().saturating_sub(it.started_at_ms)) < COMES_BACK.as_millis(),
        None => is_left_behind(environment, agent, port),
    }
}

/// Waits at the companion that the agent is connected to. Returns true if the hook gets no answer from it.
fn is_unanswered(guard: &Guard) -> bool {
    let environment = Environment::current();
    let companions = state::list(&environment);
    let mut is_lost = is_killed(&environment, &companions);
    for client in companions.iter().filter_map(Client::new) {
        match client.guard(guard.clone()) {
            Ok(Guarded::Answered) => return false,
            Ok(Guarded::Unanswered) => return true,
            // One of an older version has no such hooks.
            Ok(Guarded::Elsewhere) | Err(ClientError::Refused(_) | ClientError::Diff(_)) => {}
            // It was there a moment ago.
            Err(_) => is_lost = true,
        }
    }
    is_lost
}
