//! One call of a hook, whichever agent makes it: what it is about, which files it changes, and how it is answered.

use std::path::PathBuf;
use std::time::Duration;

use pillion_protocol::claude::hooks;
use pillion_text::fingerprint;
use serde_json::{Map, Value, json};

use crate::change::{Changes, Files};
use crate::format::Format;
use crate::ruling::{Accepted, Ruling};

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The moment at which the agent calls.
    pub event: Event,
    /// The agent's name for its session.
    pub session: String,
    /// The folder that the agent works in, absolute.
    pub folder: Option<PathBuf>,
    /// The agent's name for its permission mode; empty if it does not tell.
    pub mode: String,
    /// The tool that the model calls.
    pub tool: String,
    /// The tool's arguments.
    pub input: Value,
    /// The agent's name for this call of the tool; empty if it has none.
    pub id: String,
    /// The subagent that calls it, if it is one.
    pub subagent: Option<String>,
    /// The person's prompt, at the beginning of a turn.
    pub prompt: String,
    /// The agent's record of its session, if [`HookProtocol::is_stopped`] knows how it is read.
    pub record: Option<Record>,
}

/// The file in which an agent records what happens in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its absolute path.
    pub path: PathBuf,
    /// The agent's name for the call there; empty if it has none.
    pub call: String,
}

/// A moment at which an agent calls a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// After the person has sent a prompt, before the model reads it.
    BeforeTurn,
    /// Before a tool runs.
    BeforeTool,
    /// Before the agent asks the person whether a tool may run.
    Question,
    /// After a tool has run.
    AfterTool,
    /// After a tool has failed, if the agent tells that in another way.
    AfterFailure,
    /// After the agent has ended its turn.
    AfterTurn,
    /// At a moment that nothing here is about.
    Other(String),
}

/// The [time](HookProtocol::timeout) that most agents can be told to wait. A call not answered by then runs unseen, so the hook answers
/// before.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(hooks::PERSONS_TIMEOUT as u64);

/// The time for which it waits for an answer that needs no person.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_secs(60);

/// The files that a call of a tool may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// No file.
    Nothing,
    /// This file, named by its absolute path.
    File(String),
    /// Any file.
    Anything,
}

/// When an agent runs the hooks of several calls of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Each before its call, and no sooner than the call before it is made.
    OneByOne,
    /// All before the first of these calls is made.
    AllFirst,
    /// All at once. Each call is made when its own hook has answered.
    AtOnce,
}

/// The hooks of one agent.
pub trait HookProtocol: Sync {
    /// Reads what the agent writes to the hook's standard input.
    ///
    /// # Errors
    /// One sentence that names the field that is missing or wrong.
    fn read(&self, input: Map<String, Value>) -> Result<Call, String>;

    /// Returns the changes that the call makes.
    fn changes(&self, call: &Call, files: &mut dyn Files) -> Changes;

    /// Returns what the call may change.
    fn scope(&self, call: &Call) -> Scope;

    /// Returns true if the model is told at this event what the answer adds.
    fn takes_context(&self, call: &Call) -> bool {
        matches!(call.event, Event::BeforeTurn | Event::AfterTool)
    }

    /// Returns what the hook answers.
    fn answer(&self, call: &Call, ruling: &Ruling) -> Answer;

    /// The field of an answer that the agent shows to the person; none if it has no place for that.
    fn person_field(&self) -> Option<&'static str> {
        Some("systemMessage")
    }

    /// Returns what blocks a call, whatever it is, for this reason.
    fn block(&self, why: String) -> Answer {
        Answer::block(why)
    }

    /// Returns true if the agent shows this change in the companion that it is connected to whatever the hook answers, so that
    /// the hook has nothing to show.
    fn shows_itself(&self, _call: &Call) -> bool {
        false
    }

    /// Returns true if the agent would find a text that an edit replaces also where blanks differ: such an edit is not shown, and would
    /// have worked.
    fn finds_loosely(&self) -> bool {
        false
    }

    /// Returns true if this tool can write this text in place of the one before, whatever it was called to write.
    fn can_write(&self, _tool: &str, _before: Option<&str>, _text: &str) -> bool {
        true
    }

    /// When the hooks of the calls of one answer run.
    fn order(&self) -> Order {
        Order::OneByOne
    }

    /// Returns true if this line of the agent's record of its session says that the person has stopped it, so that this call is not
    /// made any more. Only for agents that neither end the hook then nor tell it.
    fn is_stopped(&self, _call: &Call, _line: &str) -> bool {
        false
    }

    /// The variable in which the agent tells its hooks which process it is.
    fn pid_variable(&self) -> Option<&'static str> {
        None
    }

    /// The time for which the agent waits for a hook that asks a person.
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    /// The tools whose changes are shown to a person before they are made.
    fn shown_tools(&self) -> &'static [&'static str];

    /// The language of the agent's settings.
    fn format(&self) -> Format {
        Format::Json
    }

    /// Returns the entries that the agent's settings need, for this shell command of ours.
    fn entries(&self, command: &str) -> Vec<Entry>;

    /// Returns what a person has to know or do when the entries are in the agent's settings, in sentences.
    fn after_install(&self) -> &'static [&'static str] {
        &["Agents that run already use the hooks only when they are started again."]
    }
}

/// An entry in an agent's settings: one more item of the list `hooks.EVENT`, and the only one of ours there.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The agent's name of the event.
    pub event: &'static str,
    /// The item.
    pub item: Value,
}

/// The answer of a hook.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The JSON on standard output; nothing is written if it is none.
    pub output: Option<Value>,
    /// The text on standard error.
    pub error: Option<String>,
    /// The exit code.
    pub code: u8,
    /// The call that the person has approved with this answer, so that they are not asked about it again: with this input, at
    /// this event.
    pub approved: Option<(Event, Value)>,
    /// The files for which the person has accepted something, and the agent has no way to write just that.
    pub inexpressible: Vec<String>,
    /// The text that the model is told when the tool has run, if there is no room for it in this answer.
    pub told_after: Option<String>,
}

impl Call {
    /// Returns the key of this call of a tool, before it runs and after: the agent's name for it, or else the tool and what it
    /// is about.
    pub fn key(&self, scope: &Scope) -> String {
        match (self.id.as_str(), scope) {
            ("", Scope::File(path)) => format!("{} {path}", self.tool),
            ("", _) => {
                let input = fingerprint::hash(self.input.to_string().as_bytes());
                format!("{} {input}", self.tool)
            }
            (id, _) => id.to_owned(),
        }
    }
}

impl Answer {
    /// Says nothing, which leaves everything to the agent.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Tells the person this beside the rest, where there is a [place](HookProtocol::person_field) for it.
    #[must_use]
    pub fn with_message(mut self, field: Option<&str>, text: &str) -> Self {
        if let Some(field) = field {
            self.output.get_or_insert_with(|| json!({}))[field] = text.into();
        }
        self
    }

    /// Writes this JSON.
    pub fn json(output: Value) -> Self {
        Self {
            output: Some(output),
            ..Self::default()
        }
    }

    /// Writes this JSON, which denies all that the person has accepted, because the agent has no way to write just that.
    pub(crate) fn inexpressible(output: Value, accepted: &Accepted) -> Self {
        let files = accepted.files.iter().filter(|it| it.written.is_some());
        Self {
            inexpressible: files.map(|it| it.change.path.clone()).collect(),
            ..Self::json(output)
        }
    }

    /// Returns true if the call is made without more ado, as far as this hook goes.
    pub fn lets_pass(&self) -> bool {
        let decision = |output: &Value| {
            let fields = ["decision", "permissionDecision"];
            let places = [output, &output["hookSpecificOutput"]];
            let mut decisions = places
                .into_iter()
                .flat_map(|place| fields.map(|it| &place[it]));
            decisions.find_map(Value::as_str).map(str::to_owned)
        };
        let decision = self.output.as_ref().and_then(decision);
        self.code == 0 && decision.is_none_or(|decision| decision == "allow")
    }

    /// Blocks the call whatever it is: with exit code 2, and the reason on standard error, which all agents but Copilot CLI
    /// hear.
    pub fn block(reason: impl Into<String>) -> Self {
        Self {
            error: Some(reason.into()),
            code: 2,
            ..Self::default()
        }
    }
}

/// Takes a text out of the fields that an agent sends.
///
/// # Errors
/// Names the field if it is missing or no text.
pub fn take_text(fields: &mut Map<String, Value>, field: &str) -> Result<String, String> {
    match fields.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => Ok(text),
        None => Err(format!("{field} is missing")),
        Some(_) => Err(format!("{field} is not a string")),
    }
}
