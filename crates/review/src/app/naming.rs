//! The names that people use for the agents and for Pillion's commands: the same everywhere, and with a number where several of
//! a kind are or were here at once.

use pillion_protocol::{Dialect, Proposer};

use super::App;
use crate::view::View;

impl App {
    /// The name that people use for the proposer of `view`.
    pub fn agent_name(&self, view: &View) -> String {
        self.with_number(view, view.diff.proposer.display_name())
    }

    /// The same in one word, for a tab.
    pub fn short_agent_name(&self, view: &View) -> String {
        self.with_number(view, view.diff.proposer.name())
    }

    /// The number of agents of this kind that are connected.
    pub fn connected(&self, kind: Dialect) -> usize {
        self.here().into_iter().filter(|it| *it == kind).count()
    }

    /// The agents that are connected, and those for which something is proposed.
    fn here(&self) -> Vec<Dialect> {
        let mut here = self.status.agents.clone();
        let views = self.views.iter().map(|view| view.diff.proposer);
        for agent in views.filter_map(|it| it.agent().filter(|_| it.is_for_agent())) {
            if !here.contains(&agent) {
                here.push(agent);
            }
        }
        here
    }

    /// The number of agents of this kind that have something pending themselves.
    pub fn proposing(&self, kind: Dialect) -> usize {
        self.numbers(Proposer::Agent(kind))
    }

    /// The number of proposers of this kind that have something pending.
    fn numbers(&self, kind: Proposer) -> usize {
        let views = self.views.iter().filter(|view| view.diff.proposer == kind);
        let mut numbers: Vec<_> = views.map(|view| view.diff.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    }

    /// The kinds of agents that are connected or have something pending.
    pub fn kinds(&self) -> Vec<Dialect> {
        let mut kinds = Vec::new();
        let proposing = self
            .views
            .iter()
            .filter_map(|view| view.diff.proposer.agent());
        for kind in self.here().into_iter().chain(proposing) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Agents came or went. A kind keeps its numbers until all of its agents are gone: the one left of two
    /// would otherwise change its name, and get that of the other.
    pub(super) fn number_agents(&mut self) {
        let agents = self.kinds().into_iter().map(Proposer::Agent);
        let mut views = self.views.iter().map(|view| view.diff.proposer);
        let commands = views.find(|it| *it == Proposer::Pillion);
        let mut kinds: Vec<_> = agents.chain(commands).collect();
        kinds.retain(|kind| {
            let connected = kind.itself().map_or(0, |agent| self.connected(agent));
            self.numbered.contains(kind) || connected > 1 || self.numbers(*kind) > 1
        });
        self.numbered = kinds;
    }

    fn with_number(&self, view: &View, name: &str) -> String {
        // The number of a hook says nothing about its agent.
        if self.numbered.contains(&view.diff.proposer) {
            format!("{name} {}", view.diff.number)
        } else {
            name.to_owned()
        }
    }
}
