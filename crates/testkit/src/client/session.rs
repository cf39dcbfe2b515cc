//! One MCP session with a companion: the handshake and the two tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pillion_http::{Bytes, HeaderMap, HeaderValue, Method};
use pillion_protocol::Token;
use pillion_protocol::diff::{CLOSE_DIFF, ClosedContent, OPEN_DIFF};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::error::{ClientError, within};
use crate::client::introduction::{self, Server};
use crate::client::link::{CALL_TIMEOUT, Link, SESSION_HEADER, envelope};
use crate::client::message::{self, Message};
use crate::client::updates::{Updates, update};
use pillion_agent::Address;

/// The number of notifications that may come with the answers to calls before they are read.
const MAX_ASIDE: usize = 64;

/// A session with a companion, as long as its connection lasts.
#[derive(Debug)]
pub struct Client {
    link: Arc<Link>,
    last_id: AtomicU64,
    aside: mpsc::Sender<crate::client::Update>,
    server: Server,
}

impl Client {
    /// Opens a session with the companion on `port` of this machine, and its event stream.
    ///
    /// # Errors
    /// As [`connect_to`](Self::connect_to).
    pub async fn connect(
        port: u16,
        token: impl Into<Option<Token>>,
    ) -> Result<(Self, Updates), ClientError> {
        Self::connect_to(Address::new(port).with_token(token)).await
    }

    /// Opens a session and its event stream, and asks for the tools. The stream is open before the
    /// first diff can be: no outcome is lost.
    ///
    /// # Errors
    /// [`Unreachable`](pillion_agent::ClientError::Unreachable) when nothing listens, [`Silent`](pillion_agent::ClientError::Silent) when what listens
    /// does not answer in time ([`Address::with_timeout`]), [`Refused`](pillion_agent::ClientError::Refused) when the token
    /// is not accepted or there is no event stream, [`Protocol`](pillion_agent::ClientError::Protocol) when the answers are
    /// not MCP, or of a revision that this client does not know.
    pub async fn connect_to(address: Address) -> Result<(Self, Updates), ClientError> {
        let (aside, asides) = mpsc::channel(MAX_ASIDE);
        let limit = address.limit();
        let mut client = Self {
            link: Arc::new(Link::new(address)),
            last_id: AtomicU64::new(0),
            aside,
            server: Server::default(),
        };
        client.link = Arc::new(within(limit, client.initialize()).await?);
        let initialized = json!({"method": "notifications/initialized"});
        client.link.notify(initialized).await?;
        let stream = client.link.open_stream().await?;
        let tools = within(limit, client.request("tools/list", json!({}))).await;
        // As agents do: without an answer to that it has none.
        client.server.tools = introduction::tool_names(tools.map(|(_, result)| result))?;
        let updates = Updates::new(Arc::clone(&client.link), stream, asides);
        Ok((client, updates))
    }

    /// The companion, as it introduces itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns true if the companion offers both tools (C5.1, C5.4). If not, agents leave diffs
    /// alone.
    pub fn can_diff(&self) -> bool {
        let has = |name: &str| self.server.tools.iter().any(|tool| tool == name);
        has(OPEN_DIFF) && has(CLOSE_DIFF)
    }

    /// Proposes a new content for a file, by its absolute path (C5.1). Returns when the view is open;
    /// the outcome comes as an [`Update`](crate::client::Update). After an error other than those that are
    /// named here, or when this is dropped, the view may still be open.
    ///
    /// # Errors
    /// [`ClientError::NoDiffs`] when the companion shows none, [`ClientError::Tool`] when it cannot
    /// show this one, [`Refused`](pillion_agent::ClientError::Refused) when it has forgotten the session (404) or takes the
    /// token no more (401), and as [`connect_to`](Self::connect_to).
    pub async fn open_diff(&self, path: &str, content: &str) -> Result<(), ClientError> {
        if !self.can_diff() {
            return Err(ClientError::NoDiffs);
        }
        let arguments = json!({"filePath": path, "newContent": content});
        self.call(OPEN_DIFF, arguments).await.map(drop)
    }

    /// Closes the view of a file and returns the text in it (C5.5). No outcome comes afterwards
    /// (C5.10).
    ///
    /// # Errors
    /// [`ClientError::Tool`] when there is no such view; otherwise as
    /// [`open_diff`](Self::open_diff).
    pub async fn close_diff(&self, path: &str) -> Result<String, ClientError> {
        let arguments = json!({"filePath": path, "suppressNotification": true});
        let text = self.call(CLOSE_DIFF, arguments).await?;
        let closed = serde_json::from_str::<ClosedContent>(&text);
        closed
            .map(|closed| closed.content)
            .map_err(|error| ClientError::protocol(format!("closeDiff: {error}")))
    }

    /// Ends the session. (Dropping a client says nothing to the companion, which notices that the
    /// event stream ends when its [`Updates`] are dropped, too.)
    ///
    /// # Errors
    /// When the companion cannot be reached any more, or does not let sessions be ended.
    pub async fn disconnect(self) -> Result<(), ClientError> {
        self.link.tell(Method::DELETE, Bytes::new()).await
    }

    async fn initialize(&mut self) -> Result<Link, ClientError> {
        let params = introduction::params(introduction::CLIENT_NAME);
        let (headers, result) = self.request("initialize", params).await?;
        let (server, version) = introduction::server(&result)?;
        self.server = server;
        Ok(Link {
            address: self.link.address.clone(),
            id: headers.get(SESSION_HEADER).cloned(),
            version: HeaderValue::from_str(&version).ok(),
        })
    }

    /// Calls a tool; its first text, or nothing.
    async fn call(&self, name: &str, arguments: Value) -> Result<String, ClientError> {
        let params = json!({"name": name, "arguments": arguments});
        let request = self.request("tools/call", params);
        let (_, mut result) = within(CALL_TIMEOUT, request).await?;
        let texts = message::tool_texts(name, &mut result)?;
        Ok(texts.into_iter().next().unwrap_or_default())
    }

    async fn request(
        &self,
        method: &str,
        params: Value,
    ) -> Result<(HeaderMap, Value), ClientError> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let body = envelope(json!({"id": id, "method": method, "params": params}));
        let answer = self.link.send(Method::POST, body).await?;
        message::result(answer, id, |message| self.hear(message)).await
    }

    /// Passes on what came with an answer.
    fn hear(&self, message: Message) -> Result<(), ClientError> {
        let Message::Notification { method, params } = message else {
            return Ok(());
        };
        let Some(update) = update(&method, params) else {
            return Ok(());
        };
        self.aside.try_send(update).or_else(|error| match error {
            mpsc::error::TrySendError::Closed(_) => Ok(()),
            mpsc::error::TrySendError::Full(_) => {
                let text = "it came with too many notifications";
                Err(ClientError::protocol(text.to_owned()))
            }
        })
    }
}
