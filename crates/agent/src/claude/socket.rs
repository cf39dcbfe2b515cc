//! The WebSocket to a companion: the upgrade as Claude Code asks for it, and its limits.

use futures_util::stream::{SplitSink, SplitStream, StreamExt};
use pillion_http::HeaderValue;
use pillion_http::header::SEC_WEBSOCKET_PROTOCOL;
use pillion_protocol::claude::{AUTHORIZATION_HEADER, SUBPROTOCOL, WEBSOCKET_PATH};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::address::{Address, MAX_MESSAGE};
use crate::error::{ClientError, unreachable};

/// The half that sends.
pub(super) type Sink = SplitSink<WebSocketStream<TcpStream>, Message>;
/// The half that receives.
pub(super) type Stream = SplitStream<WebSocketStream<TcpStream>>;

/// Connects and upgrades.
///
/// # Errors
/// When nothing listens, the upgrade is refused, or what answers is not a companion of this protocol.
pub(super) async fn open(address: &Address) -> Result<(Sink, Stream), ClientError> {
    let (host, port) = (address.host(), address.port()?);
    let mut request = format!("ws://{host}:{port}{WEBSOCKET_PATH}")
        .into_client_request()
        .map_err(unreachable)?;
    let headers = request.headers_mut();
    let subprotocol = HeaderValue::from_static(SUBPROTOCOL);
    headers.insert(SEC_WEBSOCKET_PROTOCOL, subprotocol);
    if let Some(token) = address.token_header("")? {
        headers.insert(AUTHORIZATION_HEADER, token);
    }
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let opened = client_async_with_config(request, stream, Some(config)).await;
    let (socket, _) = opened.map_err(failure)?;
    Ok(socket.split())
}

/// The error of an upgrade that failed.
fn failure(error: Error) -> ClientError {
    match error {
        Error::Http(answer) if !answer.status().is_success() => {
            ClientError::Refused(answer.status().as_u16())
        }
        Error::Io(error) => unreachable(error),
        error => ClientError::Protocol(format!("no WebSocket: {error}")),
    }
}
