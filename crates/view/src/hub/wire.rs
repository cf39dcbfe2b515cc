//! The messages of a front end and the hub to each other: exactly what an [`Editor`](crate::Editor) gets and what goes
//! through a [`Handle`](crate::Handle), one JSON object per line. A request has a number, which its answer names.

use std::path::PathBuf;
use std::sync::Arc;

use pillion_discovery::exact;
use pillion_discovery::version::VERSION;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::link::{Link, Waits};
use crate::ask::{Answered, Asked, Program};
use crate::editor::{Changes, Here, Numbered, Show};
use crate::options::Options;
use crate::reply::Reply;
use crate::tell::Tell;

/// A message of a front end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FromView {
    /// The first message: it wants a companion.
    Attach(Attach),
    /// The first message of a program, which is no front end.
    Program(Program),
    /// A request.
    Ask(Asked),
    /// News of a front end.
    Tell(Tell),
    /// To a request of the hub's.
    Answer(Answered),
}

/// A message of the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FromHub {
    /// Agents find the companion. Events may come before it.
    Attached(Attached),
    /// There is none, and the connection is closed.
    Refused(Refused),
    /// A request to the front end, or a report.
    Show(Box<Show>),
    /// To a request of the view's.
    Answer(Answered),
}

/// The hub's end: what it has shown is answered there.
impl Changes<Here, Numbered> for Link<FromHub> {
    fn changed<T: Serialize + DeserializeOwned + 'static>(&self, reply: Reply<T>) -> Option<u64> {
        self.expect(reply)
    }
}

/// The view's end.
impl Changes<Numbered, Here> for Arc<Link<FromView>> {
    fn changed<T: Serialize + DeserializeOwned + 'static>(&self, request: u64) -> Option<Reply<T>> {
        Some(self.reply(request))
    }
}

impl Waits for FromView {
    fn bytes(&self) -> usize {
        match self {
            Self::Ask(asked) => bytes_of(&asked.params),
            Self::Tell(Tell::Draft { text, .. }) => text.as_ref().map_or(0, String::len),
            Self::Answer(answer) => bytes_of_answer(answer),
            _ => 0,
        }
    }
}

impl Waits for FromHub {
    fn bytes(&self) -> usize {
        match self {
            Self::Show(show) => bytes_of_show(show),
            Self::Answer(answer) => bytes_of_answer(answer),
            _ => 0,
        }
    }
}

fn bytes_of_show(show: &Show) -> usize {
    match show {
        Show::Open(diff, _) => {
            diff.proposed.len() + diff.original.text.as_ref().map_or(0, Vec::len)
        }
        Show::Draft(_, text) => text.len(),
        _ => 0,
    }
}

fn bytes_of_answer(answer: &Answered) -> usize {
    answer.result.as_ref().map_or(0, bytes_of)
}

/// The bytes of a value in memory, roughly.
fn bytes_of(value: &Value) -> usize {
    let held = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(bytes_of).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, it)| name.len() + bytes_of(it))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    held + size_of::<Value>()
}

impl From<Answered> for FromView {
    fn from(answer: Answered) -> Self {
        Self::Answer(answer)
    }
}

impl From<Answered> for FromHub {
    fn from(answer: Answered) -> Self {
        Self::Answer(answer)
    }
}

/// The data of a front end that a companion needs: [`Options`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attach {
    /// The version of the front end's program.
    pub version: String,
    /// What the front end is, and its environment.
    #[serde(flatten)]
    pub options: Options,
    /// The process of the front end: guests name their host by it.
    #[serde(default)]
    pub process: u32,
    /// The process of the hub that it was attached to before.
    #[serde(default)]
    pub former_hub: Option<u32>,
}

impl From<Options> for Attach {
    fn from(options: Options) -> Self {
        Self {
            version: VERSION.to_owned(),
            options,
            process: std::process::id(),
            former_hub: None,
        }
    }
}

/// The companion that a front end got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The version of the hub.
    pub version: String,
    /// The process of the hub.
    pub pid: u32,
    /// Its port.
    pub port: u16,
    /// The discovery files.
    #[serde(with = "exact::paths")]
    pub files: Vec<PathBuf>,
    /// True for a guest that is in the same editor as its host.
    #[serde(default)]
    pub is_in_hosts_editor: bool,
}

impl Attached {
    /// To one in this process.
    pub fn here(port: u16, files: Vec<PathBuf>) -> Self {
        Self {
            version: VERSION.to_owned(),
            pid: std::process::id(),
            port,
            files,
            is_in_hosts_editor: false,
        }
    }
}

/// The reason why there is no companion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The kind, which tells what to do about it.
    pub kind: RefusedKind,
    /// For people.
    pub reason: String,
}

impl Refused {
    /// There is no companion in this process, nor in any other.
    pub fn cannot_start(reason: impl Into<String>) -> Self {
        Self {
            kind: RefusedKind::CannotStart,
            reason: reason.into(),
        }
    }
}

/// The kind of a refusal, by what a front end can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusedKind {
    /// The companion cannot start, in this process or any other.
    CannotStart,
    /// This hub serves no more, or does not understand: have a companion of its own.
    Unserved,
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
