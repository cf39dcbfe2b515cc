//! Observations that are made once and read by several rules of Copilot CLI's protocol.

use crate::observation::{Mention, Once, Selections};
use crate::probe::NoAnswer;
use crate::reply::ToolReply;

/// The observations of this protocol alone.
#[derive(Debug, Default)]
pub(super) struct Observations {
    pub(super) accepted: Once<Decided>,
    pub(super) rejected: Once<Decided>,
    pub(super) closed: Once<Decided>,
    pub(super) selections: Once<Selections>,
    pub(super) mention: Once<Mention>,
}

/// The way of one proposal from `open_diff` to what came of it.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    pub(super) answer: Result<ToolReply, NoAnswer>,
    /// The answer to the call of `close_diff` that follows.
    pub(super) close: Result<ToolReply, NoAnswer>,
    /// True if the file was on the disk afterwards.
    pub(super) was_written: bool,
}
