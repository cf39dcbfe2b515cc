//! Owns the processes of agents, as companions have noted them: a file for each, whose name says all. Companions to come and commands
//! that find none know by them that an agent has started a process, also once the agent has ended.

use pillion_protocol::AgentProcess;
use pillion_system::{namespaces, process};

use super::{Store, StoreError};

pub(super) const AGENTS: &str = "agents";

/// The name of the file that says that agents are noted from now on.
const BEGUN: &str = "begun";

/// Stands for a number that the system does not tell.
const UNTOLD: &str = "none";

/// More are not kept of those that have ended.
const MAX_ENDED: usize = 256;

/// The process of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedAgent {
    /// The agent's short name.
    pub agent: String,
    /// The process.
    pub process: AgentProcess,
    /// The login that it descended from, where logins are counted.
    pub login: Option<u32>,
    /// The process that began its session, where that is told.
    pub session: Option<u32>,
}

impl Store {
    /// Notes the process of an agent, and forgets those of another start of the machine.
    pub fn note_agent(&self, new: &NotedAgent) -> Result<(), StoreError> {
        let folder = self.create(&[AGENTS])?;
        let mut ended = Vec::new();
        for name in folder.names()? {
            match noted(&name) {
                Some((_, of)) if of != boot() => folder.remove(&name)?,
                Some((it, _)) if !agent_lives(it.process) => {
                    ended.push((it.process.started_at, name));
                }
                _ => {}
            }
        }
        ended.sort();
        for (_, name) in ended.iter().skip(MAX_ENDED) {
            folder.remove(name)?;
        }
        let NotedAgent { agent, process, .. } = new;
        let AgentProcess { pid, started_at } = process;
        let [login, session] = [new.login, new.session]
            .map(|number| number.map_or_else(|| UNTOLD.to_owned(), |it| it.to_string()));
        let name = format!("{agent}-{pid}-{started_at}-{login}-{session}-{}", boot());
        folder.write(&name, b"")?;
        Ok(())
    }

    /// Agents are noted from the first turn on.
    pub(super) fn begin_noting_agents(&self) -> Result<(), StoreError> {
        Ok(self.create(&[AGENTS])?.write(BEGUN, b"")?)
    }

    /// Returns true if what was noted of agents is gone, although they have worked: whoever was one is not known any more.
    pub fn has_lost_agents(&self) -> bool {
        let is_begun = self
            .names(&[AGENTS])
            .is_ok_and(|names| names.iter().any(|name| name == BEGUN));
        !is_begun && self.numbers().is_ok_and(|turns| !turns.is_empty())
    }

    /// The processes of agents since the machine was started, also those that have ended.
    pub fn agents(&self) -> Result<Vec<NotedAgent>, StoreError> {
        let names = self.names(&[AGENTS])?;
        let noted = names.iter().filter_map(|name| noted(name));
        let noted = noted.filter(|(_, of)| *of == boot());
        Ok(noted.map(|(it, _)| it).collect())
    }
}

/// Returns true if this process of an agent has not ended.
pub fn agent_lives(process: AgentProcess) -> bool {
    process::started_at(process.pid) == Some(process.started_at)
}

/// Times count from the start of the machine, where the system names that.
fn boot() -> String {
    let boot = namespaces::own().map(|own| own.boot.replace('-', ""));
    boot.unwrap_or_default()
}

/// The agent in the name of a file that notes its process, and the start of the machine in which that was.
fn noted(name: &str) -> Option<(NotedAgent, &str)> {
    let mut words = name.rsplitn(6, '-');
    let boot = words.next()?;
    let number = |word: &str| match word {
        UNTOLD => Some(None),
        number => Some(Some(number.parse().ok()?)),
    };
    let session = number(words.next()?)?;
    let login = number(words.next()?)?;
    let started_at = words.next()?.parse().ok()?;
    let pid = words.next()?.parse().ok()?;
    let noted = NotedAgent {
        agent: words.next()?.to_owned(),
        process: AgentProcess { pid, started_at },
        login,
        session,
    };
    Some((noted, boot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_process_is_known_until_the_machine_starts_anew() {
        let (_base, store) = Store::temporary();
        assert_eq!(store.agents().unwrap(), []);
        let noted = |agent: &str, process, number| NotedAgent {
            agent: agent.to_owned(),
            process,
            login: number,
            session: number,
        };
        let pid = std::process::id();
        let started_at = process::started_at(pid).unwrap();
        let own = AgentProcess { pid, started_at };
        let ended = AgentProcess {
            pid,
            started_at: started_at + 1,
        };
        store.note_agent(&noted("codex", ended, None)).unwrap();
        let folder = store.create(&[AGENTS]).unwrap();
        let earlier = format!("codex-{pid}-{started_at}-2-3-{}", "0".repeat(32));
        folder.write(&earlier, b"").unwrap();
        store.note_agent(&noted("an-agent", own, Some(7))).unwrap();
        let mut found = store.agents().unwrap();
        found.sort_by_key(|it| it.login);
        let expected = [noted("codex", ended, None), noted("an-agent", own, Some(7))];
        assert_eq!(found, expected);
        let names = folder.names().unwrap();
        assert!(!names.contains(&earlier), "{names:?}");
    }

    #[test]
    fn of_those_that_have_ended_the_first_stay() {
        let (_base, store) = Store::temporary();
        let note = |started_at| {
            let process = AgentProcess {
                pid: u32::MAX,
                started_at,
            };
            let noted = NotedAgent {
                agent: "codex".to_owned(),
                process,
                login: None,
                session: None,
            };
            store.note_agent(&noted).unwrap();
        };
        (0..MAX_ENDED as u64 + 3).for_each(note);
        let found = store.agents().unwrap();
        let first = found.iter().map(|it| it.process.started_at).min();
        assert_eq!((found.len(), first), (MAX_ENDED + 1, Some(0)));
    }
}
