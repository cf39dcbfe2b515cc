//! The process that an agent takes for its editor (C2.3): pure rules on the chain of its ancestors.

use pillion_discovery::Environment;
use pillion_protocol::Dialect;
use pillion_system::process::Process;

/// The number of steps that agents climb at most.
const MAX_STEPS: usize = 32;

/// The names that count as a shell, exactly.
const SHELLS: [&str; 8] = ["zsh", "bash", "sh", "tcsh", "csh", "ksh", "fish", "dash"];

/// The process that `agent` takes for its editor, on this system.
///
/// `chain` is the agent's own process and then its ancestors, nearest first. None only if it is
/// empty and no variable names a process.
pub fn ide_pid(agent: Dialect, environment: &Environment, chain: &[Process]) -> Option<u32> {
    let named = named_pid(agent, environment);
    named.or_else(|| {
        if cfg!(windows) {
            windows(chain)
        } else {
            unix(chain)
        }
    })
}

/// The process that a variable names, for an agent that knows the variable.
fn named_pid(agent: Dialect, environment: &Environment) -> Option<u32> {
    let name = agent.variables()?.pid?;
    let pid = environment.filled(name)?.to_str()?.parse().ok();
    pid.filter(|pid| *pid > 0)
}

/// The rule on Unix: the nearest shell's grandparent, unless that is process 1 or there is none:
/// then its parent. Without a shell, the topmost ancestor below process 1.
///
/// The process itself counts, too. A login shell (`-zsh`) is not a shell by this rule.
fn unix(chain: &[Process]) -> Option<u32> {
    let parent_of = |pid: u32| {
        let found = chain.iter().find(|process| process.pid == pid);
        found.map_or(0, |process| process.parent)
    };
    let mut topmost = chain.first()?.pid;
    for process in chain.iter().take(MAX_STEPS) {
        if SHELLS.contains(&process.name()) {
            let grandparent = parent_of(process.parent);
            let is_editor = grandparent > 1;
            return Some(if is_editor {
                grandparent
            } else {
                process.parent
            });
        }
        if process.parent <= 1 {
            return Some(process.pid);
        }
        topmost = process.parent;
    }
    Some(topmost)
}

/// The rule on Windows: the third from the top; of a shorter chain, the topmost.
fn windows(chain: &[Process]) -> Option<u32> {
    let chain = &chain[..chain.len().min(MAX_STEPS)];
    let third = chain.len().checked_sub(3).map(|index| &chain[index]);
    third.or(chain.last()).map(|process| process.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes 100, 101, …, each the child of the next; the last one's parent is given.
    fn chain(commands: &[&str], root: u32) -> Vec<Process> {
        let count = commands.len();
        let process = |(index, command): (usize, &&str)| Process {
            pid: 100 + index as u32,
            parent: if index + 1 == count {
                root
            } else {
                101 + index as u32
            },
            command: (*command).to_owned(),
        };
        commands.iter().enumerate().map(process).collect()
    }

    #[test]
    fn on_unix_it_is_the_nearest_shells_grandparent() {
        for (commands, expected) in [
            (&["node g", "/bin/bash", "ptyhost", "code", "init"][..], 103),
            (&["node g", "sh -c g", "npx", "zsh", "vim"], 103),
            (&["node g", "/usr/bin/fish -i", "nvim", "tmux"], 103),
            (&["node g", "bash", "nvim"], 102),
            (&["node g", "nvim", "tmux", "systemd"], 103),
            (&["node g"], 100),
            (&["node g", "-bash", "login"], 102),
            (&["/bin/sh /usr/bin/gemini", "nvim", "tmux"], 102),
        ] {
            assert_eq!(unix(&chain(commands, 1)), Some(expected), "{commands:?}");
        }
        assert_eq!(unix(&chain(&["node", "bash"], 1)), Some(1));
        assert_eq!(unix(&chain(&["node", "bash"], 0)), Some(0));
        assert_eq!(unix(&[]), None);
    }

    #[test]
    fn on_unix_32_steps_are_climbed() {
        let mut commands = vec!["node"; 40];
        assert_eq!(unix(&chain(&commands, 1)), Some(132));
        commands[32] = "bash";
        assert_eq!(unix(&chain(&commands, 1)), Some(132));
        commands[31] = "bash";
        assert_eq!(unix(&chain(&commands, 1)), Some(133));
    }

    #[test]
    fn on_windows_it_is_the_third_from_the_top() {
        for (length, expected) in [(1, 100), (2, 101), (3, 100), (4, 101), (7, 104), (40, 129)] {
            let commands = vec!["node"; length];
            assert_eq!(windows(&chain(&commands, 0)), Some(expected), "{length}");
        }
        assert_eq!(windows(&[]), None);
    }

    #[test]
    fn a_variable_names_the_process_for_the_agent_that_knows_it() {
        let chain = chain(&["node"], 1);
        for (value, agent, expected) in [
            ("77", Dialect::GeminiCli, 77),
            ("77", Dialect::QwenCode, 100),
            ("0", Dialect::GeminiCli, 100),
            ("-5", Dialect::GeminiCli, 100),
            ("x", Dialect::GeminiCli, 100),
        ] {
            let environment = Environment::from_pairs([("GEMINI_CLI_IDE_PID", value)]);
            let found = ide_pid(agent, &environment, &chain);
            assert_eq!(found, Some(expected), "{value} {agent}");
        }
    }
}
