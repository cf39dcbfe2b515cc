//! The companion that is looked at, as its discovery files tell of it. They are read here without
//! any of the forgiveness that agents have: what is wrong in them is to be reported.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use pillion_discovery::{Environment, is_same};
use pillion_http::HeaderName;
use pillion_http::header::AUTHORIZATION;
use pillion_protocol::dialect::{Place, Protocol};
use pillion_protocol::discovery::split_roots;
use pillion_protocol::{Address, Dialect, Token};
use pillion_system::process;
use serde_json::Value;

use crate::facts;
use crate::protocol::SharedRows;

/// The number of files that are looked into although no agent would look at them.
const MAX_OTHERS: usize = 500;

/// A companion to look at.
#[derive(Debug, Clone)]
pub struct Target {
    /// The protocol that it is spoken to by.
    pub(super) protocol: Protocol,
    address: Address,
    files: Vec<TargetFile>,
    pub(super) environment: Environment,
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
    /// Neither its content nor its name has a port.
    #[error("{0:?} gives no port, neither in its content nor in its name")]
    NoPort(PathBuf),
}

/// One discovery file, as it was found. `Debug` does not show its content, which holds a token.
#[derive(Clone, derive_more::Debug)]
pub(super) struct TargetFile {
    pub(super) path: PathBuf,
    protocol: Protocol,
    /// The agent that the file is for, by its name and, where the name fits two, by its folder.
    pub(super) dialect: Option<Dialect>,
    /// The place of this dialect that it lies in.
    pub(super) place: Option<&'static Place>,
    /// Links not followed.
    pub(super) metadata: Metadata,
    /// Its JSON object, or why it is none.
    #[debug(skip)]
    pub(super) content: Result<Value, String>,
}

impl Target {
    /// The companion of a discovery file, with its other files wherever some agent looks.
    ///
    /// # Errors
    /// When the file cannot be read, or leads nowhere.
    pub fn of_file(
        path: &Path,
        protocol: Protocol,
        environment: &Environment,
    ) -> Result<Self, TargetError> {
        let unreadable = |source| TargetError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let path = std::path::absolute(path).map_err(unreadable)?;
        let first = TargetFile::read(&path, protocol, environment).map_err(unreadable)?;
        let no_port = || TargetError::NoPort(path.clone());
        let address = first.address().ok_or_else(no_port)?;
        let mut files = vec![first];
        for other in siblings(protocol, environment) {
            // Agents of each kind have a token of their own: elsewhere, its name tells whose it was to be.
            let is_its = match (&address, other.dialect) {
                (Address::Unix(_), _) => other.address().as_ref() == Some(&address),
                (Address::Tcp(port), Some(_)) => other.belongs_to(*port, &files[0]),
                (Address::Tcp(port), None) => other.is_copy_of(*port, &files[0]),
            };
            if is_its && !files.iter().any(|file| file.is_same_as(&other)) {
                files.push(other);
            }
        }
        Ok(Self {
            protocol,
            address,
            files,
            environment: environment.clone(),
        })
    }

    /// The address on which it listens for agents of this protocol.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The companion's loopback port. That of one with a socket is known only if its file is called `PORT.lock`.
    pub fn port(&self) -> Option<u16> {
        match self.address {
            Address::Tcp(port) => Some(port),
            Address::Unix(_) => self.files[0].port_in_name()?.try_into().ok(),
        }
    }

    /// The paths of its discovery files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// The editor's name for people, if a file has it.
    pub fn display_name(&self) -> Option<&str> {
        let field = match self.protocol {
            Protocol::Companion => "/ideInfo/displayName",
            Protocol::Claude | Protocol::Copilot | Protocol::Hooks => "/ideName",
        };
        let mut contents = self.files.iter().map(|file| file.content.as_ref());
        contents.find_map(|content| content.ok()?.pointer(field)?.as_str())
    }

    /// Its workspace roots.
    pub fn roots(&self) -> Vec<PathBuf> {
        let mut lists = self.files.iter().map(TargetFile::roots);
        lists.find(|list| !list.is_empty()).unwrap_or_default()
    }

    /// The processes whose ids are in its files, or in their names, ascending.
    pub fn pids(&self) -> Vec<u32> {
        let pids: BTreeSet<_> = self.files.iter().filter_map(TargetFile::pid).collect();
        pids.into_iter().collect()
    }

    pub(super) fn discovery_files(&self) -> &[TargetFile] {
        &self.files
    }

    /// The token to call with: that of the first file that has one.
    pub(super) fn token(&self) -> Option<Token> {
        self.files.iter().find_map(TargetFile::token)
    }

    /// The headers that its agents send with every request, those of the first file that has some.
    pub(super) fn headers(&self) -> Vec<(HeaderName, &str)> {
        let mut all = self.files.iter().map(TargetFile::headers);
        all.find(|headers| !headers.is_empty()).unwrap_or_default()
    }

    /// The word before the token in `Authorization`.
    pub(super) fn scheme(&self) -> &str {
        let mut files = self.files.iter().filter_map(TargetFile::authorization);
        files.next().map_or("Bearer", |(scheme, _)| scheme)
    }

    /// The texts that no report may show.
    pub(super) fn secrets(&self) -> Vec<String> {
        let tokens = self.files.iter().filter_map(TargetFile::token);
        let tokens = tokens.map(|token| token.expose().to_owned());
        let values = self.files.iter().flat_map(TargetFile::headers);
        tokens
            .chain(values.map(|(_, value)| value.to_owned()))
            .filter(|secret| !secret.is_empty())
            .collect()
    }

    /// The tokens that this companion gives to agents of another protocol.
    pub(super) fn other_tokens(&self) -> Vec<Token> {
        let Some(port) = self.port() else {
            return Vec::new();
        };
        let other = match self.protocol {
            Protocol::Companion => Protocol::Claude,
            Protocol::Claude | Protocol::Copilot | Protocol::Hooks => Protocol::Companion,
        };
        let others = siblings(other, &self.environment);
        let its = others
            .iter()
            .filter(|it| it.belongs_to(port, &self.files[0]));
        its.filter_map(TargetFile::token).collect()
    }
}

impl TargetFile {
    fn read(path: &Path, protocol: Protocol, environment: &Environment) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        let content = facts::content(path)?.and_then(|bytes| object(&bytes));
        let published_as = published_as(path, protocol, environment);
        let name = path.file_name().and_then(|name| name.to_str());
        let by_name = name.and_then(|name| places(protocol).find(|(_, it)| it.name.fits(name)));
        Ok(Self {
            path: path.to_owned(),
            protocol,
            dialect: published_as.or(by_name).map(|(dialect, _)| dialect),
            place: published_as.map(|(_, place)| place),
            metadata,
            content,
        })
    }

    /// The rows of its protocol.
    pub(super) fn rows(&self) -> SharedRows {
        SharedRows::of(self.protocol)
    }

    pub(super) fn name(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.content.as_ref().ok()?.get(name)
    }

    pub(super) fn token(&self) -> Option<Token> {
        let token = match self.protocol {
            Protocol::Copilot => self.authorization()?.1,
            _ => self.field("authToken")?.as_str()?,
        };
        (!token.is_empty()).then(|| Token::from(token.to_owned()))
    }

    /// The address that it says its companion listens on; a path that is missing is an empty one.
    fn address(&self) -> Option<Address> {
        let named = || self.port_in_name()?.try_into().ok();
        let port = match self.protocol {
            Protocol::Copilot => {
                let path = self.field("socketPath").and_then(Value::as_str);
                return Some(Address::Unix(path.unwrap_or_default().into()));
            }
            Protocol::Claude => {
                let port = self.port().or_else(named);
                port.or_else(|| last_number(self.name()))
            }
            Protocol::Companion | Protocol::Hooks => self.port().or_else(named),
        };
        port.map(Address::Tcp)
    }

    /// The headers that it asks for, as far as they can be sent.
    fn headers(&self) -> Vec<(HeaderName, &str)> {
        let headers = self.field("headers").and_then(Value::as_object);
        let headers = headers.into_iter().flatten();
        let headers =
            headers.filter_map(|(name, value)| Some((name.parse().ok()?, value.as_str()?)));
        headers.collect()
    }

    /// Scheme and token of the `Authorization` that it asks for.
    fn authorization(&self) -> Option<(&str, &str)> {
        let headers = self.headers().into_iter();
        let mut values = headers.filter(|(name, _)| *name == AUTHORIZATION);
        values.next()?.1.split_once(' ')
    }

    /// The port in its content.
    pub(super) fn port(&self) -> Option<u16> {
        let port = self.field("port")?.as_u64()?;
        u16::try_from(port).ok().filter(|port| *port != 0)
    }

    /// The workspace roots that it lists.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        if self.protocol == Protocol::Companion {
            let listed = self.field("workspacePath").and_then(Value::as_str);
            return listed.map(split_roots).unwrap_or_default();
        }
        let list = self.field("workspaceFolders").and_then(Value::as_array);
        let folders = list.into_iter().flatten().filter_map(Value::as_str);
        folders.map(PathBuf::from).collect()
    }

    /// The process id in its name, or in its content if that is where the protocol has it.
    pub(super) fn pid(&self) -> Option<u32> {
        if matches!(self.protocol, Protocol::Claude | Protocol::Copilot) {
            return match self.field("pid")? {
                Value::String(text) => text.parse().ok(),
                number => number.as_u64()?.try_into().ok(),
            };
        }
        let places = self.dialect?.places().iter();
        let mut pids = places.filter_map(|place| {
            let pid = place.name.pid_in(self.name())?.try_into().ok()?;
            // `PREFIX-PORT.json` looks like `PREFIX-PID.json`.
            let is_port = || Some(pid) == self.port().map(u32::from);
            (place.name.holds_port() || !is_port()).then_some(pid)
        });
        pids.next()
    }

    /// The number in its name where the pattern holds a port, whether or not it could be one.
    pub(super) fn port_in_name(&self) -> Option<u32> {
        let name = self.name();
        if let Some(digits) = name.strip_suffix(".lock") {
            return digits.parse().ok();
        }
        let numbers = name.strip_suffix(".json")?;
        let mut numbers = numbers.rsplit('-').map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(port)), Some(Ok(_))) => Some(port),
            _ => None,
        }
    }

    pub(super) fn is_lock(&self) -> bool {
        self.name().ends_with(".lock")
    }

    /// Returns true if it is the same entry of the same folder. Two links to one file are two.
    fn is_same_as(&self, other: &Self) -> bool {
        let folders = self.path.parent().zip(other.path.parent());
        self.name() == other.name() && folders.is_some_and(|(one, other)| is_same(one, other))
    }

    /// Returns true if it was meant to be a discovery file of the companion of `first`, wherever it
    /// lies and whatever it is called: nobody else has its token.
    fn is_copy_of(&self, port: u16, first: &Self) -> bool {
        let tokens = self.token().zip(first.token());
        let is_its_port = self.protocol == Protocol::Claude || self.port() == Some(port);
        is_its_port && tokens.is_some_and(|(own, its)| own.expose() == its.expose())
    }

    /// Returns true if it is another file of the companion of `first`, and not what a dead one left
    /// that had the same port.
    fn belongs_to(&self, port: u16, first: &Self) -> bool {
        let its_port = self.port().map(u32::from).or_else(|| self.port_in_name());
        if its_port != Some(port.into()) {
            return false;
        }
        match first.field("pillion").zip(self.field("pillion")) {
            Some((own, its)) => own == its,
            None => self.is_copy_of(port, first) || self.pid().is_none_or(process::is_alive),
        }
    }
}

/// The place that a file lies in, if some agent looks there for its name.
fn published_as(
    path: &Path,
    protocol: Protocol,
    environment: &Environment,
) -> Option<(Dialect, &'static Place)> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let is_there = |place: &Place| is_same(&environment.directory(place), folder);
    places(protocol).find(|(_, place)| place.name.fits(name) && is_there(place))
}

/// The places where the agents of a protocol look.
fn places(protocol: Protocol) -> impl Iterator<Item = (Dialect, &'static Place)> {
    let all = Dialect::ALL.into_iter();
    let agents = all.filter(move |dialect| dialect.protocol() == protocol);
    agents.flat_map(|dialect| dialect.places().iter().map(move |place| (dialect, place)))
}

/// Every file that some agent would look at and that can be read; behind these, what else lies in
/// those folders, in the ones around them and in ones of nearly the same name, that could have been meant to be one.
fn siblings(protocol: Protocol, environment: &Environment) -> Vec<TargetFile> {
    let (mut files, mut others) = (Vec::new(), Vec::new());
    for folder in folders(protocol, environment) {
        let Ok(entries) = folder.read_dir() else {
            continue;
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let read = || TargetFile::read(&path, protocol, environment).ok();
            let is_similar = path
                .extension()
                .is_some_and(|it| it == "json" || it == "lock");
            if published_as(&path, protocol, environment).is_some() {
                files.extend(read());
            } else if is_similar && others.len() < MAX_OTHERS {
                others.extend(read());
            }
        }
    }
    files.append(&mut others);
    files
}

/// The folders where agents look, and those that they are in as far as they are agents' own.
fn folders(protocol: Protocol, environment: &Environment) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for (_, place) in places(protocol) {
        let folder = environment.directory(place);
        for folder in folder.ancestors().take(place.folder.len() + 1) {
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
        }
        // As `gemini-cli` is for `gemini`.
        if let [_, rest] = place.folder {
            let base = environment.base(place.base);
            let others = base.read_dir().into_iter().flatten().flatten();
            let others = others.take(MAX_OTHERS).map(|entry| entry.path().join(rest));
            for folder in others.filter(|folder| folder.is_dir()) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
    }
    folders
}

fn object(bytes: &[u8]) -> Result<Value, String> {
    match serde_json::from_slice(bytes) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("it is JSON, but not an object".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

/// The last number in a name that has no port where it should.
fn last_number(name: &str) -> Option<u16> {
    let numbers = name.rsplit(|char: char| !char.is_ascii_digit());
    let mut numbers = numbers.filter_map(|digits| digits.parse().ok());
    numbers.find(|port| *port != 0)
}
