//! Where a companion is, and a request to it.

use std::time::Duration;

use pillion_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use pillion_http::{Answer, Bytes, HeaderName, HeaderValue, Method, Request};
use pillion_protocol::diff::MAX_CONTENT;
use pillion_protocol::{MCP_PATH, Token};

use crate::error::{ClientError, unreachable, within};

pub(crate) const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The longest message of a companion, in bytes: the longest content may double its size as a JSON
/// string.
pub(crate) const MAX_MESSAGE: usize = 2 * MAX_CONTENT + 1024 * 1024;

/// Where a companion is, and what opens it. `Debug` does not show the token.
#[derive(Debug, Clone)]
pub struct Address {
    host: String,
    port: u16,
    token: Option<Token>,
    /// How long a step of the handshake may take.
    pub(crate) handshake: Duration,
    /// How long the answer to a tool call may take.
    pub(crate) call: Duration,
}

/// What goes with every request once a session is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionHeaders {
    pub(crate) id: Option<HeaderValue>,
    pub(crate) version: Option<HeaderValue>,
}

impl Address {
    /// The companion on this port of this machine, which asks for no token.
    pub fn new(port: u16) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port,
            token: None,
            handshake: Duration::from_secs(10),
            call: Duration::from_secs(60),
        }
    }

    /// Presents this token (C3.2). A companion of Pillion's recognises the agent by it.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<Option<Token>>) -> Self {
        self.token = token.into();
        self
    }

    /// Dials another name for this machine, such as `host.docker.internal`.
    #[must_use]
    pub fn with_host(mut self, host: impl Into<String>) -> Self {
        self.host = host.into();
        self
    }

    /// Waits at most so long for each step of the handshake (10 s without this) and for the answer to
    /// a tool call (60 s without this).
    #[must_use]
    pub fn with_timeouts(mut self, handshake: Duration, call: Duration) -> Self {
        self.handshake = handshake;
        self.call = call;
        self
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// `before` and the token, as the value of a header.
    pub(crate) fn token_header(&self, before: &str) -> Result<Option<HeaderValue>, ClientError> {
        let Some(token) = &self.token else {
            return Ok(None);
        };
        let value = format!("{before}{}", token.expose());
        pillion_http::secret(value).map(Some).map_err(unreachable)
    }

    /// Sends a request; the answer's body is still to be read. A refusal is an error.
    pub(crate) async fn send(
        &self,
        method: Method,
        session: &SessionHeaders,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let answer = self.exchange(method, session, body).await?;
        if !answer.status.is_success() {
            return Err(ClientError::Refused(answer.status.as_u16()));
        }
        Ok(answer)
    }

    /// Sends a request; whatever is answered.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        session: &SessionHeaders,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let request = self.request(method, session, body)?;
        Ok(pillion_http::send((self.host.as_str(), self.port), request).await?)
    }

    /// As [`send`](Self::send), where nothing is to be read from the answer.
    pub(crate) async fn tell(
        &self,
        method: Method,
        session: &SessionHeaders,
        body: Bytes,
    ) -> Result<(), ClientError> {
        let sent = self.send(method, session, body);
        within(self.handshake, sent).await.map(drop)
    }

    fn request(
        &self,
        method: Method,
        session: &SessionHeaders,
        body: Bytes,
    ) -> Result<Request<Bytes>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(MCP_PATH)
            .header(HOST, format!("{}:{}", self.host, self.port))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        if let Some(bearer) = self.token_header("Bearer ")? {
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(id) = &session.id {
            request = request.header(SESSION_HEADER, id);
        }
        if let Some(version) = &session.version {
            request = request.header(VERSION_HEADER, version);
        }
        request.body(body).map_err(unreachable)
    }
}
