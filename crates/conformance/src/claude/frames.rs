//! Messages as WebSocket frames, right and wrong ones.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::client::{Client, session, with_client};
use super::upgrade::Upgrade;
use crate::check::checks;
use crate::rule::{Finding, blocked, broken};
use crate::test_context::TestContext;

checks! {
    Transport:
    Must "K2-ping" => ping,
        "A WebSocket ping is answered with a pong that has its payload",
        "A client that monitors its connection considers it dead.";
    Must "K2-text" => text,
        "The companion sends JSON in text frames, unmasked",
        "The agent reads nothing else.";
    Must "K2-fragments" => fragments,
        "A message in several frames is put together",
        "WebSocket libraries split long proposals, which would never arrive.";
    Must "K2-large" => large,
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

async fn ping(test: &TestContext) -> Finding {
    // Whether it opens at all is another rule's matter.
    session(test).await?.leave().await;
    let upgrade = Upgrade::of_agent(test);
    let answered = upgrade.send(test.connection.timeouts.answer).await?;
    answered.agrees()?;
    let (mut stream, mut bytes) = (answered.stream, answered.rest);
    let ping = masked(
        OpCode::Control(tokio_tungstenite::tungstenite::protocol::frame::coding::Control::Ping),
        b"still there?",
    );
    let _ = stream.write_all(&ping).await;
    let pong = async {
        loop {
            if let Some((first, payload)) = first_frame(&mut bytes) {
                // Before the handshake of MCP there is nothing else to send.
                return Some((first, payload));
            }
            if !matches!(stream.read_buf(&mut bytes).await, Ok(count) if count > 0) {
                return None;
            }
        }
    };
    let pong = timeout(test.connection.timeouts.answer, pong).await;
    // The companion knows by the end that this client is gone.
    let _ = stream.shutdown().await;
    let _ = timeout(
        test.connection.timeouts.quiet,
        stream.read_to_end(&mut bytes),
    )
    .await;
    match pong {
        Ok(Some((0x8a, payload))) if payload == b"still there?" => Ok("it is answered".to_owned()),
        Ok(Some((0x8a, payload))) => broken(format!(
            "the pong has {:?} as its payload",
            String::from_utf8_lossy(&payload)
        )),
        Ok(Some((first, _))) => broken(format!(
            "a frame that begins with {first:#04x} came instead"
        )),
        Ok(None) => broken("the connection is closed"),
        Err(_) => broken("no pong arrived"),
    }
}

/// A frame of a client, as it must be.
fn masked(opcode: OpCode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | u8::from(opcode)];
    let length = u8::try_from(payload.len()).unwrap_or_default();
    bytes.push(0x80 | length);
    // A mask of zeros changes nothing.
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
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

async fn text(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        client.listen(test.connection.timeouts.quiet).await;
        match (&client.flaw, &client.end) {
            (Some(flaw), _) => broken(format!("received: {flaw}")),
            (None, Some(end)) => broken(end.clone()),
            (None, None) => Ok(format!("{} messages", client.messages.len())),
        }
    })
    .await
}

async fn fragments(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        let id = client.id();
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"é": "漢字"}});
        let message = message.to_string().into_bytes();
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
        let reply = client.answer(&id).await?;
        match reply.get("result") {
            Some(_) => Ok(format!("{} frames", last + 1)),
            None => blocked(&["K4-ping"], "the ping in it is not answered"),
        }
    })
    .await
}

async fn large(test: &TestContext) -> Finding {
    with_client(test, async |client: &mut Client<'_>| {
        client.limit *= 8;
        let padding = "x".repeat(LARGE);
        let reply = client
            .ask("ping", json!({"_meta": {"padding": padding}}))
            .await?;
        match reply.get("result") {
            Some(_) => Ok(format!("{LARGE} bytes")),
            None => blocked(&["K4-ping"], "the ping in it is not answered"),
        }
    })
    .await
}

async fn binary(test: &TestContext) -> Finding {
    with_client(test, async |other: &mut Client<'_>| {
        let mut client = session(test).await?;
        for bytes in [&b"{}"[..], &[0xff, 0, 0xfe]] {
            // It may have been cut off by the first.
            let _ = client.send(Message::binary(bytes.to_vec())).await;
        }
        client.listen(test.connection.timeouts.quiet).await;
        let end = client.end.clone();
        client.leave().await;
        match other.is_served().await {
            Ok(()) => Ok(end.unwrap_or_else(|| "it is ignored".to_owned())),
            Err(error) => broken(format!("another client is no longer served: {}", error.why)),
        }
    })
    .await
}

async fn unmasked(test: &TestContext) -> Finding {
    session(test).await?.leave().await;
    let upgrade = Upgrade::of_agent(test);
    let answered = upgrade.send(test.connection.timeouts.answer).await?;
    answered.agrees()?;
    let mut stream = answered.stream;
    let text = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut frame = vec![0x81, u8::try_from(text.len()).unwrap_or_default()];
    frame.extend(text);
    let _ = stream.write_all(&frame).await;
    let mut bytes = answered.rest;
    let is_closed = timeout(
        test.connection.timeouts.answer,
        closed(&mut stream, &mut bytes),
    );
    let is_closed = is_closed.await.is_ok();
    match first_frame(&mut bytes) {
        Some((0x88, payload)) => match payload[..] {
            [high, low, ..] if u16::from_be_bytes([high, low]) == 1002 => {
                Ok("it is closed with 1002".to_owned())
            }
            [high, low, ..] => {
                let code = u16::from_be_bytes([high, low]);
                broken(format!("it is closed with {code}"))
            }
            _ => Ok("it is closed without a code".to_owned()),
        },
        Some(_) => broken("the request in it is answered"),
        None if is_closed => Ok("the connection is cut".to_owned()),
        None => broken("it is neither answered nor cut off"),
    }
}

/// Reads to the end, or to the first frame.
async fn closed(stream: &mut TcpStream, bytes: &mut Vec<u8>) {
    loop {
        if bytes.len() >= 2 && bytes.len() >= 2 + usize::from(bytes[1] & 0x7f) {
            return;
        }
        if !matches!(stream.read_buf(bytes).await, Ok(count) if count > 0) {
            return;
        }
    }
}
