//! Companions that are right, but not like Pillion's.

use std::sync::Mutex;

use pillion_agent::{Client, ClientError, Update};
use pillion_protocol::{Outcome, Token};
use serde_json::json;
use tokio::time::timeout;

use crate::server::{Act, SOON, Server, events, head, notification, reply, result, usual};

#[tokio::test]
async fn json_answers_no_token_and_no_session_are_fine() {
    let server = Server::start(usual).await;
    let (client, _updates) = Client::connect_to(server.address()).await.unwrap();
    assert_eq!(client.server().name, "plain");
    assert!(client.can_diff());
    client.open_diff("/a", "x").await.unwrap();
    assert_eq!(client.close_diff("/a").await.unwrap(), "in the view");
    for asked in server.asked() {
        assert_eq!(asked.header("authorization"), None);
        assert_eq!(asked.header("mcp-session-id"), None);
        let version = (asked.method() != "initialize").then_some("2025-06-18");
        assert_eq!(asked.header("mcp-protocol-version"), version, "{asked:?}");
    }
    let order: Vec<_> = server
        .asked()
        .iter()
        .map(|it| it.method().to_owned())
        .collect();
    assert_eq!(
        order[..4],
        ["initialize", "notifications/initialized", "", "tools/list"]
    );
}

#[tokio::test]
async fn token_and_session_go_with_every_request() {
    let server = Server::start(|asked| {
        let Act::Send(answer) = usual(asked) else {
            return usual(asked);
        };
        let text = String::from_utf8(answer).unwrap();
        let session = "\r\nMcp-Session-Id: s-1\r\nContent-Type";
        Act::Send(text.replacen("\r\nContent-Type", session, 1).into_bytes())
    })
    .await;
    let address = server
        .address()
        .with_token(Token::from("secret".to_owned()));
    assert!(!format!("{address:?}").contains("secret"));
    let (client, _updates) = Client::connect_to(address).await.unwrap();
    client.open_diff("/a", "x").await.unwrap();
    for asked in server.asked() {
        assert_eq!(asked.header("authorization"), Some("Bearer secret"), "C3.2");
        let session = (asked.method() != "initialize").then_some("s-1");
        assert_eq!(asked.header("mcp-session-id"), session);
    }
}

#[tokio::test]
async fn an_outcome_with_the_answer_of_the_call_is_heard() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" => {
            let outcome = json!({"filePath": "/a", "content": "y"});
            let answer =
                json!({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": []}});
            let outcome = notification("ide/diffAccepted", outcome);
            Act::Send(events(&[outcome, json!({"id": 99, "result": 1}), answer]))
        }
        _ => usual(asked),
    })
    .await;
    assert_eq!(server.propose("x").await.unwrap(), Outcome::accepted("y"));
}

#[tokio::test]
async fn the_old_name_of_a_rejection_rejects() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => {
            let closed = notification("ide/diffClosed", json!({"filePath": "/a", "content": "x"}));
            Act::Hold(events(&[notification("unknown", json!(1)), closed]))
        }
        _ => usual(asked),
    })
    .await;
    let (_client, mut updates) = Client::connect_to(server.address()).await.unwrap();
    let path = "/a".to_owned();
    let update = timeout(SOON, updates.next()).await.unwrap();
    assert_eq!(update, Some(Update::DiffRejected { path }));
}

#[tokio::test]
async fn a_ping_of_the_companion_is_answered_and_other_requests_are_declined() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => Act::Hold(events(&[
            json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}),
        ])),
        _ => usual(asked),
    })
    .await;
    let (_client, mut updates) = Client::connect_to(server.address()).await.unwrap();
    let answered = async {
        loop {
            let pong = |it: &crate::server::Asked| it.message["result"] == json!({});
            if server
                .asked()
                .iter()
                .any(|it| it.message["id"] == "p" && pong(it))
            {
                return;
            }
            let _ = timeout(std::time::Duration::from_millis(10), updates.next()).await;
        }
    };
    timeout(SOON, answered).await.expect("the ping is answered");
}

#[tokio::test]
async fn a_companion_without_the_tools_shows_no_diffs() {
    for answer in [
        json!({"result": {"tools": [{"name": "openDiff"}]}}),
        json!({"error": {"code": -32601}}),
    ] {
        let server = Server::start(move |asked| match asked.method() {
            "tools/list" => {
                let mut answer = answer.clone();
                answer["id"] = asked.message["id"].clone();
                reply(&answer)
            }
            _ => usual(asked),
        })
        .await;
        let error = server.propose("x").await.unwrap_err();
        assert!(matches!(error, ClientError::NoDiffs), "{error:?}");
        assert_eq!(server.count("POST", "tools/call"), 0);
    }
}

#[tokio::test]
async fn a_refused_diff_says_why_and_another_may_follow() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" => {
            let why = json!([{"type": "image"}, {"type": "text", "text": "no such folder"}]);
            result(asked, &json!({"isError": true, "content": why}))
        }
        _ => usual(asked),
    })
    .await;
    let (client, _updates) = server.session().await;
    for _ in 0..2 {
        let error = client.open_diff("/a", "x").await.unwrap_err();
        assert!(
            matches!(&error, ClientError::Tool(why) if why == "no such folder"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_that_ends_is_opened_again_and_no_outcome_is_lost() {
    let streams = Mutex::new(0);
    let server = Server::start(move |asked| {
        if asked.verb != "GET" {
            return usual(asked);
        }
        let mut streams = streams.lock().unwrap();
        *streams += 1;
        match *streams {
            1 => Act::Send(events(&[])),
            2 => Act::Send(head("200 OK", "text/event-stream")),
            _ => {
                let outcome = json!({"filePath": "/a", "content": "late"});
                Act::Hold(events(&[notification("ide/diffAccepted", outcome)]))
            }
        }
    })
    .await;
    assert_eq!(
        server.propose("x").await.unwrap(),
        Outcome::accepted("late")
    );
    assert_eq!(
        server.count("POST", "initialize"),
        1,
        "it is the same session"
    );
}
