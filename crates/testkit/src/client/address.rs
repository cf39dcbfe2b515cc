//! The address of a companion, with the token that opens it.

use std::time::Duration;

use pillion_http::HeaderValue;
use pillion_protocol::diff::MAX_CONTENT;
use pillion_protocol::{Address as At, Token, copilot};

use crate::client::error::{ClientError, unreachable};

/// The longest message of a companion, in bytes: the longest content may double its size as a JSON
/// string.
pub(crate) const MAX_MESSAGE: usize = 2 * MAX_CONTENT + 1024 * 1024;

/// The address of a companion, with the token that opens it. `Debug` does not show the token.
#[derive(Debug, Clone)]
pub struct Address {
    host: String,
    at: At,
    token: Option<Token>,
    /// The time limit for a step of the handshake.
    pub(crate) handshake: Duration,
    /// The time limit for the answer to a tool call.
    pub(crate) call: Duration,
}

impl Address {
    /// The companion on this port or socket of this machine, which asks for no token.
    pub fn new(at: impl Into<At>) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            at: at.into(),
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

    /// The port or the socket that it listens on.
    pub fn at(&self) -> &At {
        &self.at
    }

    /// The port, for a protocol that is spoken on no socket.
    pub(crate) fn port(&self) -> Result<u16, ClientError> {
        match self.at {
            At::Tcp(port) => Ok(port),
            At::Unix(_) => Err(unreachable("this protocol is not spoken on a Unix socket")),
        }
    }

    /// The value of a request's `Host` header.
    pub(crate) fn host_header(&self) -> String {
        match &self.at {
            At::Tcp(port) => format!("{}:{port}", self.host),
            At::Unix(_) => copilot::HOST.to_owned(),
        }
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
}
