//! Asks whether a companion of Claude Code's protocol would let one in, without opening a session: the effect
//! of a second session on other companions is not known.

use pillion_http::header::HOST;
use pillion_http::{Bytes, Request};
use pillion_protocol::claude::{AUTHORIZATION_HEADER, WEBSOCKET_PATH};

use crate::address::Address;
use crate::error::{ClientError, unreachable, within};

/// Asks where the WebSocket is, without asking for an upgrade. A server that answers anything but a refusal
/// may be a companion.
///
/// # Errors
/// When nothing listens or answers in time, the token is refused ([`ClientError::Refused`] with 401 or
/// 403), or what listens there does not speak HTTP.
pub async fn knock(address: &Address) -> Result<(), ClientError> {
    let (host, port) = (address.host(), address.port()?);
    let mut request = Request::builder()
        .uri(WEBSOCKET_PATH)
        .header(HOST, format!("{host}:{port}"));
    if let Some(token) = address.token_header("")? {
        request = request.header(AUTHORIZATION_HEADER, token);
    }
    let request = request.body(Bytes::new()).map_err(unreachable)?;
    let asked = async { Ok(pillion_http::send((host, port), request).await?) };
    let answer = within(address.handshake, asked).await?;
    match answer.status.as_u16() {
        status @ (401 | 403) => Err(ClientError::Refused(status)),
        _ => Ok(()),
    }
}
