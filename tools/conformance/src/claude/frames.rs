//! Messages as WebSocket frames, right and wrong ones.

use std::time::Instant;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::client::Client;
use super::upgrade::{agrees, of_agent};
use crate::agent::Agent;
use crate::check::checks;
use crate::message::request;
use crate::rule::{Finding, Otherwise, blocked, broken};
use crate::test_context::TestContext;

checks! {
    Transport:
    Must "K2-ping" => ping in client,
        "A WebSocket ping is answered with a pong that has its payload",
        "A client that monitors its connection considers it dead.";
    Must "K2-text" => text in client,
        "The companion sends JSON in text frames, unmasked",
        "The agent reads nothing else.";
    Must "K2-fragments" => fragments in client,
        "A message in several frames is put together",
        "WebSocket libraries split long proposals, which would never arrive.";
    Must "K2-large" => large in client,
        "A message of 5 MB is taken whole",
        "The proposal for a large file ends the connection instead of opening a view.";
    Should "K2-binary" => binary,
        "A binary message ends at most its own connection",
        "One faulty program disconnects every agent from the companion.";
    Must "K2-unmasked" => unmasked,
        "A client that does not mask its frames is cut off; the code, if any, is 1002",
        "RFC 6455 requires it, to protect proxies from requests that a web page makes a browser send.";
}

const LARGE: usize = 5_000_000;

async fn ping(client: &mut Client<'_>) -> Finding {
    const PAYLOAD: &str = "still there?";
    client.send(Message::Ping(PAYLOAD.into())).await?;
    let until = Instant::now() + client.limit;
    while client.pong.is_none() && client.hear(until).await {}
    match &client.pong {
        Some(payload) if payload == PAYLOAD => Ok("it is answered".to_owned()),
        Some(payload) => broken(format!("the pong has {payload:?} as its payload")),
        None => broken(client.end().unwrap_or("no pong arrived")),
    }
}

async fn text(client: &mut Client<'_>) -> Finding {
    client.settle().await;
    match (&client.flaw, client.end()) {
        (Some(flaw), _) => broken(format!("received: {flaw}")),
        (None, Some(end)) => broken(end),
        (None, None) => Ok(format!("{} messages", client.messages().len())),
    }
}

/// The answer to a ping in an odd form, of so many parts.
fn answered(reply: &Value, count: usize, parts: &str) -> Finding {
    match reply.get("result") {
        Some(_) => Ok(format!("{count} {parts}")),
        None => blocked(&["K4-ping"], "the ping in it is not answered"),
    }
}

async fn fragments(client: &mut Client<'_>) -> Finding {
    let id = client.new_id();
    let from = client.messages().len();
    let message = request(id.clone(), "ping", json!({"é": "漢字"})).into_bytes();
    let last = message.len() - 1;
    // One byte each: characters are cut, too.
    for (at, byte) in message.into_iter().enumerate() {
        let opcode = if at == 0 { Data::Text } else { Data::Continue };
        let frame = Frame::message(vec![byte], OpCode::Data(opcode), at == last);
        client.send(Message::Frame(frame)).await?;
        if at == last / 2 {
            client.send(Message::Ping(Vec::new().into())).await?;
        }
    }
    answered(&client.answer(from, &id).await?, last + 1, "frames")
}

async fn large(client: &mut Client<'_>) -> Finding {
    client.limit *= 8;
    let params = json!({"_meta": {"padding": "x".repeat(LARGE)}});
    answered(&client.ask("ping", params).await?, LARGE, "bytes")
}

async fn binary(test: &TestContext) -> Finding {
    let mut other = test.client().await?;
    let mut client = test.client().await?;
    for bytes in [&b"{}"[..], &[0xff, 0, 0xfe]] {
        // It may have been cut off by the first.
        let _ = client.send(Message::binary(bytes.to_vec())).await;
    }
    client.settle().await;
    let end = client.end().unwrap_or("it is ignored").to_owned();
    client.leave().await;
    let served = other.is_served().await;
    served.or_broken("another client is no longer served")?;
    Ok(end)
}

async fn unmasked(test: &TestContext) -> Finding {
    // Whether it opens at all is another rule's matter.
    test.has_clients().await?;
    let answer = test.send(of_agent(test)).await?;
    agrees(&answer)?;
    let mut stream = answer.upgraded().await?;
    let text = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut frame = vec![0x81, u8::try_from(text.len()).unwrap_or_default()];
    frame.extend(text);
    let _ = stream.write_all(&frame).await;
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    let Ok(first) = timeout(test.timeouts.answer, socket.next()).await else {
        return broken("it is neither answered nor cut off");
    };
    match first {
        Some(Ok(Message::Close(Some(close)))) => match u16::from(close.code) {
            1002 => Ok("it is closed with 1002".to_owned()),
            code => broken(format!("it is closed with {code}")),
        },
        Some(Ok(Message::Close(None))) => Ok("it is closed without a code".to_owned()),
        Some(Ok(_)) => broken("the request in it is answered"),
        None
        | Some(Err(Error::Io(_) | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake))) => {
            Ok("the connection is cut".to_owned())
        }
        Some(Err(error)) => broken(format!("it is answered with no frame: {error}")),
    }
}
