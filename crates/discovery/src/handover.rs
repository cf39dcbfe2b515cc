//! A companion's legacy to its successor: its port, the token of Claude Code's lock file, and the person's choices
//! for the processes of agents.
//!
//! Claude Code dials a companion that it lost for another 15 seconds, on the same port and with the
//! same token, and reads no new lock file. So the next companion of the same workspace gets both back, if it
//! starts in time: an editor restarts its language server, a person restarts a review, a hub crashed.
//!
//! The record of a running companion is a private file in the state folder. A successor takes it
//! away: one successor at most, and only when the companion has ended. Another workspace's port and token are
//! never taken over: a record is for a companion that has no other roots than those of the record. It may have fewer: several
//! front ends share a companion, and the first that comes back after a crash has only its own. It never has more, as the
//! agents that dial again were never shown anything of those.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_protocol::{ProcessChoice, Token};
use pillion_system::process;
use serde::{Deserialize, Serialize};

use crate::discovery_files::MAX_FILE;
use crate::environment::Environment;
use crate::private_file::FileError;
use crate::state_dir;

/// The time after the end of a companion in which its record counts: longer than Claude Code dials.
pub const VALID_FOR: Duration = Duration::from_secs(20);

/// The interval at which the record of a running companion must be refreshed: nobody else knows when it crashed.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// The record of a running companion.
#[derive(Debug)]
pub struct Handover {
    record: Record,
    directory: PathBuf,
    name: String,
}

/// The values that a companion takes over from the one before it.
#[derive(Debug)]
pub struct Predecessor {
    /// The port on which it listened.
    pub port: u16,
    /// The token of Claude Code's lock file.
    pub token: Token,
    /// The person's choices for agents that still run.
    pub choices: Vec<ProcessChoice>,
    /// True if it may still listen there, for a moment.
    pub is_closing: bool,
    /// True if it was in this process, which knows what it has given.
    pub is_of_this_process: bool,
}

/// The result of looking for a record to take over.
#[derive(Debug)]
pub enum Takeover {
    /// This one, which no other process gets.
    Taken(Predecessor),
    /// Nothing yet: a companion of the same workspace runs. It may be about to end.
    Running,
    /// Nothing.
    Nothing,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    /// The companion's process.
    pid: u32,
    port: u16,
    token: Token,
    /// The workspace. Empty if there is none: then nobody takes over.
    roots: Vec<PathBuf>,
    /// When it was last known to run, in Unix milliseconds.
    seen_at_ms: u64,
    /// When it ended; none if it runs, or crashed.
    ended_at_ms: Option<u64>,
    /// The person's choices for agents.
    #[serde(default)]
    choices: Vec<ProcessChoice>,
}

/// The relation of a record to a companion that starts.
#[derive(Debug, PartialEq, Eq)]
enum Claim {
    Fits,
    /// That companion has some of its roots, and no others: other front ends may not have come back yet.
    FitsInPart,
    /// It would fit if its companion did not run.
    Running,
    /// For another workspace.
    Others,
    /// Too old for anybody.
    Stale,
}

impl Handover {
    /// Records a companion of this process that runs.
    ///
    /// # Errors
    /// When no state directory can be used; this is what was wrong with the last.
    pub fn record(
        environment: &Environment,
        roots: &[PathBuf],
        port: u16,
        token: Token,
        now_ms: u64,
    ) -> Result<Self, FileError> {
        let pid = std::process::id();
        let record = Record {
            pid,
            port,
            token,
            roots: workspace(roots),
            seen_at_ms: now_ms,
            ended_at_ms: None,
            choices: Vec::new(),
        };
        let name = file_name(pid, port);
        Ok(Self {
            directory: state_dir::first_usable(environment, |directory| {
                state_dir::write(directory, &name, &record.content())?;
                Ok(directory.to_owned())
            })?,
            record,
            name,
        })
    }

    /// Notes other workspace roots.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_roots(&mut self, roots: &[PathBuf]) -> Result<(), FileError> {
        self.record.roots = workspace(roots);
        self.write()
    }

    /// Notes what the person has chosen for agents. Those that have ended are left out.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_choices(&mut self, choices: Vec<ProcessChoice>) -> Result<(), FileError> {
        self.record.choices = choices;
        self.record.choices.retain(is_running);
        self.write()
    }

    /// Notes that the companion still runs. Due every [`REFRESH_INTERVAL`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn refresh(&mut self, now_ms: u64) -> Result<(), FileError> {
        self.record.seen_at_ms = now_ms;
        self.write()
    }

    /// Notes that the companion has ended: a successor can take over from here. Its other files must
    /// be gone, for nobody could tell them from the successor's.
    pub fn end(mut self, now_ms: u64) {
        self.record.ended_at_ms = Some(now_ms);
        if self.record.roots.is_empty() || self.write().is_err() {
            // Better none than one that says that it runs.
            remove(&self.directory, &self.name);
        }
    }

    /// There is no such companion after all: nobody takes over from here.
    pub fn withdraw(self) {
        remove(&self.directory, &self.name);
    }

    fn write(&self) -> Result<(), FileError> {
        state_dir::write(&self.directory, &self.name, &self.record.content())
    }
}

/// Takes over from the companion of these roots, or else of these and more, that ended last, if there is one, and removes
/// what is too old. Nobody else can take the same. Without roots there is nothing to take over.
pub fn take_over(environment: &Environment, roots: &[PathBuf], now_ms: u64) -> Takeover {
    let own = workspace(roots);
    let mut fitting = Vec::new();
    let mut is_running = false;
    for directory in environment.state_dirs() {
        for (name, record) in records(&directory) {
            match record.claim(&own, now_ms) {
                claim @ (Claim::Fits | Claim::FitsInPart) => {
                    let order = (claim == Claim::Fits, record.last_seen_ms());
                    fitting.push((order, directory.clone(), name));
                }
                Claim::Stale => remove(&directory, &name),
                Claim::Running => is_running = true,
                Claim::Others => {}
            }
        }
    }
    // The agent may still dial the one that ended last.
    fitting.sort_by_key(|(order, ..)| std::cmp::Reverse(*order));
    let mut taken = fitting.into_iter().filter_map(|(_, directory, name)| {
        let content = state_dir::open(&directory)?.take(&name, MAX_FILE).ok()??;
        let record = parse(&name, &content)?;
        let fits = matches!(record.claim(&own, now_ms), Claim::Fits | Claim::FitsInPart);
        fits.then(|| record.into_predecessor())
    });
    match taken.next() {
        Some(predecessor) => Takeover::Taken(predecessor),
        None if is_running => Takeover::Running,
        None => Takeover::Nothing,
    }
}

impl Record {
    fn content(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, numbers and Unicode paths only")
    }

    fn claim(&self, own: &[PathBuf], now_ms: u64) -> Claim {
        let is_own = !own.is_empty() && self.roots == own;
        let is_part = !own.is_empty() && own.iter().all(|root| self.roots.contains(root));
        let valid_for = match self.ended_at_ms {
            Some(_) => VALID_FOR,
            None if process::is_alive(self.pid) => {
                return if is_own {
                    Claim::Running
                } else {
                    Claim::Others
                };
            }
            None => VALID_FOR + REFRESH_INTERVAL,
        };
        let age = Duration::from_millis(now_ms.abs_diff(self.last_seen_ms()));
        if age > valid_for {
            Claim::Stale
        } else if is_own {
            Claim::Fits
        } else if is_part {
            Claim::FitsInPart
        } else {
            Claim::Others
        }
    }

    fn last_seen_ms(&self) -> u64 {
        self.ended_at_ms.unwrap_or(self.seen_at_ms)
    }

    fn into_predecessor(mut self) -> Predecessor {
        self.choices.retain(is_running);
        Predecessor {
            is_closing: process::is_alive(self.pid),
            is_of_this_process: self.pid == std::process::id(),
            port: self.port,
            token: self.token,
            choices: self.choices,
        }
    }
}

/// Returns true if the process still runs that a choice is for.
fn is_running(choice: &ProcessChoice) -> bool {
    process::started_at(choice.process.pid) == Some(choice.process.started_at)
}

/// The key of a workspace: its roots as a set, empty if JSON cannot hold one.
fn workspace(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut roots = roots.to_vec();
    if roots.iter().any(|root| root.to_str().is_none()) {
        roots.clear();
    }
    roots.sort();
    roots.dedup();
    roots
}

/// The records in a state directory that can be read. A file with the name of one that is none is no use to anybody,
/// and is removed.
fn records(directory: &Path) -> Vec<(String, Record)> {
    let Some(folder) = state_dir::open(directory) else {
        return Vec::new();
    };
    let mut names = folder.names().unwrap_or_default();
    names.retain(|name| name.ends_with(EXTENSION));
    let read = |name: String| {
        let record = match folder.read(&name, MAX_FILE) {
            Ok(content) => content.and_then(|content| parse(&name, &content)),
            Err(FileError::TooLong { .. }) => None,
            // A link, or another user's: not ours to judge.
            Err(_) => return None,
        };
        if record.is_none() {
            let _ = folder.remove(&name);
        }
        Some((name, record?))
    };
    names.into_iter().filter_map(read).collect()
}

/// The record in the file `name`, if that is what it is. No other token than those we make is ever
/// taken over: an empty one would let everything in.
fn parse(name: &str, content: &[u8]) -> Option<Record> {
    let record: Record = serde_json::from_slice(content).ok()?;
    let is_named = file_name(record.pid, record.port) == name;
    (is_named && record.port != 0 && record.token.is_random()).then_some(record)
}

fn remove(directory: &Path, name: &str) {
    let _ = state_dir::open(directory).map(|folder| folder.remove(name));
}

const EXTENSION: &str = ".handover";

fn file_name(pid: u32, port: u16) -> String {
    format!("{pid}-{port}{EXTENSION}")
}
