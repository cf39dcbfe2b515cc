//! The address of a companion, with the token that opens it.

use std::time::Duration;

use pillion_http::HeaderValue;
use pillion_protocol::{Address as At, Token, copilot};

use crate::error::{ClientError, unreachable};

/// The address of a companion, with the token that opens it. `Debug` does not show the token.
#[derive(Debug, Clone)]
pub struct Address {
    host: String,
    at: At,
    token: Option<Token>,
    limit: Duration,
}

impl Address {
    /// The companion on this port or socket of this machine, which asks for no token.
    pub fn new(at: impl Into<At>) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            at: at.into(),
            token: None,
            limit: Duration::from_secs(10),
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

    /// Waits at most so long for an answer (10 s without this).
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The time limit for an answer.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The port or the socket that it listens on.
    pub fn at(&self) -> &At {
        &self.at
    }

    /// The port, for a protocol that is spoken on no socket.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] if it is a socket.
    pub fn port(&self) -> Result<u16, ClientError> {
        match self.at {
            At::Tcp(port) => Ok(port),
            At::Unix(_) => Err(unreachable("this protocol is not spoken on a Unix socket")),
        }
    }

    /// The value of a request's `Host` header.
    pub fn host_header(&self) -> String {
        match &self.at {
            At::Tcp(port) => format!("{}:{port}", self.host),
            At::Unix(_) => copilot::HOST.to_owned(),
        }
    }

    /// The name that is dialled.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// `before` and the token, as the value of a header.
    ///
    /// # Errors
    /// If no header can have that value.
    pub fn token_header(&self, before: &str) -> Result<Option<HeaderValue>, ClientError> {
        let Some(token) = &self.token else {
            return Ok(None);
        };
        let value = format!("{before}{}", token.expose());
        pillion_http::secret(value).map(Some).map_err(unreachable)
    }
}
