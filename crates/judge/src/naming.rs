//! The names that people use for the agents and for Pillion's commands: the same everywhere, and with a number where several of
//! a kind are or were here at once.

use std::ops::Deref;

use pillion_protocol::{Dialect, Proposer};
use pillion_view::Diff;

use crate::judged::Judged;

/// Who is here now.
#[derive(Debug)]
pub struct Here<'a> {
    /// The agents that are connected.
    connected: &'a [Dialect],
    /// Those for which something is proposed, with their numbers.
    proposing: Vec<(Proposer, u64)>,
}

impl<'a> Here<'a> {
    /// These agents are connected, and these diffs pending.
    pub fn new(connected: &'a [Dialect], views: &[impl Deref<Target = Judged>]) -> Self {
        let of = |diff: &Diff| (diff.proposer, diff.number);
        Self {
            connected,
            proposing: views.iter().map(|view| of(&view.diff)).collect(),
        }
    }

    /// The number of agents of this kind that are connected.
    pub fn connected(&self, kind: Dialect) -> usize {
        self.here().into_iter().filter(|it| *it == kind).count()
    }

    /// The agents that are connected, and those for which something is proposed.
    fn here(&self) -> Vec<Dialect> {
        let mut here = self.connected.to_vec();
        let proposers = self.proposing.iter().map(|(proposer, _)| *proposer);
        for agent in proposers.filter_map(|it| it.agent().filter(|_| it.is_for_agent())) {
            if !here.contains(&agent) {
                here.push(agent);
            }
        }
        here
    }

    /// The number of proposers of this kind that have something pending.
    pub fn proposing(&self, kind: Proposer) -> usize {
        let of_kind = self.proposing.iter().filter(|(it, _)| *it == kind);
        let mut numbers: Vec<_> = of_kind.map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    }

    /// The kinds of agents that are connected or have something pending.
    pub fn kinds(&self) -> Vec<Dialect> {
        let mut kinds = Vec::new();
        let proposing = self.proposing.iter().filter_map(|(it, _)| it.agent());
        for kind in self.here().into_iter().chain(proposing) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }
}

/// The kinds of proposers that are distinguished by numbers.
#[derive(Debug, Default)]
pub struct Numbered(Vec<Proposer>);

impl Numbered {
    /// Agents came or went. A kind keeps its numbers until all of its agents are gone: the one left of two
    /// would otherwise change its name, and get that of the other.
    pub fn renew(&mut self, here: &Here<'_>) {
        let agents = here.kinds().into_iter().map(Proposer::Agent);
        let mut proposers = here.proposing.iter().map(|(proposer, _)| *proposer);
        let commands = proposers.find(|it| *it == Proposer::Pillion);
        let mut kinds: Vec<_> = agents.chain(commands).collect();
        kinds.retain(|kind| {
            let connected = kind.itself().map_or(0, |agent| here.connected(agent));
            self.0.contains(kind) || connected > 1 || here.proposing(*kind) > 1
        });
        self.0 = kinds;
    }

    /// This name of a diff's proposer, with its number if that says which of several it is.
    pub fn name(&self, diff: &Diff, name: &str) -> String {
        // The number of a hook says nothing about its agent.
        match self.0.contains(&diff.proposer) {
            true => format!("{name} {}", diff.number),
            false => name.to_owned(),
        }
    }
}
