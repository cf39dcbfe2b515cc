//! What is sent: the bodies of requests and notifications.

use serde_json::{Value, json};

/// What the agents of today ask for.
pub(super) const NEWEST_VERSION: &str = "2025-11-25";

/// The body of a request.
pub(super) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// The body of a notification.
pub(super) fn notification(method: &str) -> String {
    json!({"jsonrpc": "2.0", "method": method}).to_string()
}

/// The params of `initialize`.
pub(super) fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "pillion-conformance", "version": env!("CARGO_PKG_VERSION")},
    })
}
