//! What is seen once and read by several rules of Copilot CLI's protocol.

use serde_json::Value;

use crate::observation::{CursorMoved, Mention, Once, Timed};
use crate::probe::NoAnswer;
use crate::reply::ToolReply;

/// What there is only there.
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
    /// What the call of `close_diff` was answered that follows.
    pub(super) close: Result<ToolReply, NoAnswer>,
    /// True if the file was on the disk afterwards.
    pub(super) was_written: bool,
}

/// What was received about selections.
#[derive(Debug, Clone)]
pub(super) struct Selections {
    /// What came after the start, unasked.
    pub(super) of_start: Vec<Timed>,
    pub(super) of_cursor: CursorMoved,
}

impl Selections {
    /// The params of every `selection_changed` that was received.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        let all = self.of_start.iter().chain(self.of_cursor.contexts());
        all.map(|(_, params)| params)
    }
}
