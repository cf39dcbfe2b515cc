//! A process and all above it, with what tells whether a person sits at its end: users, sessions, terminals, and what it was
//! started with.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::process;
pub use crate::process::{Kin, variables};

/// More than any real tree has.
const MAX_PROCESSES: usize = 64;

/// Programs that read what a person types, and run it.
const SHELLS: [&str; 14] = [
    "sh",
    "ash",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "mksh",
    "tcsh",
    "csh",
    "nu",
    "xonsh",
    "pwsh",
    "powershell",
];

/// True in a program that was started to go on by itself.
static IS_DETACHED: AtomicBool = AtomicBool::new(false);

/// This program was started to go on by itself: whatever its parent is has adopted it, and adopts what others
/// leave behind.
pub fn note_detached() {
    IS_DETACHED.store(true, Ordering::Relaxed);
}

/// The process that has adopted this one, if that is known.
fn adopter() -> Option<u32> {
    let is_detached = IS_DETACHED.load(Ordering::Relaxed);
    is_detached.then(process::parent).flatten()
}

/// Programs that adopt what the processes below them leave behind, beside a user's `systemd`.
const ADOPTERS: [&str; 7] = [
    "catatonit",
    "conmon",
    "dinit",
    "docker-init",
    "init",
    "shepherd",
    "tini",
];

impl Kin {
    /// Returns true if it began the session of a terminal: what is typed there goes to it, or to what it has started.
    pub fn leads_terminal(&self) -> bool {
        self.terminal.is_some() && self.session == Some(self.process.pid)
    }

    /// Returns true if it is a shell, as far as its command line tells.
    pub fn is_shell(&self) -> bool {
        let name = self.process.name();
        let name = name.strip_prefix('-').unwrap_or(name);
        SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(name))
    }

    /// Returns true if it is a shell that a login has started.
    pub fn is_login_shell(&self) -> bool {
        let first = self.process.command.split(' ').nth(1).unwrap_or_default();
        self.is_shell()
            && (self.process.name().starts_with('-') || ["-l", "--login"].contains(&first))
    }

    /// Returns true if it is a shell that reads from a person, and runs neither one command nor a script.
    pub fn is_interactive_shell(&self) -> bool {
        let mut words = self.process.command.split(' ').skip(1);
        let first = words.next().unwrap_or_default();
        let is_script = !first.is_empty() && !first.starts_with('-');
        let runs_one = |word: &str| {
            let letters = word.strip_prefix('-').unwrap_or_default();
            !letters.starts_with('-') && letters.ends_with('c')
        };
        self.is_shell() && !is_script && !runs_one(first) && !words.any(|word| word == "-c")
    }

    /// Returns true if it is a shell that runs this program, and nothing else, as far as their command lines tell.
    pub fn runs_only(&self, program: &Self) -> bool {
        let plain = |text: &str| text.replace(['\'', '"', '\\'], "");
        let is_option = |word: &&str| word.starts_with('-');
        let words = self.process.command.split(' ').skip(1);
        let line = words.skip_while(is_option).collect::<Vec<_>>().join(" ");
        let line = line.strip_prefix("exec ").unwrap_or(&line);
        self.is_shell() && plain(line) == plain(&program.process.command)
    }

    /// Returns true if it adopts what the processes of its user leave behind, as far as its name tells, or if it has adopted this
    /// process: whose child something is says nothing then.
    pub fn adopts(&self) -> bool {
        let name = self.process.name();
        let is_ours = self.uid.is_none_or(|uid| uid == process::own_uid());
        (is_ours && ADOPTERS.contains(&name))
            || (self.process.parent <= 1 && name == "systemd")
            || adopter() == Some(self.process.pid)
    }
}

/// A process and all above it, itself first, without process 1. Empty if it is gone.
pub fn lineage(pid: u32) -> Vec<Kin> {
    let look = process::look();
    let mut found: Vec<Kin> = Vec::new();
    let mut next = pid;
    while next > 1 && found.len() < MAX_PROCESSES {
        let Some(kin) = look(next) else { break };
        // The number of a parent that is gone may be another process's by now.
        let is_parent = found
            .last()
            .is_none_or(|child| kin.started_at <= child.started_at);
        if !is_parent || found.iter().any(|it| it.process.pid == next) {
            break;
        }
        next = kin.process.parent;
        found.push(kin);
    }
    found
}

/// What is shown of a process, unless it has ended.
pub fn kin(pid: u32) -> Option<Kin> {
    process::look()(pid)
}

/// Of those above a program, its parent first, those that were started together with it: below the shell in which a person
/// types, and not above the process that a terminal was opened for.
pub fn of_one_program(above: &[Kin]) -> &[Kin] {
    let end = above
        .iter()
        .position(|kin| kin.leads_terminal() || kin.adopts());
    match end {
        Some(end) if above[end].adopts() || above[end].is_interactive_shell() => &above[..end],
        Some(end) => &above[..=end],
        None => above,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Process;

    fn kin(pid: u32, parent: u32, session: u32, terminal: Option<u64>, command: &str) -> Kin {
        Kin {
            process: Process {
                pid,
                parent,
                command: command.to_owned(),
            },
            started_at: 0,
            uid: Some(1000),
            session: Some(session),
            terminal,
            login: None,
        }
    }

    #[test]
    fn a_shell_is_told_by_its_command_line() {
        for (command, login, interactive) in [
            ("-zsh", true, true),
            ("bash -l", true, true),
            ("/bin/bash --login -i", true, true),
            ("bash --init-file /x/integration.sh", false, true),
            ("fish", false, true),
            ("bash -lc pillion", false, false),
            ("sh -c pillion", false, false),
            ("bash --norc -c pillion", false, false),
            ("sh ./agent.sh", false, false),
            ("-python", false, false),
            ("node -l", false, false),
        ] {
            let shell = kin(9, 5, 9, None, command);
            assert_eq!(shell.is_login_shell(), login, "{command}");
            assert_eq!(shell.is_interactive_shell(), interactive, "{command}");
        }
    }

    #[test]
    fn an_agent_is_all_that_stands_below_the_persons_shell() {
        let shell = kin(5, 4, 5, Some(7), "-bash");
        let wrapper = kin(8, 6, 5, Some(7), "timeout 9 python hook.py");
        let agent = kin(6, 5, 5, Some(7), "sh ./agent.sh");
        let emulator = kin(4, 3, 4, None, "xterm");
        let above = [wrapper.clone(), agent.clone(), shell, emulator.clone()];
        assert_eq!(of_one_program(&above), [wrapper.clone(), agent]);
        let alone = kin(6, 4, 6, Some(7), "codex");
        let above = [wrapper.clone(), alone.clone(), emulator];
        assert_eq!(of_one_program(&above), [wrapper.clone(), alone]);
        let service = kin(6, 3, 6, None, "codex");
        let manager = kin(3, 1, 3, None, "/usr/lib/systemd/systemd --user");
        let above = [wrapper.clone(), service.clone(), manager];
        assert_eq!(of_one_program(&above), [wrapper, service]);
    }

    #[test]
    fn what_adopts_is_told_by_its_name() {
        let own = process::own_uid();
        for (command, parent, uid, adopts) in [
            ("/lib/systemd/systemd --user", 1, own, true),
            ("/lib/systemd/systemd --user", 5, own, false),
            ("tini -s -- tmux", 5, own, true),
            ("/init", 5, own, true),
            ("/init", 5, own + 1, false),
            ("bash", 1, own, false),
        ] {
            let kin = kin(9, parent, 9, None, command);
            let kin = Kin {
                uid: Some(uid),
                ..kin
            };
            assert_eq!(kin.adopts(), adopts, "{command} {parent} {uid}");
        }
    }

    #[test]
    fn this_process_is_below_its_parents_and_has_its_variables() {
        let own = std::process::id();
        let found = lineage(own);
        assert_eq!(found[0].process.pid, own);
        assert_eq!(Some(found[0].started_at), process::started_at(own));
        let pids: Vec<_> = found[1..].iter().map(|it| it.process.pid).collect();
        assert_eq!(pids, process::ancestors(own));
        let variables = variables(own);
        for (name, value) in std::env::vars_os().filter(|(name, _)| name == "PATH") {
            assert!(variables.contains(&(name, value)));
        }
        assert!(lineage(u32::MAX).is_empty());
    }
}
