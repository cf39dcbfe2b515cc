//! Finds out whether a command, or what a view says, comes from an agent: from a process that an agent started which is
//! connected here, or has called a hook, however many shells are in between. An agent does not speak for the person.
//!
//! The facts that decide: which processes are at the other ends of the command's connection and of the agents', as far as the
//! system tells that, which process a hook was called by, and whose children those are. A process whose parent has ended is nobody's child any more: then only
//! the variables that agents set for their commands are left. An agent that is above all views of this companion, or
//! whose variable is in the environment of all of them, has started everything here, and proves nothing.

use std::sync::{Arc, Mutex};

use pillion_protocol::Dialect;
use pillion_system::peer::{self, Connection};
use pillion_system::{lock, process};
use pillion_view::Options;
use pillion_view::ask::Program;

use crate::wire::Wire;

/// The facts that are known of the sender of a command, or of who decides in a view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Speaker {
    /// Its process: as the system tells, or where that does not, as it says.
    pub(crate) pid: Option<u32>,
    /// The agents whose variables are in its environment, as it says.
    pub(crate) commanding: Vec<Dialect>,
    /// True if it says what the person has decided already. A command that asked them in a session of its own, as `pillion
    /// look` does, is not that session's agent then.
    pub(crate) says_decided: bool,
    /// True if it is a front end: then it is one of those that the agents are compared with, also before the companion has
    /// heard of it.
    pub(crate) is_view: bool,
}

impl Speaker {
    /// A program at the other end of a connection that is this process, if the system tells that.
    pub(crate) fn of_program(program: &Program, peer: Option<u32>) -> Self {
        let is_named = |agent: &Dialect| program.commanded_by.iter().any(|it| it == agent.name());
        Self {
            pid: peer.or(Some(program.pid)),
            commanding: agents_of(is_named),
            says_decided: false,
            is_view: false,
        }
    }

    /// Returns true if these processes, of an agent of this kind, are the speaker and not somebody above it.
    fn is(&self, agent: Dialect, pids: &[u32]) -> bool {
        let is_one = |pid| pids.contains(&pid);
        self.says_decided && agent == Dialect::Script && self.pid.is_some_and(is_one)
    }
}

/// An agent that is connected, or has called a hook.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) agent: Dialect,
    /// The connection of its event stream.
    pub(crate) wire: Option<Arc<Wire>>,
    /// Its process, as it or its hook says.
    pub(crate) claimed: Option<u32>,
}

/// The origin of a view.
#[derive(Debug, Clone)]
struct Origin {
    /// Its editor.
    editor_pid: u32,
    /// The agents whose variables are in its environment.
    commanding: Vec<Dialect>,
}

/// The origins of all views that are attached. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Arc<Mutex<(u64, Vec<Origin>)>>);

impl Origins {
    /// These views are attached now.
    pub(crate) fn set<'a>(&self, views: impl Iterator<Item = &'a Options>) {
        let origin = |view: &Options| Origin {
            editor_pid: view.editor_pid,
            commanding: view.environment.commanding_agents(),
        };
        let origins = views.map(origin).collect();
        let mut held = lock(&self.0);
        *held = (held.0 + 1, origins);
    }

    /// Returns a number that is another one once other views are attached.
    pub(crate) fn version(&self) -> u64 {
        lock(&self.0).0
    }

    fn get(&self) -> Vec<Origin> {
        lock(&self.0).1.clone()
    }
}

/// The agent that sent a command.
pub(crate) fn agent_behind(
    speaker: &Speaker,
    agents: &[Known],
    origins: &Origins,
) -> Option<Dialect> {
    // The table of all sockets of the machine may be long: it is read only if there is somebody to be found.
    if agents.is_empty() {
        return None;
    }
    let known: Vec<_> = agents
        .iter()
        .map(|agent| agent.wire.as_ref().and_then(|wire| wire.connection()))
        .collect();
    let asked: Vec<_> = known.iter().copied().flatten().collect();
    let likely: Vec<_> = agents.iter().filter_map(|agent| agent.claimed).collect();
    let mut holders = peer::holders(&asked, &likely).into_iter();
    let mut held = |connection: Option<Connection>, claimed: Option<u32>| {
        let held = connection.and_then(|_| holders.next()).unwrap_or_default();
        if held.is_empty() {
            // 1 is everybody's ancestor here, and what an agent in a container is there.
            claimed.into_iter().filter(|pid| *pid > 1).collect()
        } else {
            held
        }
    };
    let speaking = speaker.pid.filter(|pid| *pid > 1);
    let agents: Vec<_> = agents
        .iter()
        .zip(known)
        .map(|(agent, connection)| (agent.agent, held(connection, agent.claimed)))
        .filter(|(agent, pids)| !speaker.is(*agent, pids))
        .collect();
    let origins = origins.get();
    // Nothing is known any more of where a process comes from that is gone.
    let views = origins.iter().map(|origin| origin.editor_pid);
    let views: Vec<_> = views
        .chain(speaking.filter(|_| speaker.is_view))
        .filter(|pid| process::is_alive(*pid))
        .map(lineage)
        .collect();
    let inherited = |agent: &Dialect| origins.iter().all(|it| it.commanding.contains(agent));
    judge(
        &speaking.into_iter().flat_map(lineage).collect::<Vec<_>>(),
        &agents,
        &lineage(std::process::id()),
        &views,
        &speaker.commanding,
        &agents_of(inherited),
    )
}

fn agents_of(is_one: impl Fn(&Dialect) -> bool) -> Vec<Dialect> {
    Dialect::ALL.into_iter().filter(is_one).collect()
}

/// A process and those above it.
fn lineage(pid: u32) -> Vec<u32> {
    let mut found = process::ancestors(pid);
    found.push(pid);
    found
}

fn judge(
    speaking: &[u32],
    agents: &[(Dialect, Vec<u32>)],
    own: &[u32],
    views: &[Vec<u32>],
    commanding: &[Dialect],
    inherited: &[Dialect],
) -> Option<Dialect> {
    let is_above_all = |pid: &u32| !views.is_empty() && views.iter().all(|view| view.contains(pid));
    let is_above = |pid: &u32| speaking.contains(pid) && !own.contains(pid) && !is_above_all(pid);
    let above = agents.iter().find(|(_, pids)| pids.iter().any(is_above));
    let says = |agent: &Dialect| commanding.contains(agent) && !inherited.contains(agent);
    above
        .or_else(|| agents.iter().find(|(agent, _)| says(agent)))
        .map(|(agent, _)| *agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEMINI: Dialect = Dialect::GeminiCli;
    const CLAUDE: Dialect = Dialect::ClaudeCode;

    #[test]
    fn a_process_below_an_agent_speaks_for_it() {
        let agents = [(GEMINI, vec![20]), (CLAUDE, vec![30, 31])];
        let judge = |speaking: &[u32]| judge(speaking, &agents, &[5], &[vec![4]], &[], &[]);
        assert_eq!(judge(&[40, 9, 4]), None, "the same editor is above both");
        assert_eq!(judge(&[40, 20, 4]), Some(GEMINI));
        assert_eq!(judge(&[20]), Some(GEMINI), "the agent itself");
        assert_eq!(judge(&[40, 31, 4]), Some(CLAUDE));
        assert_eq!(judge(&[]), None);
    }

    #[test]
    fn who_has_no_parent_any_more_speaks_for_the_agent_whose_variable_it_has() {
        let agents = [(GEMINI, vec![20]), (CLAUDE, vec![])];
        let judge = |commanding: &[Dialect], inherited: &[Dialect]| {
            judge(&[40], &agents, &[5], &[], commanding, inherited)
        };
        assert_eq!(judge(&[CLAUDE], &[]), Some(CLAUDE));
        assert_eq!(judge(&[CLAUDE], &[GEMINI]), Some(CLAUDE));
        assert_eq!(
            judge(&[Dialect::QwenCode], &[]),
            None,
            "nothing is known of it here"
        );
        assert_eq!(judge(&[CLAUDE], &[CLAUDE]), None, "all that is here has it");
    }

    #[test]
    fn who_says_what_was_decided_may_have_asked_in_a_session_of_its_own() {
        let speaker = |says_decided| Speaker {
            pid: Some(40),
            says_decided,
            ..Speaker::default()
        };
        assert!(speaker(true).is(Dialect::Script, &[40]));
        assert!(!speaker(true).is(Dialect::Script, &[20]), "somebody above");
        assert!(!speaker(true).is(CLAUDE, &[40]), "an agent");
        assert!(!speaker(false).is(Dialect::Script, &[40]), "it decides");
    }

    #[test]
    fn an_agent_that_started_everything_here_proves_nothing() {
        let agents = [(GEMINI, vec![20])];
        let judge =
            |own: &[u32], views: &[Vec<u32>]| judge(&[40, 20], &agents, own, views, &[], &[]);
        assert_eq!(judge(&[5, 20], &[]), None, "this process");
        assert_eq!(judge(&[5], &[vec![7, 20]]), None, "the only view");
        assert_eq!(judge(&[5], &[vec![7, 20], vec![8, 20]]), None, "all views");
        let persons = [vec![7, 20], vec![8]];
        assert_eq!(judge(&[5], &persons), Some(GEMINI), "not the person's");
        assert_eq!(judge(&[5], &[]), Some(GEMINI), "nobody's view is known");
    }
}
