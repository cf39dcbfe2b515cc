//! What every request of one session needs, and the requests without a result.

use pillion_http::{Bytes, Events, Method};
use serde_json::{Value, json};

use crate::address::{Address, MAX_MESSAGE, SessionHeaders};
use crate::error::{ClientError, within};

/// JSON-RPC's code for a method that is not there.
const METHOD_NOT_FOUND: i32 = -32601;

/// Where a session is, and what identifies it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) session: SessionHeaders,
}

impl Link {
    /// Opens the session's event stream.
    ///
    /// # Errors
    /// When the companion cannot be reached, refuses, or answers with something else.
    pub(crate) async fn open_stream(&self) -> Result<Events, ClientError> {
        let Self { address, session } = self;
        let request = address.send(Method::GET, session, Bytes::new());
        let answer = within(address.handshake, request).await?;
        if answer.media_type() != "text/event-stream" {
            let text = "its response is not an event stream";
            return Err(ClientError::Protocol(text.to_owned()));
        }
        Ok(answer.body.events(MAX_MESSAGE))
    }

    /// Answers a request of the companion's. It may not care any more.
    pub(crate) async fn reply(&self, id: Value, method: &str) {
        let _ = self.notify(reply(id, method)).await;
    }

    /// Sends what has no answer.
    ///
    /// # Errors
    /// When the companion cannot be reached, or refuses it.
    pub(crate) async fn notify(&self, message: Value) -> Result<(), ClientError> {
        let Self { address, session } = self;
        let body = envelope(message);
        address.tell(Method::POST, session, body).await
    }
}

/// The answer to a request of a companion's.
pub(crate) fn reply(id: Value, method: &str) -> Value {
    if method == "ping" {
        json!({"id": id, "result": {}})
    } else {
        let error = json!({"code": METHOD_NOT_FOUND, "message": "method not found"});
        json!({"id": id, "error": error})
    }
}

/// A message as it is sent.
pub(crate) fn envelope(mut message: Value) -> Bytes {
    message["jsonrpc"] = "2.0".into();
    message.to_string().into()
}
