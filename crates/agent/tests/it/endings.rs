//! Whatever ends, at whatever moment: who waits is told, no view stays open, and nothing goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pillion_agent::{Client, ClientError, Decision, Status, Update};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::server::{Act, Asked, SOON, Server, events, head, notification, result, usual};

const SESSION: &str = "mcp-session-id";

/// The usual answers of a server that gives every client a session of its own.
fn with_sessions(asked: &Asked, opened: &AtomicUsize) -> Act {
    let act = usual(asked);
    match (asked.method(), act) {
        ("initialize", Act::Send(answer)) => {
            let id = opened.fetch_add(1, Ordering::SeqCst) + 1;
            let header = format!("\r\nMcp-Session-Id: s-{id}\r\nContent-Type");
            let answer = String::from_utf8(answer).unwrap();
            Act::Send(answer.replacen("\r\nContent-Type", &header, 1).into_bytes())
        }
        (_, act) => act,
    }
}

/// Waits until `is_so`.
async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, waiting).await.expect(what);
}

fn closed(server: &Server, path: &str) -> usize {
    let asked = server.asked();
    let closings = asked.iter().filter(|asked| asked.tool() == "closeDiff");
    closings
        .filter(|asked| asked.message["params"]["arguments"]["filePath"] == path)
        .count()
}

/// The outcome beside the answer to `openDiff`.
fn accepted_at_once(asked: &Asked) -> Act {
    let outcome = notification(
        "ide/diffAccepted",
        json!({"filePath": "/a", "content": "y"}),
    );
    let answer = json!({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": []}});
    Act::Send(events(&[outcome, answer]))
}

#[tokio::test]
async fn a_session_that_the_companion_forgot_is_opened_anew() {
    for status in ["404 Not Found", "401 Unauthorized"] {
        let (opened, forgotten) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let is_forgotten = Arc::clone(&forgotten);
        let server = Server::start(move |asked| {
            let is_first = asked.header(SESSION) == Some("s-1") && asked.verb == "POST";
            if is_first && is_forgotten.load(Ordering::SeqCst) {
                return Act::Send(head(status, "text/plain"));
            }
            // Its event stream stays open all the while.
            with_sessions(asked, &opened)
        })
        .await;
        let session = server.session().await;
        let mut followed = session.follow_status();
        let mut other = session.open_diff("/other", "x").await.unwrap();
        followed.mark_unchanged();
        forgotten.store(true, Ordering::SeqCst);
        let error = session.open_diff("/a", "x").await.unwrap_err();
        assert!(
            matches!(error, ClientError::Refused(401 | 404)),
            "{error:?}"
        );
        let back = async {
            loop {
                followed.changed().await.unwrap();
                if matches!(*followed.borrow_and_update(), Status::Connected(_)) {
                    return;
                }
            }
        };
        timeout(SOON, back).await.expect("it comes back");
        let lost = timeout(SOON, other.decision()).await.unwrap().unwrap_err();
        assert!(matches!(lost, ClientError::Lost), "{lost:?}");
        assert_eq!(server.count("POST", "initialize"), 2);
        session.open_diff("/a", "x").await.unwrap();
    }
}

#[tokio::test]
async fn a_session_that_is_dropped_tells_everybody_and_leaves_no_view_open() {
    let server = Server::start(usual).await;
    let session = server.session().await;
    let (mut contexts, mut status) = (session.follow_context(), session.follow_status());
    let mut proposal = session.open_diff("/a", "x").await.unwrap();
    drop(session);
    let lost = timeout(SOON, proposal.decision()).await.unwrap();
    assert!(matches!(lost, Err(ClientError::Lost)), "{lost:?}");
    assert_eq!(timeout(SOON, contexts.next()).await.unwrap(), None);
    let over = async { while status.changed().await.is_ok() {} };
    timeout(SOON, over).await.unwrap();
    drop(proposal);
    eventually("the view is closed", || closed(&server, "/a") == 1).await;
}

#[tokio::test]
async fn a_decision_can_be_asked_for_again() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => Act::Hold(events(&[])),
        _ if asked.tool() == "openDiff" => accepted_at_once(asked),
        _ => usual(asked),
    })
    .await;
    let session = server.session().await;
    let mut proposal = session.open_diff("/a", "x").await.unwrap();
    for _ in 0..2 {
        let decision = timeout(SOON, proposal.decision()).await.unwrap();
        assert_eq!(decision.unwrap(), Decision::accepted("y"));
    }
    // The next view of the file is not this one's to close.
    let _next = session.open_diff("/a", "z").await.unwrap();
    let decision = proposal.withdraw().await.unwrap();
    assert_eq!(decision, Decision::accepted("y"));
    assert_eq!(closed(&server, "/a"), 0);
}

#[tokio::test]
async fn a_decision_that_nobody_asked_for_is_what_a_withdrawal_gives() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" if asked.message["params"]["arguments"]["newContent"] == "x" => {
            accepted_at_once(asked)
        }
        _ => usual(asked),
    })
    .await;
    let session = server.session().await;
    let proposal = session.open_diff("/a", "x").await.unwrap();
    // Once it is decided the file can be proposed again.
    let next = async {
        loop {
            match session.open_diff("/a", "z").await {
                Err(ClientError::Busy(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
                opened => return opened.unwrap(),
            }
        }
    };
    let _next = timeout(SOON, next).await.unwrap();
    let decision = proposal.withdraw().await.unwrap();
    assert_eq!(decision, Decision::accepted("y"));
    assert_eq!(closed(&server, "/a"), 0, "the view is the next proposal's");
}

#[tokio::test]
async fn an_outcome_beside_an_answer_is_heard_after_the_stream_ended() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => Act::Send(events(&[])),
        _ if asked.tool() == "openDiff" => accepted_at_once(asked),
        _ => usual(asked),
    })
    .await;
    let (client, mut updates) = Client::connect_to(server.address()).await.unwrap();
    assert_eq!(timeout(SOON, updates.next()).await.unwrap(), None);
    client.open_diff("/a", "x").await.unwrap();
    let (path, content) = ("/a".to_owned(), "y".to_owned());
    let expected = Update::accepted(path, content);
    assert_eq!(updates.next().await, Some(expected));
    assert_eq!(updates.next().await, None);
}

#[tokio::test]
async fn a_view_whose_outcome_cannot_be_heard_any_more_is_closed() {
    let server = Server::start(|asked| match asked.verb.as_str() {
        "GET" => Act::Send(events(&[])),
        _ => usual(asked),
    })
    .await;
    let session = server.session().await;
    let lost = timeout(SOON, session.propose("/a", "x")).await.unwrap();
    assert!(matches!(lost, Err(ClientError::Lost)), "{lost:?}");
    eventually("the view is closed", || closed(&server, "/a") == 1).await;
}

#[tokio::test]
async fn a_proposal_that_is_dropped_outside_of_the_runtime_closes_its_view() {
    let server = Server::start(usual).await;
    let session = server.session().await;
    let proposal = session.open_diff("/a", "x").await.unwrap();
    let dropping = std::thread::spawn(move || drop(proposal));
    dropping.join().unwrap();
    eventually("the view is closed", || closed(&server, "/a") == 1).await;
}

#[tokio::test]
async fn a_view_that_a_failing_companion_may_have_opened_is_closed() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" if asked.message["params"]["arguments"]["filePath"] == "/a" => {
            Act::Send(head("500 Internal Server Error", "text/plain"))
        }
        "openDiff" => Act::Send(head("403 Forbidden", "text/plain")),
        _ => usual(asked),
    })
    .await;
    let session = server.session().await;
    for (path, expected) in [("/refused", 403), ("/a", 500)] {
        let error = session.open_diff(path, "x").await.unwrap_err();
        let is_expected = matches!(error, ClientError::Refused(status) if status == expected);
        assert!(is_expected, "{error:?}");
    }
    eventually("the view is closed", || closed(&server, "/a") == 1).await;
    assert_eq!(closed(&server, "/refused"), 0, "no view was opened there");
}

#[tokio::test]
async fn no_task_and_no_connection_outlives_what_was_dropped() {
    let server = Server::start(|asked| match asked.tool() {
        "openDiff" if asked.message["params"]["arguments"]["filePath"] == "/never" => {
            Act::Hold(Vec::new())
        }
        _ => usual(asked),
    })
    .await;
    // Every connection is a task of the server's, until the client goes.
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let session = server.session().await;
    let mut kept = session.open_diff("/kept", "x").await.unwrap();
    for at in 0..20 {
        let path = format!("/{at}");
        // Each is dropped at another moment.
        let limit = Duration::from_micros(150 * at);
        let _ = timeout(limit, session.propose(&path, "x")).await;
        let _ = timeout(limit, session.propose("/never", "x")).await;
        let _ = timeout(limit, Client::connect_to(server.address())).await;
        let _ = timeout(limit, pillion_agent::knock(&server.address())).await;
        let _ = timeout(limit, kept.decision()).await;
    }
    drop((session, kept));
    eventually("all tasks end", || tasks() == before).await;
}

#[tokio::test]
async fn an_end_closes_what_is_open_and_says_what_was_in_it() {
    let server = Server::start(|asked| match asked.tool() {
        "closeDiff" if asked.message["params"]["arguments"]["filePath"] == "/gone" => {
            let why = json!([{"type": "text", "text": "no such view"}]);
            result(asked, &json!({"isError": true, "content": why}))
        }
        _ => usual(asked),
    })
    .await;
    let session = server.session().await;
    let mut open = session.open_diff("/a", "x").await.unwrap();
    let mut gone = session.open_diff("/gone", "x").await.unwrap();
    session.end().await;
    let decision = open.decision().await.unwrap();
    assert_eq!(decision, Decision::Closed("in the view".to_owned()));
    let lost = gone.decision().await.unwrap_err();
    assert!(matches!(lost, ClientError::Lost), "{lost:?}");
    assert_eq!(closed(&server, "/a"), 1);
}
