//! The checks of who may come in (C3.3), and with what.

use std::time::{Duration, Instant};

use pillion_protocol::{Dialect, Token};

use crate::support::{INITIALIZE, SOON, TestCompanion, initialize};

#[tokio::test]
async fn a_token_is_required() {
    let companion = TestCompanion::start();
    for method in ["POST", "GET", "DELETE"] {
        let request = || companion.request(method, INITIALIZE);
        let response = request().header("Authorization", "").send().await;
        assert_eq!(response.status, 401, "{method} {response:?}");
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        let wrong = Token::from("0".repeat(64));
        assert_eq!(request().bearer(&wrong).send().await.status, 401);
    }
}

#[tokio::test]
async fn a_token_in_the_query_does_not_count() {
    let companion = TestCompanion::start();
    let token = companion.token(Dialect::GeminiCli);
    let line = format!("POST /mcp?token={}", token.expose());
    let request = companion.request("POST", INITIALIZE).line(&line);
    let response = request.header("Authorization", "").send().await;
    assert_eq!(response.status, 401, "{response:?}");
}

#[tokio::test]
async fn the_token_names_the_agent() {
    let mut companion = TestCompanion::start();
    // Those that speak MCP over HTTP.
    for dialect in [Dialect::GeminiCli, Dialect::QwenCode] {
        let (client, _updates) = companion.connect(dialect).await;
        let path = companion.path("a");
        let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
        opened.unwrap();
        assert_eq!(diff.proposer, dialect.into());
    }
}

#[tokio::test]
async fn a_session_is_closed_to_the_other_agent() {
    let companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = |dialect| {
        let request = companion.request("POST", ping);
        let token = companion.token(dialect);
        request.bearer(&token).header("Mcp-Session-Id", &session)
    };
    assert_eq!(request(Dialect::GeminiCli).send().await.status, 200);
    assert_eq!(request(Dialect::QwenCode).send().await.status, 404);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let companion = TestCompanion::start();
    let request = || companion.request("POST", INITIALIZE);
    let response = request().header("Host", "evil.example").send().await;
    assert_eq!(response.status, 403, "{response:?}");
    let origin = request().header("Origin", "https://evil.example");
    let response = origin.send().await;
    assert_eq!(response.status, 403, "{response:?}");
    assert!(response.text.contains("web pages"), "{response:?}");
    let container = format!("host.docker.internal:{}", companion.companion.port());
    let response = request().header("Host", &container).send().await;
    assert_eq!(response.status, 200, "{response:?}");
}

#[tokio::test]
async fn an_unknown_session_is_not_found() {
    let companion = TestCompanion::start();
    for method in ["POST", "GET", "DELETE"] {
        let request = companion.request(method, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let response = request.header("Mcp-Session-Id", "nobody").send().await;
        assert_eq!(response.status, 404, "{method} {response:?}");
    }
}

#[tokio::test]
async fn a_session_can_be_closed_once() {
    let companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let request = || companion.request("DELETE", "");
    let delete = || request().header("Mcp-Session-Id", &session).send();
    assert_eq!(delete().await.status, 202);
    assert_eq!(delete().await.status, 404);
}

#[tokio::test]
async fn there_are_no_commands_where_agents_come_in() {
    let companion = TestCompanion::start();
    let settle = r#"{"id":1,"revision":1,"decision":"accept"}"#;
    for line in ["POST /control/settle", "GET /control/diffs", "POST /"] {
        // Some come in nowhere.
        for dialect in Dialect::ALL
            .into_iter()
            .filter(|it| !it.places().is_empty())
        {
            let request = companion.request("POST", settle).line(line);
            let response = request.bearer(&companion.token(dialect)).send().await;
            assert_eq!(response.status, 404, "{line} {response:?}");
        }
    }
}

#[tokio::test]
async fn the_event_stream_ends_with_its_session() {
    let companion = TestCompanion::start();
    let session = initialize(&companion).await;
    let request = |method| {
        companion
            .request(method, "")
            .header("Mcp-Session-Id", &session)
    };
    let stream = request("GET").header("Connection", "close");
    let stream = stream.header("Content-Length", "0");
    let reading = stream.read_for(SOON);
    let start = Instant::now();
    let ending = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        request("DELETE").send().await
    };
    let (text, deleted) = tokio::join!(reading, ending);
    assert_eq!(deleted.status, 202, "{deleted:?}");
    assert!(text.contains("ide/contextUpdate"), "it was open: {text:?}");
    assert!(start.elapsed() < SOON, "it did not end");
}

#[tokio::test]
async fn a_command_asks_who_is_connected_and_what_waits() {
    let mut companion = TestCompanion::start();
    let commands = companion.commands();
    let status = companion.state();
    assert_eq!((status.agents, status.pending_diffs), (Vec::new(), 0));
    assert_eq!(status.last_focused_ms, None);
    let views: Vec<u32> = status.views.iter().map(|view| view.pid).collect();
    assert_eq!(views, [std::process::id()]);

    let (agent, _updates) = companion.connect(Dialect::QwenCode).await;
    let path = companion.file("a", "old");
    let focused = pillion_protocol::File::focused(&path, 7);
    commands.focus(&focused.into()).await.unwrap();
    let (opened, _) = tokio::join!(agent.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    let started = Instant::now();
    let status = loop {
        let status = companion.state();
        if status.last_focused_ms.is_some() || started.elapsed() > SOON {
            break status;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(status.agents, ["qwen"]);
    assert_eq!(status.pending_diffs, 1);
    assert_eq!(status.last_focused_ms, Some(7));
}
