//! The agent whose hook this is, as the companion knows it.

use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_hooks::{Change, HookProtocol};
use pillion_system::process;
use pillion_view::commands::{AgentOfHook, Client, HookCall};

/// An agent starts its hooks itself, or with a shell.
const GENERATIONS: usize = 2;

/// Asks the companion about the agent; none if the agent is not connected there. `accepted` is what it may write now.
pub fn connected(
    protocol: &dyn HookProtocol,
    companion: &Companion,
    accepted: &[Change],
) -> Option<AgentOfHook> {
    let client = Client::new(companion.state.as_ref()?)?;
    let accepted = accepted.iter().map(|change| PathBuf::from(&change.path));
    let asked = client.hook(HookCall {
        processes: processes(protocol),
        accepted: accepted.collect(),
    });
    asked
        .inspect_err(|error| tracing::warn!(%error, "the companion does not know the agent"))
        .ok()
        .flatten()
}

/// The processes of which one is the agent's. None above them: an agent may have started another.
pub fn processes(protocol: &dyn HookProtocol) -> Vec<u32> {
    let environment = Environment::current();
    let named = protocol.pid_variable();
    let named = named.and_then(|name| environment.filled(name)?.to_str()?.parse().ok());
    match named {
        Some(pid) => vec![pid],
        None => {
            let mut processes = process::ancestors(std::process::id());
            processes.truncate(GENERATIONS);
            processes
        }
    }
}
