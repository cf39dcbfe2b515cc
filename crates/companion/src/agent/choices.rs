//! The person's choices of when agents ask: for all that do as they choose, or for one. A choice counts for a process, also when that
//! connects again.

use std::collections::HashSet;

use pillion_protocol::{AgentProcess, ProcessChoice, ReviewChoice, ReviewMode};
use pillion_view::Review;

use super::mode::UNRECORDED;
use super::{Agent, Agents};
use crate::sessions::{Listening, SessionId};

/// The agents that do as the person chooses.
const CHOOSES: &str = "Claude Code 2.1.118 or later, started with `pillion run claude` and with hooks enabled, asks as you choose";

/// For how many processes what the person chose is kept.
const MAX_CHOICES: usize = 64;

/// The number of files that are remembered for commands.
const MAX_FILES: usize = 2000;

/// What holds for agents that come and go.
#[derive(Debug, Default)]
pub(super) struct Choices {
    /// The person's choice for each process. The latest is the last.
    all: Vec<ProcessChoice>,
    /// True if what agents change is recorded: otherwise nothing is looked at after the write.
    pub(super) records: bool,
    /// The files of which a person has accepted changes that a command of ours proposed, such as an agent's hook.
    accepted: HashSet<String>,
}

impl Agents {
    /// No agents yet, with what was chosen for processes before.
    pub(crate) fn with(choices: Vec<ProcessChoice>, records: bool) -> Self {
        let choices = Choices {
            all: choices,
            records,
            accepted: HashSet::new(),
        };
        Self {
            choices,
            ..Self::default()
        }
    }

    /// Returns the person's choices for processes of agents.
    pub(crate) fn choices(&self) -> &[ProcessChoice] {
        &self.choices.all
    }

    /// The person has chosen this elsewhere. What they have chosen here for the same process is newer.
    #[cfg(unix)]
    pub(crate) fn adopt(&mut self, mut choices: Vec<ProcessChoice>) {
        let own = &mut self.choices.all;
        choices.retain(|it| own.iter().all(|own| own.process != it.process));
        choices.append(own);
        choices.drain(..choices.len().saturating_sub(MAX_CHOICES));
        *own = choices;
    }

    /// An agent is this process. Returns true if something was chosen for that before.
    pub(crate) fn identified(&mut self, session: &SessionId, process: AgentProcess) -> bool {
        let Some(agent) = self.agents.get_mut(session) else {
            return false;
        };
        agent.process = Some(process);
        let mut choices = self.choices.all.iter();
        let Some(choice) = choices.find(|choice| choice.process == process) else {
            return false;
        };
        let records = self.choices.records;
        let mode = &mut agent.mode;
        mode.chosen_before(choice.mode, choice.shows_commands, records);
        true
    }

    /// A person accepted a change of this file that a command of ours proposed.
    pub(crate) fn command_accepted(&mut self, path: &str) {
        let accepted = &mut self.choices.accepted;
        if accepted.len() < MAX_FILES {
            accepted.insert(path.to_owned());
        }
    }

    /// A hook that is a command was called, and proposed changes of these files for the agent: those count that a person
    /// has accepted. Returns true if what people see of it has changed.
    pub(crate) fn commanded<'a>(
        &mut self,
        session: &SessionId,
        paths: impl Iterator<Item = &'a str>,
    ) -> bool {
        let Some(agent) = self.agents.get_mut(session) else {
            return false;
        };
        for path in paths {
            if self.choices.accepted.remove(path) {
                agent.mode.proposed(path);
            }
        }
        agent.mode.commanded()
    }

    /// The person chooses for all agents that do as they choose, or for that of this number; without a choice nothing
    /// changes. Returns what those agents do then, in sentences.
    pub(crate) fn choose(
        &mut self,
        agents: &[Listening],
        choice: Option<ReviewChoice>,
        number: Option<u64>,
    ) -> Result<String, String> {
        let able = |it: &&Listening| {
            let agent = self.get(&it.session);
            it.agent.announces_writes() && !agent.is_some_and(|it| it.mode.is_without_hooks())
        };
        let able: Vec<_> = agents.iter().filter(able).cloned().collect();
        if able.is_empty() {
            return Err(format!("no agent that is here does this: {CHOOSES}"));
        }
        if choice == Some(ReviewChoice::After) && !self.choices.records {
            return Err(UNRECORDED.to_owned());
        }
        let is_meant = |it: &&Listening| number.is_none_or(|number| it.number == number);
        let meant: Vec<_> = able.iter().filter(is_meant).cloned().collect();
        if meant.is_empty() {
            let numbers: Vec<_> = able.iter().map(|it| it.number.to_string()).collect();
            return Err(format!(
                "no such agent: the numbers are {}",
                numbers.join(", ")
            ));
        }
        for it in &meant {
            if let (Some(agent), Some(choice)) = (self.agents.get_mut(&it.session), choice) {
                agent.mode.choose(choice);
                self.choices.keep(agent);
            }
        }
        let sentences = |it: &Listening| {
            let agent = self.get(&it.session);
            let note = agent.and_then(|agent| agent.mode.note(&it.name(agents)));
            note.unwrap_or_else(|| format!("{} asks as it was started.", it.name(agents)))
        };
        Ok(unique(meant.iter().map(sentences)).join(" "))
    }

    /// Returns how the agents ask, one sentence for each that something is known of.
    pub(crate) fn notes(&self, agents: &[Listening]) -> Vec<String> {
        let seen = |it: &Listening| self.get(&it.session)?.mode.note(&it.name(agents));
        unique(agents.iter().filter_map(seen))
    }

    /// Returns what was written without asking, and what was refused for that, a sentence each.
    pub(crate) fn unasked(&self, agents: &[Listening]) -> Vec<String> {
        let modes = agents.iter().filter_map(|it| {
            let mode = &self.get(&it.session)?.mode;
            Some((mode, it.agent.display_name()))
        });
        unique(modes.flat_map(|(mode, agent)| {
            [mode.unasked(agent), mode.refused(agent)]
                .into_iter()
                .flatten()
        }))
    }

    /// The agents that ask in their own windows once nobody is connected to them.
    pub(crate) fn left_alone(&self, agents: &[Listening]) -> Vec<String> {
        let asks = |it: &&Listening| {
            self.get(&it.session)
                .is_some_and(|agent| agent.mode.asks_alone())
        };
        unique(agents.iter().filter(asks).map(|it| it.name(agents)))
    }

    /// Returns when the agents ask, of those that do as the person chooses.
    pub(crate) fn review(&self, agents: &[Listening]) -> Option<Review> {
        let known = agents.iter().filter_map(|it| {
            let mode = &self.get(&it.session)?.mode;
            Some((it, mode, mode.review()?))
        });
        let known: Vec<_> = known.collect();
        let (_, _, first) = known.first()?;
        let mode = known
            .iter()
            .all(|(_, _, mode)| mode == first)
            .then_some(*first);
        let word = mode.map_or("differs", ReviewMode::name);
        let silent = known.iter().filter(|(_, mode, _)| mode.is_silent());
        let silent: Vec<_> = silent.map(|(it, _, _)| it.name(agents)).collect();
        let unasked = match silent.as_slice() {
            [] => None,
            [one] => Some(format!("{one} changes files without asking.")),
            several => Some(format!(
                "{} change files without asking.",
                several.join(" and ")
            )),
        };
        let commands = match known.iter().any(|(_, mode, _)| mode.shows_commands()) {
            true => ", commands",
            false => "",
        };
        let label = match mode {
            Some(ReviewMode::After) => format!("after the write{commands}"),
            _ => format!("review: {word}{commands}"),
        };
        Some(Review {
            mode,
            label,
            unasked,
        })
    }
}

impl Choices {
    /// The person's choice for this agent is kept for its process.
    fn keep(&mut self, agent: &Agent) {
        let Some(process) = agent.process else {
            return;
        };
        let (mode, shows_commands) = agent.mode.chosen();
        self.all.retain(|choice| choice.process != process);
        let too_many = (self.all.len() + 1).saturating_sub(MAX_CHOICES);
        self.all.drain(..too_many);
        self.all.push(ProcessChoice {
            process,
            mode,
            shows_commands,
        });
    }
}

fn unique(sentences: impl Iterator<Item = String>) -> Vec<String> {
    let mut unique = Vec::new();
    for sentence in sentences {
        if !unique.contains(&sentence) {
            unique.push(sentence);
        }
    }
    unique
}

#[cfg(test)]
mod tests;
