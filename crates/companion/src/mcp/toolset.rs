//! The kind of a session's agent, by what it says of itself, and its list of tools.

use pillion_protocol::{Dialect, SUITE_CLIENT};
use serde_json::{Map, Value, json};

use crate::agents::ListedTool;

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

pub(super) fn list(tools: Vec<ListedTool>) -> Value {
    let tool = |(name, description, schema): ListedTool| json!({"name": name, "description": description, "inputSchema": schema});
    json!({"tools": tools.into_iter().map(tool).collect::<Vec<Value>>()})
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
