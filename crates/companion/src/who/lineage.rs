//! A process and all above it, as they were when they were looked at: what the rule needs of them.

use std::ffi::OsString;

use pillion_discovery::Environment;
use pillion_protocol::{AgentProcess, Dialect};
use pillion_system::lineage::{self, Kin};
use pillion_system::{attended, process};

/// A process in a lineage.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    kin: Kin,
    /// The agents whose variables it was started with.
    commanding: Vec<Dialect>,
}

/// A process, itself first, and all above it. Empty if it had ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lineage {
    members: Vec<Member>,
    /// The number of those whose parent is one that it was started by. Those that follow adopt what others leave behind.
    own: usize,
}

impl Lineage {
    /// Looks at a process.
    pub fn of(pid: u32) -> Self {
        let variables = |kin: &Kin| lineage::variables(kin.process.pid);
        let commanding = |kin: &Kin| environment(variables(kin)).commanding_agents();
        Self::from(lineage::lineage(pid), lineage::children, commanding)
    }

    fn from(
        found: Vec<Kin>,
        children: impl Fn(u32) -> Vec<Kin>,
        commanding: impl Fn(&Kin) -> Vec<Dialect>,
    ) -> Self {
        let own = lineage::own(&found, children);
        let member = |kin| Member {
            commanding: commanding(&kin),
            kin,
        };
        Self {
            members: found.into_iter().map(member).collect(),
            own,
        }
    }

    /// One process alone.
    pub(super) fn only(kin: &Kin) -> Self {
        Self::from(vec![kin.clone()], |_| Vec::new(), |_| Vec::new())
    }

    /// The same up to the first parent that has not started its child, as this tells.
    pub(super) fn until(mut self, is_end: impl Fn(&Kin, &Kin) -> bool) -> Self {
        let own = &self.members[..self.own];
        let is_end = |pair: &[Member]| is_end(&pair[0].kin, &pair[1].kin);
        let end = own.windows(2).position(is_end);
        self.own = end.map_or(self.own, |at| at + 1);
        self
    }

    /// The parent of the process itself.
    pub(super) fn parent(&self) -> Option<&Kin> {
        self.own().nth(1)
    }

    /// The same as a child of this process, if both are in one session: a shell between them has ended.
    pub(super) fn below(mut self, above: &Self) -> Self {
        let session = |it: &Self| it.members.first().and_then(|it| it.kin.session);
        let is_there = above
            .pids()
            .next()
            .is_none_or(|parent| self.pids().any(|it| it == parent));
        if !is_there && session(above).is_some() && session(above) == session(&self) {
            self.members.truncate(self.own);
            self.own += above.own;
            self.members.extend(above.members.iter().cloned());
        }
        self
    }

    /// The process that began its session, if that is not among them: who has started the uppermost of them has ended.
    pub(super) fn session_of_orphan(&self) -> Option<u32> {
        let session = self.top()?.session?;
        self.pids().all(|pid| pid != session).then_some(session)
    }

    /// The process itself.
    pub(super) fn first(&self) -> Option<&Kin> {
        self.own().next()
    }

    /// Its processes, as far up as it is known whose children they are.
    fn own(&self) -> impl Iterator<Item = &Kin> {
        self.members.iter().take(self.own).map(|it| &it.kin)
    }

    fn pids(&self) -> impl Iterator<Item = u32> {
        self.own().map(|it| it.process.pid)
    }

    /// Returns true if a process with this number is among them, above the first.
    pub(super) fn is_below(&self, pid: u32) -> bool {
        self.pids().skip(1).any(|it| it == pid)
    }

    /// Returns true if a process with this number is above the first, or that cannot be told: nothing is known of it, or it is this
    /// process.
    pub(super) fn may_be_below(&self, pid: u32) -> bool {
        let mut all = self.members.iter().map(|it| it.kin.process.pid);
        let first = all.next();
        first.is_none_or(|it| it == std::process::id()) || all.any(|it| it == pid)
    }

    pub(super) fn has(&self, process: AgentProcess) -> bool {
        self.members.iter().any(|it| identity(&it.kin) == process)
    }

    /// Returns true if this process of an agent is among them, and has started what asks. A script that runs an agent and then a
    /// shell, or becomes one, is known as the agent, too: what a person types in that shell is theirs.
    pub(super) fn is_below_agent(&self, process: AgentProcess) -> bool {
        let is_it = |it: &Member| identity(&it.kin) == process;
        let Some(at) = self.members.iter().position(is_it) else {
            return false;
        };
        let is_typed_below = self.members[..=at]
            .iter()
            .any(|it| it.kin.is_interactive_shell());
        !(self.members[at].kin.is_shell() && is_typed_below)
    }

    /// Returns true if it and another have one process in common that is above both, or is one of them.
    pub(super) fn shares(&self, other: &Self) -> bool {
        let is_theirs = |kin: &Kin| other.own().any(|it| identity(it) == identity(kin));
        self.own().any(is_theirs)
    }

    /// The agents whose variables one of them was started with, the nearest first.
    pub(super) fn commanding(&self) -> impl Iterator<Item = Dialect> {
        let members = self.members.iter();
        members.flat_map(|it| it.commanding.iter().copied())
    }

    /// The uppermost of which it is known whose child it is.
    pub(super) fn top(&self) -> Option<&Kin> {
        self.own().last()
    }

    /// Returns true if what this user's programs do cannot put a process there: another user's is at its top, or none that is
    /// seen from here.
    pub(super) fn is_elsewheres(&self) -> bool {
        self.top().is_some_and(|top| {
            let is_ours = top.uid.is_none_or(|uid| uid == process::own_uid());
            let parent = top.process.parent;
            let is_hidden = parent > 1 && self.members.len() == self.own;
            !is_ours
                || parent == 0
                || (is_hidden && process::ask(parent) == process::Answer::NotOurs)
        })
    }

    /// Returns true if one of them began the session of a terminal, or is a shell that a login has started.
    pub(super) fn is_typed(&self) -> bool {
        self.own()
            .any(|it| it.leads_terminal() || it.is_login_shell())
    }

    /// Returns true if the system tells enough of it that what is missing says something.
    pub(super) fn is_told(&self) -> bool {
        self.members.iter().all(|it| it.kin.session.is_some())
    }

    /// Returns true if this process has started it: the companion does so because the person wants it.
    pub(super) fn is_below_this_process(&self) -> bool {
        self.is_below(std::process::id())
    }

    /// The variables that each of them was started with.
    pub(super) fn environments(&self) -> impl Iterator<Item = Environment> {
        self.members
            .iter()
            .map(|it| environment(lineage::variables(it.kin.process.pid)))
    }

    /// The command lines of what this process of an agent runs the first with, a hook, from there on up; none if that is not below it.
    /// A shell that does nothing else is left out.
    pub(super) fn way_from(&self, agent: AgentProcess) -> Option<Vec<&str>> {
        let (hook, above) = self.members.split_first()?;
        let at = above.iter().position(|it| identity(&it.kin) == agent)?;
        let between = above[..at].iter().map(|it| &it.kin);
        let does_more = between.filter(|it| !it.runs_only(&hook.kin));
        Some(does_more.map(|it| &*it.process.command).collect())
    }

    /// Those above a hook that are the agent which has called it, none of them above what the hook takes for the agent, if that is there. A
    /// multiplexer that somebody uses is none: it runs what any program asks it to run.
    pub(super) fn agent_of_hook(&self, processes: &[u32], look: &impl Look) -> Vec<AgentProcess> {
        let above: Vec<_> = self.own().skip(1).cloned().collect();
        let mut program = lineage::of_one_program(&above);
        if let Some((top, below)) = program.split_last()
            && top.terminal.is_none()
            && !look.attached(&Self::only(top)).is_empty()
        {
            program = below;
        }
        let is_named = |kin: &Kin| processes.contains(&kin.process.pid);
        let end = program.iter().rposition(is_named);
        let program = end.map_or(program, |end| &program[..=end]);
        program.iter().map(identity).collect()
    }
}

/// What is looked at only where it decides, because that takes longer.
pub(super) trait Look {
    /// A process and all above it.
    fn lineage(&self, pid: u32) -> Lineage;
    /// The processes that show windows of these, if they have any, as far as the system tells.
    fn displays(&self, lineage: &Lineage) -> Option<Vec<u32>>;
    /// The processes that are attached to one of these.
    fn attached(&self, lineage: &Lineage) -> Vec<u32>;
    /// Returns true if this process has opened a terminal, or may have.
    fn has_opened(&self, kin: &Kin, terminal: u64) -> bool;
}

pub(super) struct Machine;

impl Look for Machine {
    fn lineage(&self, pid: u32) -> Lineage {
        Lineage::of(pid)
    }

    fn displays(&self, lineage: &Lineage) -> Option<Vec<u32>> {
        attended::displays(&lineage.pids().collect::<Vec<_>>())
    }

    fn attached(&self, lineage: &Lineage) -> Vec<u32> {
        attended::attached(&lineage.pids().collect::<Vec<_>>())
    }

    fn has_opened(&self, kin: &Kin, terminal: u64) -> bool {
        attended::has_opened(kin.process.pid, terminal)
    }
}

pub(super) fn identity(kin: &Kin) -> AgentProcess {
    AgentProcess {
        pid: kin.process.pid,
        started_at: kin.started_at,
    }
}

fn environment(variables: Vec<(OsString, OsString)>) -> Environment {
    let pairs = variables.into_iter();
    let pairs = pairs.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    Environment::from_pairs(pairs)
}

#[cfg(test)]
pub(super) mod tests {
    use pillion_system::process::Process;

    use super::*;

    #[test]
    fn a_hook_in_a_command_of_the_agent_is_told_from_the_agents_own() {
        let agent = AgentProcess {
            pid: 5,
            started_at: 1,
        };
        let hook = "/a b/pillion hook x --strict";
        for (above, is_command) in [
            (&["x"][..], false),
            (&["sh -c '/a b/pillion' hook x --strict", "x"], false),
            (
                &[
                    "/bin/bash --norc -c exec '/a b/pillion' hook x --strict",
                    "x",
                ],
                false,
            ),
            (
                &["sh -c echo {} | '/a b/pillion' hook x --strict; rm x", "x"],
                true,
            ),
            (
                &[
                    "sh -c '/a b/pillion' hook x --strict",
                    "bash -c ./x.sh",
                    "x",
                ],
                true,
            ),
            (&["python3 x.py", "x"], true),
            (&["sh x.sh"], true),
            (&[], true),
        ] {
            let commands = [hook].into_iter().chain(above.iter().copied());
            let found = commands.enumerate().map(|(at, command)| match command {
                "x" => kin(5, 1, 1, command),
                other => kin(9 - at as u32, 5, 9 - at as u64, other),
            });
            let found: Vec<_> = found.collect();
            let lineage = lineage(&found, &[]);
            let way = lineage.way_from(agent);
            let is_own = way.is_some_and(|it| it.is_empty());
            assert_eq!(is_own, !is_command, "{above:?}");
        }
        assert_eq!(Lineage::default().way_from(agent), None);
    }

    #[test]
    fn what_has_started_the_agent_of_a_hook_is_no_agent() {
        let above = ["pillion hook x", "sh -c x", "x", "editor", "script"];
        let found = (0..5).map(|at| kin(9 - at, 8 - at, 1, above[at as usize]));
        let lineage = lineage(&found.collect::<Vec<_>>(), &[]);
        for (named, agent) in [
            (&[7][..], &[8, 7][..]),
            (&[8, 7, 6], &[8, 7, 6]),
            (&[], &[8, 7, 6, 5]),
            (&[4, 70], &[8, 7, 6, 5]),
        ] {
            let found = lineage.agent_of_hook(named, &Machine);
            let found: Vec<_> = found.into_iter().map(|it| it.pid).collect();
            assert_eq!(found, agent, "{named:?}");
        }
    }

    /// A process of this user in a session without a terminal.
    pub(in crate::who) fn kin(pid: u32, parent: u32, started_at: u64, command: &str) -> Kin {
        Kin {
            process: Process {
                pid,
                parent,
                command: command.to_owned(),
            },
            started_at,
            uid: Some(process::own_uid()),
            session: Some(1),
            terminal: None,
            login: None,
            is_init: false,
        }
    }

    pub(in crate::who) fn lineage(found: &[Kin], commanding: &[(u32, Dialect)]) -> Lineage {
        let mut found = found.to_vec();
        // Who is started is in the session of who has started it, unless a test says otherwise.
        for at in (1..found.len()).rev() {
            if found[at - 1].session == Some(1) {
                found[at - 1].session = found[at].session;
            }
        }
        let of_it = |kin: &Kin| {
            let of_it = commanding.iter().filter(|(pid, _)| *pid == kin.process.pid);
            of_it.map(|(_, agent)| *agent).collect()
        };
        Lineage::from(found, |_| Vec::new(), of_it)
    }
}
