//! What the server asks of a profile, and what a profile wants done.

use std::path::PathBuf;
use std::time::Instant;

use gen_lsp_types::{
    ChangeNotifications, ServerCapabilities, WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};
use lsp_server::{Message, Response, ResponseError};
use pillion_companion::DiffId;
use pillion_protocol::{File, Outcome};
use serde_json::Value;

use crate::frontend;

/// How one kind of client sees Pillion. A state machine: it never blocks and sends nothing itself.
pub trait ClientProfile {
    /// The capabilities that answer `initialize`.
    fn capabilities(&self) -> ServerCapabilities;

    /// The client is ready for messages. Nothing was said to it before.
    fn initialized(&mut self, published: &Published) -> Vec<Action>;

    /// The workspace roots changed.
    fn roots_changed(&mut self, published: &Published) -> Vec<Action>;

    /// The client asks. It is answered at once.
    fn request(&mut self, method: &str, params: Value) -> Answer;

    /// The client tells.
    fn notification(&mut self, method: &str, params: Value) -> Vec<Action>;

    /// The client answers a request of ours.
    fn response(&mut self, response: Response) -> Vec<Action>;

    /// The companion asks or tells.
    fn event(&mut self, event: frontend::Event) -> Vec<Action>;

    /// When [`ClientProfile::elapse`] wants to be called.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// Time has passed.
    fn elapse(&mut self, now: Instant) -> Vec<Action> {
        let _ = now;
        Vec::new()
    }
}

/// The capability of every profile: the client tells when its folders change.
pub fn follows_roots() -> WorkspaceOptions {
    WorkspaceOptions {
        workspace_folders: Some(WorkspaceFoldersServerCapabilities {
            supported: Some(true),
            change_notifications: Some(ChangeNotifications::Bool(true)),
        }),
        ..WorkspaceOptions::default()
    }
}

/// What a profile wants done.
#[derive(Debug)]
pub enum Action {
    /// Send it to the client.
    Send(Message),
    /// Tell agents what is open and focused: the whole of it.
    ReportContext {
        files: Vec<File>,
        is_trusted: Option<bool>,
    },
    /// The person decided about the proposal of this revision.
    Resolve {
        id: DiffId,
        revision: u32,
        outcome: Outcome,
    },
}

/// The answer to a request, and what is to be done besides.
#[derive(Debug)]
pub struct Answer {
    pub result: Result<Value, ResponseError>,
    pub actions: Vec<Action>,
}

impl From<Result<Value, ResponseError>> for Answer {
    fn from(result: Result<Value, ResponseError>) -> Self {
        Self {
            result,
            actions: Vec::new(),
        }
    }
}

/// How agents find the companion.
#[derive(Debug, Clone)]
pub struct Published {
    pub port: u16,
    /// The process of the companion.
    pub pid: u32,
    pub discovery_files: Vec<PathBuf>,
    /// The workspace roots, real paths.
    pub roots: Vec<PathBuf>,
}
