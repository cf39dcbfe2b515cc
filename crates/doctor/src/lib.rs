//! Why an agent does or does not find its companion from here: facts are gathered, judged, and
//! reported, in this order and in different modules.
//!
//! If the agent would not connect, there is at least one problem among the findings; if it would, there is none. Codex CLI
//! opens no session: its problems are what keeps its changes from being shown.

mod asides;
mod checks;
mod facts;
mod finding;
mod json;
mod report;
pub mod setup;

use std::path::Path;

use pillion_agent::find::Release;
use pillion_discovery::Environment;
use pillion_protocol::Dialect;

use self::facts::Facts;
use self::finding::Finding;
use crate::setup::program;

pub use self::json::Report;
pub use self::report::{Style, write};

/// The facts and findings about one agent.
#[derive(Debug)]
pub struct Examination {
    facts: Facts,
    findings: Vec<Finding>,
}

impl Examination {
    /// Walks the whole way as `agent` would that is started in `folder`. `doing` hears what it is about to do, where
    /// that may take a while: words such as "looking for companions".
    ///
    /// # Errors
    /// When no connection can be tried at all.
    pub fn of(
        agent: Dialect,
        environment: &Environment,
        folder: &Path,
        doing: &dyn Fn(&str),
    ) -> anyhow::Result<Self> {
        let facts = Facts::gather(agent, environment, folder.to_owned(), doing)?;
        let findings = checks::judge(&facts);
        Ok(Self { facts, findings })
    }

    /// Returns true if nothing keeps the agent from connecting, or the changes of one that opens no session from being
    /// shown.
    pub fn has_no_problem(&self) -> bool {
        self.problems().next().is_none()
    }

    /// The problems in its way, in the order of the walk.
    fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| checks::is_problem(finding))
    }
}

/// Says that this release is not supported, and how to update it, if that is so. `program` is where its program is;
/// none if an npm package brought it.
pub fn too_old(release: Release, program: Option<&Path>) -> Option<[String; 2]> {
    let oldest = release.too_old()?;
    let update = checks::update(release.agent, program);
    Some([
        checks::older_than(release, oldest),
        format!("Update it with `{update}`."),
    ])
}

/// The agents whose programs are on PATH.
pub fn installed(environment: &Environment) -> Vec<Dialect> {
    let is_installed = |agent: &Dialect| program::is_installed(*agent, environment);
    Dialect::ALL.into_iter().filter(is_installed).collect()
}

/// The agents to look at: `named`, else those that are installed, else all.
pub fn agents(named: Option<Dialect>, environment: &Environment) -> Vec<Dialect> {
    if let Some(agent) = named {
        return vec![agent];
    }
    let installed = installed(environment);
    if installed.is_empty() {
        Dialect::AGENTS.to_vec()
    } else {
        installed
    }
}
