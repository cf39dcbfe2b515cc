//! The ids within a companion: those of its views, of who decides, and of agents' requests.

use serde::Serialize;
use serde_json::Value;

/// One of the views of a companion. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ViewId(pub(crate) u32);

impl ViewId {
    /// The one that a companion starts with.
    pub(crate) const FIRST: Self = Self(0);
}

/// Who tells a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decider {
    View(ViewId),
    /// A command, about the text that stands in the view, or about another.
    Command {
        /// True if it is that of the view.
        is_standing: bool,
    },
}

/// The id of a request, which its answer repeats: a text or an integer, echoed as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct RequestId(Value);

impl RequestId {
    /// The id in a message, if it can be one.
    pub(crate) fn new(value: Value) -> Option<Self> {
        (value.is_string() || value.is_i64() || value.is_u64()).then_some(Self(value))
    }
}
