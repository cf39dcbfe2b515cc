//! Owns the agents' protocols: one implementation for each. Code outside of here names no agent.

mod claude;
#[cfg(unix)]
pub(crate) mod codex;
mod contract;
mod copilot;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
pub(crate) use codex as context_sockets;
pub(crate) use pillion_protocol::claude::hooks;
use pillion_protocol::dialect::Protocol;
use pillion_protocol::record::Recorded;
use pillion_protocol::{Dialect, IdeContext, ProposedFile};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::diffs::Answer;
use crate::ids::RequestId;
use crate::line_endings::Tool;
use crate::outbox::{Delivery, Mention};
use crate::target::Target;

/// A tool as it is listed: its name, what it does, and the schema of its arguments.
pub(crate) type ListedTool = (&'static str, &'static str, Value);

/// The result of a tool: a call that fails is a result, too (C5.2).
pub(crate) type ToolResult = Result<Answer, String>;

/// A call that can be served.
#[derive(Debug)]
pub(crate) enum ToolCall {
    Open(ProposedFile),
    /// The one of this name: its path, unless the agent gave it one.
    Close(String),
    CloseAll,
    /// Of this file, or of all; whether the agent's own program asks, and not its model.
    Diagnostics(Option<String>, bool),
    /// It is about to change a file.
    BeforeWrite(hooks::Call),
    /// It asks the person about a change in its terminal, and this waits for an answer, too.
    Question(hooks::Call),
    /// It has changed a file, or failed to.
    AfterWrite(hooks::Call),
    /// It asks for the file that the person sees, and their selection.
    Selection,
    /// It tells something that changes nothing.
    Told,
    /// The person has sent a prompt.
    BeforeTurn(hooks::Call),
    /// It has ended its turn, or a subagent its work.
    AfterTurn(hooks::Call),
}

pub(crate) enum Reply {
    Tool(ToolResult),
    /// Text blocks, in the order in which the agent reads them.
    Blocks(Vec<String>),
    /// The person's decision is the answer, which is pushed.
    Decision,
    /// The same, in the answer to the request.
    Outcome,
}

pub(crate) enum Message {
    Notification(&'static str, Params),
    /// The answer to a call that waits for it.
    Answer(RequestId, Vec<String>),
}

pub(crate) enum Params {
    /// Shared by all sessions.
    Context(Arc<IdeContext>),
    Value(Value),
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Context(context) => context.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

/// The parts that differ from protocol to protocol.
pub(crate) trait AgentProtocol: Sync {
    /// The tools that are listed, where any view shows diffs and where none does.
    fn tools(&self, shows_diffs: bool) -> Vec<ListedTool>;

    /// The tool of this name. Some are there for the agent's own program only, and not for its model.
    fn tool(&self, name: &str, is_models: bool) -> Option<&'static str>;

    /// Returns true if the agent's model has asked for a call, by what its `_meta` says.
    fn is_models(&self, _meta: &Value) -> bool {
        true
    }

    /// Reads a call of an agent.
    fn parse(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        is_models: bool,
    ) -> Result<ToolCall, String>;

    /// Adapts a target's text, so that the person sees what will be written, by this tool if it is known.
    fn adapt(&self, target: Target, _proposed: &str, _tool: Option<Tool>) -> Target {
        target
    }

    /// For how long a call of this tool may wait, if not for as long as it takes.
    fn patience(&self, _tool: &str) -> Option<Duration> {
        None
    }

    /// Returns the answer to a call; without a result, nothing came of it in time.
    fn answer(&self, tool: &str, result: Option<ToolResult>) -> Option<Reply>;

    fn outcome(&self, delivery: Delivery) -> Message;

    fn context(&self, context: Arc<IdeContext>, agent: Dialect) -> Message;

    /// Returns the message that tells of the person's pointing to a file, if there can be one.
    fn mention(&self, _mention: &Mention, _agent: Dialect) -> Option<Message> {
        None
    }

    /// For how long the agent may miss what it is told, from the listing of the tools on.
    fn settle_time(&self) -> Option<Duration> {
        None
    }

    /// Returns true if closing a view hands its text back.
    fn closing_returns_text(&self) -> bool {
        false
    }

    /// Returns true if outcomes are answers to requests that wait for them, and nothing else may carry them.
    fn waits_for_outcomes(&self) -> bool {
        false
    }

    /// The record, below this folder of the agent's, of the session that this process of it has open. Waits for the disk.
    fn record(&self, _folder: &Path, _process: u32) -> Option<PathBuf> {
        None
    }

    /// What a line of it tells, if it is about a prompt or an answer.
    fn recorded(&self, _line: &str) -> Option<Recorded> {
        None
    }

    /// Returns true if the agent asks in a newer revision first, and goes on with ours if that is unknown.
    fn tries_newer_revision(&self) -> bool {
        false
    }
}

pub(crate) fn of(agent: Dialect) -> &'static dyn AgentProtocol {
    match agent.protocol() {
        // Codex CLI opens no session.
        Protocol::Companion | Protocol::Hooks => &contract::Contract,
        Protocol::Claude => &claude::Claude,
        Protocol::Copilot => &copilot::Copilot,
    }
}

/// The error where there is no such tool.
fn unknown(tool: &str) -> String {
    format!("unknown tool {tool:?}")
}
