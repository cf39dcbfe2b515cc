//! Which companion is meant: by its port, or for a folder the terminal's own editor, then the
//! deepest workspace root, then the one that was used last.

mod focus;
mod rules;

use std::path::PathBuf;

use anyhow::Context;
use pillion_discovery::survey::Companion;
use pillion_discovery::{ChooseError, CompanionState, Environment, Selector, process, survey};
use pillion_protocol::Dialect;

use self::rules::Standing;
use crate::cli::Target;
use crate::failure::{Failure, Kind};

const HINT: &str = "Start one with `pillion` or `pillion serve` in that folder, or name one with \
                    --workspace or --port.";

/// The living companion that `target` means, Pillion's or another's.
///
/// # Errors
/// [`Kind::NoCompanion`] when there is none.
pub fn choose(target: &Target, environment: &Environment) -> anyhow::Result<Companion> {
    Running::look(environment).choose(target, environment)
}

/// The living companion of Pillion's that `target` means: what others do not understand is for it.
///
/// # Errors
/// [`Kind::NoCompanion`] when there is none.
pub fn choose_own(target: &Target, environment: &Environment) -> anyhow::Result<CompanionState> {
    let mut companions = survey(environment).companions;
    companions.retain(|companion| companion.state.is_some());
    let chosen = Running::among(companions).choose(target, environment)?;
    chosen.state.context("the companion has no state")
}

/// The companions that run.
#[derive(Debug)]
pub struct Running {
    companions: Vec<Companion>,
    /// The processes that this one descends from, the nearest first.
    ancestors: Vec<u32>,
}

impl Running {
    /// Those that live now.
    pub fn look(environment: &Environment) -> Self {
        Self::among(survey(environment).companions)
    }

    /// Those of these that live.
    pub fn among(mut companions: Vec<Companion>) -> Self {
        companions.retain(Companion::is_alive);
        Self {
            companions,
            ancestors: process::ancestors(std::process::id()),
        }
    }

    /// The one that `target` means.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when there is none.
    pub fn choose(&self, target: &Target, environment: &Environment) -> anyhow::Result<Companion> {
        let selector = selector(target, environment)?;
        let all: Vec<_> = self.companions.iter().collect();
        match self.pick(&all, &selector, environment)? {
            Some(companion) => Ok(companion.clone()),
            None => Err(self.missing(selector).into()),
        }
    }

    /// The one that `target` means, of those that this agent can find.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when there is none.
    pub fn choose_for(
        &self,
        agent: Dialect,
        target: &Target,
        environment: &Environment,
    ) -> anyhow::Result<Companion> {
        let selector = selector(target, environment)?;
        let serves = |companion: &&Companion| {
            let mut files = companion.files.iter();
            files.any(|file| file.dialect == agent)
        };
        let serving: Vec<_> = self.companions.iter().filter(serves).collect();
        if let Some(companion) = self.pick(&serving, &selector, environment)? {
            return Ok(companion.clone());
        }
        let all: Vec<_> = self.companions.iter().collect();
        Err(match self.pick(&all, &selector, environment)? {
            None => self.missing(selector),
            Some(other) => {
                let (name, port) = (other.display_name(), other.port);
                let message = format!("{name} (port {port}) left no discovery file for {agent}");
                Failure::new(Kind::NoCompanion, message)
                    .hint(format!("That companion does not serve {agent}. {HINT}"))
            }
        }
        .into())
    }

    fn pick<'a>(
        &self,
        candidates: &[&'a Companion],
        selector: &Selector,
        environment: &Environment,
    ) -> anyhow::Result<Option<&'a Companion>> {
        let folder = match selector {
            Selector::Port(port) => {
                let mut named = candidates.iter().filter(|it| it.port == *port);
                return Ok(named.next().copied());
            }
            Selector::Folder(folder) => folder,
        };
        let standing = |companion: &&'a Companion| {
            // An agent refuses a companion of another folder, its terminal's own editor, too.
            let depth = companion.depth(folder)?;
            let standing = Standing {
                generations: rules::generations(companion, &self.ancestors),
                is_named: rules::is_named(companion, environment),
                depth,
            };
            Some((standing, *companion))
        };
        let equals = rules::foremost(candidates.iter().filter_map(standing).collect());
        if equals.len() < 2 {
            return Ok(equals.first().copied());
        }
        let focused = focus::last_focused(&equals).context("cannot ask the companions")?;
        Ok(rules::latest(equals.into_iter().zip(focused)))
    }

    fn missing(&self, selector: Selector) -> Failure {
        let roots = self.companions.iter().flat_map(|it| it.roots.clone());
        let error = ChooseError {
            selector,
            ports: self.companions.iter().map(|it| it.port).collect(),
            roots: roots.collect(),
        };
        Failure::new(Kind::NoCompanion, error.to_string()).hint(HINT)
    }
}

fn selector(target: &Target, environment: &Environment) -> anyhow::Result<Selector> {
    if let Some(port) = target.port {
        return Ok(Selector::Port(port));
    }
    let current = environment.current_dir();
    let folder = match &target.workspace {
        Some(folder) => current.join(folder),
        None if current.as_os_str().is_empty() => {
            let failure = Failure::new(Kind::Refused, "the current folder is gone");
            return Err(failure.hint("Change to a folder that exists.").into());
        }
        None => PathBuf::from(current),
    };
    Ok(Selector::Folder(folder))
}
