//! Who shows a proposal: the editor that we serve, and others whose `pillion lsp` relays to us.

use lsp_server::{ErrorCode, Message, RequestId, ResponseError};
use serde_json::Value;

use crate::link::End;
use crate::message;
use crate::position::Encoding;
use crate::profile::Action;

/// An editor, as far as proposals know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// The one that we serve.
    Own,
    /// One that a relay serves, by its number.
    Peer(u32),
}

/// What has to be known of an editor.
#[derive(Debug, Clone, Copy)]
pub struct Seat {
    pub viewer: Viewer,
    /// How it counts.
    pub encoding: Encoding,
    /// True if it is the same process as the editor that we serve: some start a second server of their own.
    pub is_same_editor: bool,
}

/// The waiting side of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub viewer: Viewer,
    pub id: RequestId,
}

impl Viewer {
    /// Sends it a message.
    pub fn send(self, message: Message) -> Action {
        match self {
            Self::Own => Action::Send(message),
            Self::Peer(number) => Action::Link {
                end: End::Peer(number),
                message,
            },
        }
    }
}

impl Caller {
    /// The request of the editor that we serve.
    pub fn own(id: RequestId) -> Self {
        let viewer = Viewer::Own;
        Self { viewer, id }
    }

    /// Answers.
    pub fn answer(self, result: Result<Value, ResponseError>) -> Action {
        self.viewer.send(message::answer(self.id, result))
    }

    /// Answers why it cannot be done.
    pub fn refuse(self, why: impl Into<String>) -> Action {
        self.answer(Err(failed(why)))
    }
}

/// The error for what cannot be done as things stand.
pub fn failed(why: impl Into<String>) -> ResponseError {
    message::error(ErrorCode::RequestFailed, why)
}
