//! Agents that ask elsewhere: those that run in the workspace and are not connected, as they connect later only when the person
//! tells them to, and those that a companion has left with a question. The system is asked who runs when a view or an agent comes
//! or goes, when one of them ends, and when a file was saved: one that was started meanwhile may have written it.

use std::path::PathBuf;
use std::sync::Arc;

use pillion_discovery::depth_in;
use pillion_protocol::{Dialect, Proposer};
use pillion_system::process;

use super::MainLoop;
use crate::tasks;

/// An agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Running {
    agent: Dialect,
    pid: u32,
}

/// The options with which an agent prints an answer, and connects to nobody.
const PRINTS: [&str; 2] = ["-p", "--print"];

impl MainLoop {
    /// Finds out which of them run.
    pub(super) fn look_for_running(&self) {
        self.once_running_known(|_| {});
    }

    /// Does this once it is known which of them run by now.
    pub(super) fn once_running_known(&self, then: impl FnOnce(&mut Self) + Send + 'static) {
        let (roots, events) = (Arc::clone(&self.roots), self.events.clone());
        drop(tasks::spawn_blocking(move || {
            let found = running(&roots);
            Self::send(&events, "running agents", move |it, _| {
                it.found_running(found);
                then(it);
            });
        }));
    }

    fn found_running(&mut self, found: Vec<Running>) {
        for new in found.iter().filter(|it| !self.running.contains(it)) {
            self.at_end(new.pid, |it, _| it.look_for_running());
        }
        if self.running != found {
            self.running = found;
            self.report_status();
        }
    }

    /// The agent makes a change, or is told what to do: what it asked about before is answered.
    pub(super) fn goes_on(&mut self, agent: Dialect) {
        let before = self.left_undecided.len();
        self.left_undecided
            .retain(|it| it.proposal.agent != agent.name());
        if self.left_undecided.len() != before {
            self.report_status();
        }
    }

    /// What agents may still ask about in their own windows.
    pub(super) fn undecided_left(&self) -> impl Iterator<Item = String> {
        self.left_undecided.iter().map(|entry| {
            let agent = Proposer::display_name_of(&entry.proposal.agent);
            let file = entry.proposal.path.display();
            format!(
                "{agent} may still ask in its own window about {file}, as the editor or review was killed: `pillion show {}` shows the \
                 change, and H in the review",
                entry.name()
            )
        })
    }

    /// What the person does about each of them.
    pub(super) fn unconnected(&self) -> impl Iterator<Item = String> {
        let listening = self.sessions.listening();
        // One that has just come has yet to say which process it is.
        let unnamed = listening
            .into_iter()
            .filter(|it| self.sessions.process(&it.session).is_none());
        let unnamed: Vec<_> = unnamed.map(|it| it.agent).collect();
        let is_away = move |it: &&Running| {
            self.sessions.of_process(&[it.pid]).is_none() && !unnamed.contains(&it.agent)
        };
        self.running.iter().filter(is_away).map(|Running { agent, pid }| {
            format!("{agent} (process {pid}) runs in this folder and is not connected: type /ide in it")
        })
    }
}

/// Those whose folder is in one of these. Blocking.
fn running(roots: &[PathBuf]) -> Vec<Running> {
    let is_here =
        |pid: &u32| process::folder(*pid).is_some_and(|it| depth_in(roots, &it).is_some());
    let here = process::all().into_iter().filter(is_here);
    let told = here.filter_map(|pid| {
        let process = process::process(pid)?;
        let mut agents = Dialect::ALL.into_iter();
        let agent = agents.find(|it| it.connects_when_told() && it.name() == process.name())?;
        let prints = process
            .command
            .split(' ')
            .any(|word| PRINTS.contains(&word));
        (!prints).then_some(Running { agent, pid })
    });
    told.collect()
}
