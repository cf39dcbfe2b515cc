//! The requests of agents' hooks, and of processes that stand beside an agent.

use std::path::PathBuf;

use pillion_discovery::exact;
use pillion_protocol::Dialect;
use serde::{Deserialize, Serialize};

use super::ask;
use crate::lost::LostOutcome;

/// Waits beside an agent, to wake it: answered with the person's notes, a text, as soon as they send them. Whoever got them
/// says that the agent gets them ([`PassedOn`]); otherwise they wait again once the connection ends. There is no answer if the
/// agent is not connected or goes, or another process waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitNotes {
    /// The processes of which one is the agent's.
    pub processes: Vec<u32>,
}

ask!(AwaitNotes => Option<String>, "awaitNotes", for_person: false);

/// The agent gets the notes that this connection was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOn;

ask!(PassedOn => (), "passedOn", for_person: false);

/// Stands beside the hook of a call, and is answered what became of it, however long that takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// The processes of which one is the agent's.
    pub processes: Vec<u32>,
    /// The agent's name for the call.
    pub call: String,
}

ask!(Guard => Guarded, "guard", for_person: false);

/// The outcome of the hook of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Guarded {
    /// It is answered.
    Answered,
    /// It will not be answered: the agent's connection or the companion ends.
    Unanswered,
    /// The agent is not connected there.
    Elsewhere,
}

/// An agent that asks what is open is about to start as the process that asks: the places of the sockets at which it will.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextAsker {
    /// The agent's own directory.
    #[serde(with = "exact::path")]
    pub home: PathBuf,
    /// The temporary directory.
    #[serde(with = "exact::path")]
    pub tmpdir: PathBuf,
}

ask!(ContextAsker => (), "contextAsker", for_person: false);

/// A hook of an agent was called: answered with what is known of the agent, if it is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The agent.
    pub agent: Dialect,
    /// The agent's process, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The processes of which one is the agent's.
    pub processes: Vec<u32>,
    /// The files that it is about to write, because the person has accepted them.
    #[serde(with = "exact::paths")]
    pub accepted: Vec<PathBuf>,
    /// The files that it is about to write as they are.
    #[serde(default, with = "exact::paths")]
    pub unchanged: Vec<PathBuf>,
}

ask!(Hook => Option<AgentOfHook>, "hook", for_person: false);

/// An agent tells by a hook that is a command what it is about to do, or has done, so that what it changes is recorded.
/// Answered when that may go on, with what the agent's model is to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// The agent.
    pub agent: Dialect,
    /// Its name for its session.
    pub session: String,
    /// The processes of which one is the agent's.
    pub processes: Vec<u32>,
    /// The agent's process, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The step that it is about to take, or has taken.
    pub step: WorkStep,
    /// True if its model is told what this is answered.
    pub takes_context: bool,
}

ask!(Work => Option<String>, "work", for_person: false);

/// A step in an agent's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkStep {
    /// The person has sent a prompt that begins with these words, and a turn begins.
    TurnBegins(String),
    /// A call of a tool is about to run.
    CallBegins(ToolCall),
    /// The call of this id has run.
    CallEnds(String),
    /// The call of this id has failed.
    CallFails(String),
    /// The turn has ended.
    TurnEnds,
}

/// A call of a tool that is about to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The name by which it is known when it has run.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The one file that it may change; none if it may change any.
    #[serde(
        with = "exact::optional_path",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub path: Option<PathBuf>,
    /// The subagent that makes it, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// True if the person has decided about it: it was called before that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shown: bool,
}

/// An agent that is connected, and whose hook was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentOfHook {
    /// Its short name.
    pub agent: String,
    /// True if it calls hooks of the companion's itself, so that each change is shown because of those.
    pub calls_companion: bool,
}

/// A text that the person accepted is not written after all, and they are to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost(pub LostOutcome);

ask!(Lost => (), "lost", for_person: false);
