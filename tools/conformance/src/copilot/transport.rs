//! HTTP and MCP on the socket: what the agent asks before there is a session, sessions, and event streams.

use pillion_http::Method;
use pillion_http::header::TRANSFER_ENCODING;
use serde_json::json;

use crate::agent::Agent;
use crate::check::checks;
use crate::mcp::{ids, ping, unknown_method, unknown_tool};
use crate::message::request;
use crate::rule::{Finding, broken, shown};
use crate::session::Session;
use crate::stream::{stream, stream_stays};
use crate::test_context::TestContext;
use crate::transport::{
    accepts_notification, agents_version, bad_json, delete, initialize, session_id,
    unknown_session, version,
};

checks! {
    Transport:
    Must "P2-initialize" => initialize,
        "`initialize` at /mcp is answered as MCP specifies",
        "The agent gives up the connection.";
    Must "P2-version" => version,
        "An unknown protocol version is answered with one that the companion supports",
        "A newer agent gives up the connection, instead of speaking an older revision.";
    Must "P2-agents-version" => agents_version,
        "The versions that agents ask for are answered with one that agents support",
        "The agent gives up the connection.";
    Must "P2-discover" => discover,
        "`server/discover`, without a session, is answered with a result or with error -32601, not with an HTTP error",
        "It is the agent's first request: after another answer it does not go on with `initialize`.";
    Must "P2-chunked" => chunked in deaf_session,
        "A body that comes in chunks, without a length, is read",
        "The agent sends all bodies so, and shows \"socket hang up\".";
    Should "P2-session" => session_id,
        "Every session has its own id",
        "The agent could not tell the companion which of two sessions it means.";
    Must "P2-notification" => accepts_notification in deaf_session,
        "A notification is accepted with 202",
        "A client that keeps to MCP takes its handshake for failed.";
    Must "P2-id" => ids([json!(0), json!(7_001), json!("7001"), json!("an id")]) in deaf_session,
        "A response has the id of its request, with the same type",
        "The agent waits forever.";
    Must "P2-ping" => ping in deaf_session,
        "`ping` is answered with an empty result",
        "A client that monitors its connection considers it dead.";
    Must "P2-unknown-method" => unknown_method in deaf_session,
        "An unknown method is answered with error -32601",
        "A client that tries what a newer companion can do waits forever.";
    Must "P2-unknown-tool" => unknown_tool in deaf_session,
        "A call to an unknown tool fails",
        "A client that tries what a newer companion can do waits forever.";
    Must "P2-bad-json" => bad_json in deaf_session,
        "A body that is not JSON is refused, and the session survives",
        "One message that is misread costs every open proposal.";
    Must "P2-stream" => stream in deaf_session,
        "GET opens an event stream",
        "The agent does not learn what is selected.";
    Must "P2-stream-stays" => stream_stays in session,
        "An event stream stays open",
        "The agent opens another one every second.";
    Should "P2-delete" => delete in deaf_session,
        "DELETE ends a session",
        "The agent connects anew once its folder is trusted, and each time leaves a session behind.";
    Should "P2-unknown-session" => unknown_session in deaf_session,
        "A session id that the companion did not issue is refused",
        "An agent whose session is gone does not learn that it has to open another.";
}

async fn discover(test: &TestContext) -> Finding {
    // A companion that serves nobody proves nothing.
    test.has_sessions().await?;
    let body = request(0, "server/discover", json!({}));
    let answer = test.send(test.probe(Method::POST).body(body)).await?;
    test.opened_by(&answer);
    let reply = answer.reply(&json!(0), test.timeouts.answer).await?;
    match reply.get("result").is_some() || reply["error"]["code"] == -32601 {
        true => Ok(shown(&reply)),
        false => broken(format!("it is answered with {}", shown(&reply))),
    }
}

async fn chunked(session: &mut Session<'_>) -> Finding {
    let id = session.new_id();
    let body = request(id.clone(), "tools/list", json!({}));
    let probe = session.probe(Method::POST).body(body);
    let probe = probe.header(TRANSFER_ENCODING, "chunked");
    let answer = session.test.send(probe).await?;
    answer.reply(&id, session.limit).await?;
    Ok("it is".to_owned())
}
