//! Whatever ends, at whatever moment: nothing goes on.

use std::time::Duration;

use pillion_agent::{Client, Update};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::server::{Act, Asked, SOON, Server, events, notification, usual};

/// Waits until `is_so`.
async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, waiting).await.expect(what);
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
    let (client, mut updates) = server.session().await;
    client.open_diff("/kept", "x").await.unwrap();
    for at in 0..20 {
        let path = format!("/{at}");
        // Each is dropped at another moment.
        let limit = Duration::from_micros(150 * at);
        let _ = timeout(limit, client.open_diff(&path, "x")).await;
        let _ = timeout(limit, client.open_diff("/never", "x")).await;
        let _ = timeout(limit, Client::connect_to(server.address())).await;
        let _ = timeout(limit, pillion_agent::knock(&server.address())).await;
        let _ = timeout(limit, updates.decision("/kept")).await;
    }
    drop((client, updates));
    eventually("all tasks end", || tasks() == before).await;
}
