//! One HTTP request to a companion, over a connection of its own.

use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName};
use ::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pillion_protocol::diff::MAX_CONTENT;
use pillion_protocol::{MCP_PATH, Token};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

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

/// The beginning of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// An answer's body. Dropping it closes the connection, however much is still to come.
#[derive(Debug)]
pub(crate) struct Body {
    incoming: Incoming,
    _connection: Connection,
}

/// The task that moves the bytes; ends with this value.
#[derive(Debug)]
struct Connection(JoinHandle<()>);

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

    /// Presents this token (C3.2). A companion of Pillion's tells by it which agent this is.
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

    /// Sends a request; the answer's body is still to be read. A refusal is an error.
    pub(crate) async fn send(
        &self,
        method: Method,
        session: &SessionHeaders,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let (status, answer) = self.exchange(method, session, body).await?;
        if !status.is_success() {
            return Err(ClientError::Refused(status.as_u16()));
        }
        Ok(answer)
    }

    /// Sends a request; whatever is answered.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        session: &SessionHeaders,
        body: Bytes,
    ) -> Result<(StatusCode, Answer), ClientError> {
        let request = self.request(method, session, body)?;
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(unreachable)?;
        let connection = Connection(tokio::spawn(async { drop(connection.await) }));
        let response = sender.send_request(request).await.map_err(unreachable)?;
        let (parts, incoming) = response.into_parts();
        let body = Body {
            incoming,
            _connection: connection,
        };
        let headers = parts.headers;
        Ok((parts.status, Answer { headers, body }))
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
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(MCP_PATH)
            .header(HOST, format!("{}:{}", self.host, self.port))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            let bearer = format!("Bearer {}", token.expose());
            let mut bearer = HeaderValue::try_from(bearer).map_err(unreachable)?;
            bearer.set_sensitive(true);
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(id) = &session.id {
            request = request.header(SESSION_HEADER, id);
        }
        if let Some(version) = &session.version {
            request = request.header(VERSION_HEADER, version);
        }
        request.body(Full::new(body)).map_err(unreachable)
    }
}

impl Answer {
    /// Whether the body is of this media type.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        let value = self.headers.get(CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok());
        let essence = value.and_then(|value| value.split(';').next());
        essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
    }
}

impl Body {
    /// The next bytes; none at the end. Cancel-safe.
    ///
    /// # Errors
    /// When the connection broke.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            match self.incoming.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(unreachable(error)),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// All of it.
    ///
    /// # Errors
    /// When it is longer than a companion's message may be, or the connection broke.
    pub(crate) async fn all(mut self) -> Result<Vec<u8>, ClientError> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await? {
            if whole.len() + bytes.len() > MAX_MESSAGE {
                return Err(too_long());
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }
}

pub(crate) fn too_long() -> ClientError {
    ClientError::Protocol(format!("it is longer than {MAX_MESSAGE} bytes"))
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}
