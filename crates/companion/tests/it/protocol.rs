//! MCP itself: the handshake, the tools, and what old and new clients send.

use serde_json::json;

use crate::support::{INITIALIZE, TestCompanion, initialize};

#[tokio::test]
async fn every_revision_with_sessions_is_spoken_and_newer_clients_are_led_to_it() {
    let companion = TestCompanion::start();
    for (asked, answered) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let body = INITIALIZE.replace("2025-06-18", asked);
        let response = companion.request("POST", &body).send().await;
        let expected = format!("\"protocolVersion\":\"{answered}\"");
        assert!(response.text.contains(&expected), "{asked}: {response:?}");
        assert!(response.header("mcp-session-id").is_some(), "{asked}");
    }
}

#[tokio::test]
async fn a_client_that_discovers_first_is_told_the_revisions_with_sessions() {
    let companion = TestCompanion::start();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    let request = companion.request("POST", &body.to_string());
    let request = request
        .header("Mcp-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "server/discover");
    let response = request.send().await;
    assert!(response.text.contains("2025-11-25"), "{response:?}");
    assert!(response.header("mcp-session-id").is_none(), "{response:?}");
}

#[tokio::test]
async fn both_tools_are_listed() {
    let companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let request = companion.request("POST", body);
    let response = request.header("Mcp-Session-Id", &session).send().await;
    for name in ["openDiff", "closeDiff", "filePath", "newContent"] {
        assert!(response.text.contains(name), "{name}: {response:?}");
    }
}

#[tokio::test]
async fn answers_carry_no_event_id_and_no_priming_event() {
    let companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let request = companion.request("POST", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let response = request.header("Mcp-Session-Id", &session).send().await;
    assert!(!response.text.contains("\nid:"), "{response:?}");
    assert_eq!(response.text.matches("data:").count(), 1, "{response:?}");
}
