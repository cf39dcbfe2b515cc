//! Who proposes a change: an agent itself, or a program of Pillion's.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;

/// Who proposes a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Proposer {
    /// An agent in its own session, by whose rules the change is decided.
    Agent(Dialect),
    /// A program of Pillion's for this agent: its hook, or the companion itself, of what the agent has written already.
    For(Dialect),
    /// `pillion diff`.
    Pillion,
}

impl Proposer {
    /// The short name of Pillion's own command among those of the agents.
    const PILLION: &str = "pillion";

    /// The agent whose change it is.
    pub fn agent(self) -> Option<Dialect> {
        match self {
            Self::Agent(agent) | Self::For(agent) => Some(agent),
            Self::Pillion => None,
        }
    }

    /// The agent by whose rules the change is decided, because that writes what is accepted as it does.
    pub fn itself(self) -> Option<Dialect> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::For(_) | Self::Pillion => None,
        }
    }

    /// Returns true if this holds for the agent by whose rules the change is decided.
    pub fn is(self, rule: impl FnOnce(Dialect) -> bool) -> bool {
        self.itself().is_some_and(rule)
    }

    /// Returns true if a program proposes it for an agent.
    pub fn is_for_agent(self) -> bool {
        matches!(self, Self::For(_))
    }

    /// The short name: the agent's, or `pillion`.
    pub fn name(self) -> &'static str {
        self.agent().map_or(Self::PILLION, Dialect::name)
    }

    /// The name for people: the agent's, or `Pillion`.
    pub fn display_name(self) -> &'static str {
        self.agent().map_or("Pillion", Dialect::display_name)
    }

    /// The name for people of the one with this short name. One that is not known here keeps its short name.
    pub fn display_name_of(name: &str) -> &str {
        match Dialect::from_name(name) {
            Some(agent) => agent.display_name(),
            None if name == Self::PILLION => Self::Pillion.display_name(),
            None => name,
        }
    }
}

impl From<Dialect> for Proposer {
    fn from(agent: Dialect) -> Self {
        Self::Agent(agent)
    }
}

impl fmt::Display for Proposer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.display_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_whoever_proposes_for_it_and_nobodys_rules_hold_but_its_own() {
        for agent in Dialect::ALL {
            for (proposer, is_itself) in [
                (Proposer::Agent(agent), true),
                (Proposer::For(agent), false),
            ] {
                assert_eq!(proposer.agent(), Some(agent));
                assert_eq!(proposer.itself(), Some(agent).filter(|_| is_itself));
                assert_eq!(proposer.is(|_| true), is_itself);
                assert_eq!(proposer.to_string(), agent.display_name());
            }
        }
        assert!(!Proposer::Pillion.is(|_| true));
    }

    #[test]
    fn every_short_name_leads_to_the_name_for_people() {
        let proposers = Dialect::ALL.map(Proposer::Agent).into_iter();
        for proposer in proposers.chain([Proposer::Pillion]) {
            let shown = Proposer::display_name_of(proposer.name());
            assert_eq!(shown, proposer.display_name());
        }
        assert_eq!(Proposer::display_name_of("somebody"), "somebody");
    }
}
