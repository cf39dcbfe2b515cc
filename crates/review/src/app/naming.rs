//! The names that people use for the agents: the same everywhere, and with a number where several of a kind are or
//! were here at once.

use pillion_protocol::Dialect;

use super::App;
use crate::view::View;

impl App {
    /// The name that people use for the agent of `view`.
    pub fn agent_name(&self, view: &View) -> String {
        self.with_number(view, view.shown_agent.display_name())
    }

    /// The same in one word, for a tab.
    pub fn short_agent_name(&self, view: &View) -> String {
        self.with_number(view, view.shown_agent.name())
    }

    /// The number of agents of this kind that are connected.
    pub fn connected(&self, kind: Dialect) -> usize {
        self.here().into_iter().filter(|it| *it == kind).count()
    }

    /// The agents that are connected, and in the place of the commands that propose for an agent, that agent.
    fn here(&self) -> Vec<Dialect> {
        let mut here = self.status.agents.clone();
        let views = self.views.iter().filter(|view| view.is_for_agent());
        let mut commands: Vec<_> = views
            .map(|view| (view.agent, view.agent_number, view.shown_agent))
            .collect();
        commands.sort_unstable();
        commands.dedup();
        for (command, _, agent) in commands {
            if let Some(at) = here.iter().position(|it| *it == command) {
                here.remove(at);
            }
            if !here.contains(&agent) {
                here.push(agent);
            }
        }
        here
    }

    /// The number of agents of this kind that have something pending themselves.
    pub fn proposing(&self, kind: Dialect) -> usize {
        let is_own = |view: &&View| view.agent == kind && !view.is_for_agent();
        let views = self.views.iter().filter(is_own);
        let mut numbers: Vec<_> = views.map(|view| view.agent_number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    }

    /// The kinds of agents that are connected or have something pending.
    pub fn kinds(&self) -> Vec<Dialect> {
        let mut kinds = Vec::new();
        let proposing = self.views.iter().map(|view| view.shown_agent);
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
        let mut kinds = self.kinds();
        kinds.retain(|kind| {
            let is_first =
                |view: &View| view.is_for_agent() || view.agent != *kind || view.agent_number == 1;
            self.numbered.contains(kind)
                || self.connected(*kind) > 1
                || self.proposing(*kind) > 1
                || !self.views.iter().all(is_first)
        });
        self.numbered = kinds;
    }

    fn with_number(&self, view: &View, name: &str) -> String {
        // The number of a command says nothing about the agent for which it proposes.
        if !view.is_for_agent() && self.numbered.contains(&view.agent) {
            format!("{name} {}", view.agent_number)
        } else {
            name.to_owned()
        }
    }
}
