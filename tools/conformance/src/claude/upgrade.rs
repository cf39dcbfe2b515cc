//! The HTTP request that asks for a WebSocket, as the agent makes it, and the answer that agrees.

use pillion_http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use pillion_http::{HeaderName, Method, StatusCode};
use pillion_protocol::claude::{AUTHORIZATION_HEADER, SUBPROTOCOL, WEBSOCKET_PATH};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::probe::{Answer, NoAnswer, Probe};
use crate::test_context::TestContext;

/// The header that presents the token.
pub(super) const TOKEN: HeaderName = HeaderName::from_static(AUTHORIZATION_HEADER);

/// As good as any: it only proves that the other side speaks WebSocket.
const KEY: &str = "cGlsbGlvbi1jb25mb3JtMQ==";

/// A request as the agent makes it.
pub(super) fn of_agent(test: &TestContext) -> Probe {
    match test.target.token() {
        Some(token) => of_stranger(test).header(TOKEN, token.expose()),
        None => of_stranger(test),
    }
}

/// The same without a token.
pub(super) fn of_stranger(test: &TestContext) -> Probe {
    Probe::new(Method::GET, test.target.address(), WEBSOCKET_PATH)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, KEY)
        .header(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL)
}

/// Checks that an answer agrees to a WebSocket, as specified (RFC 6455, 4.2.2).
pub(super) fn agrees(answer: &Answer) -> Result<(), NoAnswer> {
    if answer.status != StatusCode::SWITCHING_PROTOCOLS {
        return NoAnswer::because(answer.shown());
    }
    for (name, wanted) in [(UPGRADE, "websocket"), (CONNECTION, "upgrade")] {
        let values = answer.values(name.clone()).join(", ");
        let mut words = values.split(',').map(str::trim);
        if !words.any(|word| word.eq_ignore_ascii_case(wanted)) {
            return NoAnswer::because(format!("HTTP 101 with `{name}: {values}`"));
        }
    }
    match answer.values(SEC_WEBSOCKET_ACCEPT)[..] {
        [value] if value == derive_accept_key(KEY.as_bytes()) => Ok(()),
        _ => NoAnswer::because("HTTP 101 without the right `Sec-WebSocket-Accept`"),
    }
}
