//! The agent on whose behalf a command proposes: its name is shown, and nothing else changes.

use pillion_protocol::Dialect;
use serde_json::{Value, json};

use crate::sets::Session;
use crate::support::TestCompanion;

/// Returns what is shown of a proposal with this argument: the agent by whose rules it is decided, and the one that is named.
async fn shown(agent: Dialect, name: &Value) -> (Dialect, Dialect) {
    let mut companion = TestCompanion::start();
    let mut editor = std::mem::replace(&mut companion.editor, crate::support::stand_in().1);
    let session = Session::open(&companion, agent).await;
    let arguments = json!({"filePath": companion.path("a"), "newContent": "x", "onBehalfOf": name});
    let (answer, diff) = tokio::join!(session.call_with(&arguments), editor.show());
    assert!(!answer.text.contains("isError\":true"), "{answer:?}");
    (diff.agent, diff.shown_agent())
}

#[tokio::test]
async fn a_script_names_an_agent_that_is_known() {
    let script = Dialect::Script;
    for (name, expected) in [
        (json!("codex"), Dialect::CodexCli),
        (json!("claude"), Dialect::ClaudeCode),
        (json!("somebody"), script),
        (Value::Null, script),
    ] {
        assert_eq!(shown(script, &name).await, (script, expected), "{name}");
    }
}

#[tokio::test]
async fn what_an_agent_says_is_ignored_whatever_it_is() {
    for agent in [Dialect::GeminiCli, Dialect::QwenCode] {
        for name in [json!("codex"), json!("somebody"), json!(7)] {
            assert_eq!(shown(agent, &name).await, (agent, agent), "{name}");
        }
    }
}
