//! The doctor's facts, gathered with all its I/O, and judged nowhere here.

pub mod codex;
pub mod dial;
pub mod disk;
pub mod neighbours;

use std::path::PathBuf;

use pillion_agent::find::{self, Dial, Release, Situation, Source, Verdict};
use pillion_discovery::survey::{Companion, FoundFile, Liveness, Survey, survey_in};
use pillion_discovery::{Environment, listens};
use pillion_protocol::Dialect;
use pillion_protocol::dialect::{Base, Protocol};
use pillion_system::{namespaces, process};

use self::dial::{Dialled, Network, Outcome};
use self::disk::Disk;
use self::neighbours::Elsewhere;
use crate::setup::Setup;
use crate::setup::program::{self, Program};

/// Everything that decides whether an agent connects from here.
#[derive(Debug)]
pub struct Facts {
    /// The installed release; the newest known one if that is unknown.
    pub release: Release,
    /// The folder in which the agent would be started, by its real path.
    pub folder: PathBuf,
    pub program: Program,
    pub setup: Setup,
    /// Other places with companions of this user.
    pub elsewhere: Vec<Elsewhere>,
    pub disk: Disk,
    pub network: Network,
    /// Every companion that can be seen from here.
    pub survey: Survey,
    /// The agent's choice among them, by its own rules.
    pub search: find::Finding,
    /// The agents that are connected to the companion, besides the doctor.
    pub connected: Vec<String>,
    /// The attempts of dialling as the agent would.
    pub dialled: Vec<Dialled>,
    /// The answer to an agent that opens no session, when it asks; none of any other.
    pub asked: Option<codex::Asked>,
    /// The ports of companions that look dead, and may live in another container.
    pub doubtful: Vec<u16>,
}

impl Facts {
    /// Looks at everything, and dials. `terminal` are the variables of the agent's terminal.
    ///
    /// # Errors
    /// When no connection can be tried at all.
    pub fn gather(
        agent: Dialect,
        terminal: &Environment,
        folder: PathBuf,
        doing: &dyn Fn(&str),
    ) -> anyhow::Result<Self> {
        doing(&format!("asking {agent} for its release"));
        let program = program::look(agent, terminal);
        let release = match program.version {
            Some(version) => Release { agent, version },
            None => Release::newest(agent),
        };
        doing("looking for companions");
        let setup = Setup::read(agent, terminal, &folder);
        let environment = &setup.variables.all;
        let network = Network::look();
        let chain = chain(&program, agent);
        let search = find::find(&Situation {
            only: None,
            release,
            environment,
            current_dir: &folder,
            chain: &chain,
            in_container: network.in_container,
        });
        // What lies there may be another thing than its companion believes.
        let survey = survey_in(environment, |_| true, false);
        let pillions = |port| {
            let mut companions = survey.companions.iter();
            companions.find(|own| own.port == port && own.is_pillion() && own.is_alive())
        };
        let files = |dial: &Dial| {
            let companions = survey.companions.iter();
            let files = companions.flat_map(|companion| &companion.files);
            let leads = |file: &&FoundFile| match &dial.source {
                Source::File(path) => file.path == *path,
                Source::Variable(_) => file.content.port == dial.port,
            };
            files.filter(leads).collect()
        };
        doing("waiting for a companion to respond, for a few seconds at most");
        let attempts = dial::dial(&search.dials, network, pillions, files)?;
        let asks = agent.asks_for_context();
        let asked = asks.then(|| codex::ask(environment, &folder)).flatten();
        Ok(Self {
            doubtful: doubtful(&survey.companions, &attempts.dialled),
            asked,
            connected: attempts.connected,
            dialled: attempts.dialled,
            elsewhere: neighbours::look(environment, terminal, decisive(agent)),
            disk: disk::look(agent, environment),
            setup,
            survey,
            release,
            folder,
            program,
            network,
            search,
        })
    }

    pub fn agent(&self) -> Dialect {
        self.release.agent
    }

    /// The variables that the agent has when it looks for a companion.
    pub fn environment(&self) -> &Environment {
        &self.setup.variables.all
    }

    /// Returns true if a companion answered as the agent needs it.
    pub fn is_connected(&self) -> bool {
        self.outcome().is_some_and(Outcome::is_connected)
    }

    /// The outcome of the last dial.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.dialled.last().map(|dialled| &dialled.outcome)
    }

    /// The companion that answered; for an agent that opens no session, the one that shows its changes.
    pub fn companion(&self) -> Option<&Companion> {
        if !self.agent().opens_session() {
            return self.showing();
        }
        let last = self.dialled.last()?;
        let is_connected = last.outcome.is_connected();
        is_connected.then(|| self.at(last.dial.port)).flatten()
    }

    /// Pillion's own companion with the deepest workspace folder around this one, which is where hooks ask.
    fn showing(&self) -> Option<&Companion> {
        let companions = self.survey.companions.iter();
        let own = companions.filter(|companion| companion.state.is_some() && companion.is_alive());
        let fitting = own.filter_map(|own| Some((own.depth(&self.folder)?, own)));
        let (_, deepest) = fitting.max_by_key(|(depth, _)| *depth)?;
        Some(deepest)
    }

    /// The companions that live and have files for this agent, where agents of this terminal look.
    pub fn living(&self) -> impl Iterator<Item = &Companion> {
        let companions = self.survey.companions.iter();
        companions.filter(|companion| {
            companion.is_alive() && companion.is_seen(self.agent(), self.environment())
        })
    }

    /// Those of them that serve the folder (C2.5).
    pub fn fitting(&self) -> impl Iterator<Item = &Companion> {
        self.living()
            .filter(|companion| companion.depth(&self.folder).is_some())
    }

    /// Returns true if this release reads a file of the companion on this port.
    pub fn looks_at(&self, port: u16) -> bool {
        let mut candidates = self.search.candidates.iter();
        candidates.any(|candidate| {
            let is_read = !matches!(candidate.verdict, Verdict::NotLookedAt | Verdict::OtherUser);
            candidate.port == Some(port) && is_read
        })
    }

    /// Returns true if something listens where a dial goes, companion or not.
    pub fn listens(&self, dial: &Dial) -> bool {
        let own = |dialled: &&Dialled| dialled.dial.port == dial.port;
        let mut outcomes = self.dialled.iter().filter(own);
        self.at(dial.port).is_some()
            || outcomes.any(|dialled| dialled.outcome != Outcome::Unreachable)
    }

    pub fn at(&self, port: u16) -> Option<&Companion> {
        let mut companions = self.survey.companions.iter();
        companions.find(|companion| companion.port == port && companion.is_alive())
    }

    /// The discovery files of all companions that had a port.
    pub fn files_of(&self, port: u16) -> impl Iterator<Item = &FoundFile> {
        let companions = self.survey.companions.iter();
        let own = companions.filter(move |companion| companion.port == port);
        own.flat_map(|companion| &companion.files)
    }
}

/// The directory in which an agent finds its files.
pub fn decisive(agent: Dialect) -> Base {
    match (agent.protocol(), agent) {
        // All lock files, which lie in the agent's own directory.
        (Protocol::Claude, _) => Base::ClaudeConfig,
        (Protocol::Copilot, _) => Base::CopilotHome,
        (_, Dialect::QwenCode) => Base::QwenHome,
        _ => Base::TmpDir,
    }
}

/// Returns true if a companion has a discovery file for the agent.
pub fn is_for(companion: &Companion, agent: Dialect) -> bool {
    companion.files.iter().any(|file| file.is_for(agent))
}

/// The ports of companions that look dead from here and may live in another container, whose processes are not seen. One
/// whose files say where it runs is not in doubt.
fn doubtful(companions: &[Companion], dialled: &[Dialled]) -> Vec<u16> {
    let in_doubt = companions.iter().filter(|companion| {
        let looks_dead = !companion.is_alive() && companion.liveness != Liveness::OutOfReach;
        looks_dead && !companion.says_where() && may_live(companion, dialled)
    });
    in_doubt.map(|companion| companion.port).collect()
}

fn may_live(companion: &Companion, dialled: &[Dialled]) -> bool {
    let is_other = |it: &&Dialled| {
        let is_another = matches!(it.outcome, Outcome::NoCompanion(_) | Outcome::TokenRefused);
        it.dial.port == companion.port && is_another
    };
    if companion.liveness == Liveness::ProcessGone && listens(companion.port) {
        return !dialled.iter().any(|it| is_other(&it));
    }
    let pids = companion.pids.iter().copied();
    let parents = companion.files.iter().filter_map(|file| file.content.ppid);
    !namespaces::sees_all_processes() || pids.chain(parents).any(namespaces::is_anyones_own)
}

/// The agent's process and its ancestors, as it would see them if it were started in place of this
/// process.
fn chain(program: &Program, agent: Dialect) -> Vec<process::Process> {
    let mut chain = process::chain(std::process::id());
    if let Some(own) = chain.first_mut() {
        own.command = format!("node {}", agent.name());
    }
    if !program.has_ps {
        chain.truncate(1);
        for process in &mut chain {
            process.parent = 0;
            process.command.clear();
        }
    }
    chain
}
