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

    /// Returns true if it is this user's, or may be.
    pub fn is_ours(&self) -> bool {
        self.uid.is_none_or(|uid| uid == process::own_uid())
    }

    /// Returns true if it adopts what the processes of its user leave behind, as far as its name tells, or if it has adopted this
    /// process: whose child something is says nothing then.
    pub fn adopts(&self) -> bool {
        let name = self.process.name();
        self.is_init
            || (self.is_ours() && ADOPTERS.contains(&name))
            || (self.process.parent <= 1 && name == "systemd")
            || adopter() == Some(self.process.pid)
    }
}

/// Returns true if a process has adopted its child, as their sessions tell: who is started is in the session of who has started it, until it
/// begins one of its own.
fn has_adopted(parent: &Kin, child: &Kin) -> bool {
    let is_own = child.session == Some(child.process.pid);
    child.session.is_some()
        && parent.session.is_some()
        && !is_own
        && child.session != parent.session
}

/// Of a process and all above it, the number of those before the first that adopts others: whose child something is says nothing from
/// there on. `children` looks for those of a process, where no sessions tell of the one that is known.
pub fn own(found: &[Kin], children: impl Fn(u32) -> Vec<Kin>) -> usize {
    let adopts = |parent: &Kin, child: &Kin| {
        // What has a terminal is started there, and is no manager of sessions.
        let is_unclear = parent.terminal.is_none() && child.session != parent.session;
        let shows = |other: &Kin| has_adopted(parent, other);
        has_adopted(parent, child) || (is_unclear && children(parent.process.pid).iter().any(shows))
    };
    let is_end = |at: usize| found[at].adopts() || (at > 0 && adopts(&found[at], &found[at - 1]));
    (0..found.len())
        .find(|at| is_end(*at))
        .unwrap_or(found.len())
}

/// The children of a process.
pub fn children(pid: u32) -> Vec<Kin> {
    let children = process::children(pid).into_iter();
    children.filter_map(process::look()).collect()
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
            is_init: false,
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
    fn who_adopts_is_told_by_what_is_in_another_session_than_it_could_have_been_started_in() {
        let manager = kin(3, 2, 3, None, "lxqt-session");
        let above = kin(2, 1, 2, None, "startx");
        let orphan = kin(9, 3, 7, None, "pillion keep 1");
        let leader = kin(8, 3, 8, None, "pillion keep 1");
        let started = kin(6, 3, 3, None, "panel");
        let terminal = kin(3, 2, 3, Some(7), "nvim");
        let first = Kin {
            is_init: true,
            ..manager.clone()
        };
        for (child, parent, others, expected) in [
            (&orphan, &manager, vec![], 1),
            (&started, &manager, vec![], 3),
            // It may have been started there and have begun a session, as what an editor starts does.
            (&leader, &manager, vec![started.clone(), leader.clone()], 3),
            (&leader, &manager, vec![orphan.clone()], 1),
            (&leader, &terminal, vec![orphan.clone()], 3),
            (&started, &manager, vec![orphan.clone()], 3),
            (&started, &first, vec![], 1),
        ] {
            let found = [child.clone(), parent.clone(), above.clone()];
            assert_eq!(
                own(&found, |pid| if pid == 3 {
                    others.clone()
                } else {
                    Vec::new()
                }),
                expected,
                "{child:?} {parent:?}"
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_adopted_another_one_is_known() {
        use std::io::{BufRead, BufReader};
        use std::os::unix::process::CommandExt;
        use std::process::{Command, Stdio};

        let script = "setsid sh -c 'sleep 600 >&2 & echo $!'; setsid sleep 600 >&2 & echo $!; read line; kill $!";
        let mut adopter = Command::new("sh");
        adopter
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // SAFETY: they make system calls, and nothing else.
        unsafe {
            adopter.pre_exec(|| {
                rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
                Ok(rustix::process::setsid().map(drop)?)
            })
        };
        let mut adopter = adopter.spawn().unwrap();
        let lines = BufReader::new(adopter.stdout.take().unwrap()).lines();
        let both: Vec<u32> = lines
            .take(2)
            .map(|it| it.unwrap().parse().unwrap())
            .collect();
        // The one is left behind once who started it has ended, the other begins a session of its own.
        let is_as_meant = |pid: &u32| {
            let found = lineage(*pid);
            found[1].process.pid == adopter.id() && found[0].session != found[1].session
        };
        while !both.iter().all(is_as_meant) {
            std::thread::yield_now();
        }
        let own = |pid: &u32| own(&lineage(*pid), children);
        assert_eq!(both.iter().map(own).collect::<Vec<_>>(), [1, 1]);
        let killed = Command::new("kill").arg(both[0].to_string()).status();
        assert!(killed.unwrap().success());
        drop(adopter.stdin.take());
        adopter.wait().unwrap();
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
