//! Everything that can happen in a running companion.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use pillion_changes::recorder::{Coverage, EndedTurn, Glance};
use pillion_changes::{Offer, Tally};
use pillion_discovery::CompanionState;
use pillion_protocol::{AgentProcess, Dialect, File, ReviewChoice};
#[cfg(unix)]
use pillion_protocol::{IdeContext, ProcessChoice};
use pillion_view::changes::{ActDone, Hearing};
use pillion_view::commands::{
    AgentOfHook, AgentWork, DiffError, DiffRef, Guard, Guarded, HookCall, Judged,
};
use pillion_view::{
    Chosen, Decide, DiffId, Editor, LostOutcome, Options, ProposalKey, Reply, Report, Ruling,
};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::acceptance::Finding;
use crate::agents::ToolCall;
use crate::diffs::{Answer, PendingDiff, SettleRequest};
use crate::ids::{RequestId, ViewId};
use crate::sessions::SessionId;
use crate::subagents::Question;
use crate::target::Target;
use crate::written::Found;

/// The way into the loop, for everything that runs beside it.
pub(crate) type Events = mpsc::UnboundedSender<Event>;

/// The way for an answer to a tool call or a command.
pub(crate) type Caller = oneshot::Sender<Result<Answer, String>>;

/// The way to a process that waits beside an agent.
pub(crate) type Waiter = oneshot::Sender<String>;

/// The way to a process that stands beside a hook: what became of the hook; dropping it says that there is no answer.
pub(crate) type GuardWay = oneshot::Sender<Guarded>;

/// The way for a list of the diffs that are pending.
pub(crate) type Listing = oneshot::Sender<Vec<PendingDiff>>;

/// One thing that happened. The loop handles them one by one, in order.
#[derive(Debug)]
pub(crate) enum Event {
    /// A session's event stream opened.
    StreamOpened(SessionId),
    /// A session's agent listens now, if it did not before.
    Settled(SessionId),
    /// A session's agent is this process, as it says.
    Identified(SessionId, AgentProcess),
    /// The file is read that a subagent asks about; none if it is left to the agent to propose the change.
    QuestionRead {
        session: SessionId,
        request: RequestId,
        question: Option<Question>,
        caller: Caller,
    },
    /// A session's event stream closed.
    StreamClosed,
    /// An agent ended its session.
    SessionEnded(SessionId),
    /// An agent called a tool.
    ToolCalled {
        session: SessionId,
        request: RequestId,
        tool: &'static str,
        arguments: Map<String, Value>,
        /// True if the agent's model called it, and not its program by itself.
        is_models: bool,
        caller: Caller,
    },
    /// The texts before a call are kept, and it goes on.
    Recorded {
        session: SessionId,
        request: RequestId,
        call: ToolCall,
        caller: Caller,
        /// The way in which the text is known of the file that it is to change.
        coverage: Coverage,
    },
    /// The texts before a step of an agent with command hooks are kept, and it goes on.
    Stepped {
        session: SessionId,
        takes_context: bool,
        answer: oneshot::Sender<Option<String>>,
    },
    /// The process of an agent with command hooks has ended.
    HookedAgentEnded(SessionId),
    /// Changes of agents were kept, or not.
    Kept(Kept),
    /// Something in the folders may have changed.
    Stirred,
    /// The folders were looked at for agents without hooks.
    Glanced(Glance),
    /// The texts that a person wrote in earlier proposals of files that wait again.
    Offered(Vec<Offer>),
    /// An act of a person on changes that are written is done, as far as it can be.
    Acted(Box<Acted>, Reply<ActDone>),
    /// The changes that agents had written have been looked at; or why not.
    LookEnded(Option<String>),
    /// An agent waits for a call no longer.
    CallCancelled {
        session: SessionId,
        request: RequestId,
    },
    /// The target of a proposal was checked.
    TargetChecked {
        id: DiffId,
        revision: u32,
        result: Result<Target, String>,
    },
    /// A file was looked at that the agent was to write.
    Looked { number: u64, found: Found },
    /// A file of the context was checked; `is_file` is none if its disk did not respond.
    FileChecked { path: String, is_file: Option<bool> },
    /// A front end shows a proposal, or cannot.
    Shown(ViewId, ProposalKey, Result<(), String>),
    /// A front end closed a view that it was asked to close, and this stood in it.
    Closed(ViewId, ProposalKey, Result<String, String>),
    /// The acceptance of this number was weighed.
    Weighed {
        number: u64,
        view: ViewId,
        decide: Arc<Decide>,
        finding: Finding,
        reply: Reply<Ruling>,
    },
    /// A front end reports something.
    Reported(ViewId, Report),
    /// One more front end is there.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    Attached(NewView),
    /// A file was saved, and no agent wrote it.
    SavedByPerson(File),
    /// A person has saved this file in an editor, and that is recorded.
    SavedInEditor(PathBuf),
    /// The discovery files were written, or put back; this could not be served.
    DiscoveryFilesChanged { warnings: Vec<String> },
    /// A command came in.
    Command(Command),
    /// The companion is to stop.
    Stop,
}

/// The outcome of keeping what agents change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The reason why the last job failed, as a sentence for people.
    pub(crate) problem: Option<String>,
    /// The numbers of changes that there are.
    pub(crate) tally: Tally,
    /// The turn that was the last to end with some of them.
    pub(crate) ended: Option<EndedTurn>,
}

/// The result of a person's act on changes that are written.
#[derive(Debug)]
pub(crate) struct Acted {
    /// The name by which people know the agent.
    pub(crate) agent: String,
    /// True if it runs no hooks of ours.
    pub(crate) is_without_hooks: bool,
    /// The judgement that it is to hear.
    pub(crate) judged: Judged,
    /// The result that the person is told.
    pub(crate) done: ActDone,
}

/// A front end that comes.
pub(crate) struct NewView {
    pub(crate) id: ViewId,
    pub(crate) options: Options,
    pub(crate) editor: Box<dyn Editor>,
    /// Gets the discovery files once agents find the companion by this one's process, too.
    pub(crate) published: Reply<Vec<PathBuf>>,
}

impl fmt::Debug for NewView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewView")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A command, as the loop gets it.
#[derive(Debug)]
pub(crate) enum Command {
    /// The diffs that are pending, once every acceptance that has begun is decided or refused.
    Diffs(Listing),
    /// One that is pending, in the revision that is named.
    Diff {
        diff: DiffRef,
        answer: oneshot::Sender<Result<PendingDiff, DiffError>>,
    },
    /// The text that stands in the view of a proposal; nothing if the editor does not tell.
    Text {
        proposal: ProposalKey,
        answer: oneshot::Sender<Option<String>>,
    },
    /// The validity of a decision is answered at once; its result, once the editor has answered.
    Settle {
        request: SettleRequest,
        admitted: oneshot::Sender<Result<(), DiffError>>,
        caller: Caller,
    },
    /// Answered when it was sent to agents, or would have been.
    Focus {
        file: File,
        sent: oneshot::Sender<()>,
    },
    /// Point an agent to a file, or to some of its lines; answered with which one.
    Mention {
        path: PathBuf,
        lines: Option<(u32, u32)>,
        reply: oneshot::Sender<Option<Dialect>>,
    },
    /// Choose when agents ask before they change files, or tell it.
    Review {
        choice: Option<ReviewChoice>,
        number: Option<u32>,
        reply: oneshot::Sender<Chosen>,
    },
    /// The context that agents are shown, if a root holds this folder: with the number of components of the deepest such root.
    #[cfg(unix)]
    Context {
        folder: PathBuf,
        answer: Reply<Option<(usize, Arc<IdeContext>)>>,
    },
    /// Send the notes that wait for all agents, or for those of this kind or number.
    SendNotes {
        agent: Option<Dialect>,
        number: Option<u32>,
        reply: Reply<Chosen>,
    },
    /// A process of ours waits beside one of these, to wake it; answered with its number if that is an agent that is
    /// connected.
    Wait {
        processes: Vec<u32>,
        way: Waiter,
        number: oneshot::Sender<u64>,
    },
    /// A process of ours stands beside the hook of a call; answered with what became of that.
    Guard { guard: Guard, way: GuardWay },
    /// The process of this number has ended; before that it may have passed on what it got.
    WaiterEnded { number: u64, is_passed_on: bool },
    /// A person has judged what an agent had written; answered with how much the agent is told.
    Judged {
        judged: Judged,
        answer: oneshot::Sender<Hearing>,
    },
    /// A hook of an agent was called; answered with what is known of the agent, if it is connected.
    Hook {
        call: HookCall,
        answer: oneshot::Sender<Option<AgentOfHook>>,
    },
    /// This is an agent's process, as its hook says.
    AgentProcess {
        agent: Dialect,
        process: AgentProcess,
    },
    /// An agent tells by a hook that is a command what it does; answered with what its model is told, once everything before
    /// it is kept.
    Work {
        work: AgentWork,
        answer: oneshot::Sender<Option<String>>,
    },
    /// An accepted text is not written after all: the person is told.
    Lost(LostOutcome),
    /// The state that the companion tells of itself.
    State(Reply<CompanionState>),
    /// Agents are to find another companion in these roots.
    #[cfg(unix)]
    Withhold(Vec<PathBuf>),
    /// Front ends are to join another companion. Answered with what the person has chosen for agents if nothing here is lost
    /// with them, and failed otherwise.
    #[cfg(unix)]
    LetGo(Reply<Vec<ProcessChoice>>),
    /// The person has chosen this for agents, in a companion whose front ends have come here.
    #[cfg(unix)]
    Choices(Vec<ProcessChoice>),
}
