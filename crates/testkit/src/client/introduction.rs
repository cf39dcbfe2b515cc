//! MCP's first exchange, whatever carries it: what this client says of itself, and what the companion
//! answers.

use serde_json::{Value, json};

use crate::client::error::ClientError;

/// The name of this client.
pub(crate) const CLIENT_NAME: &str = "pillion-agent";

/// The revisions of MCP that this client speaks, the newest with sessions first.
const PROTOCOL_VERSIONS: [&str; 5] = [
    "2025-11-25",
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
    // Only companions for Claude Code still say this one.
    "2024-10-07",
];

/// A companion, as it introduces itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Server {
    /// The name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The tools that it offers.
    pub tools: Vec<String>,
}

/// The params of `initialize`.
pub(crate) fn params(client_name: &str) -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSIONS[0],
        "capabilities": {},
        "clientInfo": {"name": client_name, "version": env!("CARGO_PKG_VERSION")},
    })
}

/// The companion that answered `initialize`, without its tools, and the revision that it chose.
///
/// # Errors
/// When this client does not speak that revision.
pub(crate) fn server(result: &Value) -> Result<(Server, String), ClientError> {
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    if !PROTOCOL_VERSIONS.contains(&version) {
        let text = format!("it speaks MCP {version:?}, which this client does not know");
        return Err(ClientError::protocol(text));
    }
    let string = |field| result["serverInfo"][field].as_str().unwrap_or_default();
    let server = Server {
        name: string("name").to_owned(),
        version: string("version").to_owned(),
        tools: Vec::new(),
    };
    Ok((server, version.to_owned()))
}

/// The names in the answer to `tools/list`; none if that is an error, or no list.
pub(crate) fn tool_names(answer: Result<Value, ClientError>) -> Result<Vec<String>, ClientError> {
    let result = match answer {
        Err(ClientError::Refusal(pillion_agent::ClientError::Protocol(_))) => Value::Null,
        answer => answer?,
    };
    let tools = result["tools"].as_array().into_iter().flatten();
    let names = tools.filter_map(|tool| tool["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}
