//! Servers that are wrong, slow or hostile: every wait ends, no memory runs full, nothing panics.

use std::time::Duration;

use pillion_agent::{Client, ClientError};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::timeout;

use crate::server::{Act, SOON, Server, events, head, result, usual};

/// The time limit of those that are to give up.
const SHORT: Duration = Duration::from_millis(300);

/// The error of a connection when the server does so with the requests of one kind.
async fn connecting(method: &'static str, act: Act) -> ClientError {
    let is_ended = matches!(act, Act::Send(_));
    let server = Server::start(move |asked| {
        let is_meant = asked.method() == method || (method == "GET" && asked.verb == "GET");
        if is_meant { act.clone() } else { usual(asked) }
    })
    .await;
    let address = if is_ended {
        server.address()
    } else {
        server.address().with_timeouts(SHORT, SHORT)
    };
    let connecting = timeout(SOON, Client::connect_to(address)).await;
    connecting.expect("it ends").expect_err("it fails")
}

/// A while that a call which is answered does not need.
const GIVEN_UP: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_companion_that_never_answers_is_given_up() {
    for method in [
        "initialize",
        "notifications/initialized",
        "GET",
        "tools/list",
    ] {
        for bytes in [Vec::new(), b"HTTP/1.1 200 OK\r\n".to_vec()] {
            let error = connecting(method, Act::Hold(bytes)).await;
            assert!(
                matches!(error, ClientError::Silent(_)),
                "{method}: {error:?}"
            );
        }
    }
    for answer in [head("200 OK", "application/json"), events(&[])] {
        let error = connecting("initialize", Act::Hold(answer)).await;
        assert!(matches!(error, ClientError::Silent(_)), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up() {
    let comment = b": nothing\n\n".repeat(100);
    for (answer, more) in [
        (head("200 OK", "application/json"), vec![b' '; 4096]),
        (events(&[]), comment),
        (
            events(&[json!({"id": 77, "result": {}})]),
            b"data: {}\n\n".to_vec(),
        ),
    ] {
        let error = connecting("initialize", Act::Flood(answer, more)).await;
        // Whichever comes first: the time is over, or the size is reached.
        let is_given_up = matches!(error, ClientError::Silent(_) | ClientError::Protocol(_));
        assert!(is_given_up, "{error:?}");
    }
}

#[tokio::test]
async fn a_line_without_an_end_ends_the_stream_and_not_the_memory() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => {
            let mut start = events(&[]);
            start.extend(b"data: ");
            Act::Flood(start, vec![b'x'; 1 << 16])
        }
        _ => usual(asked),
    })
    .await;
    let (_client, mut updates) = Client::connect_to(server.address()).await.unwrap();
    let end = timeout(Duration::from_secs(60), updates.next()).await;
    assert_eq!(end.expect("it is given up"), None);
}

#[tokio::test]
async fn a_flood_of_notifications_with_an_answer_is_refused() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" => {
            let rejected = r#"{"method":"ide/diffRejected","params":{"filePath":"/b"}}"#;
            let event = format!("data: {rejected}\n\n");
            Act::Flood(events(&[]), event.into_bytes())
        }
        _ => usual(asked),
    })
    .await;
    let (client, _updates) = Client::connect_to(server.address()).await.unwrap();
    let error = timeout(SOON, client.open_diff("/a", "x"))
        .await
        .unwrap()
        .unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error:?}");
}

#[tokio::test]
async fn nonsense_is_told_apart_from_silence() {
    for answer in [
        head("200 OK", "text/html"),
        [head("200 OK", "application/json"), b"{".to_vec()].concat(),
        [
            head("200 OK", "application/json"),
            b"{\"id\":77,\"result\":1}".to_vec(),
        ]
        .concat(),
        events(&[]),
        events(&[json!("x"), json!(["data"])]),
    ] {
        let error = connecting("initialize", Act::Send(answer)).await;
        assert!(matches!(error, ClientError::Protocol(_)), "{error:?}");
    }
    let error = connecting(
        "initialize",
        Act::Send(head("401 Unauthorized", "text/plain")),
    )
    .await;
    assert!(matches!(error, ClientError::Refused(401)), "{error:?}");
    // A redirection could lead the token to anybody.
    let elsewhere = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/mcp\r\nContent-Length: 0\r\n\r\n";
    let error = connecting("initialize", Act::Send(elsewhere.to_vec())).await;
    assert!(matches!(error, ClientError::Refused(307)), "{error:?}");
    let garbled = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}";
    let error = connecting("initialize", Act::Send(garbled.to_vec())).await;
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
    let error = connecting(
        "GET",
        Act::Send(head("405 Method Not Allowed", "text/plain")),
    )
    .await;
    assert!(matches!(error, ClientError::Refused(405)), "{error:?}");
    for bytes in [b"".to_vec(), b"SSH-2.0-x\r\n".to_vec(), vec![0; 4096]] {
        let error = connecting("initialize", Act::Send(bytes)).await;
        assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
    }
    assert!(Client::connect(9, None).await.is_err());
}

#[tokio::test]
async fn an_unknown_revision_is_refused_as_agents_do() {
    let server = Server::start(|asked| match asked.method() {
        "initialize" => result(asked, &json!({"protocolVersion": "1999-01-01"})),
        _ => usual(asked),
    })
    .await;
    let error = Client::connect_to(server.address()).await.unwrap_err();
    assert!(error.to_string().contains("1999-01-01"), "{error}");
}

#[tokio::test]
async fn a_call_of_which_nothing_is_heard_is_given_up() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" => Act::Hold(Vec::new()),
        _ => usual(asked),
    })
    .await;
    let address = server.address().with_timeouts(SOON, GIVEN_UP);
    let (client, _updates) = Client::connect_to(address).await.unwrap();
    let error = client.open_diff("/a", "x").await.unwrap_err();
    assert!(matches!(error, ClientError::Silent(_)), "{error:?}");
}

#[tokio::test]
async fn a_companion_that_ends_every_stream_is_not_asked_for_ever() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => Act::Send(events(&[])),
        _ => usual(asked),
    })
    .await;
    let error = server.propose("x").await.unwrap_err();
    assert!(matches!(error, ClientError::Lost), "{error:?}");
    assert!(server.count("GET", "") < 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_on_the_wire_make_it_panic_or_hang(
        start in prop_oneof![
            Just(Vec::new()),
            Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
            Just(head("200 OK", "application/json")),
            Just(head("200 OK", "text/event-stream")),
            Just(events(&[json!({"id": 1, "result": {"protocolVersion": "2025-06-18"}})])),
        ],
        rest: Vec<u8>,
        method in prop_oneof![Just("initialize"), Just("GET"), Just("tools/list")],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bytes = [start, rest].concat();
            let server = Server::start(move |asked| {
                let is_meant = asked.method() == method || (method == "GET" && asked.verb == "GET");
                if is_meant { Act::Send(bytes.clone()) } else { usual(asked) }
            })
            .await;
            let address = server.address().with_timeouts(SHORT, SHORT);
            let connecting = timeout(SOON, Client::connect_to(address)).await.unwrap();
            // A stream that was left alone stays open.
            if let Ok((_client, mut updates)) = connecting
                && method == "GET"
            {
                while timeout(SOON, updates.next()).await.unwrap().is_some() {}
            }
        });
    }
}
