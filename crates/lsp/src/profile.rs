//! The interface of a profile: the server's calls, and the actions that it wants done.

use std::path::PathBuf;
use std::time::Instant;

use lsp_server::{Message, Request, RequestId, Response, ResponseError};
use pillion_discovery::workspace::Workspace;
use pillion_protocol::File;
use pillion_protocol::context::MAX_FILES;
use pillion_view::{Decide, DiffId, EditorEvent, ProposalKey, Tell};
use serde_json::Value;

use crate::asking::Asking;
use crate::comparer::Comparison;
use crate::disk::{Done, Job};
use crate::message::{self, MessageType};
use crate::proposal_path::Owner;

/// The number of files that are reported, the newest: more than are sent to agents, because only the companion
/// sees which of them are on disk (C4.4).
pub const MAX_REPORTED: usize = 10 * MAX_FILES;

/// One kind of client's view of Pillion. A state machine: it never blocks and sends nothing itself.
pub trait ClientProfile {
    /// The capabilities that answer `initialize`, besides those of every profile.
    fn capabilities(&self) -> Value;

    /// The client is ready for messages. None was sent to it before.
    fn initialized(&mut self, _published: &Published) -> Vec<Action> {
        Vec::new()
    }

    /// The port, the discovery files or the workspace roots changed, or the folder in which an agent starts.
    fn published(&mut self, _published: &Published) -> Vec<Action> {
        Vec::new()
    }

    /// The client sends a request. Some time its answer is sent.
    fn request(&mut self, request: Request) -> Vec<Action>;

    fn notification(&mut self, method: &str, params: Value) -> Vec<Action>;

    fn response(&mut self, response: Response) -> Vec<Action>;

    /// The companion sends a request or reports something.
    fn event(&mut self, event: EditorEvent) -> Vec<Action>;

    /// Something is done that was ordered by [`Action::Disk`], [`Action::Launch`] or [`Action::Compare`].
    fn done(&mut self, _done: Done) -> Vec<Action> {
        Vec::new()
    }

    /// A guest that was ordered by [`Action::Join`] is attached, and whether closing its document rejects; or why
    /// there is none.
    fn joined(&mut self, _guest: DiffId, _joined: Result<bool, String>) -> Vec<Action> {
        Vec::new()
    }

    /// A guest is served no longer: the view that it joined is gone.
    fn guest_left(&mut self, _guest: DiffId) -> Vec<Action> {
        Vec::new()
    }

    /// Returns true if the client has a proposal open that another process shows.
    fn has_guests(&self) -> bool {
        false
    }

    /// The session ends: what the person has done counts, although more could have come.
    fn finish(&mut self) -> Vec<Action> {
        Vec::new()
    }

    /// Returns true if the person has decided something that is not carried out yet.
    fn is_deciding(&self) -> bool {
        false
    }

    /// When [`ClientProfile::elapse`] wants to be called.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// Time has passed.
    fn elapse(&mut self, _now: Instant) -> Vec<Action> {
        Vec::new()
    }
}

/// Work to be done beside the loop. Its error is a sentence for the person.
#[derive(derive_more::Debug)]
#[debug("Work")]
pub struct Work(pub Box<dyn FnOnce() -> Result<Value, String> + Send>);

/// An action that a profile wants done.
#[derive(Debug)]
pub enum Action {
    /// Send it to the client: an answer at once, anything else when the client is ready.
    Send(Message),
    /// Attach a guest to the view of the process that shows this proposal. It is known here by the number `guest`.
    Join {
        guest: DiffId,
        owner: Owner,
        key: ProposalKey,
    },
    Part(DiffId),
    /// Have something done with the file of a proposal.
    Disk(Job),
    /// Have a program open the file of a proposal.
    Launch {
        key: ProposalKey,
        program: String,
        file: PathBuf,
        /// The line of its first hunk, from 0.
        line: Option<u32>,
    },
    /// Have a proposal compared with its file.
    Compare(Comparison),
    /// Have the workspace roots worked out anew. The client's request is answered when they are known to it.
    ChangeWorkspace {
        request: Option<RequestId>,
        workspace: Workspace,
    },
    /// Tell the client when the files of these URIs change, and no others.
    Watch(Vec<String>),
    /// Tell agents what is open and focused: the whole of it.
    ReportContext {
        files: Vec<File>,
        is_trusted: Option<bool>,
    },
    /// Tell the companion, or that whose guest shows the proposal that it is about.
    Tell(Tell),
    /// Ask the companion.
    Ask(Asking),
    /// The person decided: the ruling comes back as [`Done::Ruled`].
    Decide(Decide),
    /// Answer the client's request with what this takes its time to work out.
    WorkOut {
        request: RequestId,
        answer: Work,
    },
}

impl Action {
    pub fn answer(request: RequestId, result: Result<Value, ResponseError>) -> Self {
        Self::Send(message::answer(request, result))
    }

    /// Refuses the client's request, whose parameters are wrong.
    pub fn invalid(request: RequestId, why: String) -> Self {
        Self::answer(request, Err(message::invalid(why)))
    }

    pub fn show(kind: MessageType, text: impl AsRef<str>) -> Self {
        Self::Send(message::show(kind, text))
    }
}

/// The data by which agents find the companion.
#[derive(Debug, Clone)]
pub struct Published {
    pub port: u16,
    pub discovery_files: Vec<PathBuf>,
    pub roots: Vec<PathBuf>,
    pub start: Option<PathBuf>,
}
