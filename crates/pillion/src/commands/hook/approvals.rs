//! Keeps what outlives this process: the agent's own question about a change, its word that a tool has run, and where it asks about all
//! calls of an answer first, the next of them, come in other calls of the hook.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_discovery::{Environment, approval};
use pillion_hooks::{
    Accepted, Answer, Call, Change, Changes, Event, Files, HookProtocol, Order, Scope,
};
use pillion_protocol::Dialect;
use pillion_system::now_ms;
use pillion_text::fingerprint;
use serde_json::{Value, json};

use super::input::Disk;

/// The time in which an agent makes a call that is allowed, and the interval at which that is looked for.
const WRITES_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Remembers what an answer approves for the agent's next calls, and what its model is to be told then.
pub fn remember(agent: Dialect, protocol: &dyn HookProtocol, call: &Call, answer: &mut Answer) {
    if let Some((event, input)) = answer.approved.take() {
        let approved = Call {
            event,
            input,
            ..call.clone()
        };
        if let Changes::Files(changes) = protocol.changes(&approved, &mut Disk) {
            write(&of_changes(agent, &approved, &changes), "");
        }
    }
    let scope = protocol.scope(call);
    if let (Scope::File(file), Some(told)) = (scope, answer.told_after.take()) {
        write(&of_file(agent, call, &file), &told);
    }
}

/// Returns true if the person has approved exactly these changes. It counts once.
pub fn take(agent: Dialect, call: &Call, changes: &[Change]) -> bool {
    read(&of_changes(agent, call, changes)).is_some()
}

/// Returns the message for the model now that the tool has run. It is told once.
pub fn take_told(agent: Dialect, protocol: &dyn HookProtocol, call: &Call) -> Option<String> {
    match protocol.scope(call) {
        Scope::File(file) => read(&of_file(agent, call, &file)),
        Scope::Nothing | Scope::Anything => None,
    }
}

/// The files as they will be when the agent makes this call: with what was accepted of the calls before it in the same answer.
#[derive(Debug, Default)]
pub struct Ahead {
    /// By the path: the fingerprint of the text that it replaces, and the text.
    accepted: BTreeMap<String, (String, String)>,
    /// True if none of these calls is made before all are judged.
    is_all_first: bool,
    /// The files that could not be read.
    pub unread: Vec<PathBuf>,
    /// Only one call for a file is judged at a time.
    #[expect(dead_code, reason = "dropping it lets the next one go on")]
    held: Option<File>,
}

impl Ahead {
    /// Those of an agent's call before it is made. Waits for the call before it.
    pub fn of(agent: Dialect, protocol: &dyn HookProtocol, call: &Call) -> Self {
        if call.event != Event::BeforeTool || protocol.order() == Order::OneByOne {
            return Self::default();
        }
        let is_all_first = protocol.order() == Order::AllFirst;
        let Scope::File(file) = protocol.scope(call) else {
            let now = Self::now(agent, call);
            return Self {
                is_all_first,
                ..now
            };
        };
        let judged = hash(agent, call, json!(["judged", file]));
        let held = approval::hold(&Environment::current(), &judged).ok();
        let until = Instant::now() + WRITES_WITHIN;
        loop {
            let ahead = Self::now(agent, call);
            if is_all_first || ahead.has_written(&file) || Instant::now() >= until {
                return Self {
                    held,
                    is_all_first,
                    ..ahead
                };
            }
            sleep(BETWEEN_LOOKS);
        }
    }

    fn now(agent: Dialect, call: &Call) -> Self {
        let environment = Environment::current();
        let accepted = approval::look(&environment, &of_answer(agent, call), now_ms());
        let accepted = accepted.and_then(|it| serde_json::from_str(&it).ok());
        Self {
            accepted: accepted.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns true if nothing is to be written to this file before.
    fn has_written(&self, file: &str) -> bool {
        let bytes = Disk.read(Path::new(file));
        bytes.is_ok_and(|bytes| self.of_file(file, bytes.clone()) == bytes)
    }

    /// Returns true if a file that has these bytes was changed by somebody else since a change of it was accepted that is not made
    /// yet: nobody was shown what the calls of the answer make of it together.
    pub fn is_overtaken(&self, path: &str, bytes: Option<&[u8]>) -> bool {
        let now = fingerprint::of(bytes);
        let is_other = |(base, text): &(String, String)| {
            now != *base && now != fingerprint::of(Some(text.as_bytes()))
        };
        self.is_all_first && self.accepted.get(path).is_some_and(is_other)
    }

    /// The bytes that a file which has these will have.
    pub fn of_file(&self, path: &str, bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match self.accepted.get(path) {
            Some((base, text)) if *base == fingerprint::of(bytes.as_deref()) => {
                Some(text.clone().into_bytes())
            }
            _ => bytes,
        }
    }

    /// The fingerprint of what is accepted for a file, if a change that begins with this text is made over it.
    pub fn over(&self, path: &str, before: Option<&str>) -> Option<String> {
        let (_, text) = self.accepted.get(path)?;
        let is_over = before == Some(text.as_str());
        is_over.then(|| fingerprint::of(Some(text.as_bytes())))
    }

    /// Returns true if nothing is accepted that is not written yet.
    pub fn is_nothing(&self) -> bool {
        self.accepted.is_empty()
    }

    /// Remembers what was accepted of this call and not left out of it, for the next one of the same answer.
    pub fn add(
        mut self,
        agent: Dialect,
        protocol: &dyn HookProtocol,
        call: &Call,
        accepted: &Accepted,
        left_out: &[String],
    ) {
        if protocol.order() == Order::OneByOne {
            return;
        }
        let made = { accepted.files.iter() }.filter(|it| !left_out.contains(&it.change.path));
        for file in made {
            let text = file.written.as_ref().and_then(|it| it.text());
            let disk = Disk.read(Path::new(&file.change.path));
            if let (Some(text), Ok(disk)) = (text, disk) {
                let accepted = (fingerprint::of(disk.as_deref()), text.to_owned());
                self.accepted.insert(file.change.path.clone(), accepted);
            }
        }
        write(&of_answer(agent, call), &json!(self.accepted).to_string());
    }
}

impl Files for Ahead {
    fn read(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let bytes = Disk
            .read(path)
            .inspect_err(|_| self.unread.push(path.to_owned()))?;
        Ok(self.of_file(&path.to_string_lossy(), bytes))
    }

    fn is_link(&mut self, path: &Path) -> bool {
        Disk.is_link(path)
    }
}

/// The calls of an answer are made, or will not be.
pub fn forget_answer(agent: Dialect, protocol: &dyn HookProtocol, call: &Call) {
    if protocol.order() != Order::OneByOne {
        read(&of_answer(agent, call));
    }
}

/// The key of what was accepted in this session and is not written yet.
fn of_answer(agent: Dialect, call: &Call) -> String {
    hash(agent, call, json!("accepted"))
}

fn write(hash: &str, text: &str) {
    let written = approval::remember(&Environment::current(), hash, text, now_ms());
    if let Err(error) = written {
        tracing::warn!(%error, "what was decided cannot be remembered for the agent's next call");
    }
}

fn read(hash: &str) -> Option<String> {
    approval::take(&Environment::current(), hash, now_ms())
}

/// A turn begins: what was approved in the last one is not approved any more.
pub fn turn_begins(agent: Dialect, call: &Call) {
    write(&of_turn(agent, call), &now_ms().to_string());
}

/// The key of the turn of this session.
fn of_turn(agent: Dialect, call: &Call) -> String {
    hash(agent, call, json!("turn"))
}

/// The key of these changes in this turn of this session at this event: with the texts before and after, so that the same call is
/// another one once a file has changed.
fn of_changes(agent: Dialect, call: &Call, changes: &[Change]) -> String {
    let changes = changes.iter();
    let changes = changes.map(|it| json!([it.path, it.before, it.after.text()]));
    let is_question = call.event == Event::Question;
    let turn = approval::look(&Environment::current(), &of_turn(agent, call), now_ms());
    let of = json!([is_question, turn, changes.collect::<Value>()]);
    hash(agent, call, of)
}

/// The key of this file in this session, once it is written.
fn of_file(agent: Dialect, call: &Call, file: &str) -> String {
    hash(agent, call, json!(file))
}

fn hash(agent: Dialect, call: &Call, of: Value) -> String {
    let all = json!([agent.name(), call.session, of]);
    fingerprint::hash(all.to_string().as_bytes())
}
