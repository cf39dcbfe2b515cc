//! Everything that can happen in a running companion.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pillion_changes::log::Entry;
use pillion_changes::recorder::{EndedTurn, Glance};
use pillion_changes::{Offer, Tally, WaitingNote};
use pillion_protocol::{AgentProcess, File, Note};
use pillion_view::ask::{Guarded, PendingDiff};
use pillion_view::changes::ChangesAct;
use pillion_view::{Answering, Decide, Editor, Options, ProposalKey, Refusal, Reply, Ruling, Tell};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::acceptance::Finding;
use crate::acting::Acted;
use crate::diffs::Answer;
use crate::ids::{Decider, RequestId, ViewId};
use crate::sessions::SessionId;
use crate::target::Target;
use crate::unkept::Unkept;
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
    Settled(SessionId),
    /// A session's agent is this process, as it says.
    Identified(SessionId, AgentProcess),
    StreamClosed,
    SessionEnded(SessionId),
    ToolCalled {
        session: SessionId,
        request: RequestId,
        tool: &'static str,
        arguments: Map<String, Value>,
        /// True if the agent's model called it, and not its program by itself.
        is_models: bool,
        caller: Caller,
    },
    Kept(Kept),
    /// Nothing runs any more that the last turn of the session of this number has left behind.
    LeftBehindEnded(u64),
    /// Nobody has decided about these proposals when their companion was killed.
    LeftUndecided(Vec<Entry>),
    /// Something in the folders may have changed.
    Stirred,
    /// The folders were looked at for agents without hooks.
    Glanced(Glance),
    /// These notes wait for their agents in the store, by name.
    NotesFound(Vec<(String, WaitingNote)>),
    /// A person wrote these notes on an earlier proposal of the same file, and nobody has decided about that.
    NotesOffered(ProposalKey, Vec<Note>),
    /// The texts that a person wrote in earlier proposals of files that wait again.
    Offered(Vec<Offer>),
    /// An act of a person on changes that are written is done, as far as it can be.
    Acted(Box<Acted>, Answering<ChangesAct>),
    CallCancelled {
        session: SessionId,
        request: RequestId,
    },
    TargetChecked {
        key: ProposalKey,
        result: Result<Target, String>,
    },
    /// A file was looked at that the agent was to write.
    Looked {
        number: u64,
        found: Found,
    },
    /// A file of the context was checked; `is_file` is none if its disk did not respond.
    FileChecked {
        path: String,
        is_file: Option<bool>,
    },
    Shown(ViewId, ProposalKey, Result<(), String>),
    /// A front end closed a view that it was asked to close, and this stood in it.
    Closed(ViewId, ProposalKey, Result<String, String>),
    Weighed(u64, Deciding, Finding),
    Told(ViewId, Tell),
    /// A front end is gone, as when its process was killed: nobody has decided what it showed. If it was the last one, the
    /// agents' own questions stay.
    Gone(ViewId),
    /// An agent has started a front end, or that is not so any more: what it says is none of the person's words.
    OfAgent(ViewId, bool),
    /// One more front end is there.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the hub has several"))]
    Attached(NewView),
    /// A file was saved, and no agent wrote it.
    SavedByPerson(File),
    /// A person has saved this file in an editor, or has had it read again there, and that is recorded; with the turns in which
    /// agents changed it.
    SyncedInEditor {
        path: PathBuf,
        turns: Vec<u64>,
        is_saved: bool,
    },
    /// The discovery files were written, or put back; this could not be served.
    DiscoveryFilesChanged {
        files: Vec<PathBuf>,
        warnings: Vec<String>,
    },
    /// Something that was asked is the loop's to do.
    Asked(Task),
    /// The companion is to stop; true if front ends are left that will have another one.
    Stop(bool),
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
    /// What could not be written.
    pub(crate) unkept: Unkept,
}

/// The part of a request that is the loop's, by the table of requests.
pub(crate) struct Task {
    name: &'static str,
    run: Box<Run>,
}

/// Gets the loop, of which nothing is known here.
type Run = dyn FnOnce(&mut dyn Any, Instant) + Send;

impl Task {
    pub(crate) fn new(
        name: &'static str,
        run: impl FnOnce(&mut dyn Any, Instant) + Send + 'static,
    ) -> Self {
        let run = Box::new(run);
        Self { name, run }
    }

    pub(crate) fn run(self, main_loop: &mut dyn Any, now: Instant) {
        (self.run)(main_loop, now);
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.name).finish()
    }
}

pub(crate) struct By {
    pub(crate) view: Option<ViewId>,
    pub(crate) at: Instant,
}

/// A person has decided: who tells it, and who waits for what comes of it.
#[derive(Debug)]
pub(crate) struct Deciding {
    pub(crate) decider: Decider,
    /// Shared with what looks at the file: its text may be large.
    pub(crate) decide: Arc<Decide>,
    pub(crate) reply: Answering<Decide>,
}

impl Deciding {
    pub(crate) fn new(decider: Decider, decide: Decide, reply: Answering<Decide>) -> Self {
        let decide = Arc::new(decide);
        Self {
            decider,
            decide,
            reply,
        }
    }

    pub(crate) fn key(&self) -> ProposalKey {
        self.decide.key
    }

    pub(crate) fn refuse(self, refusal: Refusal) {
        tracing::info!(key = %self.key(), code = %refusal.code, "decision refused");
        self.reply.done(Ruling::Refused(refusal));
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ViewWay {
    pub(crate) id: ViewId,
    pub(crate) events: Events,
}

impl ViewWay {
    /// It tells something. When the companion is gone, nothing happens.
    pub(crate) fn tell(&self, tell: Tell) {
        let _ = self.events.send(Event::Told(self.id, tell));
    }

    pub(crate) fn gone(&self) {
        let _ = self.events.send(Event::Gone(self.id));
    }

    /// An agent has started it, or not.
    pub(crate) fn is_of_agent(&self, is_agents: bool) {
        let _ = self.events.send(Event::OfAgent(self.id, is_agents));
    }
}

#[derive(derive_more::Debug)]
#[debug("NewView({id:?})")]
pub(crate) struct NewView {
    pub(crate) id: ViewId,
    pub(crate) options: Options,
    pub(crate) editor: Box<dyn Editor>,
    /// Gets the discovery files once agents find the companion by this one's process, too.
    pub(crate) published: Reply<Vec<PathBuf>>,
}
