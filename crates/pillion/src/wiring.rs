//! Owns the changes to an agent's environment by which it takes one companion and no other: the variables that
//! are set, and those that are taken out (C2.6).
//!
//! Nothing else decides that. `pillion_agent::find` says if `TERM_PROGRAM` has to be set, for the installed
//! release and the variables that are about to be set.
//!
//! `pillion run` gives the agent its token in the environment: it is for agents that no discovery file reaches, and
//! goes only to the one program that was requested. An editor's terminals get none, because every child process
//! inherits the environment; agents there find it in the discovery file, which is private.

pub mod shell;

use std::cell::LazyCell;
use std::ffi::OsStr;
use std::path::Path;

use pillion_agent::find::{Dial, Release, Situation, find};
use pillion_agent::host::{container_host_resolves, is_in_container};
use pillion_discovery::survey::{Companion, FoundFile};
use pillion_discovery::{Environment, depth_in, listens};
use pillion_protocol::dialect::{Protocol, Variables};
use pillion_protocol::discovery::split_roots;
use pillion_protocol::{Dialect, Token};
use pillion_system::process::{self, Process};

use self::Value::{Plain, Secret};
use pillion_doctor::setup::variables;

/// The changes to the variables of one agent, in the order in which people are shown them.
#[derive(Debug, Clone, Default)]
pub struct Wiring(Vec<Change>);

/// One variable.
#[derive(Debug, Clone)]
pub struct Change {
    pub name: &'static str,
    /// Without a value it is taken out.
    pub value: Option<Value>,
}

/// The value that a variable is set to.
#[derive(Debug, Clone)]
pub enum Value {
    Plain(String),
    /// Nothing that people are shown holds it.
    Secret(Token),
}

/// The place where the agent is to run.
#[derive(Debug)]
pub struct Surroundings<'a> {
    pub environment: &'a Environment,
    /// This process, whose place the agent takes or beside which it comes to stand, and its ancestors.
    pub chain: LazyCell<Vec<Process>>,
    /// True if agents see that this is a container, and look for companions outside of it.
    pub is_container: bool,
    /// Returns true if the container's host has an address.
    pub has_host: fn() -> bool,
}

impl Change {
    fn set(name: &'static str, value: &str) -> Self {
        let value = Some(Plain(value.to_owned()));
        Self { name, value }
    }
}

impl<'a> Surroundings<'a> {
    /// Here, with these variables.
    pub fn here(environment: &'a Environment) -> Self {
        Self {
            environment,
            chain: LazyCell::new(|| process::chain(std::process::id())),
            is_container: is_in_container(),
            has_host: container_host_resolves,
        }
    }

    /// Returns true if this agent dials another host than this one.
    fn leads_away(&self, agent: Dialect, variables: &Variables) -> bool {
        let mut exceptions = variables.same_host.iter();
        let is_claudes = agent.protocol() == Protocol::Claude;
        self.is_container
            && !is_claudes
            && !exceptions.any(|name| self.environment.filled(name).is_some())
    }

    /// The agent's settings for every companion, as far as the person has not chosen otherwise.
    fn settings(&self, variables: &Variables) -> impl Iterator<Item = Change> {
        let unset = { variables.settings.iter() }
            .filter(|(name, _)| self.environment.filled(name).is_none());
        unset.map(|(name, value)| Change::set(name, value))
    }

    fn removal(&self, name: &'static str) -> Option<Change> {
        let is_set = self.environment.filled(name).is_some();
        is_set.then_some(Change { name, value: None })
    }
}

impl Wiring {
    /// Returns the changes that this release needs where there is this companion, or none.
    pub fn of(companion: Option<&Companion>, release: Release, here: &Surroundings<'_>) -> Self {
        match companion {
            Some(companion) => Self::to(companion, release, here),
            None => Self::without(release.agent, here),
        }
    }

    /// Returns the changes that make this release take this companion, which listens here. Reads the discovery files, as
    /// the agent will.
    fn to(companion: &Companion, release: Release, here: &Surroundings<'_>) -> Self {
        let mut wiring = Self::leading(companion, release.agent, here);
        wiring
            .0
            .extend(tmpdir(companion, release, here.environment));
        let known_editor = wiring.known_editor(companion, release, here);
        wiring.0.extend(known_editor);
        wiring
    }

    /// Returns the changes that lead this agent to this companion. Nothing of another's stays.
    fn leading(companion: &Companion, agent: Dialect, here: &Surroundings<'_>) -> Self {
        let Some(names) = agent.variables() else {
            return Self::without_variables(agent, here);
        };
        let mut files = companion.files.iter().filter(|file| file.dialect == agent);
        let workspace = files.next().map(|file| file.content.workspace_path.clone());
        let token = companion.token(agent).cloned();
        let pid = editor_pid(companion, agent).map(|pid| pid.to_string());
        let values = [
            (Some(names.port), Some(Plain(companion.port.to_string()))),
            (names.workspace, workspace.map(Plain)),
            (names.token, token.map(Secret)),
            (names.pid, pid.map(Plain)),
        ];
        let change = |(name, value): (Option<&'static str>, Option<Value>)| {
            let name = name?;
            match value.filter(Value::is_possible) {
                None => here.removal(name),
                value => Some(Change { name, value }),
            }
        };
        let mut changes: Vec<_> = values.into_iter().filter_map(change).collect();
        if here.leads_away(agent, names)
            && let Some(name) = names.same_host.first()
        {
            changes.push(Change::set(name, "1"));
        }
        changes.extend(here.settings(names));
        Self(changes)
    }

    /// Returns the changes for an agent that no variable leads to a companion. opencode finds the file by itself, and
    /// by Claude Code's port variable it would dial without the token.
    fn without_variables(agent: Dialect, here: &Surroundings<'_>) -> Self {
        let misleading = agent.discovery().port_variable();
        let removal = misleading.and_then(|name| here.removal(name));
        Self(removal.into_iter().collect())
    }

    /// Returns the changes that keep this agent from looking for a companion that is gone, where none is there for
    /// the current folder. Variables that may still lead somewhere stay: not every companion leaves files.
    fn without(agent: Dialect, here: &Surroundings<'_>) -> Self {
        let Some(names) = agent.variables() else {
            return Self::without_variables(agent, here);
        };
        let leads_on = match here.environment.filled(names.port) {
            // Whether anything listens on another host is not checked.
            Some(_) if here.leads_away(agent, names) => (here.has_host)(),
            Some(port) => {
                let port = port.to_str().and_then(|port| port.parse().ok());
                let workspace = names.workspace;
                let workspace = workspace.and_then(|name| here.environment.filled(name));
                let folder = here.environment.current_dir();
                port.is_some_and(listens) && workspace.is_none_or(|roots| contain(roots, folder))
            }
            None => false,
        };
        let stale = names.leading().filter_map(|name| here.removal(name));
        Self(stale.filter(|_| !leads_on).collect())
    }

    /// The same for an agent that is started where no companion is: it may find one that comes later, and has its settings for that.
    pub fn for_later(mut self, agent: Dialect, here: &Surroundings<'_>) -> Self {
        if let Some(names) = agent.variables() {
            self.0.extend(here.settings(names));
        }
        self
    }

    /// Returns notes for a person who did not ask to be shown the changes: on the variables that not only agents read.
    pub fn notes(&self, agent: Dialect) -> impl Iterator<Item = String> {
        let known_editor = agent.variables().and_then(|names| names.known_editor);
        let known_editor = known_editor.map(|(name, _)| name);
        self.0.iter().filter_map(move |change| {
            let (name, value) = (change.name, change.value.as_ref()?.shown());
            let why = if name == Environment::TMPDIR {
                format!("where the companion keeps the files that {agent} looks for")
            } else if Some(name) == known_editor {
                format!("because {agent} uses this companion only in a terminal that it knows")
            } else {
                return None;
            };
            Some(format!("{name} is set to {value}, {why}"))
        })
    }

    /// Returns notes for a person who has set a variable in a place that the agent reads after this, and
    /// takes instead.
    pub fn overridden(&self, release: Release, terminal: &Environment) -> Vec<String> {
        let wired = self.applied(terminal);
        let variables = variables::Variables::read(release.agent, &wired, terminal.current_dir());
        let note = |change: &Change| {
            let (name, agent) = (change.name, release.agent);
            let value = change.value.as_ref()?.expose();
            let origin = variables.origin(name)?;
            (variables.all.value(name) != Some(OsStr::new(value)))
                .then(|| format!("{agent} takes {name} from {origin} instead: remove it there"))
        };
        self.0.iter().filter_map(note).collect()
    }

    /// Returns the change that makes the release take the companion although it finds no file of it that names the editor:
    /// because there is none, as of VS Code's companion.
    fn known_editor(
        &self,
        companion: &Companion,
        release: Release,
        here: &Surroundings<'_>,
    ) -> Option<Change> {
        let agent = release.agent;
        let (name, value) = agent.variables()?.known_editor?;
        let wired = self.applied(here.environment);
        let takes = |terminal: &Environment| {
            // Others' files are read only if its own are not enough.
            [Some(companion.port), None].into_iter().any(|only| {
                let dials = dials(release, here, terminal, only);
                dials.iter().any(|dial| opens(dial, companion, agent))
            })
        };
        let helps = !takes(&wired) && takes(&wired.with(name, Some(value)));
        helps.then(|| Change::set(name, value))
    }

    /// Returns true if the release dials this companion with it, before any other. Reads the discovery files, as the
    /// agent will.
    pub fn leads_to(
        &self,
        companion: &Companion,
        release: Release,
        here: &Surroundings<'_>,
    ) -> bool {
        let dials = dials(release, here, &self.applied(here.environment), None);
        let first = dials.first();
        first.is_some_and(|dial| opens(dial, companion, release.agent))
    }

    /// The environment in which the agent is started.
    fn applied(&self, environment: &Environment) -> Environment {
        let change = |environment: Environment, change: &Change| {
            environment.with(change.name, change.value.as_ref().map(Value::expose))
        };
        self.0.iter().fold(environment.clone(), change)
    }

    /// The changes, variable by variable.
    pub fn changes(&self) -> &[Change] {
        &self.0
    }
}

/// Returns the addresses that the release dials in a terminal with these variables, as far as it is led there by files
/// that name this port, if one is given.
fn dials(
    release: Release,
    here: &Surroundings<'_>,
    terminal: &Environment,
    only: Option<u16>,
) -> Vec<Dial> {
    let finding = find(&Situation {
        only,
        release,
        environment: &agents(release, terminal),
        current_dir: terminal.current_dir(),
        chain: &here.chain,
        in_container: here.is_container,
    });
    finding.dials
}

/// Returns true if the dial would open this companion. The companion decides if a token is needed.
fn opens(dial: &Dial, companion: &Companion, agent: Dialect) -> bool {
    let needs_token = companion.token(agent).is_some();
    dial.port == companion.port && (dial.token.is_some() || !needs_token)
}

impl Value {
    /// As the agent is to read it.
    pub fn expose(&self) -> &str {
        match self {
            Plain(text) => text,
            Secret(token) => token.expose(),
        }
    }

    /// As people may read it.
    pub fn shown(&self) -> &str {
        match self {
            Plain(text) => text,
            Secret(_) => "…",
        }
    }

    /// No environment holds a text with a NUL.
    fn is_possible(&self) -> bool {
        !self.expose().contains('\0')
    }
}

/// The process under whose id this agent finds this companion: a living one; the editor itself, if
/// it can be, whom it shares with no other companion.
fn editor_pid(companion: &Companion, agent: Dialect) -> Option<u32> {
    let files = companion.files.iter().filter(|file| file.dialect == agent);
    // Releases that know the variable read no older names.
    let named = files.filter(|file| holds_pid_and_port(file));
    let pids = named.filter_map(|file| Some((file.pid()?, file.content.ppid)));
    let best = pids.max_by_key(|(pid, editor)| {
        let is_editor = *editor == Some(*pid);
        (process::is_alive(*pid), is_editor, *pid)
    });
    best.map(|(pid, _)| pid)
}

/// The variables that the agent has when it looks for a companion: besides those of the terminal,
/// what its settings and `.env` files give it.
fn agents(release: Release, terminal: &Environment) -> Environment {
    variables::Variables::read(release.agent, terminal, terminal.current_dir()).all
}

/// The temporary directory with which the companion was started, if this agent finds its files
/// there and not where it would look. Without a file that names the editor, no release talks to an
/// unknown one, whatever the other variables say.
fn tmpdir(companion: &Companion, release: Release, terminal: &Environment) -> Option<Change> {
    let sees =
        |terminal: &Environment| companion.is_seen(release.agent, &agents(release, terminal));
    if sees(terminal) {
        return None;
    }
    let files = companion.files.iter();
    let mut helping = files.filter_map(|file| file.tmpdir()?.to_str());
    helping
        .find(|tmpdir| sees(&terminal.clone().with_tmpdir(tmpdir)))
        .map(|tmpdir| Change::set(Environment::TMPDIR, tmpdir))
}

fn holds_pid_and_port(file: &FoundFile) -> bool {
    let name = file.path.file_name().and_then(OsStr::to_str);
    let mut places = file.dialect.places().iter();
    name.is_some_and(|name| {
        places
            .any(|place| place.name.holds_pid() && place.name.holds_port() && place.name.fits(name))
    })
}

/// Returns true if one of the roots in a variable contains the folder, by real paths.
fn contain(roots: &OsStr, folder: &Path) -> bool {
    let roots = roots.to_str().map(split_roots);
    roots.is_some_and(|roots| depth_in(&roots, folder).is_some())
}

#[cfg(all(test, unix))]
mod tests;
