//! A session with a companion: the handshake and the two tools.

use std::sync::atomic::{AtomicU64, Ordering};

use ::http::Method;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use pillion_protocol::Token;
use pillion_protocol::diff::{CLOSE_DIFF, ClosedContent, OPEN_DIFF};
use serde_json::{Value, json};

use crate::http::{Address, SESSION_HEADER, unreachable};
use crate::sse::Parser;
use crate::updates::Updates;

/// The newest MCP revision with sessions.
const PROTOCOL_VERSION: &str = "2025-11-25";

/// A session with a companion.
#[derive(Debug)]
pub struct Client {
    address: Address,
    session: String,
    last_id: AtomicU64,
}

/// Why a companion could not be asked, or did not do it.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens, or the connection broke.
    #[error("no answer from the companion")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The companion refused the request.
    #[error("the companion refused the request (HTTP {0})")]
    Refused(u16),
    /// The answer breaks the protocol.
    #[error("the companion's answer makes no sense: {0}")]
    Protocol(String),
    /// The tool failed, and this is why (C5.2, C5.5).
    #[error("{0}")]
    Tool(String),
}

impl Client {
    /// Opens a session and its event stream. The companion tells by the token which agent this is.
    ///
    /// # Errors
    /// When nobody listens on the port, the token is not accepted, or the answer is not MCP.
    pub async fn connect(port: u16, token: Token) -> Result<(Self, Updates), ClientError> {
        let address = Address { port, token };
        let params = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "pillion-agent", "version": env!("CARGO_PKG_VERSION")},
        });
        let body = message(json!({"id": 0, "method": "initialize", "params": params}));
        let response = address.send(Method::POST, None, body).await?;
        let session = response
            .headers()
            .get(SESSION_HEADER)
            .and_then(|id| id.to_str().ok())
            .ok_or_else(|| ClientError::Protocol("it opened no session".to_owned()))?
            .to_owned();
        result(response.into_body()).await?;
        let initialized = message(json!({"method": "notifications/initialized"}));
        address
            .send(Method::POST, Some(&session), initialized)
            .await?;
        let stream = address
            .send(Method::GET, Some(&session), Bytes::new())
            .await?;
        let client = Self {
            address,
            session,
            last_id: AtomicU64::new(0),
        };
        Ok((client, Updates::new(stream.into_body())))
    }

    /// Proposes a new content for a file (C5.1). Returns when the view is open; the outcome comes
    /// as an [`Update`](crate::Update).
    ///
    /// # Errors
    /// [`ClientError::Tool`] when the companion cannot show it.
    pub async fn open_diff(&self, path: &str, content: &str) -> Result<(), ClientError> {
        let arguments = json!({"filePath": path, "newContent": content});
        self.call(OPEN_DIFF, arguments).await.map(drop)
    }

    /// Closes the view of a file and returns the text in it (C5.5).
    ///
    /// # Errors
    /// [`ClientError::Tool`] when there is no such view.
    pub async fn close_diff(&self, path: &str) -> Result<String, ClientError> {
        let arguments = json!({"filePath": path, "suppressNotification": true});
        let text = self.call(CLOSE_DIFF, arguments).await?;
        let closed = serde_json::from_str::<ClosedContent>(&text);
        closed
            .map(|closed| closed.content)
            .map_err(|error| ClientError::Protocol(format!("closeDiff: {error}")))
    }

    /// Ends the session.
    ///
    /// # Errors
    /// When the companion cannot be reached any more.
    pub async fn disconnect(self) -> Result<(), ClientError> {
        let session = Some(self.session.as_str());
        self.address
            .send(Method::DELETE, session, Bytes::new())
            .await
            .map(drop)
    }

    /// Calls a tool; the text of its first block, or nothing.
    async fn call(&self, name: &str, arguments: Value) -> Result<String, ClientError> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let params = json!({"name": name, "arguments": arguments});
        let body = message(json!({"id": id, "method": "tools/call", "params": params}));
        let response = self
            .address
            .send(Method::POST, Some(&self.session), body)
            .await?;
        let mut result = result(response.into_body()).await?;
        let text = match result.pointer_mut("/content/0/text").map(Value::take) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        if result["isError"] == true {
            return Err(ClientError::Tool(text));
        }
        Ok(text)
    }
}

fn message(mut message: Value) -> Bytes {
    message["jsonrpc"] = "2.0".into();
    message.to_string().into()
}

/// The `result` of the response in an event stream.
async fn result(body: Incoming) -> Result<Value, ClientError> {
    let body = body.collect().await.map_err(unreachable)?.to_bytes();
    let event = Parser::default().push(&body).into_iter().next();
    let event = event.ok_or_else(|| ClientError::Protocol("it is empty".to_owned()))?;
    let mut response: Value =
        serde_json::from_str(&event).map_err(|error| ClientError::Protocol(error.to_string()))?;
    if let Some(error) = response.get("error") {
        return Err(ClientError::Protocol(error.to_string()));
    }
    Ok(response["result"].take())
}
