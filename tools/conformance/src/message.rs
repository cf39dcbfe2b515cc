//! The messages: bodies of requests and notifications, and which notification is which.

use pillion_protocol::SUITE_CLIENT;
use pillion_protocol::context::CONTEXT_UPDATE;
use serde_json::{Value, json};

/// The version of MCP that the agents of today ask for.
pub(super) const NEWEST_VERSION: &str = "2025-11-25";

pub(super) const ACCEPTED: &str = "ide/diffAccepted";
pub(super) const REJECTED: &str = "ide/diffRejected";

/// Returns true if a message is the outcome of a diff.
pub(super) fn is_outcome(message: &Value) -> bool {
    let method = message["method"].as_str();
    method.is_some_and(|method| method.starts_with("ide/diff"))
}

/// Returns true if a message is a context.
pub(super) fn is_context(message: &Value) -> bool {
    message["method"] == CONTEXT_UPDATE
}

/// The body of a request.
pub(super) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// The body of a notification.
pub(super) fn notification(method: &str) -> String {
    json!({"jsonrpc": "2.0", "method": method}).to_string()
}

/// Returns true if a message answers request `id`. Its id may be of another type: that is one
/// rule's matter and not that of all others.
pub(super) fn answers(message: &Value, id: &Value) -> bool {
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let is_reply = message.get("method").is_none();
    is_reply && message.get("id").is_some_and(|its| text(its) == text(id))
}

/// The params of `initialize`.
pub(super) fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": SUITE_CLIENT, "version": env!("CARGO_PKG_VERSION")},
    })
}
