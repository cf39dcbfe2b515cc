//! The agent whose hook this is, as the companion knows it.

use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_hooks::{Change, HookProtocol};
use pillion_protocol::Dialect;
use pillion_system::process;
use pillion_view::ask::Hook;

/// An agent starts its hooks itself, or with a shell.
const GENERATIONS: usize = 2;

/// What a companion is told of the agent. `accepted` is what it may write now.
pub fn hook(agent: Dialect, protocol: &dyn HookProtocol, accepted: &[Change]) -> Hook {
    let accepted = accepted.iter().map(|change| PathBuf::from(&change.path));
    Hook {
        agent,
        process: process(protocol),
        processes: processes(protocol),
        accepted: accepted.collect(),
    }
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
