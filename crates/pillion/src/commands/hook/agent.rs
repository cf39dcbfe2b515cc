//! The agent whose hook this is, as the companion knows it.

use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_discovery::survey::Companion;
use pillion_hooks::{Change, HookProtocol};
use pillion_protocol::Dialect;
use pillion_system::process;
use pillion_view::Client;
use pillion_view::ask::{AgentOfHook, Hook};

/// An agent starts its hooks itself, or with a shell.
const GENERATIONS: usize = 2;

/// Asks the companion about the agent; none if the agent is not connected there. `accepted` is what it may write now.
pub fn connected(
    agent: Dialect,
    protocol: &dyn HookProtocol,
    companion: &Companion,
    accepted: &[Change],
) -> Option<AgentOfHook> {
    let client = Client::new(companion.state.as_ref()?)?;
    let accepted = accepted.iter().map(|change| PathBuf::from(&change.path));
    let asked = client.ask(Hook {
        agent,
        process: process(protocol),
        processes: processes(protocol),
        accepted: accepted.collect(),
    });
    asked
        .inspect_err(|error| tracing::warn!(%error, "the companion does not know the agent"))
        .ok()
        .flatten()
}

/// Programs that run the command line of a hook.
const SHELLS: [&str; 8] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "cmd",
    "powershell",
];

/// The agent's process, if that can be told: the shell that runs a hook may have become the hook, or wait for it.
pub fn process(protocol: &dyn HookProtocol) -> Option<u32> {
    let processes = processes(protocol);
    if let [pid] = processes[..] {
        return Some(pid);
    }
    let is_shell = |pid: u32| {
        let process = process::process(pid);
        process.is_some_and(|it| {
            let name = it.name().trim_end_matches(".exe");
            SHELLS.contains(&name.trim_start_matches('-'))
        })
    };
    processes.into_iter().find(|pid| !is_shell(*pid))
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
