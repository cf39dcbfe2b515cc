//! Asks whether a companion would let an agent in, without opening a session.
//!
//! Some companions, VS Code's among them, serve all sessions with one MCP server: a second session
//! takes the answers of the first, whose agent then waits forever. A request without a session
//! disturbs nobody.

use pillion_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use pillion_http::{Bytes, Method, Request, StatusCode};
use pillion_protocol::claude::{AUTHORIZATION_HEADER, WEBSOCKET_PATH};
use pillion_protocol::{Address as At, MCP_PATH, json};
use serde_json::json;

use crate::address::Address;
use crate::error::{ClientError, unreachable, within};

/// The longest answer that is read, in bytes: a companion's to a ping is short.
const MAX_ANSWER: usize = 1024 * 1024;

/// Asks whether this is a companion that takes the token of `address`.
///
/// # Errors
/// When nothing listens or answers in time, the token or the host's name is refused
/// ([`ClientError::Refused`] with 401 or 403), or what answers is not a companion.
pub async fn knock(address: &Address) -> Result<(), ClientError> {
    let (status, is_mcp) = ask(address).await?;
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(ClientError::Refused(status.as_u16()));
    }
    if is_mcp {
        return Ok(());
    }
    // A refusal may be without MCP's words. That the token made a difference is as good (C3.3).
    let stranger = address.clone().with_token(None);
    match ask(&stranger).await? {
        (StatusCode::UNAUTHORIZED, _) => Ok(()),
        _ => Err(ClientError::Protocol(format!(
            "it answers with HTTP {}, not as an MCP server does",
            status.as_u16()
        ))),
    }
}

/// Returns the status of the answer to a request without a session, and true if it is a message of MCP's.
async fn ask(address: &Address) -> Result<(StatusCode, bool), ClientError> {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(MCP_PATH)
        .header(HOST, address.host_header())
        .header(ACCEPT, "application/json, text/event-stream")
        .header(CONTENT_TYPE, "application/json");
    if let Some(bearer) = address.token_header("Bearer ")? {
        request = request.header(AUTHORIZATION, bearer);
    }
    let request = request.body(ping.to_string().into()).map_err(unreachable)?;
    let asked = async {
        let answer = match address.at() {
            At::Tcp(port) => pillion_http::send((address.host(), *port), request).await?,
            At::Unix(path) => pillion_http::send_on_socket(path, request).await?,
        };
        let status = answer.status;
        let is_mcp = match answer.media_type().as_str() {
            "text/event-stream" => status.is_success(),
            "application/json" => {
                let body = answer.body.up_to(MAX_ANSWER).all().await?;
                json::value(&body).is_ok_and(|it| it["jsonrpc"] == "2.0")
            }
            _ => false,
        };
        Ok((status, is_mcp))
    };
    within(address.limit(), asked).await
}

/// The same of a companion of Claude Code's protocol: asks where the WebSocket is, without asking for an upgrade. A server that answers anything but a refusal
/// may be a companion.
///
/// # Errors
/// When nothing listens or answers in time, the token is refused ([`ClientError::Refused`] with 401 or
/// 403), or what listens there does not speak HTTP.
pub async fn claude(address: &Address) -> Result<(), ClientError> {
    let (host, port) = (address.host(), address.port()?);
    let mut request = Request::builder()
        .uri(WEBSOCKET_PATH)
        .header(HOST, format!("{host}:{port}"));
    if let Some(token) = address.token_header("")? {
        request = request.header(AUTHORIZATION_HEADER, token);
    }
    let request = request.body(Bytes::new()).map_err(unreachable)?;
    let asked = async { Ok(pillion_http::send((host, port), request).await?) };
    let answer = within(address.limit(), asked).await?;
    match answer.status.as_u16() {
        status @ (401 | 403) => Err(ClientError::Refused(status)),
        _ => Ok(()),
    }
}
