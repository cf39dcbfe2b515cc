//! The requests of commands to a running companion, over the same [socket](pillion_discovery::socket) as front ends: the
//! messages of both sides, and the commands' [`Client`].

mod client;
mod diff_ref;

use std::path::PathBuf;

use pillion_discovery::exact;
use pillion_protocol::remarks::FileRemark;
use pillion_protocol::{Dialect, ReviewChoice, Verdict};
use serde::{Deserialize, Serialize};

pub use self::client::{Client, ClientError, Woken};
pub use self::diff_ref::DiffRef;
use crate::decision::Told;
use crate::lost::LostOutcome;
use crate::open_file::OpenFile;
use crate::proposal::SetPlace;

/// A request of a command to one companion: one line, which is answered with an [`Answer`] in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// The port of the companion: a hub has several.
    pub companion: u16,
    /// The process that asks, as it says.
    pub pid: u32,
    /// The short names of the agents whose variables are in its environment.
    #[serde(default)]
    pub commanded_by: Vec<String>,
    /// The request.
    pub request: Request,
}

/// The beginning of the line of a command.
const BEGINNING: &[u8] = b"{\"command\":";

/// The line of a command.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    command: Command,
}

impl Command {
    /// The command in the first line of a connection; none if it is a front end's.
    ///
    /// # Errors
    /// One sentence, if it is a command and cannot be understood.
    pub fn read(line: &[u8]) -> Option<Result<Self, String>> {
        line.starts_with(BEGINNING).then(|| {
            let line: Line = serde_json::from_slice(line)
                .map_err(|error| format!("the command is not understood: {error}"))?;
            Ok(line.command)
        })
    }
}

/// The request of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// The diffs that wait for the reviewer, oldest first: an array of [`DiffSummary`]. Answered when no acceptance that has
    /// begun is being weighed any more.
    Diffs,
    /// One of them, with its text: a [`DiffText`].
    Diff(DiffRef),
    /// Accept or reject one: [`Settled`].
    Settle(Settle),
    /// A file has the focus. Answered when that was sent to agents, or would have been.
    Focus(OpenFile),
    /// Mention a file to an agent: [`Mentioned`].
    Mention(MentionedFile),
    /// Choose when agents ask before they change files, or tell it: [`Chosen`](crate::Chosen).
    Review(ReviewRequest),
    /// A person has judged what agents had written: [`Hearing`](crate::changes::Hearing).
    Judged(Judged),
    /// Nothing but whether the command speaks for the person: null.
    Speak,
    /// Send the notes that wait for an agent at once: [`Chosen`](crate::Chosen).
    SendNotes(SendNotes),
    /// Wait beside an agent, to wake it: answered with the person's notes, a text, as soon as they send them. Whoever got them
    /// says in one more line that the agent gets them. The connection ends without an answer if the agent is not connected
    /// or goes, or another process waits for it.
    Wait(Wait),
    /// Stand beside the hook of a call, and say what became of it: [`Guarded`], however long that takes.
    Guard(Guard),
    /// An agent that asks what is open is about to start as the process that asks.
    ContextAsker(ContextAsker),
    /// An agent tells what it is about to do, or has done, so that what it changes is recorded. Answered when that may go on,
    /// with what the agent's model is to be told, a text, or null.
    Work(AgentWork),
    /// Ask what is known of an agent whose hook asks: an [`AgentOfHook`], or null if it is not connected.
    Hook(HookCall),
    /// A text that the person accepted is not written after all, and they are to be told: null.
    Lost(LostOutcome),
}

/// The answer to a command: the value that its [`Request`] names, or why there is none.
pub type Answer = Result<serde_json::Value, Refused>;

/// The reason why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Refused {
    /// A diff is not given out, or what a command says in the person's name does not stand.
    #[error(transparent)]
    Diff(DiffError),
    /// It is not understood, or the companion is not there any more: one sentence.
    #[error("{0}")]
    Failed(String),
}

/// A file that agents are pointed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionedFile {
    /// Its absolute path.
    #[serde(with = "exact::path")]
    pub path: PathBuf,
    /// Its first and its last line that are meant, from 0; the whole file if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
}

/// A choice of when agents are to ask before they change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRequest {
    /// The person's choice; without it nothing changes.
    pub choice: Option<ReviewChoice>,
    /// The number of the one agent that is meant, where several of a kind are connected; all without it.
    pub number: Option<u32>,
}

/// A person has judged what an agent had written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The process that has watched the turn.
    pub watcher: u32,
    /// The number by which that process knows the agent's session.
    pub session: u64,
    /// The remarks on files that the agent's model is to read of it.
    pub told: Vec<FileRemark>,
}

/// The notes that are to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendNotes {
    /// The agent that is meant; all without it.
    pub agent: Option<Dialect>,
    /// Its number, where several of a kind are connected; all without it.
    pub number: Option<u32>,
}

/// A process that waits beside an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The processes of which one is the agent's.
    pub processes: Vec<u32>,
}

/// A process that stands beside the hook of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// The processes of which one is the agent's.
    pub processes: Vec<u32>,
    /// The agent's name for the call.
    pub call: String,
}

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

/// The places of the sockets at which an agent will ask what is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextAsker {
    /// The agent's own directory.
    #[serde(with = "exact::path")]
    pub home: PathBuf,
    /// The temporary directory.
    #[serde(with = "exact::path")]
    pub tmpdir: PathBuf,
}

/// A hook of an agent was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookCall {
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
}

/// The news that an agent tells by a hook that is a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentWork {
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

/// A step in an agent's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkStep {
    /// The person has sent a prompt that begins with these words, and a turn begins.
    TurnBegins(String),
    /// A call of a tool is about to run.
    CallBegins(ToolCall),
    /// The call of this id has run, or failed.
    CallEnds(String),
    /// The turn has ended.
    TurnEnds,
}

/// A call of a tool that is about to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// The agent that was pointed to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mentioned {
    /// The short name of the agent whose prompt names it now; none if no agent that is connected
    /// knows mentions.
    pub agent: Option<String>,
}

/// A diff that waits for the reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffSummary {
    /// Its number.
    pub id: u64,
    /// The number of this one among the agent's proposals for it, from 1.
    pub revision: u32,
    /// The agent's short name.
    pub agent: String,
    /// The file, as the agent spelt it.
    pub path: String,
    /// The place to which that path leads, if it is elsewhere.
    pub leads_to: Option<String>,
    /// Its place among the files that belong together.
    pub set: Option<SetPlace>,
}

/// A diff with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffText {
    /// The part that a list holds of it.
    pub summary: DiffSummary,
    /// The whole text as the agent proposed it.
    pub proposed: String,
    /// The text that stands in the view, and would be accepted, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// True if the editor has told what stands in the view.
    #[serde(default)]
    pub is_text_known: bool,
}

/// A decision about a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settle {
    /// The number of the diff.
    pub id: u64,
    /// The revision of it that the person has seen.
    pub revision: u32,
    /// Accepting without a content means what stands in the view.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Accept although the file has changed since the proposal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub despite_change: bool,
}

/// The outcome of a decision that stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// The accepted text contains edits made in the view.
    pub edited: bool,
    /// The message about the notes, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
}

/// The reason why a diff is not given out, or what a command says in the person's name does not stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "why", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DiffError {
    /// There is none, or it was decided.
    #[error("no diff {id} is pending")]
    NotPending {
        /// The number that was named.
        id: u64,
    },
    /// The revision that was named is not the one that is shown.
    #[error("{}diff {id} is at {id}.{current}, not {id}.{named}", replaced(*named < *current))]
    OtherRevision {
        /// The diff.
        id: u64,
        /// The revision that was named.
        named: u32,
        /// The revision that is shown.
        current: u32,
    },
    /// The file is another one than when the agent proposed.
    #[error("the file of diff {id} changed on disk since {id}.{revision} was proposed")]
    FileChanged {
        /// The diff.
        id: u64,
        /// The revision that is shown.
        revision: u32,
    },
    /// A process of an agent's asked for it.
    #[error("this command was started by {agent}: it does not speak for you")]
    ByAgent {
        /// The agent, as people know it.
        agent: String,
    },
    /// The editor did not do it, or something came first.
    #[error("{reason}")]
    Failed {
        /// One sentence.
        reason: String,
    },
}

fn replaced(is_older: bool) -> &'static str {
    match is_older {
        true => "a newer proposal has arrived: ",
        false => "",
    }
}
