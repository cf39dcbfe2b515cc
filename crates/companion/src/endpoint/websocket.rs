//! MCP's transport for Claude Code and opencode: one WebSocket is one session, and its event stream. It
//! ends with the connection: the agent dials anew, and asks nothing again that it had asked before.
//!
//! The frames are `tungstenite`'s, because agents use them in no special way.

mod connection;

use std::sync::Arc;

use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use pillion_protocol::claude::{SUBPROTOCOL, WEBSOCKET_PATH};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

pub(super) use self::connection::Upgrade;
use super::Shared;
use super::response::{self, Refusal, Response};
use crate::wire::Wire;

/// The only version that there is (RFC 6455).
const VERSION: &str = "13";

/// The length of a key: 16 bytes in base64.
const KEY_LENGTH: usize = 24;

/// Returns true if a request asks for a WebSocket.
pub(super) fn is_wanted(request: &Request<Incoming>) -> bool {
    request.uri().path() == WEBSOCKET_PATH
        && request.method() == Method::GET
        && lists(request.headers(), &UPGRADE, "websocket")
}

/// Answers a request for a WebSocket, and returns what the connection becomes with that.
pub(super) fn upgrade(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    wire: Arc<Wire>,
) -> Result<(Response, Upgrade), Refusal> {
    let headers = request.headers();
    let agent = shared.guard.admit_websocket(headers)?;
    if !lists(headers, &CONNECTION, "upgrade") {
        let text = "Bad Request: the Connection header does not say Upgrade";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
    }
    let version = headers.get(SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version != VERSION) {
        let text = "Upgrade Required: the WebSocket version is 13";
        let version = (SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        return Err(Refusal::new(StatusCode::UPGRADE_REQUIRED, text).with(version));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let key = key.filter(|key| key.len() == KEY_LENGTH).ok_or_else(|| {
        let text = "Bad Request: Sec-WebSocket-Key is missing, or not 16 bytes in base64";
        Refusal::new(StatusCode::BAD_REQUEST, text)
    })?;
    let mut response = response::empty(StatusCode::SWITCHING_PROTOCOLS);
    let answered = response.headers_mut();
    let accept = HeaderValue::from_str(&derive_accept_key(key)).expect("it is base64");
    answered.insert(SEC_WEBSOCKET_ACCEPT, accept);
    answered.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    answered.insert(UPGRADE, HeaderValue::from_static("websocket"));
    // Compression is declined: on loopback it costs more than it saves.
    if lists(headers, &SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        let subprotocol = HeaderValue::from_static(SUBPROTOCOL);
        answered.insert(SEC_WEBSOCKET_PROTOCOL, subprotocol);
    }
    let upgrade = Upgrade {
        on: hyper::upgrade::on(request),
        agent,
        mcp: shared.mcp.clone(),
        wire,
        unfinished: shared.unfinished.clone(),
    };
    Ok((response, upgrade))
}

/// Returns true if a header lists a word, whatever its case.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|listed| listed.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_every_way_of_listing_it() {
        let mut headers = HeaderMap::new();
        for value in ["keep-alive, Upgrade", "x"] {
            headers.append(CONNECTION, value.parse().unwrap());
        }
        assert!(lists(&headers, &CONNECTION, "upgrade") && lists(&headers, &CONNECTION, "x"));
        assert!(!lists(&headers, &CONNECTION, "up") && !lists(&headers, &UPGRADE, "x"));
    }
}
