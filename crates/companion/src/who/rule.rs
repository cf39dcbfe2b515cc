//! The rule: who is behind a process, from the facts that are known of it, of agents and of the person's views. Pure.
//!
//! An agent above it, or the variable of an agent in what it or one above it was started with, is that agent. Everybody else needs
//! evidence, because a process whose parent has ended is nobody's child any more. What is at the top of its lineage decides which
//! is enough:
//! - a process that is also above one of the person's views, or such a view or its editor: always;
//! - a top that began before any agent was known here: no agent has started it;
//! - a terminal or a login shell, if the top is another user's (a login, a secure shell, a container), or began before all agents
//!   that still run: else an agent could have made those;
//! - a window on a display, or a terminal in which the same program is attached, as a multiplexer's is;
//! - for a view, any terminal: a person's editor that is refused is worse than one in a terminal that an agent has made and left.

use pillion_protocol::{AgentProcess, Dialect, Stranger};

use super::lineage::Lineage;

/// An agent that is connected, was, or has called a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    pub(super) agent: Dialect,
    pub(super) process: AgentProcess,
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
    /// The time since when the first agent is known of those that still run.
    pub(super) first_running: Option<u64>,
}

impl Known {
    /// The time since when the first agent is known.
    fn first(&self) -> Option<u64> {
        self.agents.iter().map(|agent| agent.since).min()
    }

    /// The agent that is above a process, or is it.
    pub(super) fn agent_above(&self, asker: &Lineage) -> Option<Dialect> {
        let is_one = |agent: &&Agent| !agent.is_everybodys && asker.has(agent.process);
        self.agents.iter().find(is_one).map(|it| it.agent)
    }

    fn agent(&self, asker: &Lineage, says: &[Dialect]) -> Option<Dialect> {
        self.agent_above(asker).or_else(|| {
            let mut named = asker.commanding().chain(says.iter().copied());
            named.find(|agent| !self.inherited.contains(agent))
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
        return Err(Stranger::Agent(agent));
    }
    let Some(top) = asker.top() else {
        return Err(Stranger::Unknown);
    };
    let began_before = |time: Option<u64>| time.is_none_or(|time| top.started_at < time);
    let is_evident = known.views.iter().any(|view| view.shares(asker))
        || began_before(known.first())
        || (asker.is_typed() && (asker.is_elsewheres() || began_before(known.first_running)))
        || asker.is_below_this_process()
        || !asker.is_told()
        || is_attended();
    is_evident.then_some(()).ok_or(Stranger::Unknown)
}

#[cfg(test)]
mod tests;
