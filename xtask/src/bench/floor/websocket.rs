//! The floor of the WebSocket: reads each message, understands nothing of it, and sends what it always
//! sends.

use anyhow::Result;
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::SEC_WEBSOCKET_PROTOCOL;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::super::text;

/// Answers to `initialize`, to nothing after it, and then to each message alike.
const FIRST: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;

/// Serves connections. Their paths say how long the text is in the answers.
pub(super) async fn serve(listener: TcpListener) -> Result<()> {
    let answers = text::SIZES.map(|size| (format!("/{size}"), accepted(size)));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, answers.clone()));
    }
}

/// The answer to the call of an agent that waits in it.
fn accepted(size: usize) -> Utf8Bytes {
    let blocks = ["FILE_SAVED", &text::of(size)].map(|text| json!({"type": "text", "text": text}));
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": blocks}});
    answer.to_string().into()
}

async fn connection(stream: TcpStream, answers: [(String, Utf8Bytes); text::SIZES.len()]) {
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "the library's")]
    let upgrade = |request: &Request, mut response: Response| {
        request.uri().path().clone_into(&mut path);
        let subprotocol = HeaderValue::from_static("mcp");
        response
            .headers_mut()
            .insert(SEC_WEBSOCKET_PROTOCOL, subprotocol);
        Ok(response)
    };
    let Ok(mut socket) = accept_hdr_async(stream, upgrade).await else {
        return;
    };
    let Some((_, answer)) = answers.into_iter().find(|(known, _)| *known == path) else {
        return;
    };
    let mut messages = 0;
    while let Some(Ok(message)) = socket.next().await {
        if !message.is_text() {
            continue;
        }
        messages += 1;
        let answer = match messages {
            1 => Utf8Bytes::from_static(FIRST),
            2 => continue,
            _ => answer.clone(),
        };
        if socket.send(Message::Text(answer)).await.is_err() {
            return;
        }
    }
}
