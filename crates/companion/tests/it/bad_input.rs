//! Input that breaks the protocol or the contract gets a clear answer, and the companion goes on.

use pillion_protocol::Dialect;
use pillion_protocol::diff::MAX_CONTENT;
use pillion_testkit::client::ClientError;
use serde_json::{Value, json};

use crate::support::{INITIALIZE, Response, SOON, TestCompanion, initialize};

/// The JSON of an answer that came as an event stream or as plain JSON.
fn json_of(response: &Response) -> Value {
    let start = response.text.find('{').unwrap_or_default();
    let end = response.text.rfind('}').map_or(0, |end| end + 1);
    serde_json::from_str(&response.text[start..end])
        .unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

async fn call(companion: &TestCompanion, params: Value) -> Value {
    let session = initialize(companion).await;
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let request = companion.request("POST", &call.to_string());
    let response = request.header("Mcp-Session-Id", &session).send().await;
    assert_eq!(response.status, 200, "{response:?}");
    json_of(&response)
}

/// Returns the reason why a tool call failed, as the agent reads it (C5.2).
async fn failure(companion: &TestCompanion, tool: &str, arguments: Value) -> String {
    let answer = call(companion, json!({"name": tool, "arguments": arguments})).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap().to_owned()
}

#[tokio::test]
async fn bodies_that_are_no_message_are_named() {
    let companion = TestCompanion::start();
    let batch = format!("[{INITIALIZE}]");
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("\u{0}", -32700),
        (batch.as_str(), -32600),
        ("5", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
    ] {
        let response = companion.request("POST", body).send().await;
        assert_eq!(response.status, 400, "{body:?} {response:?}");
        assert_eq!(json_of(&response)["error"]["code"], code, "{body:?}");
    }
}

#[tokio::test]
async fn arguments_that_break_the_contract_name_the_field() {
    let companion = TestCompanion::start();
    let path = companion.path("a");
    for (arguments, reason) in [
        (json!({}), "openDiff: filePath is missing"),
        (json!({"filePath": path}), "openDiff: newContent is missing"),
        (
            json!({"filePath": path, "newContent": 5}),
            "openDiff: newContent is a number, not a string",
        ),
        (
            json!({"filePath": ["a"], "newContent": ""}),
            "openDiff: filePath is an array, not a string",
        ),
    ] {
        assert_eq!(failure(&companion, "openDiff", arguments).await, reason);
    }
    let answer = call(&companion, json!({"name": "openDiff"})).await;
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, "openDiff: filePath is missing", "{answer}");
}

#[tokio::test]
async fn paths_that_cannot_be_shown_are_named() {
    let companion = TestCompanion::start();
    let folder = companion.path("");
    let below_file = format!("{}/x", companion.file("f", ""));
    for (path, reason) in [
        ("", "filePath is empty"),
        ("src/a.rs", "is not absolute"),
        (folder.as_str(), "is a folder"),
        (below_file.as_str(), "cannot read"),
        ("/a\0b", "contains a NUL"),
        ("/proc/self/cwd/a.rs", "leads through /proc"),
    ] {
        let arguments = json!({"filePath": path, "newContent": "x"});
        let text = failure(&companion, "openDiff", arguments).await;
        assert!(text.contains(reason), "{path:?}: {text}");
    }
}

#[tokio::test]
async fn strange_paths_are_shown_where_they_lead_and_echoed_as_they_came() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    let real = companion.path("new");
    let dotted = format!("{}/../new", companion.path("home"));
    for (path, shown) in [(dotted, real), {
        let path = companion.path("two\nlines [id].tsx");
        (path.clone(), path)
    }] {
        let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
        opened.unwrap();
        assert_eq!(diff.path.to_str(), Some(shown.as_str()));
        let rejected = pillion_protocol::Outcome::Rejected;
        companion.decide(&diff, rejected).await;
        let outcome = crate::support::next_outcome(&mut updates).await;
        assert_eq!(
            outcome,
            pillion_testkit::client::Update::DiffRejected { path },
            "C5.8"
        );
    }
}

#[tokio::test]
async fn closing_nothing_fails_with_a_reason() {
    let companion = TestCompanion::start();
    let (client, _updates) = companion.connect(Dialect::QwenCode).await;
    let error = client.close_diff("/nothing").await.unwrap_err();
    assert!(matches!(error, ClientError::Tool(_)), "{error:?}");
    assert_eq!(error.to_string(), "no diff of /nothing is open");
}

#[tokio::test]
async fn an_unknown_tool_and_an_unknown_method_are_protocol_errors() {
    let companion = TestCompanion::start();
    let answer = call(&companion, json!({"name": "eval", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let session = initialize(&companion).await;
    for method in [
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "no/such",
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string();
        let request = companion.request("POST", &body);
        let response = request.header("Mcp-Session-Id", &session).send().await;
        assert_eq!(json_of(&response)["error"]["code"], -32601, "{response:?}");
    }
}

#[tokio::test]
async fn a_tool_call_without_a_session_is_refused() {
    let companion = TestCompanion::start();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "openDiff", "arguments": {"filePath": "/a", "newContent": ""}}});
    let response = companion.request("POST", &call.to_string()).send().await;
    assert_eq!(response.status, 400, "{response:?}");
}

#[tokio::test]
async fn a_content_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let mut companion = TestCompanion::start();
    let (client, _updates) = companion.connect(Dialect::GeminiCli).await;
    let path = companion.path("a");
    let text = "x".repeat(MAX_CONTENT + 1024 * 1024);
    let error = client.open_diff(&path, &text).await.unwrap_err();
    assert!(
        error.to_string().contains("newContent has 68157440 bytes"),
        "{error}"
    );
    let text = &text[..MAX_CONTENT];
    let (opened, diff) = tokio::join!(client.open_diff(&path, text), companion.editor.show());
    opened.unwrap();
    assert_eq!(diff.proposed.len(), MAX_CONTENT);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_announced_or_not() {
    let companion = TestCompanion::start();
    let announced = companion.request("POST", "{");
    let announced = announced.header("Content-Length", "200000000");
    let response = announced.send_as_is().await;
    assert_eq!(response.status, 413, "{response:?}");
    let size = 130 * 1024 * 1024;
    let chunk = format!("{size:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(size));
    let chunked = companion.request("POST", &chunk);
    let response = chunked.header("Transfer-Encoding", "chunked");
    assert_eq!(response.send_as_is().await.status, 413);
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let companion = TestCompanion::start();
    let stalled = companion.request("POST", "{\"jsonrpc\":");
    let stalled = stalled.header("Content-Length", "1000").send_as_is();
    let response = tokio::time::timeout(SOON, stalled).await;
    assert_eq!(response.unwrap().status, 408);
}

#[tokio::test]
async fn half_a_character_becomes_the_replacement_character() {
    let mut companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let path = companion.path("a");
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params":
        {"name": "openDiff", "arguments": {"filePath": path, "newContent": "HALF"}}});
    let body = call.to_string().replace("HALF", r"a\ud800b\ud83d\ude00");
    let open = companion.request("POST", &body);
    let open = open.header("Mcp-Session-Id", &session).send();
    let (opened, diff) = tokio::join!(open, companion.editor.show());
    assert_eq!(json_of(&opened)["result"]["isError"], false, "{opened:?}");
    assert_eq!(&*diff.proposed, "a\u{fffd}b😀");
}

#[tokio::test]
async fn an_agent_may_have_so_many_sessions_and_no_more() {
    let companion = TestCompanion::start();
    let mut sessions = Vec::new();
    for _ in 0..256 {
        sessions.push(initialize(&companion).await);
    }
    let refused = companion.request("POST", INITIALIZE).send().await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.text.contains("256 of gemini"), "{refused:?}");
    let (_qwen, _updates) = companion.connect(Dialect::QwenCode).await;
    let end = companion.request("DELETE", "");
    let ended = end.header("Mcp-Session-Id", &sessions[0]).send().await;
    assert!(ended.status < 300, "{ended:?}");
    initialize(&companion).await;
}
