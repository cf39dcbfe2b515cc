//! Messages as WebSocket frames, right and wrong ones.

use std::time::Instant;

use pillion_http::Upgraded;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

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

/// The longest frame that is read by hand.
const MAX_FRAME: usize = 125;

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

/// Takes the first frame off: its first byte and its payload, if it is short.
fn first_frame(bytes: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let (first, length) = (*bytes.first()?, usize::from(*bytes.get(1)?));
    if length > MAX_FRAME {
        return Some((first, Vec::new()));
    }
    if bytes.len() < 2 + length {
        return None;
    }
    let payload = bytes[2..2 + length].to_vec();
    bytes.drain(..2 + length);
    Some((first, payload))
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
    let (mut stream, mut bytes) = (answer.upgraded().await?, Vec::new());
    let text = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut frame = vec![0x81, u8::try_from(text.len()).unwrap_or_default()];
    frame.extend(text);
    let _ = stream.write_all(&frame).await;
    let closed = closed(&mut stream, &mut bytes);
    let is_closed = timeout(test.timeouts.answer, closed).await.is_ok();
    match first_frame(&mut bytes) {
        Some((0x88, payload)) => match payload[..] {
            [high, low, ..] => match u16::from_be_bytes([high, low]) {
                1002 => Ok("it is closed with 1002".to_owned()),
                code => broken(format!("it is closed with {code}")),
            },
            _ => Ok("it is closed without a code".to_owned()),
        },
        Some(_) => broken("the request in it is answered"),
        None if is_closed => Ok("the connection is cut".to_owned()),
        None => broken("it is neither answered nor cut off"),
    }
}

/// Reads to the end, or to the first frame.
async fn closed(stream: &mut Upgraded, bytes: &mut Vec<u8>) {
    loop {
        if bytes.len() >= 2 && bytes.len() >= 2 + usize::from(bytes[1] & 0x7f) {
            return;
        }
        if !matches!(stream.read_buf(bytes).await, Ok(count) if count > 0) {
            return;
        }
    }
}
