//! `pillion hook wait`.
//!
//! Claude Code starts it with each prompt, and goes on. If it ends with one exit code, the agent's model reads its standard
//! error at once, also when the agent is idle; any other end is silent. So whatever goes wrong here ends it without a word.

use std::io::{self, Write};

use pillion_discovery::{Environment, state};
use pillion_protocol::Dialect;
use pillion_system::spawn;
use pillion_view::ask::AwaitNotes;
use pillion_view::{Client, Woken};

use super::agent;
use crate::args;
use crate::failure::Kind;

/// Wait beside an agent, and wake it with the notes that the person sends
///
/// The agent starts this itself, with each prompt. It ends when the next one waits, or the agent or the companion ends.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = args::agent([Dialect::ClaudeCode]))]
    agent: Dialect,
}

/// The exit code that wakes the agent.
const WAKES: Kind = Kind::Usage;

pub fn run(args: &Args) {
    // The agent writes the prompt, which may be longer than a pipe holds.
    let _ = spawn("input", || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    });
    let Some(woken) = woken(args.agent) else {
        return;
    };
    let mut error = io::stderr().lock();
    // The agent's model reads it, and no terminal shows it.
    let written = error.write_all(woken.text.as_bytes());
    let written = written.and_then(|()| error.flush());
    if written.is_ok() && woken.passed_on().is_ok() {
        std::process::exit(WAKES.code().into());
    }
}

/// Waits at the companion that the agent is connected to.
fn woken(agent: Dialect) -> Option<Woken> {
    let processes = agent::processes(pillion_hooks::of(agent));
    let companions = state::list(&Environment::current()).into_iter();
    companions.filter_map(|it| Client::new(&it)).find_map(|it| {
        let processes = processes.clone();
        it.woken(AwaitNotes { processes }).ok().flatten()
    })
}
