//! The agent whose hook this is, as the companion knows it.

use std::path::PathBuf;

use pillion_discovery::Environment;
use pillion_hooks::{Change, HookProtocol};
use pillion_protocol::Dialect;
use pillion_system::lineage::{Kin, lineage, of_one_program};
use pillion_view::ask::Hook;

/// The programs below the agent's own, and itself: some of them start another of theirs.
const GENERATIONS: usize = 2;

/// What a companion is told of the agent. `writes` is what it may write now: what was accepted, and what is there already.
pub fn hook(agent: Dialect, protocol: &dyn HookProtocol, writes: &[Change]) -> Hook {
    let paths = |is_nothing| {
        let these = writes
            .iter()
            .filter(move |it| it.is_nothing() == is_nothing);
        these.map(|change| PathBuf::from(&change.path)).collect()
    };
    Hook {
        agent,
        process: process(protocol),
        processes: processes(protocol),
        accepted: paths(false),
        unchanged: paths(true),
    }
}

/// Programs that run a command line, or another program, and nothing else.
const WRAPPERS: [&str; 5] = ["env", "nice", "nohup", "stdbuf", "timeout"];

/// The agent's process, if that can be told: what runs a hook may have become the hook, or wait for it.
pub fn process(protocol: &dyn HookProtocol) -> Option<u32> {
    if let Some(pid) = named(protocol) {
        return Some(pid);
    }
    let program = program();
    let found = program.iter().find(|kin| !only_runs_it(kin));
    found.map(|kin| kin.process.pid)
}

/// The processes of which one is the agent's, however many shells are between. None above them: an agent may have started
/// another.
pub fn processes(protocol: &dyn HookProtocol) -> Vec<u32> {
    if let Some(pid) = named(protocol) {
        return vec![pid];
    }
    let mut left = GENERATIONS;
    let program = program();
    let processes = program.iter().take_while(|kin| {
        let is_one = left > 0;
        left -= usize::from(is_one && !only_runs_it(kin));
        is_one
    });
    processes.map(|kin| kin.process.pid).collect()
}

/// The process that the agent says it is.
fn named(protocol: &dyn HookProtocol) -> Option<u32> {
    let environment = Environment::current();
    let value = environment.filled(protocol.pid_variable()?)?;
    value.to_str()?.parse().ok()
}

/// What has called this hook, the nearest first, up to the shell in which a person types.
fn program() -> Vec<Kin> {
    let above: Vec<_> = lineage(std::process::id()).into_iter().skip(1).collect();
    of_one_program(&above).to_vec()
}

/// Returns true if a process only runs another: an agent may itself be a shell's script.
fn only_runs_it(kin: &Kin) -> bool {
    kin.is_shell() || WRAPPERS.contains(&kin.process.name())
}
