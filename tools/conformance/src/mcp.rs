//! The demands of MCP on a server, whatever carries its messages: checks that all protocols share.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::rule::{Finding, Otherwise, Problem, broken, wrong};
use crate::shape::{Field, fits};

/// The versions of MCP that some release of some agent understands.
pub(super) const KNOWN_VERSIONS: [&str; 5] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
];

const INITIALIZED: [Field; 4] = [
    ("/capabilities", true, Value::is_object),
    ("/protocolVersion", true, Value::is_string),
    ("/serverInfo/name", true, Value::is_string),
    ("/serverInfo/version", true, Value::is_string),
];

/// The result of `initialize`, if it has what MCP specifies.
pub(super) fn initialized(reply: &Value) -> Result<&Value, Problem> {
    if reply["jsonrpc"] != "2.0" || !reply["result"].is_object() {
        return wrong(reply);
    }
    fits(&reply["result"], &INITIALIZED).map_err(Problem::Broken)?;
    Ok(&reply["result"])
}

/// The version that `initialize` is answered with.
pub(super) fn agreed_version(reply: &Value) -> Result<&str, Problem> {
    let version = reply["result"]["protocolVersion"].as_str();
    version.map_or_else(|| wrong(reply), Ok)
}

/// Tools with all of these names are listed.
pub(super) async fn are_listed(agent: &mut impl Agent, names: &[&str]) -> Finding {
    let tools = agent.tools().await?;
    let is_listed = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    match names.iter().find(|name| !is_listed(name)) {
        Some(name) => broken(format!("`{name}` is missing")),
        None => Ok(format!("{} tools", tools.len())),
    }
}

pub(super) async fn ping(agent: &mut impl Agent) -> Finding {
    let reply = agent.ask("ping", json!({})).await?;
    match reply["result"] == json!({}) {
        true => Ok("an empty result".to_owned()),
        false => wrong(&reply),
    }
}

pub(super) async fn unknown_method(agent: &mut impl Agent) -> Finding {
    let reply = agent.ask("pillion/none", json!({})).await?;
    match reply["error"]["code"] == -32601 {
        true => Ok("error -32601".to_owned()),
        false => wrong(&reply),
    }
}

pub(super) async fn unknown_tool(agent: &mut impl Agent) -> Finding {
    let reply = agent.call("pillionNone", json!({})).await?;
    match reply.is_error() {
        true => Ok(reply.shown()),
        false => broken(format!("it succeeds: {}", reply.shown())),
    }
}

/// Requests with these ids.
pub(super) async fn ids<const N: usize>(agent: &mut impl Agent, ids: [Value; N]) -> Finding {
    for id in &ids {
        let reply = agent.ask_with_id(id, "tools/list", json!({})).await;
        let reply = reply.or_broken(id)?;
        if reply["id"] != *id {
            return broken(format!("{id} is answered with the id {}", reply["id"]));
        }
    }
    Ok(format!("{N} ids"))
}
