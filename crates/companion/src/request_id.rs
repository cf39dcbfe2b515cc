//! The id by which the answer to a request is known.

use serde::Serialize;
use serde_json::Value;

/// The id by which an answer is known: a text or an integer, echoed as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct RequestId(Value);

impl RequestId {
    /// The id in a message, if it can be one.
    pub(crate) fn new(value: Value) -> Option<Self> {
        (value.is_string() || value.is_i64() || value.is_u64()).then_some(Self(value))
    }
}
