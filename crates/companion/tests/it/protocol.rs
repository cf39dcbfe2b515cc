//! MCP itself: the handshake, the tools, and what old and new clients send.

use pillion_view::EditorEvent;
use serde_json::{Value, json};

use crate::support::{INITIALIZE, Response, TestCompanion, initialize};

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
async fn a_body_is_read_to_its_end_however_it_is_sent() {
    let companion = TestCompanion::start();
    let sent = async |chunks: &[&str], lengths: [&str; 2]| {
        let chunks = chunks
            .iter()
            .map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()));
        let body: String = chunks.chain(["0\r\n\r\n".to_owned()]).collect();
        // A `Content-Length` counts for nothing beside chunks, whether it comes before `Transfer-Encoding` or after
        // it. An empty one is not sent.
        let [before, after] = lengths;
        let request = companion
            .request("POST", &body)
            .header("Content-length", before)
            .header("Transfer-Encoding", "chunked")
            .header("Content-Length", after)
            .header("Connection", "close");
        request.send_as_is().await.status
    };
    let (start, end) = INITIALIZE.split_at(5);
    let single: Vec<_> = INITIALIZE.split_inclusive(|_| true).collect();
    let long = INITIALIZE.to_owned() + &" ".repeat(200 * 1024);
    let length = INITIALIZE.len().to_string();
    for lengths in [
        ["", ""],
        ["5", ""],
        ["", "5"],
        [&*length, ""],
        ["", &length],
    ] {
        for chunks in [
            &[INITIALIZE][..],
            &[start, end],
            &[INITIALIZE, " "],
            &single,
            &[&long],
        ] {
            assert_eq!(sent(chunks, lengths).await, 200, "{chunks:?} {lengths:?}");
        }
        assert_eq!(sent(&[INITIALIZE, "{}"], lengths).await, 400, "{lengths:?}");
    }
    let unchunked = companion.request("POST", &long).send().await;
    assert_eq!(unchunked.status, 200, "{unchunked:?}");
    let more = companion.request("POST", &(long + "{}")).send().await;
    assert_eq!(more.status, 400, "{more:?}");
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

/// A tool call with this id, of this tool, as agents post it.
fn call(id: Value, tool: &str, path: &str) -> String {
    let arguments = json!({"filePath": path, "newContent": "y\r\n\u{2028}"});
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// The event in an answer, without the chunks that it came in.
fn event(response: &Response) -> &str {
    let start = response.text.find("data: ").unwrap_or_default();
    response.text[start..].lines().next().unwrap_or_default()
}

#[tokio::test]
async fn answers_to_calls_are_these_bytes() {
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let file = companion.file("a", "x");
    let [failing, opening, closing] = [
        call(json!(1), "openDiff", "relative"),
        call(json!("two"), "openDiff", &file),
        call(json!(-3), "closeDiff", &file),
    ]
    .map(|body| {
        let request = companion.request("POST", &body);
        let request = request.header("Mcp-Session-Id", &session);
        // As proxies may write it.
        request.header("Accept", "application/json;q=1, Text/Event-Stream;q=0.5")
    });
    let failed = failing.send().await;
    let opened = tokio::join!(opening.send(), companion.editor.show()).0;
    let closed = tokio::join!(closing.send(), companion.editor.close("\"\u{1F600}\\\r\n")).0;
    for (response, expected) in [
        (
            failed,
            r#"data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"openDiff: filePath \"relative\" is not absolute"}],"isError":true}}"#,
        ),
        (
            opened,
            r#"data: {"jsonrpc":"2.0","id":"two","result":{"content":[],"isError":false}}"#,
        ),
        (
            closed,
            r#"data: {"jsonrpc":"2.0","id":-3,"result":{"content":[{"type":"text","text":"{\"content\":\"\\\"😀\\\\\\r\\n\"}"}],"isError":false}}"#,
        ),
    ] {
        assert_eq!(event(&response), expected);
    }
}

#[tokio::test]
async fn a_call_that_is_taken_back_is_not_answered_and_others_are() {
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let [first, second, cancelling] = [
        call(json!(1), "openDiff", &companion.path("a")),
        call(json!("1"), "openDiff", &companion.path("b")),
        cancel.to_owned(),
    ]
    .map(|body| {
        let request = companion.request("POST", &body);
        request.header("Mcp-Session-Id", &session)
    });
    let (first, second, ()) = tokio::join!(first.send(), second.send(), async {
        let mut asked = Vec::new();
        for _ in 0..2 {
            asked.push(companion.editor.next().await);
        }
        let cancelled = cancelling.send().await;
        assert_eq!(cancelled.status, 202, "{cancelled:?}");
        for asked in asked {
            let EditorEvent::Open(_, shown) = asked else {
                panic!("expected an open_diff, not {asked:?}");
            };
            shown.done(());
        }
    });
    assert_eq!(first.status, 200, "{first:?}");
    assert!(!first.text.contains("data:"), "{first:?}");
    assert!(
        event(&second).contains(r#""id":"1","result""#),
        "{second:?}"
    );
    // Unknown and nonsensical ones are nothing.
    for id in ["7", "null", "[]", "{}"] {
        let cancel = cancel.replace(":1}", &format!(":{id}}}"));
        let request = companion.request("POST", &cancel);
        let request = request.header("Mcp-Session-Id", &session);
        assert_eq!(request.send().await.status, 202, "{id}");
    }
}

#[tokio::test]
async fn handshakes_that_say_no_revision_open_no_session() {
    let companion = TestCompanion::start();
    for (params, code) in [
        ("", -32602),
        (r#","params":{}"#, -32602),
        (r#","params":{"protocolVersion":5}"#, -32602),
        (r#","params":[]"#, -32600),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize"{params}}}"#);
        let response = companion.request("POST", &body).send().await;
        assert_eq!(response.status, 400, "{params}: {response:?}");
        let code = format!("\"code\":{code}");
        assert!(response.text.contains(&code), "{params}: {response:?}");
        assert!(response.header("mcp-session-id").is_none(), "{response:?}");
    }
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
