//! Owns the processes of agents, as companions have noted them: a file for each, whose name says all. A command that finds no
//! companion knows by them that an agent has started it.

use pillion_protocol::AgentProcess;
use pillion_system::process;

use super::{Store, StoreError};

const AGENTS: &str = "agents";

impl Store {
    /// Notes the process of an agent, and forgets those that have ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_agent(&self, agent: &str, process: AgentProcess) -> Result<(), StoreError> {
        let folder = self.create(&[AGENTS])?;
        for name in folder.names()? {
            let has_ended = |it: AgentProcess| process::started_at(it.pid) != Some(it.started_at);
            if noted_agent(&name).is_some_and(|(_, it)| has_ended(it)) {
                folder.remove(&name)?;
            }
        }
        let AgentProcess { pid, started_at } = process;
        folder.write(&format!("{agent}-{pid}-{started_at}"), b"")?;
        Ok(())
    }

    /// Returns the short name of the agent that one of these processes is.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn agent_among(&self, pids: &[u32]) -> Result<Option<String>, StoreError> {
        let names = self.names(&[AGENTS])?;
        let mut noted = names.iter().filter_map(|name| noted_agent(name));
        let found = noted.find(|(_, it)| {
            pids.contains(&it.pid) && process::started_at(it.pid) == Some(it.started_at)
        });
        Ok(found.map(|(agent, _)| agent.to_owned()))
    }
}

/// The agent in the name of a file that notes its process.
fn noted_agent(name: &str) -> Option<(&str, AgentProcess)> {
    let (rest, started_at) = name.rsplit_once('-')?;
    let (agent, pid) = rest.rsplit_once('-')?;
    let (pid, started_at) = (pid.parse().ok()?, started_at.parse().ok()?);
    Some((agent, AgentProcess { pid, started_at }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_process_is_known_as_long_as_it_is_that_process() {
        let (_base, store) = Store::temporary();
        let own = std::process::id();
        assert_eq!(store.agent_among(&[own]).unwrap(), None);
        let started_at = process::started_at(own).unwrap();
        let note = |agent, pid, started_at| {
            let process = AgentProcess { pid, started_at };
            store.note_agent(agent, process).unwrap();
        };
        note("codex", own, started_at + 1);
        assert_eq!(
            store.agent_among(&[own]).unwrap(),
            None,
            "it was given again"
        );
        note("an-agent", own, started_at);
        let found = store.agent_among(&[1, own]).unwrap();
        assert_eq!(found.as_deref(), Some("an-agent"));
        assert_eq!(store.agent_among(&[1]).unwrap(), None);
        let names = store.names(&[AGENTS]).unwrap();
        let noted = names.iter().filter(|it| noted_agent(it).is_some());
        assert_eq!(noted.count(), 1, "no other is left");
    }
}
