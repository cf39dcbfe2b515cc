//! The parts that every request of one session needs, and the requests without a result.

use std::time::Duration;

use pillion_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use pillion_http::{Answer, Bytes, Events, HeaderName, HeaderValue, Method, Request};
use pillion_protocol::diff::MAX_CONTENT;
use pillion_protocol::{Address as At, MCP_PATH};
use serde_json::{Value, json};

use crate::client::error::{ClientError, unreachable, within};
use pillion_agent::{Address, ClientError as Refusal};

/// The longest message of a companion, in bytes: the longest content may double its size as a JSON
/// string.
pub(crate) const MAX_MESSAGE: usize = 2 * MAX_CONTENT + 1024 * 1024;

/// The time limit for the answer to a tool call.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// JSON-RPC's code for a method that is not there.
const METHOD_NOT_FOUND: i32 = -32601;

/// The address of a session, and its id and version once it is open.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) id: Option<HeaderValue>,
    pub(crate) version: Option<HeaderValue>,
}

impl Link {
    /// Before a session is open.
    pub(crate) fn new(address: Address) -> Self {
        Self {
            address,
            id: None,
            version: None,
        }
    }

    /// Sends a request; the answer's body is still to be read. A refusal is an error.
    pub(crate) async fn send(&self, method: Method, body: Bytes) -> Result<Answer, ClientError> {
        let answer = self.exchange(method, body).await?;
        if !answer.status.is_success() {
            return Err(Refusal::Refused(answer.status.as_u16()).into());
        }
        Ok(answer)
    }

    /// Sends a request; whatever is answered.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(MCP_PATH)
            .header(HOST, self.address.host_header())
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        if let Some(bearer) = self.address.token_header("Bearer ")? {
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(id) = &self.id {
            request = request.header(SESSION_HEADER, id);
        }
        if let Some(version) = &self.version {
            request = request.header(VERSION_HEADER, version);
        }
        let request = request.body(body).map_err(unreachable)?;
        Ok(match self.address.at() {
            At::Tcp(port) => pillion_http::send((self.address.host(), *port), request).await?,
            At::Unix(path) => pillion_http::send_on_socket(path, request).await?,
        })
    }

    /// As [`send`](Self::send), where nothing is to be read from the answer.
    pub(crate) async fn tell(&self, method: Method, body: Bytes) -> Result<(), ClientError> {
        let sent = self.send(method, body);
        within(self.address.limit(), sent).await.map(drop)
    }

    /// Opens the session's event stream.
    ///
    /// # Errors
    /// When the companion cannot be reached, refuses, or answers with something else.
    pub(crate) async fn open_stream(&self) -> Result<Events, ClientError> {
        let request = self.send(Method::GET, Bytes::new());
        let answer = within(self.address.limit(), request).await?;
        if answer.media_type() != "text/event-stream" {
            let text = "its response is not an event stream";
            return Err(ClientError::protocol(text.to_owned()));
        }
        Ok(answer.body.events(MAX_MESSAGE))
    }

    /// Sends what has no answer.
    ///
    /// # Errors
    /// When the companion cannot be reached, or refuses it.
    pub(crate) async fn notify(&self, message: Value) -> Result<(), ClientError> {
        self.tell(Method::POST, envelope(message)).await
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
