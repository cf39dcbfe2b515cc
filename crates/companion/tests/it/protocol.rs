//! MCP itself: the handshake, the tools, and what old and new clients send.

use serde_json::{Value, json};

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

#[tokio::test]
async fn a_call_reads_the_same_whether_the_sdk_answers_it_or_not() {
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let file = companion.file("a", "x");
    let call = |id: Value, tool: &str, path: &str| {
        let arguments = json!({"filePath": path, "newContent": "y\r\n\u{2028}"});
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    // To agents they mean the same, but the second is one that only the SDK understands.
    let accepts = [
        "application/json, text/event-stream",
        "application/json;q=1, text/event-stream;q=1",
    ];
    let calls = [
        call(json!(1), "openDiff", "relative"),
        call(json!("two"), "openDiff", &file),
        call(json!(3), "closeDiff", &file),
        call(json!(4), "closeDiff", &file),
        call(json!(5), "eraseDisk", &file),
    ];
    let mut answers: [Vec<String>; 2] = Default::default();
    for (accept, answers) in accepts.into_iter().zip(&mut answers) {
        for body in &calls {
            let request = companion.request("POST", body).header("Accept", accept);
            let response = request.header("Mcp-Session-Id", &session).send();
            let response = if body.contains("two") {
                tokio::join!(response, companion.editor.show()).0
            } else if body.contains(":3,") {
                tokio::join!(response, companion.editor.close("edited \"\u{1F600}\"")).0
            } else {
                response.await
            };
            let lines = response
                .text
                .lines()
                .filter(|line| !line.starts_with("date:"));
            answers.push(lines.collect::<Vec<_>>().join("\n"));
        }
    }
    let [direct, by_sdk] = answers;
    assert_eq!(direct, by_sdk);
    assert!(
        direct[1].contains(r#""id":"two","result":{"content":[],"#),
        "{direct:?}"
    );
    assert!(direct[4].contains("unknown tool"), "{direct:?}");
}

#[tokio::test]
async fn calls_in_no_session_or_no_known_revision_are_refused() {
    let companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "closeDiff", "arguments": {"filePath": "/a"}}});
    let request = || companion.request("POST", &body.to_string());
    let response = request().send().await;
    assert_ne!(response.status, 200, "no session: {response:?}");
    for (header, value) in [
        ("Mcp-Protocol-Version", "1999-01-01"),
        ("Accept", "application/json"),
        ("Content-Type", "text/plain"),
    ] {
        let request = request().header("Mcp-Session-Id", &session);
        let response = request.header(header, value).send().await;
        assert!(
            (400..500).contains(&response.status),
            "{header}: {response:?}"
        );
    }
    let request = request().header("Mcp-Session-Id", &session);
    let response = request
        .header("Mcp-Protocol-Version", "2025-06-18")
        .send()
        .await;
    assert_eq!(response.status, 200, "{response:?}");
}
