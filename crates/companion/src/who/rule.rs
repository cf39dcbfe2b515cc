//! The rule: who is behind a process, from the facts that are known of it, of agents and of the person's views. Pure.
//!
//! An agent above it, or the variable of an agent in what it or one above it was started with, is that agent. Everybody else needs
//! evidence, because a process whose parent has ended is nobody's child any more. What is at the top of its lineage decides which
//! is enough:
//! - a process that is also above one of the person's views, or such a view or its editor: always;
//! - a top that began before any agent that was known here: no agent has started it;
//! - for a view, a top that began before any agent was known: an editor's helper in the background has no other evidence;
//! - a terminal or a login shell, if the top is another user's (a login, a secure shell, a container) or descends from a login that
//!   no agent descends from: others could have been made by an agent, or by what an agent has left behind;
//! - the process that began its session, if no agent has been in that: what an editor starts in the background stays in it;
//! - a window on a display, or a terminal in which the same program is attached, as a multiplexer's is.

use pillion_protocol::{AgentProcess, Dialect, Stranger};
use pillion_system::lineage::Kin;

use super::lineage::Lineage;

/// An agent that is connected, was, or has called a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    /// None of one that another version of Pillion has noted, and is not known here.
    pub(super) agent: Option<Dialect>,
    pub(super) process: AgentProcess,
    /// The login that it descends from, where logins are counted.
    pub(super) login: Option<u32>,
    /// The process that began its session, where that is told.
    pub(super) session: Option<u32>,
    /// When it was known first, in the unit of times at which processes start.
    pub(super) since: u64,
    /// True if it had started all views of the person when it was known first: then what it starts is the person's.
    pub(super) is_everybodys: bool,
}

/// What is known beside the one who asks.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) agents: Vec<Agent>,
    /// The lineages of the person's views.
    pub(super) views: Vec<Lineage>,
    /// The agents whose variables all views have: that proves nothing.
    pub(super) inherited: Vec<Dialect>,
}

impl Known {
    /// Returns true if this began before all agents.
    fn is_older(&self, top: &Kin) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| top.started_at < agent.process.started_at)
    }

    /// Returns true if this began before any agent was known.
    pub(super) fn is_older_than_knowledge(&self, top: &Kin) -> bool {
        self.agents.iter().all(|agent| top.started_at < agent.since)
    }

    /// Returns true if no agent has been in this session.
    pub(super) fn is_without_agents(&self, session: u32) -> bool {
        let is_other = |agent: &Agent| agent.session.is_some_and(|it| it != session);
        self.agents.iter().all(is_other)
    }

    /// Returns true if this descends from another login than all agents.
    fn is_of_another_login(&self, top: &Kin) -> bool {
        let is_other = |agent: &Agent| agent.login.is_some_and(|login| Some(login) != top.login);
        top.login.is_some() && self.agents.iter().all(is_other)
    }

    /// The agent that is above a process, or is it.
    pub(super) fn agent_above(&self, asker: &Lineage) -> Option<Stranger> {
        let is_one = |agent: &&Agent| !agent.is_everybodys && asker.is_below_agent(agent.process);
        let found = self.agents.iter().find(is_one)?;
        Some(found.agent.map_or(Stranger::Unknown, Stranger::Agent))
    }

    fn agent(&self, asker: &Lineage, says: &[Dialect]) -> Option<Stranger> {
        self.agent_above(asker).or_else(|| {
            let mut named = asker.commanding().chain(says.iter().copied());
            let named = named.find(|agent| !self.inherited.contains(agent));
            named.map(Stranger::Agent)
        })
    }
}

/// Whether the person is behind this process. It says itself that it has the variables of the agents `says`. `is_attended` looks
/// for windows and terminals of its own, which takes longer.
pub(super) fn judge(
    asker: &Lineage,
    says: &[Dialect],
    known: &Known,
    is_attended: impl FnOnce() -> bool,
) -> Result<(), Stranger> {
    if let Some(agent) = known.agent(asker, says) {
        return Err(agent);
    }
    let Some(top) = asker.top() else {
        return Err(Stranger::Unknown);
    };
    let is_evident = known.views.iter().any(|view| view.shares(asker))
        || known.is_older(top)
        || (asker.is_typed() && (asker.is_elsewheres() || known.is_of_another_login(top)))
        || asker.is_below_this_process()
        || !asker.is_told()
        || is_attended();
    is_evident.then_some(()).ok_or(Stranger::Unknown)
}

#[cfg(test)]
mod tests;
