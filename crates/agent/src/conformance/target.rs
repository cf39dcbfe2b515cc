//! The companion that is looked at, as its discovery files tell of it. They are read here without
//! any of the forgiveness that agents have: what is wrong in them is to be reported.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use pillion_discovery::{Environment, process};
use pillion_protocol::dialect::Place;
use pillion_protocol::discovery::split_roots;
use pillion_protocol::{Dialect, Token};
use serde_json::Value;

use super::facts::{self, Facts};

/// A companion to look at.
#[derive(Debug, Clone)]
pub struct Target {
    port: u16,
    files: Vec<TargetFile>,
    environment: Environment,
}

/// Why a file leads to no companion.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It cannot be read.
    #[error("cannot read {path:?}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Neither its content nor its name tells a port.
    #[error("{0:?} tells no port, neither in its content nor in its name")]
    NoPort(PathBuf),
}

/// One discovery file, as it was found. `Debug` does not show its content, which holds a token.
#[derive(Clone)]
pub(super) struct TargetFile {
    pub(super) path: PathBuf,
    /// Whose file it is, by its name and, where the name fits two, by its folder.
    pub(super) dialect: Option<Dialect>,
    /// The place of this dialect that it lies in.
    pub(super) place: Option<&'static Place>,
    pub(super) facts: Facts,
    /// Its JSON object, or why it is none.
    pub(super) content: Result<Value, String>,
}

impl Target {
    /// The companion of a discovery file, with its other files wherever some agent looks.
    ///
    /// # Errors
    /// When the file cannot be read, or leads nowhere.
    pub fn of_file(path: &Path, environment: &Environment) -> Result<Self, TargetError> {
        let unreadable = |source| TargetError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let path = std::path::absolute(path).map_err(unreadable)?;
        let first = TargetFile::read(&path, environment).map_err(unreadable)?;
        let port = first.port().or_else(|| first.port_in_name());
        let port = port.ok_or_else(|| TargetError::NoPort(path.clone()))?;
        let mut files = vec![first];
        for other in siblings(environment) {
            let is_new = !files.iter().any(|file| file.is_same_as(&other));
            if is_new && other.belongs_to(port, &files[0]) {
                files.push(other);
            }
        }
        Ok(Self {
            port,
            files,
            environment: environment.clone(),
        })
    }

    /// The companion's loopback port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The paths of its discovery files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// The editor's name for people, if a file tells it.
    pub fn display_name(&self) -> Option<&str> {
        let mut names = self.contents();
        names.find_map(|content| content.pointer("/ideInfo/displayName")?.as_str())
    }

    /// Its workspace roots.
    pub fn roots(&self) -> Vec<PathBuf> {
        let mut lists = self.contents();
        let list = lists.find_map(|content| content.get("workspacePath")?.as_str());
        list.map(split_roots).unwrap_or_default()
    }

    /// The processes whose ids are in the names of its files, ascending.
    pub fn pids(&self) -> Vec<u32> {
        let mut pids: Vec<_> = self.files.iter().filter_map(TargetFile::pid).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(super) fn discovery_files(&self) -> &[TargetFile] {
        &self.files
    }

    /// The token to call with: that of the first file that has one.
    pub(super) fn token(&self) -> Option<Token> {
        self.files.iter().find_map(TargetFile::token)
    }

    fn contents(&self) -> impl Iterator<Item = &Value> {
        self.files
            .iter()
            .filter_map(|file| file.content.as_ref().ok())
    }
}

impl TargetFile {
    fn read(path: &Path, environment: &Environment) -> io::Result<Self> {
        let facts = facts::of(path)?;
        let content = facts::content(path)?.and_then(|bytes| object(&bytes));
        let shelf = shelf(path, environment);
        let name = path.file_name().and_then(|name| name.to_str());
        let by_name = name.and_then(|name| {
            let fits = |dialect: &Dialect| dialect.places().iter().any(|it| it.name.fits(name));
            Dialect::AGENTS.into_iter().find(fits)
        });
        Ok(Self {
            path: path.to_owned(),
            dialect: shelf.map(|(dialect, _)| dialect).or(by_name),
            place: shelf.map(|(_, place)| place),
            facts,
            content,
        })
    }

    pub(super) fn name(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.content.as_ref().ok()?.get(name)
    }

    pub(super) fn token(&self) -> Option<Token> {
        let token = self.field("authToken")?.as_str()?;
        (!token.is_empty()).then(|| Token::from(token.to_owned()))
    }

    /// The port in its content.
    pub(super) fn port(&self) -> Option<u16> {
        let port = self.field("port")?.as_u64()?;
        u16::try_from(port).ok().filter(|port| *port != 0)
    }

    /// The process id in its name.
    pub(super) fn pid(&self) -> Option<u32> {
        let places = self.dialect?.places().iter();
        let mut pids = places.filter_map(|place| place.name.pid_in(self.name()));
        // `PREFIX-PORT.json` looks like `PREFIX-PID.json`.
        pids.find(|pid| Some(*pid) != self.port().map(u32::from))
    }

    /// The port in its name, where the pattern holds one.
    pub(super) fn port_in_name(&self) -> Option<u16> {
        let name = self.name();
        if let Some(digits) = name.strip_suffix(".lock") {
            return digits.parse().ok();
        }
        let numbers = name.strip_suffix(".json")?;
        let mut numbers = numbers.rsplit('-').map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(port)), Some(Ok(_))) => port.try_into().ok(),
            _ => None,
        }
    }

    pub(super) fn is_lock(&self) -> bool {
        self.name().ends_with(".lock")
    }

    fn is_same_as(&self, other: &Self) -> bool {
        let real = |file: &Self| file.path.canonicalize().ok();
        self.path == other.path || (real(self).is_some() && real(self) == real(other))
    }

    /// Whether it is another file of the companion of `first`, and not what a dead one left that
    /// had the same port.
    fn belongs_to(&self, port: u16, first: &Self) -> bool {
        let publisher = |file: &Self| file.field("pillion").cloned();
        let (own, its) = (publisher(first), publisher(self));
        if self.port().or_else(|| self.port_in_name()) != Some(port) {
            return false;
        }
        match (own, its) {
            (Some(own), Some(its)) => own == its,
            _ => self.pid().is_none_or(process::is_alive),
        }
    }
}

impl fmt::Debug for TargetFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TargetFile")
            .field("path", &self.path)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

/// The place that a file lies in, if some agent looks there for its name.
fn shelf(path: &Path, environment: &Environment) -> Option<(Dialect, &'static Place)> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let real = folder.canonicalize().ok();
    for dialect in Dialect::AGENTS {
        for place in dialect.places() {
            let directory = environment.directory(place);
            let is_here =
                directory == folder || real.is_some() && directory.canonicalize().ok() == real;
            if is_here && place.name.fits(name) {
                return Some((dialect, place));
            }
        }
    }
    None
}

/// Every file that some agent would look at and that can be read.
fn siblings(environment: &Environment) -> Vec<TargetFile> {
    let mut files: Vec<TargetFile> = Vec::new();
    for dialect in Dialect::AGENTS {
        for place in dialect.places() {
            let directory = environment.directory(place);
            let Ok(entries) = directory.read_dir() else {
                continue;
            };
            let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            paths.retain(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| place.name.fits(name))
            });
            paths.sort();
            let read = |path: &PathBuf| TargetFile::read(path, environment).ok();
            files.extend(paths.iter().filter_map(read));
        }
    }
    files
}

fn object(bytes: &[u8]) -> Result<Value, String> {
    match serde_json::from_slice(bytes) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("it is JSON, but no object".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}
