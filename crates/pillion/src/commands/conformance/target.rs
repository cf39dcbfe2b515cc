//! Finds the companion to check. A dead one can be meant as well: that it left its files is a finding.

use std::path::Path;

use anyhow::Context;
use pillion_conformance::{Protocol, Target};
use pillion_discovery::survey::{Companion, Survey};
use pillion_discovery::{Environment, FileError, survey};
use pillion_protocol::Dialect;

use crate::args;
use crate::choice::{Need, Running};
use crate::failure::{Failure, Kind};

const LIST: &str = "`pillion list --all` shows every companion with discovery files.";

/// The companion that was named, or that of this folder.
///
/// # Errors
/// [`Kind::NoCompanion`] when there is none, [`Kind::Refused`] for a file that leads to none.
pub fn find(
    file: Option<&Path>,
    pid: Option<u32>,
    target: &args::Target,
    protocol: Protocol,
    environment: &Environment,
) -> anyhow::Result<Target> {
    if let Some(file) = file {
        return read(file, protocol, environment);
    }
    let named = |name: String,
                 is_meant: &dyn Fn(&Companion) -> bool,
                 is_its_name: &dyn Fn(&str) -> bool| {
        let file = file_of(survey(environment), protocol, is_meant, is_its_name);
        let file = file.ok_or_else(|| {
            let message = format!("no discovery file belongs to {name}");
            Failure::new(Kind::NoCompanion, message).hint(LIST)
        })?;
        read(&file, protocol, environment)
    };
    if let Some(pid) = pid {
        let is_its = |companion: &Companion| {
            let own = companion.state.as_ref().map(|state| state.pid);
            own == Some(pid) || companion.pids.contains(&pid)
        };
        let in_name = format!("-{pid}");
        let name = format!("process {pid}");
        return named(name, &is_its, &|name| name.contains(&in_name));
    }
    if let Some(port) = target.port {
        let (with_pid, lock) = (format!("-{port}.json"), format!("{port}.lock"));
        let is_its_name = |name: &str| name.ends_with(&with_pid) || name == lock;
        let name = format!("port {port}");
        return named(name, &|companion| companion.port == port, &is_its_name);
    }
    let companion = Running::look(environment).choose(Need::Any, target)?;
    let mut files = companion.files.iter();
    let file = files.find(|file| file.dialect.protocol() == protocol);
    let file = file.with_context(|| {
        let (name, port) = (companion.display_name(), companion.port);
        let missing = match protocol {
            Protocol::Companion => "discovery file for Gemini CLI or Qwen Code",
            Protocol::Claude => "lock file for Claude Code",
            Protocol::Copilot => "lock file for Copilot CLI",
            Protocol::Codex => "file for Codex CLI",
        };
        let message = format!("{name} (port {port}) has left no {missing}");
        Failure::new(Kind::NoCompanion, message).hint(LIST)
    })?;
    read(&file.path, protocol, environment)
}

/// A file of the companion that is meant: one that lives, else one that is dead, else a file that
/// only its name contains.
fn file_of(
    survey: Survey,
    protocol: Protocol,
    is_meant: impl Fn(&Companion) -> bool,
    is_its_name: impl Fn(&str) -> bool,
) -> Option<std::path::PathBuf> {
    let mut meant: Vec<_> = survey.companions.iter().filter(|it| is_meant(it)).collect();
    meant.sort_by_key(|companion| !companion.is_alive());
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

fn read(file: &Path, protocol: Protocol, environment: &Environment) -> anyhow::Result<Target> {
    let target = Target::of_file(file, protocol, environment);
    target.map_err(|error| {
        let hint = "Name a discovery file; `pillion list --all` shows the companions.";
        let failure = Failure::new(Kind::Refused, error.to_string()).hint(hint);
        match std::error::Error::source(&error) {
            Some(source) => anyhow::anyhow!("{source}").context(failure),
            None => failure.into(),
        }
    })
}
