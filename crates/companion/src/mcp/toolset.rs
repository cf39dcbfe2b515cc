//! The tools of each protocol: what is listed, and what a call comes to.

use std::time::Duration;

use pillion_protocol::claude::hooks::{self, AFTER_TURN, BEFORE_TURN, BEFORE_WRITE, NO_DECISION};
use pillion_protocol::claude::tools::{self, CLOSE_TAB, GET_DIAGNOSTICS, TAB_CLOSED};
use pillion_protocol::dialect::Protocol;
use pillion_protocol::{Dialect, SUITE_CLIENT, diff};
use serde_json::{Map, Value, json};

use super::answer::{Error, Success, ToolResult};
use crate::diffs;

/// How long an editor may search for problems: the agent goes on with its edit after a second, and after
/// three times asks no more.
const DIAGNOSTICS_TIMEOUT: Duration = Duration::from_millis(500);

/// What hooks call.
const HOOKS: [&str; 3] = [BEFORE_WRITE, BEFORE_TURN, AFTER_TURN];

/// Whose session it is: several agents may present one token.
pub(super) fn who(agent: Dialect, initialize: &Map<String, Value>) -> Dialect {
    let client = initialize.get("clientInfo");
    let name = client.and_then(|client| client["name"].as_str());
    name.map_or(agent, |name| agent.presented_by(name))
}

/// Returns true if it is the conformance suite: what it starts are the commands that the person
/// gave it.
pub(super) fn is_suite(initialize: &Map<String, Value>) -> bool {
    let client = initialize.get("clientInfo");
    client.is_some_and(|client| client["name"] == SUITE_CLIENT)
}

/// Returns true if this release writes an accepted text without its last line feed.
pub(super) fn drops_last_line_feed(agent: Dialect, initialize: &Map<String, Value>) -> bool {
    let client = initialize.get("clientInfo");
    let said = |what| client.and_then(|client| client[what].as_str());
    let (name, version) = (said("name"), said("version"));
    name.zip(version)
        .is_some_and(|(name, version)| agent.drops_last_line_feed(name, version))
}

/// What `tools/list` answers.
pub(super) fn list(protocol: Protocol) -> Value {
    let tools = match protocol {
        Protocol::Companion => Vec::from(diff::listed()),
        Protocol::Claude => Vec::from(tools::listed()),
    };
    let tool = |(name, description, schema): (&str, &str, Value)| json!({"name": name, "description": description, "inputSchema": schema});
    json!({"tools": tools.into_iter().map(tool).collect::<Vec<Value>>()})
}

/// The tool of this name. What hooks call is there for nobody else.
pub(super) fn find(protocol: Protocol, name: &str, is_models: bool) -> Option<&'static str> {
    let names: &[_] = match protocol {
        Protocol::Companion => &diff::NAMES,
        Protocol::Claude => &tools::NAMES,
    };
    let hooks: &[_] = match protocol {
        Protocol::Claude if !is_models => &HOOKS,
        _ => &[],
    };
    let mut names = names.iter().chain(hooks).copied();
    names.find(|tool| *tool == name)
}

/// What a call is answered with; nothing, if the answer is what the person decides.
pub(super) async fn answer(
    protocol: Protocol,
    tool: &str,
    result: impl Future<Output = Result<ToolResult, Error>>,
) -> Result<Option<Success>, Error> {
    if protocol == Protocol::Companion {
        return result.await.map(Success::Tool).map(Some);
    }
    if tool == GET_DIAGNOSTICS {
        let found = tokio::time::timeout(DIAGNOSTICS_TIMEOUT, result).await;
        let found = match found {
            Ok(Ok(Ok(diffs::Answer::Text(found)))) => found,
            _ => "[]".to_owned(),
        };
        return Ok(Some(Success::Blocks(vec![found])));
    }
    if HOOKS.contains(&tool) {
        let decision = match result.await {
            Ok(Ok(diffs::Answer::Text(decision))) => decision,
            // The agent asks in its terminal then, whatever its mode.
            _ if tool == BEFORE_WRITE => hooks::ask(),
            _ => NO_DECISION.to_owned(),
        };
        return Ok(Some(Success::Blocks(vec![decision])));
    }
    Ok(match result.await? {
        Ok(diffs::Answer::Opened) => None,
        Ok(diffs::Answer::ClosedAll(views)) => {
            Some(Success::Blocks(vec![format!("CLOSED_{views}_DIFF_TABS")]))
        }
        // Whether it was open or not: the agent closes some twice, and some late.
        _ if tool == CLOSE_TAB => Some(Success::Blocks(vec![TAB_CLOSED.to_owned()])),
        result => Some(Success::Tool(result)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_told_apart_by_what_they_say_of_themselves() {
        let drops = |agent, version: &str| {
            let params = json!({"clientInfo": {"name": "claude-code", "version": version}});
            drops_last_line_feed(agent, params.as_object().unwrap())
        };
        for (version, expected) in [
            ("2.1.112", true),
            ("1.0.3", true),
            ("2.1.113", true),
            ("2.1.328", true),
            ("2.1.329", false),
            ("2.1.330", false),
            ("3.0.0", false),
            ("2.1", false),
            ("", false),
            ("2.1.x", false),
        ] {
            assert_eq!(drops(Dialect::ClaudeCode, version), expected, "{version}");
        }
        assert!(!drops(Dialect::OpenCode, "0.0.0"));
        assert!(!drops_last_line_feed(Dialect::ClaudeCode, &Map::new()));
    }

    #[test]
    fn opencode_is_known_by_its_name_and_only_with_claude_codes_token() {
        let named = |name: &str| json!({"clientInfo": {"name": name}});
        let who = |agent, name: &str| who(agent, named(name).as_object().unwrap());
        assert_eq!(who(Dialect::ClaudeCode, "opencode"), Dialect::OpenCode);
        assert_eq!(who(Dialect::ClaudeCode, "other"), Dialect::ClaudeCode);
        assert_eq!(who(Dialect::GeminiCli, "opencode"), Dialect::GeminiCli);
    }
}
