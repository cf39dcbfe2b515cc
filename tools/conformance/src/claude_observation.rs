//! Observations that are made once and read by several rules of Claude Code's protocol.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use pillion_http::Upgraded;
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;

use crate::observation::{Mention, Once, Selections};
use crate::reply::ToolReply;

pub(super) type Socket = WebSocketStream<Upgraded>;

/// The observations of this protocol alone, and the leftovers of the clients.
#[derive(Debug, Default)]
pub(super) struct Observations {
    pub(super) accepted: Once<Decided>,
    pub(super) rejected: Once<Decided>,
    pub(super) closed: Once<Decided>,
    pub(super) heard: Once<Heard>,
    pub(super) mention: Once<Mention>,
    pub(super) restored: Once<Restored>,
    /// Connections of which the check is over, each with the tabs that are open there.
    pub(super) left: RefCell<Vec<(Socket, Vec<String>)>>,
}

/// The way of one proposal from `openDiff` to what came of it.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    pub(super) text: String,
    /// Every answer to the call, in order.
    pub(super) answers: Vec<ToolReply>,
    /// The answers to the two calls of `close_tab` that follow.
    pub(super) closes: Vec<Result<ToolReply, String>>,
    /// True if the file was on the disk afterwards.
    pub(super) was_written: bool,
}

/// The messages that one client received.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    /// The first message that came before it had reported that it is initialized, if any did.
    pub(super) early: Option<Value>,
    /// The messages about selections after that.
    pub(super) selections: Selections,
}

/// The fate of lock files that were deleted.
#[derive(Debug, Clone, Default)]
pub(super) struct Restored {
    /// Those that the companion did not put back.
    pub(super) missing: Vec<PathBuf>,
    /// The time that the last one took.
    pub(super) longest: Duration,
    /// The first thing that a reader would have suffered from.
    pub(super) flaw: Option<String>,
}
