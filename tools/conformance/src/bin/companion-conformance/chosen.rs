//! The companion to check: the one that is named, or that of a folder. A dead one can be named as well: that it left its
//! files is a finding.

use std::cmp::Reverse;
use std::path::PathBuf;

use anyhow::Context;
use companion_conformance::{Protocol, Target};
use pillion_discovery::survey::{Companion, Survey};
use pillion_discovery::{Environment, FileError, survey};
use pillion_protocol::Dialect;

use crate::failure::{Failure, Kind};

/// Which companion is meant.
#[derive(Debug, clap::Args)]
pub struct Chosen {
    /// A discovery file of the companion
    #[arg(value_name = "FILE", conflicts_with_all = ["pid", "workspace", "port"])]
    file: Option<PathBuf>,

    /// Check the companion whose discovery files name this process
    #[arg(long, value_name = "N", value_parser = pid, conflicts_with_all = ["workspace", "port"])]
    pid: Option<u32>,

    /// Check the companion of this folder [default: the current folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Check the companion on this port
    #[arg(long, value_name = "N", value_parser = port, conflicts_with = "workspace")]
    port: Option<u16>,
}

fn pid(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "a process id is a whole number")
}

fn port(text: &str) -> Result<u16, &'static str> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or("a port is a number from 1 to 65535")
}

impl Chosen {
    /// The companion that is meant, as its file for this protocol describes it.
    ///
    /// # Errors
    /// [`Kind::NoCompanion`] when there is none, [`Kind::Refused`] for a file or folder that leads to none.
    pub fn target(&self, protocol: Protocol, environment: &Environment) -> anyhow::Result<Target> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.found(protocol, environment)?,
        };
        let target = Target::of_file(&file, protocol, environment);
        target.map_err(|error| {
            let failure = Failure::new(Kind::Refused, error.to_string()).hint(
                "Name a discovery file of the companion, or use --pid, --port or --workspace.",
            );
            match std::error::Error::source(&error) {
                Some(source) => anyhow::anyhow!("{source}").context(failure),
                None => failure.into(),
            }
        })
    }

    fn found(&self, protocol: Protocol, environment: &Environment) -> anyhow::Result<PathBuf> {
        let survey = survey(environment);
        let hint = running(&survey);
        let (name, file) = if let Some(pid) = self.pid {
            let is_its = |companion: &Companion| {
                let own = companion.state.as_ref().map(|state| state.pid);
                own == Some(pid) || companion.pids.contains(&pid)
            };
            let in_name = format!("-{pid}");
            let file = file_of(survey, protocol, is_its, |name| name.contains(&in_name));
            (format!("process {pid}"), file)
        } else if let Some(port) = self.port {
            let (with_pid, lock) = (format!("-{port}.json"), format!("{port}.lock"));
            let is_its_name = |name: &str| name.ends_with(&with_pid) || name == lock;
            let file = file_of(survey, protocol, |it| it.port == port, is_its_name);
            (format!("port {port}"), file)
        } else {
            return self.of_folder(survey, protocol, environment);
        };
        let missing = || {
            let message = format!(
                "no discovery file for {} belongs to {name}",
                reader(protocol)
            );
            Failure::new(Kind::NoCompanion, message).hint(hint)
        };
        file.with_context(missing)
    }

    /// The file of the living companion whose folder this is: of several, the one with the deepest root, then one that
    /// answers, then the one that started last.
    fn of_folder(
        &self,
        survey: Survey,
        protocol: Protocol,
        environment: &Environment,
    ) -> anyhow::Result<PathBuf> {
        let current = environment.current_dir();
        let folder = self
            .workspace
            .as_ref()
            .map_or_else(|| current.to_owned(), |folder| current.join(folder));
        if !folder.is_dir() {
            let message = format!("{} is not a folder", folder.display());
            let failure = Failure::new(Kind::Refused, message);
            return Err(failure.hint("--workspace takes an existing folder.").into());
        }
        let file = |companion: &Companion| {
            let mut files = companion.files.iter();
            let file = files.find(|file| file.dialect.protocol() == protocol)?;
            Some(file.path.clone())
        };
        let claim = |companion: &Companion| {
            let depth = companion.depth(&folder).filter(|_| companion.is_alive())?;
            let started = companion.state.as_ref().map(|state| state.started_at_ms);
            let claim = (depth, !companion.is_silent, started, companion.port);
            Some((claim, file(companion)?))
        };
        let file = survey.companions.iter().filter_map(claim).max();
        let (_, file) = file.ok_or_else(|| {
            let (agents, folder) = (reader(protocol), folder.display());
            let message =
                format!("no companion with a discovery file for {agents} is running for {folder}");
            Failure::new(Kind::NoCompanion, message).hint(running(&survey))
        })?;
        Ok(file)
    }
}

/// Who reads the files of a protocol.
fn reader(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Companion => "Gemini CLI or Qwen Code",
        Protocol::Claude => "Claude Code",
        Protocol::Copilot => "Copilot CLI",
        Protocol::Hooks => "no agent",
    }
}

/// The companions that could have been meant, and how to name one.
fn running(survey: &Survey) -> String {
    let alive = survey.companions.iter().filter(|it| it.is_alive());
    let named = alive.map(|companion| {
        let (name, port) = (companion.display_name(), companion.port);
        format!(
            "{name} ({}) with --port {port}",
            companion.shown_roots().join(", ")
        )
    });
    let named: Vec<_> = named.collect();
    match named[..] {
        [] => "No companion is running: start the editor with yours, with a workspace folder open."
            .to_owned(),
        _ => format!("Those that run can be named: {}.", named.join("; ")),
    }
}

/// A file of the companion that is meant: one that lives, else one that is dead, else a file that
/// only its name contains.
fn file_of(
    survey: Survey,
    protocol: Protocol,
    is_meant: impl Fn(&Companion) -> bool,
    is_its_name: impl Fn(&str) -> bool,
) -> Option<PathBuf> {
    let mut meant: Vec<_> = survey.companions.iter().filter(|it| is_meant(it)).collect();
    meant.sort_by_key(|companion| Reverse(companion.is_alive()));
    let files = meant.into_iter().flat_map(|companion| &companion.files);
    let mut files = files.filter(|file| file.dialect.protocol() == protocol);
    if let Some(file) = files.next() {
        return Some(file.path.clone());
    }
    let fits = |name: &str| {
        let dialects = Dialect::ALL
            .into_iter()
            .filter(|it| it.protocol() == protocol);
        let mut places = dialects.flat_map(Dialect::places);
        places.any(|place| place.name.fits(name)) && is_its_name(name)
    };
    // Links are not followed by who looks for companions, but they are to be found out.
    let unread = survey.unread.iter().filter_map(|error| match error {
        FileError::Link(path) | FileError::NotAFile(path) => Some(path.clone()),
        _ => None,
    });
    survey.malformed.into_iter().chain(unread).find(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(fits)
    })
}
