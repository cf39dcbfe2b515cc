//! The arguments that several commands share.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use pillion_protocol::Dialect;
use pillion_view::ask::DiffRef;
use pillion_view::{DiffId, ProposalKey};

use crate::failure::{Failure, Kind};

/// Where a companion starts.
#[derive(Debug, Args)]
pub struct Roots {
    /// A workspace folder; agents running in or below it connect [default: the current folder]
    #[arg(long = "workspace", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
}

/// Which running companion is meant.
#[derive(Debug, Clone, Default, Args)]
pub struct Target {
    /// Use the companion of this folder [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Use the companion on this port
    #[arg(long, value_name = "N", value_parser = port, conflicts_with = "workspace")]
    pub port: Option<u16>,

    /// The file that the command is about, absolute: if neither of the others is given, it counts
    /// before the current folder.
    #[arg(skip)]
    pub file: Option<PathBuf>,
}

/// The proposal that a decision is about.
#[derive(Debug, Clone, Copy, Args)]
pub struct Proposal {
    /// The proposal that you have seen, as `pillion diffs` lists it: the diff's number and its
    /// revision (`1.3`)
    #[arg(value_name = "DIFF")]
    diff: DiffRef,
}

impl Proposal {
    /// Its diff and its revision. `command` decides.
    ///
    /// # Errors
    /// When no revision is named: the agent may have replaced what the person has seen.
    pub fn named(self, command: &str) -> Result<ProposalKey, Failure> {
        let DiffRef { id, revision } = self.diff;
        let revision = revision.ok_or_else(|| {
            let message = format!("diff {id} is named without the revision that you have seen");
            Failure::new(Kind::Refused, message).hint(format!(
                "`pillion diffs {id}` shows it and its revision; then `pillion {command} {id}.REV`."
            ))
        })?;
        let id = DiffId(id);
        Ok(ProposalKey { id, revision })
    }
}

fn port(text: &str) -> Result<u16, &'static str> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or("a port is a number from 1 to 65535")
}

/// Reads the name of one of these agents.
pub fn agent<const COUNT: usize>(
    agents: [Dialect; COUNT],
) -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(agents.map(Dialect::name)).try_map(move |name| {
        let named = agents.into_iter().find(|agent| agent.name() == name);
        named.ok_or("unknown agent")
    })
}

impl Target {
    /// The help of `--workspace` where a command is about one file.
    pub const WORKSPACE_OF_FILE: &str =
        "Use the companion of this folder [default: FILE's folder, else the current folder]";

    /// The same for a command about this file, by its absolute path.
    #[must_use]
    pub fn about(self, file: &Path) -> Self {
        Self {
            file: Some(file.to_owned()),
            ..self
        }
    }
}
